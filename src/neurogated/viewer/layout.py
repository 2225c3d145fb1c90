"""Where everything of the picture stands: a column for every hop, and arcs between them that stay short."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from neurogated.viewer.subgraph import Arc, Subgraph, Vertex

__all__ = ["Box", "Curve", "Picture", "lay_out"]

# Pixels, and rounds of ordering; the style sheet's letters fit into boxes of these measures.
_BOX_WIDTH = 208
_BOX_HEIGHT = 68
_SMALL_WIDTH = 180
_SMALL_HEIGHT = 50
_PORT_HEIGHT = 18
_COLUMN_GAP = 132
_ROW_GAP = 14
_MARGIN = 10
_HEAD = 9
_MIN_STROKE, _MAX_STROKE = 1.5, 8.0
_LABEL_GAP = 6
_LETTER = 13
_BOW = 70
_SWEEPS = 8
_GRID_COLUMNS = 2


@dataclass(frozen=True, slots=True)
class Box:
    """Where a vertex stands; pixels from the picture's upper left corner."""

    vertex: Vertex
    left: float
    top: float
    height: float

    @property
    def width(self) -> float:
        """Less for what was not returned."""
        return _SMALL_WIDTH if self.vertex.rank is None else _BOX_WIDTH

    @property
    def right(self) -> float:
        """Where arcs leave."""
        return self.left + self.width


@dataclass(frozen=True, slots=True)
class Curve:
    """How an arc is drawn."""

    arc: Arc
    line: str
    """SVG path of the line."""
    head: str
    """SVG path of the arrow's head."""
    stroke: float
    label: tuple[float, float]
    """Where the label ends, or begins where `backward`."""
    backward: bool
    """Whether the arc comes in from the right, as one to the same or an earlier column does."""


@dataclass(frozen=True, slots=True)
class Picture:
    """A subgraph with its measures."""

    width: float
    height: float
    columns: tuple[tuple[int, float], ...]
    """Hops and left side of each column."""
    boxes: tuple[Box, ...]
    """What has a column."""
    grid: tuple[Vertex, ...]
    """What no energy came to by a path; drawn below, where arcs do not matter."""
    curves: tuple[Curve, ...]


def lay_out(subgraph: Subgraph) -> Picture:
    """Return the picture of a subgraph: columns by hop, within them ordered as the arcs run (Sugiyama et al., 1981)."""
    placed = [vertex for vertex in subgraph.vertices if vertex.hop is not None]
    hops = sorted({vertex.hop for vertex in placed if vertex.hop is not None})
    lefts = {hop: _MARGIN + index * (_BOX_WIDTH + _COLUMN_GAP) for index, hop in enumerate(hops)}
    heights = _heights(placed, subgraph.arcs)
    tops = _tops([[v for v in placed if v.hop == hop] for hop in hops], heights, subgraph.arcs)
    boxes = {v.number: Box(v, lefts[v.hop or 0], tops[v.number], heights[v.number]) for v in placed}
    bottom = max((box.top + box.height for box in boxes.values()), default=0.0)
    columns = max(len(hops), _GRID_COLUMNS)
    # A bow on the right of the last column needs room of its own.
    room = _BOW if any(_comes_from_the_right(boxes[a.source], boxes[a.target]) for a in subgraph.arcs) else 0
    return Picture(
        width=columns * _BOX_WIDTH + (columns - 1) * _COLUMN_GAP + 2 * _MARGIN + room,
        height=bottom + _MARGIN,
        columns=tuple(lefts.items()),
        boxes=tuple(sorted(boxes.values(), key=lambda box: (box.left, box.top))),
        grid=tuple(vertex for vertex in subgraph.vertices if vertex.hop is None),
        curves=_curves(subgraph.arcs, boxes),
    )


def _heights(placed: Sequence[Vertex], arcs: Sequence[Arc]) -> dict[int, float]:
    into: dict[int, int] = defaultdict(int)
    for arc in arcs:
        into[arc.target] += 1
    return {
        v.number: max(_SMALL_HEIGHT if v.rank is None else _BOX_HEIGHT, (into[v.number] + 1) * _PORT_HEIGHT)
        for v in placed
    }


def _tops(columns: list[list[Vertex]], heights: Mapping[int, float], arcs: Sequence[Arc]) -> dict[int, float]:
    """Return the top of every vertex: sweeps over the columns move each towards the mean of those it is joined to."""
    hop = {vertex.number: vertex.hop for column in columns for vertex in column}
    joined: dict[int, list[int]] = defaultdict(list)
    for arc in arcs:
        if hop[arc.source] != hop[arc.target]:
            joined[arc.source].append(arc.target)
            joined[arc.target].append(arc.source)
    tops: dict[int, float] = {}
    for column in columns:
        column.sort(key=lambda v: (not joined[v.number], v.rank is None, v.rank or 0, v.number))
        tops |= _stacked([v.number for v in column], heights, 0.0)
    for sweep in range(_SWEEPS):
        for column in columns[1:] if sweep % 2 == 0 else columns[-2::-1]:
            wanted = {
                v.number: sum(tops[n] + heights[n] / 2 for n in joined[v.number]) / len(joined[v.number])
                for v in column
                if joined[v.number]
            }
            column.sort(key=lambda v: wanted.get(v.number, math.inf))
            tops |= _as_wanted([v.number for v in column], heights, wanted)
        first = min(tops.values(), default=0.0)
        tops = {number: top - first for number, top in tops.items()}
    return {number: top + _MARGIN for number, top in tops.items()}


def _stacked(numbers: Sequence[int], heights: Mapping[int, float], begin: float) -> dict[int, float]:
    tops = {}
    for number in numbers:
        tops[number] = begin
        begin += heights[number] + _ROW_GAP
    return tops


def _as_wanted(numbers: Sequence[int], heights: Mapping[int, float], wanted: Mapping[int, float]) -> dict[int, float]:
    """Return tops that keep the order and the gaps and come, in squares, as near as can be to the wanted centres.

    Without the heights above it each top must not be less than the one before: isotonic regression, by pooling
    adjacent violators. Who has no wish stands below the others.
    """
    wishing = [number for number in numbers if number in wanted]
    offsets = _stacked(wishing, heights, 0.0)
    pools: list[tuple[float, list[int]]] = []
    for number in wishing:
        mean, pool = wanted[number] - heights[number] / 2 - offsets[number], [number]
        while pools and pools[-1][0] > mean:
            other_mean, other = pools.pop()
            mean = (mean * len(pool) + other_mean * len(other)) / (len(pool) + len(other))
            pool = other + pool
        pools.append((mean, pool))
    tops = {number: mean + offsets[number] for mean, pool in pools for number in pool}
    below = max((top + heights[number] + _ROW_GAP for number, top in tops.items()), default=0.0)
    return tops | _stacked([number for number in numbers if number not in wanted], heights, below)


def _comes_from_the_right(source: Box, target: Box) -> bool:
    return target.left <= source.left


def _curves(arcs: Sequence[Arc], boxes: Mapping[int, Box]) -> tuple[Curve, ...]:
    largest = max((arc.flow for arc in arcs), default=0.0)
    into = Counter(arc.target for arc in arcs)
    leaving = _ports(arcs, boxes, own=lambda arc: arc.source, other=lambda arc: arc.target)
    coming = _ports(arcs, boxes, own=lambda arc: arc.target, other=lambda arc: arc.source)
    return tuple(
        _curve(
            arc,
            (boxes[arc.source], leaving[arc.number]),
            (boxes[arc.target], coming[arc.number]),
            max(_MIN_STROKE, _MAX_STROKE * arc.flow / largest if largest > 0 else 0.0),
            alone=into[arc.target] == 1,
        )
        for arc in arcs
    )


def _ports(
    arcs: Sequence[Arc], boxes: Mapping[int, Box], *, own: Callable[[Arc], int], other: Callable[[Arc], int]
) -> dict[int, float]:
    """Return at what height each arc meets its box, so that those of one box spread and do not cross there."""
    at: dict[int, list[Arc]] = defaultdict(list)
    for arc in arcs:
        at[own(arc)].append(arc)
    ports = {}
    for number, some in at.items():
        box = boxes[number]
        some.sort(key=lambda arc: (boxes[other(arc)].top, arc.number))
        for index, arc in enumerate(some, start=1):
            ports[arc.number] = box.top + box.height * index / (len(some) + 1)
    return ports


def _curve(arc: Arc, start: tuple[Box, float], end: tuple[Box, float], stroke: float, *, alone: bool) -> Curve:
    (source, y1), (target, y2) = start, end
    backward = _comes_from_the_right(source, target)
    # The head points into the box; from the right it is the same, mirrored.
    side = -1 if backward else 1
    tip = target.right if backward else target.left
    foot = tip - side * _HEAD
    x1 = source.right if target.left >= source.left else source.left
    if target.left == source.left:
        pull1, pull2 = x1 + _BOW, foot + _BOW
    else:
        reach = abs(foot - x1) / 2
        pull1, pull2 = x1 + side * reach, foot - side * reach
    half = _HEAD / 2 + stroke / 2
    # A line that comes from above would run through a label above it; among several lines there is no room below.
    label = y2 + stroke / 2 + _LETTER if alone and y1 < y2 else y2 - stroke / 2 - _LABEL_GAP
    return Curve(
        arc,
        line=f"M{x1:.1f} {y1:.1f}C{pull1:.1f} {y1:.1f} {pull2:.1f} {y2:.1f} {foot:.1f} {y2:.1f}",
        head=f"M{foot:.1f} {y2 - half:.1f}L{tip:.1f} {y2:.1f}L{foot:.1f} {y2 + half:.1f}Z",
        stroke=round(stroke, 2),
        label=(foot - side * _LABEL_GAP, label),
        backward=backward,
    )

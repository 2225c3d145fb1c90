"""The part of the graph that a recall used, with the place of each memory on the page."""

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from neurogated.core.edge_type import EdgeType
from neurogated.core.trace import PathStep, Recall

_DIGITS = 3
_STEPS = 10**_DIGITS
_LARGEST = 1e9
_NOISE = 1e-6


def add_up(values: Sequence[float], total: float) -> list[float]:
    """Return the values rounded down or up to thousandths, so that they add up to the rounded total.

    The values with the largest remainders are rounded up. If the values do not add up to the total, each is rounded to
    the nearest thousandth.
    """
    # A comparison with NaN is false.
    if not all(abs(value) < _LARGEST for value in (*values, total)) or abs(math.fsum(values) - total) > 1 / _STEPS:
        return [round(value, _DIGITS) for value in values]
    scaled = [value * _STEPS for value in values]
    steps = [math.floor(value + _NOISE) for value in scaled]
    missing = round(total * _STEPS) - sum(steps)
    by_remainder = sorted(range(len(steps)), key=lambda place: steps[place] - scaled[place])
    for place in by_remainder[: max(0, missing)]:
        steps[place] += 1
    return [step / _STEPS for step in steps]


@dataclass(frozen=True, slots=True)
class Vertex:
    """One node of the picture."""

    number: int
    """Unique in the picture, from 0; returned memories come first, best first."""
    id: str
    rank: int | None
    """1 for the best memory; None for other nodes."""
    start: float | None
    """The activation with which an anchor starts; None for other nodes."""


@dataclass(frozen=True, slots=True)
class Arc:
    """A flow of activation into a memory, or into a node that passed activation on."""

    number: int
    source: int
    target: int
    type: EdgeType
    forward: bool
    weight: float
    hop: int
    flow: float
    """In points of the score."""
    shown: float
    """The flow, rounded to thousandths. The flows into one memory add up to the activation shown in its score."""
    relayed: bool
    """Whether the target is not a memory but a node that passed activation on."""


@dataclass(frozen=True, slots=True)
class Subgraph:
    """The vertices and arcs of the picture, with the terms of the scores."""

    vertices: tuple[Vertex, ...]
    arcs: tuple[Arc, ...]
    """Flows into one node are consecutive, strongest first."""
    terms: tuple[tuple[tuple[str, float], ...], ...]
    """For each memory, best first: the terms of its score, rounded to thousandths. They add up to the score shown."""

    @property
    def senders(self) -> tuple[Vertex, ...]:
        """The anchors and all other nodes that sent activation."""
        numbers = {arc.source for arc in self.arcs} | {arc.target for arc in self.arcs if arc.relayed}
        return tuple(vertex for vertex in self.vertices if vertex.start is not None or vertex.number in numbers)


def subgraph_of(recall: Recall) -> Subgraph:
    """Return the memories, anchors and flows of a recall as one graph."""
    memories = list({memory.id: memory for memory in recall.memories}.values())
    anchors = dict(recall.anchors)
    steps = [step for memory in memories for step in (*memory.flows, *memory.path)]
    steps += [step for flows in recall.relays.values() for step in flows]
    ends = (end for step in steps for end in (step.source_id, step.target_id))
    ids = dict.fromkeys([*(memory.id for memory in memories), *anchors, *recall.relays, *ends])
    numbers = {node_id: number for number, node_id in enumerate(ids)}
    # The weight of activation in the score.
    found = ((one.parts.get("activation", 0.0), one.contributions.get("activation", 0.0)) for one in recall)
    weight = next((got / came for came, got in found if came > 0 and math.isfinite(got / came)), 1.0)
    terms = [
        tuple(zip(memory.contributions, add_up([*memory.contributions.values()], memory.score), strict=True))
        for memory in memories
    ]
    # The flows into a node that is no memory have no total of their own.
    into: list[tuple[str, Iterable[PathStep], float | None]] = [
        (memory.id, memory.flows, dict(shown).get("activation", math.nan))
        for memory, shown in zip(memories, terms, strict=True)
    ]
    arcs: list[Arc] = []
    for node_id, flows, total in (*into, *((name, flows, None) for name, flows in recall.relays.items())):
        steps = sorted(flows, key=lambda step: -step.flow)
        points = [step.flow * weight for step in steps]
        rounded = add_up(points, sum(points) if total is None else total)
        for one, point, value in zip(steps, points, rounded, strict=True):
            sides = len(arcs), numbers[one.source_id], numbers[node_id]
            arcs.append(Arc(*sides, one.type, one.forward, one.weight, one.hop, point, value, relayed=total is None))
    vertices = (
        Vertex(number, node_id, number + 1 if number < len(memories) else None, anchors.get(node_id))
        for node_id, number in numbers.items()
    )
    return Subgraph(tuple(vertices), tuple(arcs), tuple(terms))


# Pixels. The fonts of the style sheet fit into boxes of this size.
_SENDER_WIDTH, _SENDER_HEIGHT = 216, 60
_MEMORY_WIDTH, _MEMORY_HEIGHT = 260, 84
_GAP = 214
_ROW_GAP, _GROUP_GAP = 12, 40
# Many senders do not push the first memories further from the top.
_OVERHANG = 240
_MARGIN = 10
_BOW, _BOW_SHARE = 62, 0.35
_HEAD = 7
_MIN_STROKE, _MAX_STROKE = 0.8, 22.0
_SLOT, _LABEL_SLOT = 3.0, 15.0
_LETTER = 4
# Labelled flows at one memory. The page shows the labels of its other flows on hover.
_LABELS = 5
_FAINT_SHARE = 0.02


class Box(NamedTuple):
    """The box of a vertex, in pixels from the upper left corner of the picture."""

    vertex: Vertex
    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Vertical position of the centre."""
        return self.top + self.height / 2


class Curve(NamedTuple):
    """An arc as it is drawn."""

    arc: Arc
    line: str
    """SVG path of the line."""
    head: str
    """SVG path of the arrow's head."""
    stroke: float
    label: tuple[float, float]
    """Right end of the label, or its left end for a flow into a node that passes activation on."""
    labelled: bool
    """Whether the label is always visible."""
    faint: bool


class Picture(NamedTuple):
    """A subgraph with its layout."""

    width: float
    height: float
    senders: tuple[Box, ...]
    """Anchors, then the nodes that passed activation on."""
    relays_top: float | None
    """Top of the first sender that is no anchor; None if there is none."""
    memories: tuple[Box, ...]
    """Best first."""
    curves: tuple[Curve, ...]
    """The strongest is last, so that it lies on top."""


def lay_out(subgraph: Subgraph) -> Picture:
    """Return the picture: memories by rank, beside them anchors by their targets, then other nodes by their flows."""
    into = [arc for arc in subgraph.arcs if not arc.relayed]
    largest = max((arc.flow for arc in into), default=0.0)
    shares = {arc.number: min(1.0, arc.flow / largest) if largest > 0 else 0.0 for arc in subgraph.arcs}
    strokes = {number: round(max(_MIN_STROKE, _MAX_STROKE * share), 2) for number, share in shares.items()}
    by_target = defaultdict[int, list[int]](list)
    for arc in into:
        by_target[arc.target].extend([arc.number] if arc.shown > 0 else [])
    labelled = {number for numbers in by_target.values() for number in numbers[:_LABELS]}
    slots = {number: max(one + 1, _LABEL_SLOT if number in labelled else _SLOT) for number, one in strokes.items()}
    heights = defaultdict[tuple[str, int], float](float)
    for arc in into:
        heights["to", arc.target] += slots[arc.number]
        heights["from", arc.source] += strokes[arc.number]

    def stacked(
        vertices: Iterable[Vertex], side: str, left: float, size: tuple[int, int], top: float
    ) -> dict[int, Box]:
        boxes, margin = dict[int, Box](), _ROW_GAP if side == "to" else 3 * _ROW_GAP
        for vertex in vertices:
            height = max(size[1], heights[side, vertex.number] + margin)
            boxes[vertex.number] = Box(vertex, left, top, size[0], height)
            top += height + _ROW_GAP
        return boxes

    left = _MARGIN + (_BOW if len(into) < len(subgraph.arcs) else 0)
    right = left + _SENDER_WIDTH + _GAP
    returned = (vertex for vertex in subgraph.vertices if vertex.rank is not None)
    memories = stacked(returned, "to", right, (_MEMORY_WIDTH, _MEMORY_HEIGHT), _MARGIN)
    senders = dict[int, Box]()
    for group in _groups(subgraph.senders, into, memories):
        top = _bottom(senders) + _GROUP_GAP if senders else _MARGIN
        senders |= stacked(group, "from", left, (_SENDER_WIDTH, _SENDER_HEIGHT), top)
    lower = (_bottom(memories) - _bottom(senders)) / 2
    senders = {number: box._replace(top=box.top + max(0.0, lower)) for number, box in senders.items()}
    down = min(_OVERHANG, max(0.0, -lower))
    memories = {number: box._replace(top=box.top + down) for number, box in memories.items()}
    curves = (
        Curve(*drawn, drawn[0].number in labelled, drawn[0].relayed or drawn[0].flow < _FAINT_SHARE * largest)
        for drawn in _drawn(subgraph.arcs, senders, memories, strokes, slots)
    )
    return Picture(
        width=right + _MEMORY_WIDTH + _MARGIN,
        height=max(_bottom(memories), _bottom(senders)) + _MARGIN,
        senders=tuple(senders.values()),
        relays_top=min((box.top for box in senders.values() if box.vertex.start is None), default=None),
        memories=tuple(memories.values()),
        curves=tuple(sorted(curves, key=lambda curve: (not curve.arc.relayed, curve.arc.flow))),
    )


def _bottom(boxes: Mapping[int, Box]) -> float:
    return max((box.top + box.height for box in boxes.values()), default=0.0)


def _groups(senders: Iterable[Vertex], into: Sequence[Arc], memories: Mapping[int, Box]) -> Iterator[list[Vertex]]:
    """Yield the anchors in the order of the mean height of their targets, then the others by the amount they sent."""
    middle = _bottom(memories) / 2
    wishes = list[tuple[float, float, Vertex]]()
    for vertex in senders:
        sent = [arc for arc in into if arc.source == vertex.number]
        total = sum(arc.flow for arc in sent)
        wish = sum(arc.flow * memories[arc.target].middle for arc in sent) / total if total > 0 else middle
        wishes.append((wish, total, vertex))
    yield [one for _, _, one in sorted(wishes, key=lambda wish: wish[0]) if one.start is not None]
    yield [one for _, _, one in sorted(wishes, key=lambda wish: -wish[1]) if one.start is None]


def _drawn(
    arcs: Sequence[Arc],
    senders: Mapping[int, Box],
    memories: Mapping[int, Box],
    strokes: Mapping[int, float],
    slots: Mapping[int, float],
) -> Iterator[tuple[Arc, str, str, float, tuple[float, float]]]:
    """Yield each arc with its line, its head, its width and the place of its label."""
    into = [arc for arc in arcs if not arc.relayed]
    relayed = [arc for arc in arcs if arc.relayed]
    leaving = _ports(into, strokes, senders, lambda arc: arc.source, lambda arc: memories[arc.target].middle)
    coming = _ports(into, slots, memories, lambda arc: arc.target, lambda arc: senders[arc.source].middle)
    out = _ports(relayed, strokes, senders, lambda arc: arc.source, lambda arc: -senders[arc.target].middle)
    back = _ports(relayed, strokes, senders, lambda arc: arc.target, lambda arc: -senders[arc.source].middle)
    for arc in arcs:
        stroke, half = strokes[arc.number], _HEAD / 2 + strokes[arc.number] / 2
        if arc.relayed:
            x1 = tip = senders[arc.source].left
            y1, y2 = out[arc.number], back[arc.number]
            foot, bow = tip - _HEAD, min(_BOW - _MARGIN, _HEAD + _BOW_SHARE * abs(y2 - y1))
            pull1, pull2, label = x1 - bow, foot - bow, foot - bow
        else:
            x1, tip = senders[arc.source].left + _SENDER_WIDTH, memories[arc.target].left
            y1, y2 = leaving[arc.number], coming[arc.number]
            foot = tip - _HEAD
            pull1 = pull2 = (x1 + foot) / 2
            label = foot - _LETTER
        line = f"M{x1:.1f} {y1:.1f}C{pull1:.1f} {y1:.1f} {pull2:.1f} {y2:.1f} {foot:.1f} {y2:.1f}"
        head = f"M{foot:.1f} {y2 - half:.1f}L{tip:.1f} {y2:.1f}L{foot:.1f} {y2 + half:.1f}Z"
        yield arc, line, head, stroke, (label, y2 + _LETTER)


def _ports(
    arcs: Iterable[Arc],
    sizes: Mapping[int, float],
    boxes: Mapping[int, Box],
    own: Callable[[Arc], int],
    other: Callable[[Arc], float],
) -> dict[int, float]:
    """Return the height at which each arc meets its box: around the middle, in the order of the other ends."""
    at: dict[int, list[Arc]] = defaultdict(list)
    for arc in arcs:
        at[own(arc)].append(arc)
    ports = {}
    for number, some in at.items():
        some.sort(key=lambda arc: (other(arc), -arc.flow, arc.number))
        box = boxes[number]
        # Many thin lines divide the height of the box.
        total = sum(sizes[arc.number] for arc in some)
        scale = min(1.0, box.height / total)
        y = box.middle - total * scale / 2
        for arc in some:
            ports[arc.number] = y + sizes[arc.number] * scale / 2
            y += sizes[arc.number] * scale
    return ports

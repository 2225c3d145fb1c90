"""The part of the graph that a recall used: its memories, anchors and flows of activation, with rounded shares."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

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
    weight = _weight(recall)
    terms = [
        tuple(zip(memory.contributions, add_up([*memory.contributions.values()], memory.score), strict=True))
        for memory in memories
    ]
    arcs: list[Arc] = []
    for memory, shown in zip(memories, terms, strict=True):
        total = dict(shown).get("activation", math.nan)
        arcs += _arcs(memory.flows, numbers[memory.id], numbers, weight, total)
    for node_id, flows in recall.relays.items():
        arcs += _arcs(flows, numbers[node_id], numbers, weight)
    return Subgraph(
        tuple(
            Vertex(number, node_id, number + 1 if number < len(memories) else None, anchors.get(node_id))
            for node_id, number in numbers.items()
        ),
        tuple(replace(arc, number=number) for number, arc in enumerate(arcs)),
        tuple(terms),
    )


def _weight(recall: Recall) -> float:
    """Return the weight of activation in the score."""
    for memory in recall:
        arrived, counted = (found.get("activation", 0.0) for found in (memory.parts, memory.contributions))
        if arrived > 0 and math.isfinite(counted / arrived):
            return counted / arrived
    return 1.0


def _arcs(
    flows: Iterable[PathStep], target: int, numbers: Mapping[str, int], weight: float, total: float | None = None
) -> list[Arc]:
    """Return the flows into `target`, all with number 0; a target without `total` is no memory."""
    steps = sorted(flows, key=lambda step: -step.flow)
    points = [step.flow * weight for step in steps]
    shown = add_up(points, sum(points) if total is None else total)
    return [
        Arc(0, numbers[one.source_id], target, one.type, one.forward, one.weight, one.hop, point, value, total is None)
        for one, point, value in zip(steps, points, shown, strict=True)
    ]

"""The part of the graph that a recall used: who was reached, after which hop, over which arcs."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from neurogated.core.edge_type import EdgeType
from neurogated.core.trace import PathStep, Recall, RecalledMemory

__all__ = ["Arc", "Subgraph", "Trail", "Vertex", "subgraph_of"]


@dataclass(frozen=True, slots=True)
class Vertex:
    """One node of the picture."""

    number: int
    """Unique in the picture, from 0; returned memories come first, best first."""
    id: str
    hop: int | None
    """Hops from an anchor, 0 for an anchor itself; None where no energy came to it by a path."""
    rank: int | None
    """1 for the best memory; None for what was not returned."""
    energy: float | None
    """An anchor's start, a memory's part `energy`, else what came over the arcs shown; None if there is no telling."""
    is_anchor: bool


@dataclass(frozen=True, slots=True)
class Arc:
    """A way that energy went; one however many paths share it."""

    number: int
    source: int
    target: int
    type: EdgeType
    forward: bool
    weight: float
    flow: float
    """The largest flow of the paths that share it."""


@dataclass(frozen=True, slots=True)
class Trail:
    """What belongs to one vertex: its path, or for a vertex without one all paths through it."""

    vertices: tuple[int, ...]
    arcs: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Subgraph:
    """All that is drawn."""

    vertices: tuple[Vertex, ...]
    arcs: tuple[Arc, ...]
    trails: tuple[Trail, ...]
    """One a vertex, in order of their numbers."""


_ArcKey = tuple[str, str, EdgeType, bool]


def subgraph_of(recall: Recall) -> Subgraph:
    """Return the anchors, memories and paths of a recall as one graph."""
    memories = {memory.id: memory for memory in recall.memories}
    anchors = dict(recall.anchors)
    steps = [step for memory in memories.values() for step in memory.path]
    ids = dict.fromkeys([*memories, *anchors, *(end for step in steps for end in (step.source_id, step.target_id))])
    numbers = {node_id: number for number, node_id in enumerate(ids)}
    ranks = {memory.id: rank for rank, memory in reversed(list(enumerate(recall.memories, start=1)))}
    hops = _hops(memories, anchors)
    arcs = _arcs(steps, numbers)
    arrived: dict[int, float] = defaultdict(float)
    for arc in arcs.values():
        arrived[arc.target] += arc.flow
    vertices = tuple(
        Vertex(
            number,
            node_id,
            hops.get(node_id),
            ranks.get(node_id),
            anchors[node_id]
            if node_id in anchors
            else memories[node_id].parts.get("energy", arrived.get(number))
            if node_id in memories
            else arrived.get(number),
            node_id in anchors,
        )
        for node_id, number in numbers.items()
    )
    return Subgraph(vertices, tuple(arcs.values()), _trails(memories, numbers, arcs))


def _key(step: PathStep) -> _ArcKey:
    return (step.source_id, step.target_id, step.type, step.forward)


def _arcs(steps: Iterable[PathStep], numbers: Mapping[str, int]) -> dict[_ArcKey, Arc]:
    strongest: dict[_ArcKey, PathStep] = {}
    for step in steps:
        if _key(step) not in strongest or step.flow > strongest[_key(step)].flow:
            strongest[_key(step)] = step
    return {
        key: Arc(number, numbers[key[0]], numbers[key[1]], step.type, step.forward, step.weight, step.flow)
        for number, (key, step) in enumerate(strongest.items())
    }


def _hops(memories: Mapping[str, RecalledMemory], anchors: Mapping[str, float]) -> dict[str, int]:
    """Return when energy came to each node: by its own path where it has one, else by the shortest it lies on."""
    hops: dict[str, int] = {}
    for memory in memories.values():
        for hop, step in enumerate(memory.path):
            hops[step.source_id] = min(hop, hops.get(step.source_id, hop))
            hops[step.target_id] = min(hop + 1, hops.get(step.target_id, hop + 1))
    own = {memory.id: len(memory.path) for memory in memories.values() if memory.path}
    return hops | own | dict.fromkeys(anchors, 0)


def _trails(
    memories: Mapping[str, RecalledMemory], numbers: Mapping[str, int], arcs: Mapping[_ArcKey, Arc]
) -> tuple[Trail, ...]:
    through: dict[str, list[PathStep]] = defaultdict(list)
    for memory in memories.values():
        for node_id in {end for step in memory.path for end in (step.source_id, step.target_id)}:
            through[node_id] += memory.path
    trails = []
    for node_id, number in numbers.items():
        own = memories[node_id].path if node_id in memories else ()
        steps = own or through[node_id]
        ends = {numbers[end] for step in steps for end in (step.source_id, step.target_id)} | {number}
        trails.append(Trail(tuple(sorted(ends)), tuple(sorted({arcs[_key(step)].number for step in steps}))))
    return tuple(trails)

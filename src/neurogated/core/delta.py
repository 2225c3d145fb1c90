"""Every write is a value: a `GraphDelta` goes through `GraphStore.apply`, whole or not at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime

from neurogated.core.clock import to_utc, utc_now
from neurogated.core.model import MOST_COUNTED, EdgeKey, MemoryEdge, MemoryNode, checked_count, checked_unit
from neurogated.core.text import checked_text
from neurogated.errors import InputError

__all__ = [
    "Access",
    "Decay",
    "GraphDelta",
    "HistoryEntry",
    "JournalEntry",
    "NodeChange",
    "NodeVersion",
    "PendingTask",
    "WeightChange",
]


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A new weight for an existing edge: learned by use, or derived from the texts it joins."""

    edge: EdgeKey
    weight: float
    """0–1."""
    last_activated: datetime | None = None
    """The delta's time when left out, since learning counts as use; a derived weight leaves it as it is."""
    derived: bool = False
    """Whether the weight follows from the texts: always for types that are not plastic, never for plastic ones."""

    def __post_init__(self) -> None:
        if self.derived and (self.edge.type.plastic or self.last_activated is not None):
            raise InputError(f"{self.edge} is plastic or has a time of use, which no derived weight changes")
        if not self.derived and not self.edge.type.plastic:
            raise InputError(
                f"the weight of {self.edge} cannot be changed: {self.edge.type.name} edges are not plastic"
            )
        object.__setattr__(self, "weight", checked_unit("the new weight of", self.edge, self.weight))
        if self.last_activated is not None:
            object.__setattr__(self, "last_activated", to_utc(self.last_activated))


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A new energy or importance for an existing node, whose text stays as it is."""

    node: str
    """Its id."""
    energy: float | None = None
    """0–1, from `energy_at` on; None leaves it as it is."""
    energy_at: datetime | None = None
    """The delta's time when left out."""
    importance: float | None = None
    """0–1; None leaves it as it is."""

    def __post_init__(self) -> None:
        if self.energy is None and self.importance is None:
            raise InputError(f"the change of node {self.node!r} has neither an energy nor an importance")
        if self.energy is None and self.energy_at is not None:
            raise InputError(f"the change of node {self.node!r} has a time of its energy but no energy")
        for name in ("energy", "importance"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked_unit(f"the new {name} of node", self.node, getattr(self, name)))
        if self.energy_at is not None:
            object.__setattr__(self, "energy_at", to_utc(self.energy_at))

    def applied(self, node: MemoryNode) -> MemoryNode:
        """Return `node` with the change made."""
        return replace(
            node,
            base_energy=node.base_energy if self.energy is None else self.energy,
            energy_at=node.energy_at if self.energy is None else self.energy_at,
            importance=node.importance if self.importance is None else self.importance,
        )


@dataclass(frozen=True, slots=True)
class Decay:
    """Operator: every plastic edge idle since before `idle_before` has its weight multiplied by `factor`.

    An edge whose weight falls below `floor` is removed. The operator is journaled as one line however many edges it
    changes, and evaluated again when the memory is opened.
    """

    factor: float
    """0–1, multiplies the weight."""
    idle_before: datetime
    floor: float = 0.0
    """0–1, the weight below which an edge is pruned."""
    spared: frozenset[EdgeKey] = field(default=frozenset(), compare=False)
    """Edges that are not changed, because they had been used. A store adds the ones it knows when it journals the
    operator, since it keeps only the last use of an edge. Two rules that differ in this alone are equal."""

    def __post_init__(self) -> None:
        for name in ("factor", "floor"):
            object.__setattr__(self, name, checked_unit("of a decay the", name, getattr(self, name)))
        object.__setattr__(self, "idle_before", to_utc(self.idle_before))


@dataclass(frozen=True, slots=True)
class Access:
    """What recalls used: the nodes they returned and the edges by which activation reached them."""

    nodes: Mapping[str, int] = field(default_factory=dict)
    """How often each was returned."""
    edges: frozenset[EdgeKey] = frozenset()

    @classmethod
    def of(cls, nodes: Iterable[str], edges: Iterable[EdgeKey] = ()) -> Access:
        """Return one use of each node and edge."""
        return cls(dict.fromkeys(nodes, 1), frozenset(edges))

    def __post_init__(self) -> None:
        for node_id, count in self.nodes.items():
            if not checked_count(f"uses of node {node_id!r}", count):
                raise InputError(f"node {node_id!r} was used 0 times; leave it out")

    @classmethod
    def gathered(cls, marks: Iterable[Access]) -> Access:
        """Return the uses of several recalls as one."""
        counts: Counter[str] = Counter()
        edges: set[EdgeKey] = set()
        for mark in marks:
            counts.update(mark.nodes)
            edges |= mark.edges
        return cls({node_id: min(count, MOST_COUNTED) for node_id, count in counts.items()}, frozenset(edges))

    def __bool__(self) -> bool:
        return bool(self.nodes or self.edges)


@dataclass(frozen=True, slots=True)
class PendingTask:
    """A judgement that could not be made when its nodes were stored, and is to be made up."""

    kind: str
    """Which judgement: `cause` or `entities`."""
    nodes: tuple[str, ...]
    """The nodes it is about, in order."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "nodes", tuple(self.nodes))
        for text in (self.kind, *self.nodes):
            checked_text("a judgement that waits", text)


_SEQUENCES = (
    "removed_edges",
    "removed_nodes",
    "nodes",
    "edges",
    "weights",
    "node_changes",
    "operators",
    "queued",
    "settled",
)


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """A change of the graph. Removals come first, then puts, weights, changes of nodes, operators and the touch."""

    removed_edges: tuple[EdgeKey, ...] = ()
    removed_nodes: tuple[str, ...] = ()
    """Their edges go with them."""
    nodes: tuple[MemoryNode, ...] = ()
    """Added, or put in the place of the node with the same id, whose edges stay."""
    edges: tuple[MemoryEdge, ...] = ()
    """Added, or put in the place of the edge with the same ends and type."""
    weights: tuple[WeightChange, ...] = ()
    node_changes: tuple[NodeChange, ...] = ()
    """Of nodes that the delta does not put, each named once."""
    operators: tuple[Decay, ...] = ()
    """In a delta of their own, so that the order of operator and single changes is never in doubt."""
    queued: tuple[PendingTask, ...] = ()
    """Judgements to be made up later; one that waits already is passed over."""
    settled: tuple[PendingTask, ...] = ()
    """Judgements that need no longer be made up; one that does not wait is passed over."""
    touch: Access = Access()
    """Nodes and edges used at time `at`; ids that are gone meanwhile are passed over."""
    reason: str = ""
    at: datetime = field(default_factory=utc_now)
    """Transaction time."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", to_utc(self.at))
        for name in _SEQUENCES:
            object.__setattr__(self, name, tuple(getattr(self, name)))
        object.__setattr__(self, "node_changes", tuple(map(self._timed, self.node_changes)))
        checked_text("the reason of a delta", self.reason)
        if self.operators and self._single_changes():
            raise InputError("a delta holds either operators or changes of single nodes and edges; make it two deltas")

    def _timed(self, change: NodeChange) -> NodeChange:
        return change if change.energy is None or change.energy_at else replace(change, energy_at=self.at)

    def _single_changes(self) -> bool:
        return any((self.changes, self.queued, self.settled, self.touch))

    @property
    def tells_of_uses_only(self) -> bool:
        """Whether it notes uses and nothing else, so that the history need not keep it."""
        return bool(self.touch) and not any((self.changes, self.operators, self.queued, self.settled))

    @property
    def changes(self) -> dict[str, int]:
        """How many nodes and edges are changed in which way; what is not changed is left out."""
        counts = {
            "nodes removed": len(self.removed_nodes),
            "edges removed": len(self.removed_edges),
            "nodes put": len(self.nodes),
            "edges put": len(self.edges),
            "weights changed": len(self.weights),
            "nodes changed": len(self.node_changes),
        }
        return {what: count for what, count in counts.items() if count}

    def __bool__(self) -> bool:
        return bool(self.operators) or self._single_changes()


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One line of a memory's history: a delta that changed the graph."""

    sequence: int
    """Number of the delta; `undo(to=…)` takes it."""
    at: datetime
    reason: str
    changes: Mapping[str, int]
    """What changed, and how many of it."""
    operators: tuple[Decay, ...] = ()
    """Rules that changed many edges at once."""


@dataclass(frozen=True, slots=True)
class NodeVersion:
    """One version of a memory, or its removal."""

    sequence: int
    """Number of the delta that brought it."""
    at: datetime
    reason: str
    node: MemoryNode | None
    """The version; None where the memory was removed."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A delta with its number: one line of a memory's journal."""

    sequence: int
    delta: GraphDelta

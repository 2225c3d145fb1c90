"""Every write is a value: `GraphStore.apply` applies a `GraphDelta` atomically."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import Enum
from operator import attrgetter
from typing import Any, Final, Literal, NamedTuple

from neurogated.core.clock import from_micros, to_micros, to_utc, utc_now
from neurogated.core.model import MOST_COUNTED, EdgeKey, MemoryEdge, MemoryNode, checked_count, checked_unit
from neurogated.core.read_only import filled
from neurogated.errors import InputError
from neurogated.text.strings import checked_text


class Owner(Enum):
    """The part of the memory that a delta comes from. Only an owner may write conflicts and the ids of facts."""

    MEMORY = "memory"
    """The memory itself: its writer, its conflicts, its consolidation. Its conflicts must be complete."""
    IMPORT = "import"
    """A file from elsewhere. Its conflicts must be valid."""
    LOG = "log"
    """The log of this memory: a replay, an undo or a copy. It is accepted as it was accepted then."""


@dataclass(frozen=True, slots=True)
class WeightChange:
    """A new weight for an existing edge: learned from its accesses, or derived from the texts it joins."""

    edge: EdgeKey
    weight: float
    """0–1."""
    last_activated: datetime | None = None
    """The delta's time if omitted, since learning counts as an access; a derived weight leaves the old time."""
    derived: bool = False
    """Whether the weight is derived from texts: always for types that are not plastic, never for plastic ones."""

    def __post_init__(self) -> None:
        if self.derived and (self.edge.type.plastic or self.last_activated is not None):
            raise InputError(f"{self.edge} is plastic or has a time of access, so it cannot have a derived weight")
        if not self.derived and not self.edge.type.plastic:
            raise InputError(
                f"the weight of {self.edge} cannot be changed: {self.edge.type.name} edges are not plastic"
            )
        object.__setattr__(self, "weight", checked_unit("the new weight of", self.edge, self.weight))
        if self.last_activated is not None:
            object.__setattr__(self, "last_activated", to_utc(self.last_activated))


@dataclass(frozen=True, slots=True)
class NodeChange:
    """A new energy or importance for an existing node; its text stays."""

    node: str
    """Its id."""
    energy: float | None = None
    """0–1, from `energy_at` on; None leaves it unchanged."""
    energy_at: datetime | None = None
    """The delta's time if omitted."""
    importance: float | None = None
    """0–1; None leaves it unchanged."""

    def __post_init__(self) -> None:
        if self.energy is None and self.importance is None:
            raise InputError(f"the change of node {self.node!r} has neither an energy nor an importance")
        if self.energy is None and self.energy_at is not None:
            raise InputError(f"the change of node {self.node!r} has an energy_at but no energy")
        for name in ("energy", "importance"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked_unit(f"the new {name} of node", self.node, getattr(self, name)))
        if self.energy_at is not None:
            object.__setattr__(self, "energy_at", to_utc(self.energy_at))

    def applied(self, node: MemoryNode) -> MemoryNode:
        """Return a copy of `node` with this change."""
        return replace(
            node,
            base_energy=node.base_energy if self.energy is None else self.energy,
            energy_at=node.energy_at if self.energy is None else self.energy_at,
            importance=node.importance if self.importance is None else self.importance,
        )


@dataclass(frozen=True, slots=True)
class Decay:
    """Operator: multiply the weight of every plastic edge idle since before `idle_before` by `factor`.

    An edge whose weight falls below `floor` is removed. The journal holds one line for the operator however many edges
    it changes. The line is evaluated again when the memory is opened.
    """

    factor: float
    """0–1, multiplies the weight."""
    idle_before: datetime
    floor: float = 0.0
    """0–1, the pruning threshold."""
    spared: frozenset[EdgeKey] = field(default=frozenset(), compare=False)
    """Edges that the operator does not change, because they were accessed. A store keeps only the last access of an
    edge, so it adds the edges it knows when it journals the operator. Operators that differ only here are equal."""

    def __post_init__(self) -> None:
        for name in ("factor", "floor"):
            object.__setattr__(self, name, checked_unit("of a decay the", name, getattr(self, name)))
        object.__setattr__(self, "idle_before", to_utc(self.idle_before))

    def to_json(self) -> dict[str, Any]:
        """Return the operator as JSON values, as every journal and export stores it, without `spared`."""
        moment = to_micros(self.idle_before)
        return {"kind": "decay", "factor": self.factor, "idle_before": moment, "floor": self.floor}

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Decay:
        """Return the operator from the values of `to_json`; raises ValueError for an operator of another kind."""
        if values["kind"] != "decay":
            raise ValueError(f"an operator of unknown kind {values['kind']!r}")
        return cls(values["factor"], from_micros(values["idle_before"]), values["floor"])


class Charge(NamedTuple):
    """The energy that uses have added to a node."""

    energy: float
    """0–1, from `at` on."""
    at: datetime


@dataclass(frozen=True, slots=True)
class Access:
    """The accesses of recalls: the nodes they returned and the edges by which activation reached those nodes."""

    nodes: Mapping[str, int] = field(default_factory=dict)
    """How often each was returned."""
    edges: frozenset[EdgeKey] = frozenset()
    charges: Mapping[str, Charge] = field(default_factory=dict)
    """New charges; they replace the old ones. The caller computes them, because a store knows no half-lives."""

    @classmethod
    def of(cls, nodes: Iterable[str], edges: Iterable[EdgeKey] = ()) -> Access:
        """Return one access of each node and edge."""
        return filled(cls, {"nodes": dict.fromkeys(nodes, 1), "edges": frozenset(edges), "charges": {}})

    def __post_init__(self) -> None:
        for node_id, count in self.nodes.items():
            if not checked_count(f"uses of node {node_id!r}", count):
                raise InputError(f"node {node_id!r} has 0 accesses; leave it out")
        charges = {
            node_id: Charge(checked_unit("the charge of node", node_id, charge.energy), to_utc(charge.at))
            for node_id, charge in self.charges.items()
        }
        object.__setattr__(self, "charges", charges)

    @classmethod
    def gathered(cls, marks: Iterable[Access]) -> Access:
        """Return the sum of several accesses; later charges replace earlier ones."""
        counts: Counter[str] = Counter()
        edges: set[EdgeKey] = set()
        charges: dict[str, Charge] = {}
        for mark in marks:
            counts.update(mark.nodes)
            edges |= mark.edges
            charges.update(mark.charges)
        return cls({node_id: min(count, MOST_COUNTED) for node_id, count in counts.items()}, frozenset(edges), charges)

    def without(self, node_ids: Collection[str]) -> Access:
        """Return the accesses of the other nodes, and of the edges between them."""
        return Access(
            {node_id: count for node_id, count in self.nodes.items() if node_id not in node_ids},
            frozenset(key for key in self.edges if key.source_id not in node_ids and key.target_id not in node_ids),
            {node_id: charge for node_id, charge in self.charges.items() if node_id not in node_ids},
        )

    def __bool__(self) -> bool:
        return bool(self.nodes or self.edges or self.charges)


@dataclass(frozen=True, slots=True)
class PendingTask:
    """A judgement that is to be computed after its nodes were stored, because it failed or takes long."""

    kind: str
    """The kind of judgement: `cause`, `entities`, `claims` or `conflict`."""
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
_GIVEN = attrgetter(*_SEQUENCES)


@dataclass(frozen=True, slots=True)
class GraphDelta:
    """A change of the graph. Its parts apply in order: removals, puts, weights, node changes, operators, touch."""

    removed_edges: tuple[EdgeKey, ...] = ()
    removed_nodes: tuple[str, ...] = ()
    """The edges of these nodes are removed too."""
    nodes: tuple[MemoryNode, ...] = ()
    """Nodes to upsert; a node that replaces another keeps the edges."""
    edges: tuple[MemoryEdge, ...] = ()
    """Edges to upsert by their ends and type."""
    weights: tuple[WeightChange, ...] = ()
    node_changes: tuple[NodeChange, ...] = ()
    """Changes of nodes that are not in `nodes`; each node at most once."""
    operators: tuple[Decay, ...] = ()
    """A delta with operators has no changes of single nodes or edges, so their order is never in doubt."""
    queued: tuple[PendingTask, ...] = ()
    """Judgements to compute later; a task that is pending already is skipped."""
    settled: tuple[PendingTask, ...] = ()
    """Judgements that are no longer pending; a task that is not pending is skipped."""
    touch: Access = Access()
    """Nodes and edges accessed at time `at`; unknown ids are skipped."""
    reason: str = ""
    at: datetime = field(default_factory=utc_now)
    """Transaction time."""
    owner: Owner | None = field(default=None, compare=False)
    """The part of the memory that wrote it; None for a caller. It is not stored."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "at", to_utc(self.at))
        for name, given in zip(_SEQUENCES, _GIVEN(self), strict=True):
            if type(given) is not tuple:
                object.__setattr__(self, name, tuple(given))
        if self.node_changes:
            timed = (
                one if one.energy is None or one.energy_at else replace(one, energy_at=self.at)
                for one in self.node_changes
            )
            object.__setattr__(self, "node_changes", tuple(timed))
        checked_text("the reason of a delta", self.reason)
        if self.operators and any((self.changes, self.queued, self.settled, self.touch)):
            raise InputError("a delta holds either operators or changes of single nodes and edges; make it two deltas")

    @property
    def tells_of_uses_only(self) -> bool:
        """Whether the delta holds accesses only or nothing, so that the history need not keep it."""
        return not any((self.changes, self.operators, self.queued, self.settled))

    @property
    def changes(self) -> dict[str, int]:
        """How many nodes and edges are changed in which way; ways with none are omitted."""
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
        return any(_GIVEN(self)) or bool(self.touch)


LATEST: Final = 2**63 - 1
"""A number above that of every delta."""


class ChangedMemory(NamedTuple):
    """What a change did to one memory, with its text after the change or before its deletion."""

    id: str
    action: Literal["written", "deleted"]
    content: str


@dataclass(frozen=True, slots=True)
class HistoryEntry:
    """One line of a memory's history: a delta that changed the graph."""

    sequence: int
    """Number of the delta; `undo(to=…)` takes it."""
    at: datetime
    reason: str
    changes: Mapping[str, int]
    """The count of each kind of change, see `GraphDelta.changes`."""
    operators: tuple[Decay, ...] = ()
    """Operators that changed many edges at once."""
    memories: tuple[ChangedMemory, ...] = ()
    """The memories that it wrote or deleted, in what `undo` and `memory.history.list` return."""


@dataclass(frozen=True, slots=True)
class NodeVersion:
    """One version of a memory, or its removal."""

    sequence: int
    """Number of the delta that wrote it."""
    at: datetime
    reason: str
    node: MemoryNode | None
    """The version; None if the memory was removed."""
    node_id: str
    """The id of the memory."""


@dataclass(frozen=True, slots=True)
class JournalEntry:
    """A delta with its number: one line of a memory's journal."""

    sequence: int
    delta: GraphDelta

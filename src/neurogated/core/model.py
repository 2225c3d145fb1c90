"""The parts of a memory: nodes and typed edges, both immutable values."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import to_utc, utc_now
from neurogated.core.edge_type import EdgeType
from neurogated.core.found import NOTHING_FOUND, Found
from neurogated.core.habits import explains_reading
from neurogated.core.node_kind import DEFAULT_KIND, checked_kind
from neurogated.core.read_only import filled
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.text.strings import beginning, checked_name, checked_names, checked_text, halves_joined, html_table

DEFAULT_IMPORTANCE = 0.5
"""The importance of a memory if nothing determines it."""
ACCESSED = ("last_accessed", "uses", "charge", "charged_at")
"""The fields of a node that accesses change. A store has only their current values, so they have no past."""
_DEEPEST = 100
"""Well below the limits of SQLite and of Python's recursion."""

Vector = NDArray[np.float32] | Sequence[float]


def as_vector(values: Vector) -> NDArray[np.float32]:
    """Return `values` as a read-only one-dimensional float32 array of finite numbers; raises InputError."""
    try:
        vector = np.array(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"an embedding must be a list of numbers: {error}") from None
    if vector.ndim != 1 or not vector.size:
        raise InputError(f"an embedding must be a non-empty list of numbers, not of shape {vector.shape}")
    if not np.logical_and.reduce(np.isfinite(vector)):
        where = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InputError(f"embedding has {vector[where]} at position {where}; every number must be finite")
    vector.setflags(write=False)
    return vector


def same_vector(first: Vector | None, second: Vector | None) -> bool:
    """Return whether two vectors have the same values, or both are None."""
    return first is second or (first is not None and second is not None and np.array_equal(first, second))


def checked_metadata(metadata: object) -> Mapping[str, Any]:
    """Return `metadata`; raises InputError if it is not a mapping."""
    if type(metadata) is not dict and not isinstance(metadata, Mapping):
        raise InputError(f"metadata is {metadata!r}, but must be a mapping such as {{'place': 'Lyon'}}")
    return metadata


def json_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy as a store returns it: JSON values only, tuples as lists, keys as strings.

    Raises:
        InputError: a value is not JSON, such as a datetime, a set or NaN; two keys are the same string; or lists and
            dicts are nested more than 100 deep.
    """
    if not checked_metadata(metadata):
        return {}
    try:
        written = json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False)
        copy = json.loads(halves_joined(written), object_pairs_hook=_distinct)
        depth = _depth(copy) if written.count("[") + written.count("{") > _DEEPEST else 0
    except (TypeError, ValueError) as error:
        # The number with too many digits cannot be converted for the message either.
        shown = "" if "digits" in str(error) else f" {metadata!r}"
        raise InputError(f"metadata{shown} is not JSON ({error}); use strings, numbers, lists and dicts") from None
    except RecursionError:
        depth = _DEEPEST + 1
    if depth > _DEEPEST:
        raise InputError(f"metadata nests more than {_DEEPEST} lists and dicts in one another; make it flatter")
    return dict(copy)


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        repeated = next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)
        raise InputError(f"metadata has several keys that are {repeated!r} as text; keep one of them")
    return values


def _depth(value: Any) -> int:  # noqa: ANN401 - JSON
    depth, level = 0, [value]
    while level := [inner for inner in level if isinstance(inner, dict | list)]:
        depth += 1
        level = [item for inner in level for item in (inner.values() if isinstance(inner, dict) else inner)]
    return depth


def checked_unit(what: str, owner: object, value: object) -> float:
    """Return `value` as a float from 0 to 1; raises InputError, which names it by `what` and by `owner` unless None."""
    if type(value) is float and 0.0 <= value <= 1.0:
        return value
    try:
        number = math.nan if isinstance(value, bool | str | bytes) else float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not 0.0 <= number <= 1.0:
        named = what if owner is None else f"{what} {owner!r}"
        raise InputError(f"{named} is {value!r}, but must lie between 0 and 1")
    return number


@explains_reading("read .content, .id, .metadata, .created_at")
@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MemoryNode:
    """One memory: a text with its vector, energy and times.

    Two nodes are equal if all their fields are; embeddings compare by value, as float32.
    """

    id: str
    """Unique in its namespace; a UUID is accepted and stored as a string."""
    content: str
    embedding: Vector | None = None
    """(dimension,) float32, read-only; None excludes the node from similarity search."""
    base_energy: float = 1.0
    """The energy at `energy_at`, 0–1."""
    last_accessed: datetime = field(default_factory=utc_now)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """Arbitrary data of the caller; JSON values only."""
    created_at: datetime = field(default_factory=utc_now)
    valid_from: datetime | None = None
    """Valid time: when the statement began to hold; None if it always did."""
    valid_to: datetime | None = None
    """Valid time: when the statement ceased to hold; None if it still holds."""
    expires_at: datetime | None = None
    """From this time on no recall finds the node, and maintenance removes it; None for never."""
    kind: str = DEFAULT_KIND
    """One of `NODE_KINDS`; `register_kind` adds others."""
    scope: Scope = field(default_factory=Scope)
    """Its owner."""
    importance: float = DEFAULT_IMPORTANCE
    """0–1."""
    energy_at: datetime | None = None
    """When the node had `base_energy`; the energy decays from then on. `created_at` if omitted."""
    uses: int = 0
    """How often recalls returned it."""
    charge: float = 0.0
    """The energy that uses have added, 0–1, at `charged_at`; it decays as `base_energy` does."""
    charged_at: datetime | None = None
    """The time of `charge`, of the last use that added to it. `created_at` if omitted."""
    timestamp: datetime | None = None
    """When the event in the text happened; None if unknown."""
    role: str | None = None
    """The role of a message: `user`, `assistant`, `system` or `tool`; memories of earlier versions may have others."""
    speaker: str | None = None
    """The person who speaks."""
    title: str | None = None
    """The subject of the text; a heading."""
    position: int | None = None
    """Position in its session, ascending; None outside of a session."""
    tags: Sequence[str] = ()
    """Words chosen by the caller, by which searches can filter; stored sorted and without duplicates."""
    found: Found = NOTHING_FOUND
    """Facts that the memory derived from the text."""

    def __post_init__(self) -> None:
        assign = object.__setattr__
        assign(self, "id", checked_text("a node id", str(self.id)))
        if not self.id:
            raise InputError("a node id is empty; give every node an id of its own")
        checked_text(f"the content of node {self.id!r}", self.content)
        if self.embedding is not None:
            assign(self, "embedding", as_vector(self.embedding))
        assign(self, "base_energy", checked_unit("base_energy of node", self.id, self.base_energy))
        assign(self, "importance", checked_unit("importance of node", self.id, self.importance))
        assign(self, "charge", checked_unit("charge of node", self.id, self.charge))
        assign(self, "metadata", json_metadata(self.metadata))
        assign(self, "energy_at", self.energy_at or self.created_at)
        assign(self, "charged_at", self.charged_at or self.created_at)
        for name, moment in zip(_TIMES, _TIMES_OF(self), strict=True):
            if moment is not None or name in _TIMES[:2]:
                assign(self, name, to_utc(moment))
        checked_kind(self.kind)
        if not isinstance(self.scope, Scope):
            raise InputError(f"the scope of node {self.id!r} is {self.scope!r}, but must be a Scope")
        if not isinstance(self.found, Found):
            raise InputError(f"found of node {self.id!r} is {self.found!r}, but must be a Found")
        for name in [name for name in ("role", "speaker", "title") if getattr(self, name) is not None]:
            checked_name(f"the {name} of node {self.id!r}", getattr(self, name))
        assign(self, "uses", checked_count(f"uses of node {self.id!r}", self.uses))
        if self.position is not None:
            assign(self, "position", checked_count(f"position of node {self.id!r}", self.position, LAST_POSITION))
        assign(self, "tags", tuple(sorted(set(checked_names(f"the tags of node {self.id!r}", self.tags)))))

    @classmethod
    def restored(cls, **fields: Any) -> MemoryNode:  # noqa: ANN401
        """Return a node from all its fields, valid and not shared, as a store read them; it skips validation."""
        return filled(cls, fields)

    def changed(self, **fields: Any) -> MemoryNode:  # noqa: ANN401
        """Return the node with other values of some fields, which must be valid; it skips validation."""
        return filled(type(self), dict(zip(self.__slots__, _FIELDS(self), strict=True)) | fields)

    def __repr__(self) -> str:
        return f"<MemoryNode {self.id}: {self.kind} {beginning(self.content)!r}>"

    def _repr_html_(self) -> str:
        told = ((name, getattr(self, name)) for name in self.__slots__ if name != "embedding")
        rows = [(name, value) for name, value in told if value not in (None, (), {}, NOTHING_FOUND, Scope())]
        return html_table(f"Memory {self.id}", ("field", "value"), rows)

    @property
    def said_at(self) -> datetime:
        """When it was said, or else stored."""
        return self.timestamp or self.created_at

    @property
    def moment(self) -> datetime:
        """The time from which it counts: when it began to hold, was said, or was stored."""
        return self.valid_from or self.timestamp or self.created_at

    def has_expired(self, now: datetime) -> bool:
        """Return whether its lifetime has ended."""
        return self.expires_at is not None and self.expires_at <= now

    def with_accesses_of(self, other: MemoryNode) -> MemoryNode:
        """Return the node with the accesses of another."""
        return self.changed(**{name: getattr(other, name) for name in ACCESSED})

    def unaccessed(self) -> MemoryNode:
        """Return the node as if it had never been accessed."""
        return self.changed(last_accessed=self.created_at, uses=0, charge=0.0, charged_at=self.created_at)

    def _plain(self) -> tuple[object, ...]:
        return _PLAIN(self)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryNode):
            return NotImplemented
        return same_vector(self.embedding, other.embedding) and self._plain() == other._plain()

    def __hash__(self) -> int:
        return hash(self.id)


_FIELDS = attrgetter(*MemoryNode.__slots__)
_PLAIN = attrgetter(*[name for name in MemoryNode.__slots__ if name != "embedding"])
# The first two are never None.
_TIMES = ("last_accessed", "created_at", "energy_at", "charged_at", "valid_from", "valid_to", "expires_at", "timestamp")
_TIMES_OF = attrgetter(*_TIMES)
MOST_COUNTED = 2**31 - 1
"""The largest count; columns hold counts in 32 bits."""


LAST_POSITION = 2**62
"""The largest position; the column holds positions in 64 bits."""


def checked_count(what: str, value: object, most: int = MOST_COUNTED) -> int:
    """Return `value` if it is an integer from 0 to `most`; raises InputError, which calls it `what`."""
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
        raise InputError(f"{what} is {value!r}, but must be a whole number from 0 to {most}")
    return value


class EdgeKey(NamedTuple):
    """The identity of an edge: at most one edge of each type leads from one node to another."""

    source_id: str
    target_id: str
    type: EdgeType

    def __str__(self) -> str:
        return f"{self.type.name} from {self.source_id!r} to {self.target_id!r}"


@dataclass(frozen=True, slots=True)
class MemoryEdge:
    """A directed, typed connection between two nodes."""

    source_id: str
    target_id: str
    type: EdgeType
    weight: float = 1.0
    """Strength, 0–1."""
    created_at: datetime = field(default_factory=utc_now)
    last_activated: datetime | None = None
    """Time of the last access; `created_at` if omitted."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    relation: str | None = None
    """How the two nodes are related, in the user's words, such as `is the sister of`; edges can be found by it."""

    def __post_init__(self) -> None:
        assign = object.__setattr__
        if type(self.source_id) is not str or type(self.target_id) is not str:
            assign(self, "source_id", str(self.source_id))
            assign(self, "target_id", str(self.target_id))
        # Each text has many edges, so that calls which change nothing are left out.
        if type(self.type) is not EdgeType:
            assign(self, "type", EdgeType(self.type))
        if self.source_id == self.target_id:
            raise InputError(f"an edge cannot lead from node {self.source_id!r} to itself")
        if type(self.weight) is not float or not 0.0 <= self.weight <= 1.0:
            assign(self, "weight", checked_unit("weight of edge", self.key, self.weight))
        if type(self.created_at) is not datetime or self.created_at.tzinfo is not UTC:
            assign(self, "created_at", to_utc(self.created_at))
        assign(self, "last_activated", to_utc(self.last_activated) if self.last_activated else self.created_at)
        if self.valid_from is not None or self.valid_to is not None:
            assign(self, "valid_from", self.valid_from and to_utc(self.valid_from))
            assign(self, "valid_to", self.valid_to and to_utc(self.valid_to))
        if self.relation is not None:
            checked_name(f"the relation of edge {self.key}", self.relation)

    @property
    def key(self) -> EdgeKey:
        """The identity of the edge."""
        return EdgeKey(self.source_id, self.target_id, self.type)


class Neighbor(NamedTuple):
    """A neighbouring node: the pair `(id, edge)`, which also has the fields of its edge."""

    id: str
    edge: MemoryEdge

    @property
    def source_id(self) -> str:
        """The id of the node from which the edge leads."""
        return self.edge.source_id

    @property
    def target_id(self) -> str:
        """The id of the node to which the edge leads, equal to `id`."""
        return self.edge.target_id

    @property
    def type(self) -> EdgeType:
        """The type of the edge."""
        return self.edge.type

    @property
    def weight(self) -> float:
        """The weight of the edge, 0–1."""
        return self.edge.weight

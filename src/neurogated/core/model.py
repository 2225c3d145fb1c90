"""What a memory is made of: nodes and typed edges, both immutable values."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import to_utc, utc_now
from neurogated.core.edge_type import EdgeType
from neurogated.errors import InputError

__all__ = [
    "EdgeKey",
    "EdgeType",
    "MemoryEdge",
    "MemoryNode",
    "Vector",
    "as_vector",
    "checked_text",
    "checked_unit",
    "json_metadata",
]

_DEEPEST = 100
"""Well within what SQLite and Python's recursion limit allow."""

Vector = NDArray[np.float32] | Sequence[float]


def as_vector(values: Vector) -> NDArray[np.float32]:
    """Return `values` as a read-only one-dimensional float32 array of finite numbers.

    Raises:
        InputError: not numbers, not one-dimensional, empty, or holding NaN or infinity.
    """
    try:
        vector = np.array(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"an embedding must be a list of numbers: {error}") from None
    if vector.ndim != 1 or not vector.size:
        raise InputError(f"an embedding must be a non-empty list of numbers, not of shape {vector.shape}")
    if not np.isfinite(vector).all():
        where = int(np.flatnonzero(~np.isfinite(vector))[0])
        raise InputError(f"embedding has {vector[where]} at position {where}; every number must be finite")
    vector.setflags(write=False)
    return vector


def checked_text(what: str, text: str) -> str:
    """Return `text`, or refuse one that cannot be encoded; `what` names it in the error.

    Raises:
        InputError: it is no text or has a lone surrogate.
    """
    if not isinstance(text, str):
        raise InputError(f"{what} is {text!r}, but must be text")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} has a lone surrogate at character {error.start}; decode the source with errors='replace'"
        ) from None
    return text


def json_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy that equals what a store gives back: JSON values only, tuples as lists, keys as text.

    Raises:
        InputError: a value is not JSON, as a datetime, a set or NaN are not; or lists and dicts are nested so deeply
            that not every reader can follow.
    """
    try:
        copy = json.loads(json.dumps(dict(metadata), allow_nan=False, ensure_ascii=False))
    except (TypeError, ValueError) as error:
        # A number with too many digits cannot be shown either.
        shown = "" if "digits" in str(error) else f" {metadata!r}"
        raise InputError(f"metadata{shown} is not JSON ({error}); use strings, numbers, lists and dicts") from None
    except RecursionError:
        raise _nested_too_deeply() from None
    text = checked_text("metadata", json.dumps(copy, ensure_ascii=False))
    if text.count("[") + text.count("{") > _DEEPEST and _depth(copy) > _DEEPEST:
        raise _nested_too_deeply()
    return dict(copy)


def _depth(value: Any) -> int:  # noqa: ANN401 - JSON
    """Return how many lists and dicts are nested in one another."""
    depth, level = 0, [value]
    while level := [inner for inner in level if isinstance(inner, dict | list)]:
        depth += 1
        level = [item for inner in level for item in (inner.values() if isinstance(inner, dict) else inner)]
    return depth


def _nested_too_deeply() -> InputError:
    return InputError(f"metadata has more than {_DEEPEST} lists and dicts in one another; make it flatter")


def checked_unit(what: str, owner: object, value: float) -> float:
    """Return `value` as a float; `what` and `owner` name it in the error.

    Raises:
        InputError: it is no number between 0 and 1.
    """
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not 0.0 <= number <= 1.0:
        raise InputError(f"{what} {owner!r} is {value!r}, but must lie between 0 and 1")
    return number


@dataclass(frozen=True, slots=True, eq=False)
class MemoryNode:
    """One memory: a piece of text with its vector, energy and times.

    Two nodes are equal when every field is; embeddings compare by value, as float32.
    """

    id: str
    """Unique in its namespace; a UUID is accepted and kept as its text."""
    content: str
    embedding: Vector | None = None
    """(dimension,) float32, read-only; None for a node that similarity cannot find."""
    base_energy: float = 1.0
    """0–1."""
    last_accessed: datetime = field(default_factory=utc_now)
    metadata: Mapping[str, Any] = field(default_factory=dict)
    """JSON values only. `timestamp`, `location`, `entities` and `sentiment` have a fixed meaning."""
    created_at: datetime = field(default_factory=utc_now)
    valid_from: datetime | None = None
    """Valid time: when what the node says began to hold; None if it always did."""
    valid_to: datetime | None = None
    """Valid time: when it ceased to hold; None if it still does."""
    expires_at: datetime | None = None
    """When it is to be forgotten: from then on nothing recalls it, and maintenance removes it; None for never."""

    def __post_init__(self) -> None:
        assign = object.__setattr__
        assign(self, "id", checked_text("a node id", str(self.id)))
        if not self.id:
            raise InputError("a node id is empty; give every node an id of its own")
        assign(self, "content", checked_text(f"the content of node {self.id!r}", self.content))
        if self.embedding is not None:
            assign(self, "embedding", as_vector(self.embedding))
        assign(self, "base_energy", checked_unit("base_energy of node", self.id, self.base_energy))
        assign(self, "metadata", json_metadata(self.metadata))
        for name in ("last_accessed", "created_at"):
            assign(self, name, to_utc(getattr(self, name)))
        for name in ("valid_from", "valid_to", "expires_at"):
            moment = getattr(self, name)
            assign(self, name, moment and to_utc(moment))

    @classmethod
    def restored(cls, **fields: Any) -> MemoryNode:  # noqa: ANN401
        """Return the node that a store kept: all fields by name, valid when they were stored, and not shared.

        It saves the checks, which cost more than reading the node does.
        """
        node = object.__new__(cls)
        for name, value in fields.items():
            object.__setattr__(node, name, value)
        return node

    def _plain(self) -> tuple[object, ...]:
        return (self.id, self.content, self.base_energy, self.last_accessed, self.metadata,
                self.created_at, self.valid_from, self.valid_to, self.expires_at)  # fmt: skip

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, MemoryNode):
            return NotImplemented
        if (self.embedding is None) != (other.embedding is None):
            return False
        same_vector = self.embedding is None or np.array_equal(self.embedding, other.embedding)  # type: ignore[arg-type]
        return same_vector and self._plain() == other._plain()

    def __hash__(self) -> int:
        return hash(self.id)


class EdgeKey(NamedTuple):
    """What identifies an edge: at most one edge of a type leads from one node to another."""

    source_id: str
    target_id: str
    type: EdgeType


@dataclass(frozen=True, slots=True)
class MemoryEdge:
    """A directed, typed connection between two nodes."""

    source_id: str
    target_id: str
    type: EdgeType
    weight: float = 1.0
    """Dynamic strength, 0–1."""
    created_at: datetime = field(default_factory=utc_now)
    last_activated: datetime | None = None
    """When use last ran over the edge; `created_at` when left out."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None

    def __post_init__(self) -> None:
        assign = object.__setattr__
        assign(self, "source_id", str(self.source_id))
        assign(self, "target_id", str(self.target_id))
        assign(self, "type", EdgeType(self.type))
        if self.source_id == self.target_id:
            raise InputError(f"an edge cannot lead from node {self.source_id!r} to itself")
        assign(self, "weight", checked_unit("weight of edge", self.key, self.weight))
        assign(self, "last_activated", self.last_activated or self.created_at)
        for name in ("created_at", "last_activated"):
            assign(self, name, to_utc(getattr(self, name)))
        for name in ("valid_from", "valid_to"):
            moment = getattr(self, name)
            assign(self, name, moment and to_utc(moment))

    @property
    def key(self) -> EdgeKey:
        """The edge's identity."""
        return EdgeKey(self.source_id, self.target_id, self.type)

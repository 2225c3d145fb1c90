"""What nodes and edges hold beside the columns of a view."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Protocol, Self, TypeVar

from neurogated.core.found import Found
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.view import Rows
from neurogated.errors import UnknownIdError
from neurogated.storage.resolve import Plan

__all__ = ["EdgeRecord", "MemoryRecords", "NodeRecord", "Records", "RecordsErasedError", "portions", "unerased"]

_Record = TypeVar("_Record")
_Answer = TypeVar("_Answer")
_Key = TypeVar("_Key")

# How many nodes or edges are made at once of their records.
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """What a node holds beside its columns and its vector."""

    content: str
    metadata: Mapping[str, Any]
    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    timestamp: datetime | None
    role: str | None
    speaker: str | None
    title: str | None
    position: int | None
    tags: tuple[str, ...]
    found: Found

    def fields(self) -> dict[str, Any]:
        """Return what it holds by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def of(cls, node: MemoryNode) -> NodeRecord:
        """Return what `node` holds beside its columns and its vector."""
        return cls(**{name: getattr(node, name) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """What an edge holds beside its columns."""

    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    relation: str | None

    @classmethod
    def of(cls, edge: MemoryEdge) -> EdgeRecord:
        """Return what `edge` holds beside its columns."""
        return cls(**{name: getattr(edge, name) for name in cls.__slots__})


class RecordsErasedError(Exception):
    """A record that was to be read has been erased since the state was taken."""


class Records(Protocol):
    """What nodes and edges hold beside the columns of a view, by row."""

    def nodes(self, rows: Rows) -> Sequence[NodeRecord]:
        """Return the records of nodes in the order of `rows`; raises RecordsErasedError."""

    def edges(self, rows: Rows) -> Sequence[EdgeRecord]:
        """Return the records of edges in the order of `rows`; raises RecordsErasedError."""

    def isolated(self) -> Self:
        """Return records that later changes do not reach."""


@dataclass(frozen=True, slots=True)
class MemoryRecords:
    """Records in dictionaries, which change with the graph."""

    node_payloads: dict[int, NodeRecord] = field(default_factory=dict)
    edge_payloads: dict[int, EdgeRecord] = field(default_factory=dict)

    def commit(self, plan: Plan) -> None:
        """Take in a planned change."""
        for row in plan.removed_nodes.tolist():
            self.node_payloads.pop(row, None)
        for row, node in zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True):
            self.node_payloads[row] = NodeRecord.of(node)
        for row, edge in zip(plan.edge_rows.tolist(), plan.delta.edges, strict=True):
            self.edge_payloads[row] = EdgeRecord.of(edge)
        for row in plan.removed_edges.tolist():
            self.edge_payloads.pop(row, None)

    def nodes(self, rows: Rows) -> list[NodeRecord]:
        """Return the records of nodes; see Records."""
        # Metadata is handed out, and must not change in the store when it is changed there.
        records = _found(self.node_payloads, rows)
        return [replace(record, metadata=deepcopy(record.metadata)) for record in records]

    def edges(self, rows: Rows) -> list[EdgeRecord]:
        """Return the records of edges; see Records."""
        return _found(self.edge_payloads, rows)

    def isolated(self) -> Self:
        """Return a copy of the dictionaries."""
        return type(self)(dict(self.node_payloads), dict(self.edge_payloads))


def _found(payloads: Mapping[int, _Record], rows: Rows) -> list[_Record]:
    try:
        return [payloads[row] for row in rows.tolist()]
    except KeyError as error:
        raise RecordsErasedError from error


def unerased(
    read: Callable[[], list[_Answer]], keys: Iterable[_Key], read_one: Callable[[_Key], _Answer]
) -> list[_Answer]:
    """Return what was read; where some of it has been erased, what is left of it by its keys."""
    try:
        return read()
    except RecordsErasedError:
        left = []
        for key in keys:
            with suppress(UnknownIdError):
                left.append(read_one(key))
        return left


def portions(rows: Rows) -> Iterator[Rows]:
    """Yield rows in parts whose nodes or edges are in memory at once."""
    return (rows[begin : begin + _AT_ONCE] for begin in range(0, rows.size, _AT_ONCE))

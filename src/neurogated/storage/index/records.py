"""Records: the fields of nodes and edges that the columns of a view do not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from operator import attrgetter
from typing import Any, Protocol, Self, TypeVar

from neurogated.core.found import Found, Said
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.view import Rows
from neurogated.errors import UnknownIdError
from neurogated.storage.index.graph.resolve import Plan

_Record = TypeVar("_Record")
_Answer = TypeVar("_Answer")
_Key = TypeVar("_Key")

# How many nodes or edges are in memory at once.
_AT_ONCE = 1000


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """The fields of a node that are neither columns nor its vector."""

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
        """Return the fields by name."""
        return dict(zip(self.__slots__, _FIELDS(self), strict=True))

    @classmethod
    def of(cls, node: MemoryNode) -> NodeRecord:
        """Return the record of `node`."""
        return cls(*_FIELDS(node))


_FIELDS = attrgetter(*NodeRecord.__slots__)


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """The fields of an edge that are not columns."""

    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    relation: str | None

    @classmethod
    def of(cls, edge: MemoryEdge) -> EdgeRecord:
        """Return the record of `edge`."""
        return cls(**{name: getattr(edge, name) for name in cls.__slots__})


def said_of(node: NodeRecord | MemoryNode) -> Said:
    """Return when a node was said, and its text if that names times."""
    return Said(node.timestamp, node.found.zone, node.content if node.found.times else "")


class RecordsErasedError(Exception):
    """A record was erased after the state was taken."""


class Records(Protocol):
    """The records of nodes and edges, by row."""

    def nodes(self, rows: Rows) -> Sequence[NodeRecord]:
        """Return the records of nodes in the order of `rows`; raises RecordsErasedError."""

    def said(self, rows: Rows) -> Sequence[Said]:
        """Return when nodes were said in the order of `rows`; raises RecordsErasedError."""

    def edges(self, rows: Rows) -> Sequence[EdgeRecord]:
        """Return the records of edges in the order of `rows`; raises RecordsErasedError."""

    def isolated(self) -> Self:
        """Return records that later changes do not affect."""


@dataclass(frozen=True, slots=True)
class MemoryRecords:
    """Records in dictionaries, which change with the graph."""

    node_payloads: dict[int, NodeRecord] = field(default_factory=dict)
    edge_payloads: dict[int, EdgeRecord] = field(default_factory=dict)

    def commit(self, plan: Plan) -> None:
        """Apply a planned change."""
        for row in plan.removed_nodes.tolist():
            self.node_payloads.pop(row, None)
        for row, node in zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True):
            self.node_payloads[row] = NodeRecord.of(node)
        for row, edge in zip(plan.edge_rows.tolist(), plan.delta.edges, strict=True):
            self.edge_payloads[row] = EdgeRecord.of(edge)
        for row in plan.removed_edges.tolist():
            self.edge_payloads.pop(row, None)

    def nodes(self, rows: Rows) -> list[NodeRecord]:
        # Callers may change the metadata, which must not change the store.
        records = _found(self.node_payloads, rows)
        return [replace(record, metadata=deepcopy(record.metadata)) for record in records]

    def said(self, rows: Rows) -> list[Said]:
        return list(map(said_of, _found(self.node_payloads, rows)))

    def edges(self, rows: Rows) -> list[EdgeRecord]:
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
    """Return the result of `read`; if records were erased, read the remaining ones by key."""
    try:
        return read()
    except RecordsErasedError:
        left = []
        for key in keys:
            with suppress(UnknownIdError):
                left.append(read_one(key))
        return left


def portions(rows: Rows) -> Iterator[Rows]:
    """Split rows into batches, so that few nodes or edges are in memory at once."""
    return (rows[begin : begin + _AT_ONCE] for begin in range(0, rows.size, _AT_ONCE))

"""What every store offers on top of its primitives."""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, suppress
from datetime import datetime
from functools import partial
from itertools import chain
from typing import Self, TypeVar, overload

import numpy as np

from neurogated.core.clock import Clock
from neurogated.core.column_view import ColumnView
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Filter
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Vector, checked_count
from neurogated.core.text import checked_text
from neurogated.core.view import GraphView, Rows
from neurogated.errors import AmbiguousEdgeError, CorruptMemoryError, InputError, UnknownIdError
from neurogated.storage.graph_state import GraphState, RecordsErasedError

__all__ = ["BaseStore"]

_Answer = TypeVar("_Answer")
_Key = TypeVar("_Key")

_ORDERED = frozenset(
    (
        "id",
        "base_energy",
        "energy_at",
        "importance",
        "uses",
        "last_accessed",
        "created_at",
        "timestamp",
        "position",
        "expires_at",
        "valid_from",
        "valid_to",
    )
)

# How many nodes or edges are made at once of their records.
_AT_ONCE = 1000


class BaseStore(ABC):
    """Derives the conveniences of a store from `apply`, `view`, `get_nodes`, `nearest` and `close`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._lock = threading.RLock()

    @abstractmethod
    def apply(self, delta: GraphDelta) -> int:
        """Make the change whole or not at all; return its number."""

    @abstractmethod
    def view(
        self,
        *,
        valid_at: datetime | None = None,
        filters: Filter | None = None,
        around: Iterable[str] | None = None,
        hops: int = 1,
    ) -> GraphView:
        """Return a snapshot of the graph, or of the part around some nodes."""

    @abstractmethod
    def get_nodes(self, node_ids: Sequence[str], *, missing_ok: bool = False) -> list[MemoryNode]:
        """Return nodes in the order of their ids; raises UnknownIdError unless `missing_ok` leaves unknown ids out."""

    @abstractmethod
    def nearest(self, query: Vector, k: int, view: ColumnView | None = None) -> list[tuple[str, float]]:
        """Return ids and cosines of the most similar nodes, best first."""

    @abstractmethod
    def _latest(self) -> GraphState:
        """Return what this thread may read, with what other processes have written by now."""

    @abstractmethod
    def _latest_isolated(self) -> GraphState:
        """Return what `_latest` does, for as long as it is needed: no later change of the indexes reaches it."""

    @abstractmethod
    def _steady(self) -> AbstractContextManager[object]:
        """Let no other process erase records from what is read within the block; the lock is held."""

    @abstractmethod
    def close(self) -> None:
        """Release what the store holds."""

    def add_node(self, node: MemoryNode) -> None:
        """Add a node, or put it in the place of the node with its id."""
        self.apply(GraphDelta(nodes=(node,), reason="add_node", at=self._clock()))

    @overload
    def add_edge(self, source: MemoryEdge) -> None: ...
    @overload
    def add_edge(self, source: str, target: str, type: EdgeType, weight: float = 1.0) -> None: ...

    def add_edge(
        self,
        source: MemoryEdge | str,
        target: str | None = None,
        type: EdgeType | None = None,  # noqa: A002 - the specification's name
        weight: float = 1.0,
    ) -> None:
        """Add an edge, or put it in the place of the edge with its ends and type.

        Raises:
            InputError: an end does not exist, the weight is not between 0 and 1, or `target` or `type` is missing.
        """
        now = self._clock()
        if not isinstance(source, MemoryEdge):
            if target is None or type is None:
                raise InputError("add_edge needs a MemoryEdge, or source, target and type")
            source = MemoryEdge(source, target, type, weight, created_at=now)
        self.apply(GraphDelta(edges=(source,), reason="add_edge", at=now))

    def remove_node(self, node_id: str) -> None:
        """Remove a node and its edges; raises UnknownIdError."""
        self.apply(GraphDelta(removed_nodes=(node_id,), reason="remove_node", at=self._clock()))

    def remove_edge(self, edge: MemoryEdge | EdgeKey) -> None:
        """Remove one edge; raises UnknownIdError."""
        key = edge.key if isinstance(edge, MemoryEdge) else EdgeKey(*edge)
        self.apply(GraphDelta(removed_edges=(key,), reason="remove_edge", at=self._clock()))

    def has_node(self, node_id: str) -> bool:
        """Return whether the node exists."""
        return self._latest().view.find(node_id) is not None

    def get_node(self, node_id: str) -> MemoryNode:
        """Return a node; raises UnknownIdError."""
        return self.get_nodes([node_id])[0]

    def get_edge(self, source_id: str, target_id: str, edge_type: EdgeType | None = None) -> MemoryEdge:
        """Return the edge from one node to another.

        Raises:
            UnknownIdError: a node does not exist, or no such edge.
            AmbiguousEdgeError: edges of several types lead from the one to the other and `edge_type` is not given.
        """

        def find(state: GraphState) -> list[MemoryEdge]:
            view = state.view
            source, target = view.rows([source_id]), view.rows([target_id])
            types = view.edge_types if edge_type is None else (edge_type,)
            rows = np.concatenate([np.empty(0, np.int64), *(view.edge_rows(source, target, kind) for kind in types)])
            return state.edges(rows[rows >= 0])

        edges = self._read(find)
        if not edges:
            kind = "" if edge_type is None else f"{edge_type.name} "
            raise UnknownIdError(f"no {kind}edge from {source_id!r} to {target_id!r} in the memory")
        if len(edges) > 1:
            names = " and ".join(edge.type.name for edge in edges)
            raise AmbiguousEdgeError(f"{names} edges lead from {source_id!r} to {target_id!r}; name the type")
        return edges[0]

    def get_neighbors(self, node_id: str) -> Iterator[tuple[str, MemoryEdge]]:
        """Yield the nodes that stored edges lead to from `node_id`, each with its edge, oldest edge first."""

        def leaving(state: GraphState) -> list[MemoryEdge]:
            view = state.view
            return state.edges(np.sort(view.arcs(view.rows([node_id])).edge))

        return iter([(edge.target_id, edge) for edge in self._read(leaving)])

    def all_nodes(self) -> Iterator[MemoryNode]:
        """Yield every node in the order they were added, as they are now; some of them are in memory at a time."""
        state = self._latest_isolated()
        return chain.from_iterable(
            self._unerased(partial(state.nodes, rows), [state.view.ids[row] for row in rows.tolist()], self.get_node)
            for rows in _portions(state.view.live_nodes())
        )

    def all_edges(self) -> Iterator[MemoryEdge]:
        """Yield every edge in the order they were added, as they are now; some of them are in memory at a time."""
        state = self._latest_isolated()
        return chain.from_iterable(
            self._unerased(
                partial(state.edges, rows), map(state.view.edge_key, rows.tolist()), lambda key: self.get_edge(*key)
            )
            for rows in _portions(state.view.live_edges())
        )

    def find(
        self,
        filters: Filter | None = None,
        *,
        order_by: str | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[MemoryNode]:
        """Return the nodes that a filter admits and that have not expired.

        Args:
            filters: which nodes; all when left out.
            order_by: a field of MemoryNode that has an order, with a minus before it for the largest first; nodes
                without a value come last. The order in which they were added when left out.
            limit: how many at most.
            offset: how many of the first are passed over.

        Raises:
            InputError: the field has no order, or `limit` or `offset` is below 0.
        """
        for name, number in (("offset", offset), ("limit", 0 if limit is None else limit)):
            checked_count(name, number)
        if order_by is not None and str(order_by).removeprefix("-") not in _ORDERED:
            raise InputError(f"nodes cannot be ordered by {order_by!r}; choose one of {', '.join(sorted(_ORDERED))}")
        view = self.view(filters=filters)
        rows = view.live_nodes()
        rows = rows[view.admitted(rows)]
        part = slice(offset, None if limit is None else offset + limit)
        if order_by is None:
            return self.get_nodes([view.ids[row] for row in rows[part].tolist()], missing_ok=True)
        name = order_by.removeprefix("-")
        nodes = self.get_nodes([view.ids[row] for row in rows.tolist()], missing_ok=True)
        known = [node for node in nodes if getattr(node, name) is not None]
        known.sort(key=lambda node: getattr(node, name), reverse=order_by.startswith("-"))
        return [*known, *(node for node in nodes if getattr(node, name) is None)][part]

    def find_edges(self, relation: str, *, edge_type: EdgeType | None = None) -> list[MemoryEdge]:
        """Return the edges with a relation, in the order they were added."""
        checked_text("a relation", relation)

        def related(state: GraphState) -> list[MemoryEdge]:
            rows = np.array(state.form.relations.get(relation, ()), dtype=np.int64)
            rows = rows[rows < state.view.edge_count]
            return state.edges(rows[~np.isnan(state.view.weight.take(rows))])

        return [edge for edge in self._read(related) if edge_type in (None, edge.type)]

    def vector_search(self, query: Vector, k: int) -> list[tuple[MemoryNode, float]]:
        """Return the `k` nodes most similar to `query` by exact cosine, best first, ties in order of id."""
        found = self.nearest(query, k)
        # A node may be removed before it is read.
        nodes = {node.id: node for node in self.get_nodes([node_id for node_id, _ in found], missing_ok=True)}
        return [(nodes[node_id], score) for node_id, score in found if node_id in nodes]

    def __len__(self) -> int:
        return self._latest().view.live_nodes().size

    def _unerased(
        self, read: Callable[[], list[_Answer]], keys: Iterable[_Key], read_one: Callable[[_Key], _Answer]
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

    def _read(self, question: Callable[[GraphState], _Answer]) -> _Answer:
        """Return the answer to a question that reads records.

        Compaction may erase records after a state is taken, so the question is asked again of the state that follows.

        Raises:
            CorruptMemoryError: records are missing from the present state.
        """
        asked: GraphState | None = None
        state = self._latest()
        while asked is None or state.view is not asked.view:
            try:
                return question(state)
            except RecordsErasedError:
                asked, state = state, self._latest()
        try:
            with self._lock, self._steady():
                return question(self._latest())
        except RecordsErasedError as error:
            raise CorruptMemoryError("records of the memory are missing; restore a snapshot") from error

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _portions(rows: Rows) -> Iterator[Rows]:
    return (rows[begin : begin + _AT_ONCE] for begin in range(0, rows.size, _AT_ONCE))

"""What a store tells of its nodes and edges, one by one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from itertools import chain
from typing import TypeVar
from uuid import UUID

import numpy as np

from neurogated.core.clock import to_micros
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, Neighbor
from neurogated.core.text import checked_text
from neurogated.core.view import Rows
from neurogated.errors import AmbiguousEdgeError, CorruptMemoryError, UnknownIdError
from neurogated.storage.graph_state import GraphState
from neurogated.storage.isolated_store import IsolatedStore
from neurogated.storage.log.records import RecordsErasedError

__all__ = ["ReadableStore"]

_Answer = TypeVar("_Answer")
_Key = TypeVar("_Key")

# How many nodes or edges are made at once of their records.
_AT_ONCE = 1000


class ReadableStore(IsolatedStore):
    """Reads nodes and edges one by one."""

    def get_nodes(self, node_ids: Sequence[str | UUID], *, missing_ok: bool = False) -> list[MemoryNode]:
        """Return the nodes in the order of their ids, those that have expired too.

        Raises:
            UnknownIdError: an id is not in the memory, and `missing_ok` is not set.
        """

        def read(state: GraphState) -> list[MemoryNode]:
            view, wanted = state.view, list(map(str, node_ids))
            if missing_ok:
                wanted = [one for one in wanted if view.find(one) is not None]
            return state.nodes(view.rows(wanted))

        return self._read(read)

    def has_node(self, node_id: str | UUID) -> bool:
        """Return whether the node exists."""
        return self._latest().view.find(str(node_id)) is not None

    def get_node(self, node_id: str | UUID) -> MemoryNode:
        """Return a node; raises UnknownIdError."""
        return self.get_nodes([node_id])[0]

    def get_edge(self, source_id: str | UUID, target_id: str | UUID, edge_type: EdgeType | None = None) -> MemoryEdge:
        """Return the edge from one node to another.

        Raises:
            UnknownIdError: a node does not exist, or no such edge.
            AmbiguousEdgeError: edges of several types lead from the one to the other and `edge_type` is not given.
        """

        def find(state: GraphState) -> list[MemoryEdge]:
            view = state.view
            source, target = view.rows([str(source_id)]), view.rows([str(target_id)])
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

    def get_neighbors(self, node_id: str | UUID) -> list[Neighbor]:
        """Return the nodes that stored edges lead to from `node_id`, each with its edge, oldest edge first."""

        def leaving(state: GraphState) -> list[MemoryEdge]:
            view = state.view
            return state.edges(np.sort(view.arcs(view.rows([str(node_id)])).edge))

        return [Neighbor(edge.target_id, edge) for edge in self._read(leaving)]

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

    def expired(self, now: datetime) -> list[str]:
        """Return the ids of the nodes that are to be forgotten by `now`."""
        with self._reading(latest=True) as state:
            return [state.view.ids[row] for row in state.form.lifetimes.expired(to_micros(now)).tolist()]

    def find_edges(self, relation: str, *, edge_type: EdgeType | None = None) -> list[MemoryEdge]:
        """Return the edges with a relation, in the order they were added."""
        checked_text("a relation", relation)

        def related(state: GraphState) -> list[MemoryEdge]:
            rows = np.array(state.form.relations.get(relation, ()), dtype=np.int64)
            rows = rows[rows < state.view.edge_count]
            return state.edges(rows[~np.isnan(state.view.weight.take(rows))])

        return [edge for edge in self._read(related) if edge_type in (None, edge.type)]

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
        with self._searching:
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


def _portions(rows: Rows) -> Iterator[Rows]:
    return (rows[begin : begin + _AT_ONCE] for begin in range(0, rows.size, _AT_ONCE))

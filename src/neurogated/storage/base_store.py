"""What every store offers on top of its primitives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Self, overload

import numpy as np

from neurogated.core.clock import Clock
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Vector
from neurogated.core.view import GraphView, Rows
from neurogated.errors import AmbiguousEdgeError, InputError, UnknownIdError

__all__ = ["BaseStore"]


class BaseStore(ABC):
    """Derives the conveniences of a store from `apply`, `view`, `get_nodes`, `nearest` and `close`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @abstractmethod
    def apply(self, delta: GraphDelta) -> int:
        """Make the change whole or not at all; return its number."""

    @abstractmethod
    def view(self, *, valid_at: datetime | None = None) -> GraphView:
        """Return a snapshot of the graph."""

    @abstractmethod
    def get_nodes(self, node_ids: Sequence[str]) -> list[MemoryNode]:
        """Return nodes in the order of their ids; raises UnknownIdError."""

    @abstractmethod
    def nearest(self, query: Vector, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and cosines of the most similar nodes, best first."""

    @abstractmethod
    def _whole(self) -> GraphView:
        """Return a snapshot of the graph with what has expired and is not removed yet."""

    @abstractmethod
    def _edges(self, view: GraphView, rows: Rows) -> list[MemoryEdge]:
        """Return the edges at `rows` of `view`."""

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
        return self._whole().find(node_id) is not None

    def get_node(self, node_id: str) -> MemoryNode:
        """Return a node; raises UnknownIdError."""
        return self.get_nodes([node_id])[0]

    def get_edge(self, source_id: str, target_id: str, edge_type: EdgeType | None = None) -> MemoryEdge:
        """Return the edge from one node to another.

        Raises:
            UnknownIdError: a node does not exist, or no such edge.
            AmbiguousEdgeError: edges of several types lead from the one to the other and `edge_type` is not given.
        """
        view = self._whole()
        source, target = view.rows([source_id]), view.rows([target_id])
        types = view.edge_types if edge_type is None else (edge_type,)
        rows = np.concatenate([np.empty(0, np.int64), *(view.edge_rows(source, target, kind) for kind in types)])
        edges = self._edges(view, rows[rows >= 0])
        if not edges:
            kind = "" if edge_type is None else f"{edge_type.name} "
            raise UnknownIdError(f"no {kind}edge from {source_id!r} to {target_id!r} in the memory")
        if len(edges) > 1:
            names = " and ".join(edge.type.name for edge in edges)
            raise AmbiguousEdgeError(f"{names} edges lead from {source_id!r} to {target_id!r}; name the type")
        return edges[0]

    def get_neighbors(self, node_id: str) -> Iterator[tuple[str, MemoryEdge]]:
        """Yield the nodes that stored edges lead to from `node_id`, each with its edge, oldest edge first."""
        view = self._whole()
        edges = self._edges(view, np.sort(view.arcs(view.rows([node_id])).edge))
        return iter([(edge.target_id, edge) for edge in edges])

    def all_nodes(self) -> Iterator[MemoryNode]:
        """Yield every node in the order they were added."""
        view = self._whole()
        return iter(self.get_nodes([view.ids[row] for row in view.live_nodes().tolist()]))

    def all_edges(self) -> Iterator[MemoryEdge]:
        """Yield every edge in the order they were added."""
        view = self._whole()
        return iter(self._edges(view, view.live_edges()))

    def vector_search(self, query: Vector, k: int) -> list[tuple[MemoryNode, float]]:
        """Return the `k` nodes most similar to `query` by exact cosine, best first, ties in order of id."""
        found = self.nearest(query, k)
        nodes = self.get_nodes([node_id for node_id, _ in found])
        return [(node, score) for node, (_, score) in zip(nodes, found, strict=True)]

    def __len__(self) -> int:
        return self._whole().live_nodes().size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

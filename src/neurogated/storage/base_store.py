"""What every store offers on top of its primitives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Self, overload

from neurogated.core.clock import Clock
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Vector
from neurogated.core.view import GraphView
from neurogated.errors import InputError

__all__ = ["BaseStore"]


class BaseStore(ABC):
    """Derives the conveniences of a store from `apply`, `view`, `get_nodes`, `nearest` and `close`."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock

    @abstractmethod
    def apply(self, delta: GraphDelta) -> int:
        """Make the change whole or not at all; return its number."""

    @abstractmethod
    def view(self) -> GraphView:
        """Return a snapshot of the graph."""

    @abstractmethod
    def get_nodes(self, node_ids: Sequence[str]) -> list[MemoryNode]:
        """Return nodes in the order of their ids; raises UnknownIdError."""

    @abstractmethod
    def nearest(self, query: Vector, k: int) -> list[tuple[str, float]]:
        """Return ids and cosines of the most similar nodes, best first."""

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
        return self.view().find(node_id) is not None

    def get_node(self, node_id: str) -> MemoryNode:
        """Return a node; raises UnknownIdError."""
        return self.get_nodes([node_id])[0]

    def vector_search(self, query: Vector, k: int) -> list[tuple[MemoryNode, float]]:
        """Return the `k` nodes most similar to `query` by exact cosine, best first, ties in order of id."""
        found = self.nearest(query, k)
        nodes = self.get_nodes([node_id for node_id, _ in found])
        return [(node, score) for node, (_, score) in zip(nodes, found, strict=True)]

    def __len__(self) -> int:
        return self.view().live_nodes().size

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

"""Reads of a store by ids, for tests."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView


def nearest(store: GraphStorePort, query: Vector, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
    """Return the ids and cosines of the nearest nodes, in a view or now."""
    found = store.snapshot(view)
    ((rows, scores),) = found.nearest([query], k)
    return list(zip(found.view.names(rows), scores.tolist(), strict=True))


def keyword_search(store: GraphStorePort, query: str, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
    """Return the ids and scores of the best nodes by keywords, in a view or now."""
    found = store.snapshot(view)
    rows, scores = found.keyword_search(query, k)
    return list(zip(found.view.names(rows), scores.tolist(), strict=True))


def nodes_with(
    store: GraphStorePort, terms: Collection[str], limit: int | None = None, view: GraphView | None = None
) -> list[str]:
    """Return the ids of the nodes that have all of `terms`, in a view, or of all, also expired ones."""
    found = store.snapshot(view, whole=True)
    return found.view.names(found.rows_with(terms, limit))


def terms_of(store: GraphStorePort, names: Sequence[str], at_most: int | None = None) -> list[frozenset[str]]:
    """Return each node's tags and search terms, or those that at most so many have."""
    found = store.snapshot(whole=True)
    return found.terms_of(found.view.rows(names), at_most)


def has_node(store: GraphStorePort, name: str) -> bool:
    """Return whether a store has a node, which may have expired."""
    return store.snapshot(whole=True).view.find(name) is not None


def get_node(store: GraphStorePort, name: str) -> MemoryNode:
    """Return a node; raises UnknownIdError."""
    return store.get_nodes([name])[0]


def all_edges(store: GraphStorePort) -> list[MemoryEdge]:
    """Return all stored edges, also those of expired nodes, in the order they were added."""
    found = store.snapshot(whole=True)
    return found.edges(found.view.live_edges())


def get_edge(store: GraphStorePort, source: str, target: str, kind: EdgeType | None = None) -> MemoryEdge:
    """Return the only edge between two nodes, of a type or of any."""
    ends = source, target
    (found,) = (edge for edge in all_edges(store) if edge.key[:2] == ends and kind in (None, edge.type))
    return found

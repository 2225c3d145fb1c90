"""The edges a new node gets: SEQ along its document and SIM to what is most alike."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import pairwise
from typing import Protocol

import numpy as np

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.core.ports import GraphStorePort
from neurogated.utils.vector_utils import exact_cosines

__all__ = ["Neighborhood", "fitted", "reweighed_similarities", "sequence_edges", "similarity_edges"]


class Neighborhood(Protocol):
    """Nodes among which the most similar can be found, as in a store."""

    def nearest(self, query: Vector, k: int) -> list[tuple[str, float]]:
        """Return ids and cosines of the `k` most similar nodes, best first, ties in order of id."""


def sequence_edges(
    node_ids: Sequence[str], new_ids: Iterable[str], *, weight: float, at: datetime
) -> Iterator[MemoryEdge]:
    """Yield a SEQ edge from each node of a document to the next, where one of the two is new.

    Pairs of old nodes are left alone, because use may have changed the weight between them.
    """
    new = frozenset(new_ids)
    for source, target in pairwise(node_ids):
        if source in new or target in new:
            yield MemoryEdge(source, target, EdgeType.SEQ, weight, created_at=at)


def similarity_edges(
    new_nodes: Sequence[MemoryNode], store: Neighborhood, *, neighbors: int, at: datetime
) -> Iterator[MemoryEdge]:
    """Yield SIM edges from each new node to the `neighbors` most similar nodes that exist before it.

    Those are the nodes in `store` and the earlier ones of `new_nodes`; there is no threshold. The weight is
    max(0, cosine). How nodes are grouped into calls makes no difference to the edges.
    """
    if not new_nodes or not neighbors:
        return
    vectors = np.stack([np.asarray(node.embedding) for node in new_nodes])
    for position, node in enumerate(new_nodes):
        among_new = exact_cosines(vectors[:position], vectors[position]).tolist()
        # One more than wanted, since the node itself may be among them: a new version of it, or the same node
        # that another thread stored meanwhile.
        candidates = dict(store.nearest(vectors[position], neighbors + 1))
        candidates.update(zip((earlier.id for earlier in new_nodes[:position]), among_new, strict=True))
        candidates.pop(node.id, None)
        best = sorted(candidates.items(), key=lambda pair: (-pair[1], pair[0]))[:neighbors]
        for neighbor_id, cosine in best:
            yield MemoryEdge(node.id, neighbor_id, EdgeType.SIM, _weight(cosine), created_at=at)


def fitted(edges: Iterable[MemoryEdge], nodes: Sequence[MemoryNode]) -> Iterator[MemoryEdge]:
    """Yield SIM edges, those between two of `nodes` with the cosine of the embeddings that these have."""
    vectors = {node.id: np.asarray(node.embedding) for node in nodes if node.embedding is not None}
    for edge in edges:
        ends = [vectors.get(edge.source_id), vectors.get(edge.target_id)]
        source, target = ends
        if source is None or target is None:
            yield edge
        else:
            yield replace(edge, weight=_weight(float(exact_cosines(source[np.newaxis], target)[0])))


def reweighed_similarities(
    nodes: Sequence[MemoryNode], store: GraphStorePort, *, without: Collection[str] = ()
) -> Iterator[MemoryEdge]:
    """Yield the stored SIM edges of `nodes`, new versions of stored ones, whose weight their new embeddings change.

    Edges from or to nodes that the store is to lose, `without`, are left out.
    """
    view = store.view()
    rows = view.known_rows(node.id for node in nodes)
    keys = [view.edge_key(row) for row in np.unique(view.arcs(rows, EdgeType.SIM, both_ways=True).edge).tolist()]
    keys = [key for key in keys if not {key.source_id, key.target_id}.intersection(without)]
    new = {node.id for node in nodes}
    others = {end for key in keys for end in (key.source_id, key.target_id)} - new
    versions = [*nodes, *store.get_nodes(sorted(others))]
    stored = [store.get_edge(*key) for key in keys]
    for old, edge in zip(stored, fitted(stored, versions), strict=True):
        if old.weight != edge.weight:
            yield edge


def _weight(cosine: float) -> float:
    return max(0.0, min(1.0, cosine))

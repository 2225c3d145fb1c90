"""The edges a new node gets: SEQ along its document and SIM to what is most alike."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from itertools import pairwise
from typing import Protocol

import numpy as np

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.utils.vector_utils import exact_cosines

__all__ = ["Neighborhood", "sequence_edges", "similarity_edges"]


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
        candidates = dict(store.nearest(vectors[position], neighbors))
        candidates.update(zip((earlier.id for earlier in new_nodes[:position]), among_new, strict=True))
        # Another thread may have stored the same node meanwhile.
        candidates.pop(node.id, None)
        best = sorted(candidates.items(), key=lambda pair: (-pair[1], pair[0]))[:neighbors]
        for neighbor_id, cosine in best:
            yield MemoryEdge(node.id, neighbor_id, EdgeType.SIM, max(0.0, min(1.0, cosine)), created_at=at)

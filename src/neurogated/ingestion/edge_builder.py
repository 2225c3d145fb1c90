"""The edges of a new node: SEQ along its document, SIM to its nearest neighbours, and ASSOC to active memories."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from itertools import pairwise

import numpy as np

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView
from neurogated.ingestion.user_graph import UserGraph, by_user
from neurogated.utils.vector_utils import exact_cosines

TEMPORAL = "temporal"
"""The relation of an edge between memories that were active at the same time."""
_TEMPORAL_WEIGHT = 0.2
"""Of such an edge: little, since being told at one time says little."""
_ACTIVE = 64
"""Memories of a user, accessed last, that count as active: a session or two."""

Nearest = Callable[[Sequence[Vector], int], Sequence[Iterable[tuple[str, float]]]]
"""Returns for each vector the ids and cosines of the k nearest nodes, best first, ties by id."""


def nearest_in(
    graph_of: Callable[[str | None], UserGraph], *, without: AbstractSet[str] = frozenset()
) -> Callable[[str | None], Nearest]:
    """Return a function from a user to the nearest-neighbour search of that user, which skips the nodes `without`."""

    def nearest_of(user_id: str | None) -> Nearest:
        search = graph_of(user_id).nearest

        def nearest(vectors: Sequence[Vector], k: int) -> Sequence[Iterable[tuple[str, float]]]:
            found = search(vectors, k + len(without))
            return [[pair for pair in pairs if pair[0] not in without][:k] for pairs in found] if without else found

        return nearest

    return nearest_of


def sequence_edges(node_ids: Sequence[str], new_ids: Iterable[str], *, at: datetime) -> Iterator[MemoryEdge]:
    """Yield a SEQ edge from each node of a document to the next, if one of the two is new.

    Edges between two old nodes stay unchanged, because use may have changed their weights.
    """
    new = frozenset(new_ids)
    for source, target in pairwise(node_ids):
        if source in new or target in new:
            yield MemoryEdge(source, target, EdgeType.SEQ, created_at=at)


def similarity_edges(
    new_nodes: Sequence[MemoryNode], nearest_of: Callable[[str | None], Nearest], *, neighbors: int, at: datetime
) -> Iterator[MemoryEdge]:
    """Yield SIM edges from each new node that has a vector to the `neighbors` most similar earlier nodes of its user.

    Earlier nodes are the nodes in the user's search and the preceding `new_nodes`. There is no threshold. The weight is
    max(0, cosine). The edges do not depend on the grouping of nodes into calls.
    """
    embedded = [node for node in new_nodes if node.embedding is not None]
    for user_id, nodes in by_user(embedded) if neighbors else ():
        yield from _edges_to_nearest(nodes, nearest_of(user_id), neighbors, at)


def _edges_to_nearest(
    new_nodes: Sequence[MemoryNode], nearest: Nearest, neighbors: int, at: datetime
) -> Iterator[MemoryEdge]:
    vectors = np.stack([np.asarray(node.embedding) for node in new_nodes])
    # One more than needed, since the search may find the node itself: an old version, or the same node that another
    # thread has stored.
    found = nearest(list(vectors), neighbors + 1)
    # Every comparison needs double precision, so this converts once.
    exact = vectors.astype(np.float64)
    for position, (node, stored) in enumerate(zip(new_nodes, found, strict=True)):
        candidates = dict(stored)
        if position:
            among_new = exact_cosines(exact[:position], exact[position])
            least = np.partition(among_new, -neighbors)[-neighbors] if position > neighbors else -1.0
            likely = np.flatnonzero(among_new >= least).tolist()
            candidates.update((new_nodes[row].id, float(among_new[row])) for row in likely)
        candidates.pop(node.id, None)
        best = sorted(candidates.items(), key=lambda pair: (-pair[1], pair[0]))[:neighbors]
        for neighbor_id, cosine in best:
            weight = cosine if 0.0 <= cosine <= 1.0 else _weight(cosine)
            yield MemoryEdge(node.id, neighbor_id, EdgeType.SIM, weight, created_at=at)


def fitted(edges: Iterable[MemoryEdge], nodes: Sequence[MemoryNode]) -> Iterator[MemoryEdge]:
    """Yield SIM edges; the weight of an edge between two of `nodes` is the cosine of their embeddings."""
    vectors = {node.id: np.asarray(node.embedding) for node in nodes if node.embedding is not None}
    for edge in edges:
        ends = [vectors.get(edge.source_id), vectors.get(edge.target_id)]
        source, target = ends
        if source is None or target is None:
            yield edge
        else:
            yield replace(edge, weight=_weight(float(exact_cosines(source[np.newaxis], target)[0])))


def _weight(cosine: float) -> float:
    return max(0.0, min(1.0, cosine))


def temporal_edges(
    store: GraphStorePort,
    nodes: Iterable[MemoryNode],
    settings: MetabolismSettings,
    at: datetime,
    gone: Collection[str] = (),
) -> list[MemoryEdge]:
    """Return ASSOC edges from each new node to the `temporal_neighbors` active nodes of its user with most energy.

    The active nodes are the 64 of the user that were accessed last, without those that are `gone`.
    """
    if not settings.temporal_neighbors:
        return []
    edges = []
    active: dict[str | None, Sequence[str]] = {}
    for node in nodes:
        user = node.scope.user_id
        if user not in active:
            view = store.view(filters=Filter(scope=ScopeFilter(user, alone=True), except_kinds=NO_MEMORIES))
            active[user] = _active(view, settings)
        edges += [
            MemoryEdge(node.id, other, EdgeType.ASSOC, _TEMPORAL_WEIGHT, created_at=at, relation=TEMPORAL)
            for other in active[user]
            if other != node.id and other not in gone
        ]
    return edges


def _active(view: GraphView, settings: MetabolismSettings) -> list[str]:
    rows = view.admitted_nodes()
    last = rows[np.argsort(-view.last_accessed.take(rows), kind="stable")][:_ACTIVE]
    best = last[np.argsort(-view.base_energy.take(last), kind="stable")][: settings.temporal_neighbors]
    return [view.ids[row] for row in best.tolist()]

"""Edges between texts: their order, their similarity and their time; each within the graph of one user."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from functools import lru_cache
from itertools import pairwise

import numpy as np

from neurogated.config.groups import MetabolismSettings
from neurogated.core.conflicts import CONFLICT
from neurogated.core.contexts import forgets
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.core.ports import GraphStorePort, Snapshot
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView
from neurogated.utils.vector_utils import exact_cosines

_KEPT = 512
"""Nodes that a writer keeps."""


@lru_cache(64)
def _texts_of(user_id: str | None) -> Filter:
    return Filter(scope=ScopeFilter(user_id, alone=True), originals=True)


class UserGraphs(dict[str | None, Snapshot]):
    """A state of a store for the memories of each user, and for those without a user, made when it is asked for.

    Memories derived from others, such as facts, are left out: they repeat words of their sources, so they would make
    these words seem common.
    """

    def __init__(self, whole: Snapshot) -> None:
        super().__init__()
        self._whole, self.view = whole, whole.view

    def __missing__(self, user_id: str | None) -> Snapshot:
        graph = self[user_id] = self._whole.restricted(_texts_of(user_id))
        return graph

    def nearest(self, user_id: str | None, vectors: Sequence[Vector], k: int) -> list[Iterable[tuple[str, float]]]:
        """Return for each vector the ids and cosines of the user's `k` nearest nodes, best first, ties by id."""
        ids = self.view.ids
        return [
            zip([ids[row] for row in rows.tolist()], cosines.tolist(), strict=True)
            for rows, cosines in self[user_id].nearest(vectors, k)
        ]


class RecentNodes:
    """The nodes that a writer stored last, so that the next text of a conversation need not read them again.

    They are used only while the graph is as the writer left it: a write of somebody else changes its number.
    """

    def __init__(self, store: GraphStorePort) -> None:
        self.store = store
        # The ids of the rows, the number of the last delta, and the nodes. Other threads replace it as a whole.
        self._known: tuple[Sequence[str], int, dict[str, MemoryNode]] = ((), -1, {})
        forgets(self)

    def cache_clear(self) -> None:
        """Forget them all."""
        self._known = (), -1, {}

    def read(self, node_ids: Iterable[str], view: GraphView) -> dict[str, MemoryNode]:
        """Return the existing nodes by id, in the order of the ids; `view` is of the present graph."""
        ids, sequence, nodes = self._known
        nodes = nodes if ids is view.ids and sequence == view.sequence else {}
        wanted = dict.fromkeys(node_ids)
        found = {name: node for name in wanted if (node := nodes.get(name)) is not None}
        missing = [name for name in wanted if name not in found]
        if missing:
            found |= {node.id: node for node in self.store.get_nodes(missing, missing_ok=True)}
        return {name: found[name] for name in wanted if name in found}

    def note(self, view: GraphView, nodes: Iterable[MemoryNode], delta: GraphDelta, sequence: int) -> None:
        """Keep new nodes that a delta stored, which has changed the graph of `view` to that after `sequence`.

        The write lock is held. Another thread may read meanwhile: its plan is of an older graph, and is made again.
        """
        ids, before, known = self._known
        if ids is not view.ids or before != view.sequence:
            known = {}
        if delta.removed_nodes or len(delta.nodes) > _KEPT or CONFLICT in {node.kind for node in delta.nodes}:
            # A conflict may end the valid time of other nodes.
            self.cache_clear()
            return
        put = {node.id: node for node in delta.nodes}
        for name in put:
            known.pop(name, None)
        known |= {node.id: node for node in nodes if put.get(node.id) is node}
        while len(known) > _KEPT:
            del known[next(iter(known))]
        self._known = view.ids, sequence, known


def by_user(nodes: Iterable[MemoryNode]) -> Mapping[str | None, list[MemoryNode]]:
    """Return the nodes of each user, in order."""
    groups: dict[str | None, list[MemoryNode]] = defaultdict(list)
    for node in nodes:
        groups[node.scope.user_id].append(node)
    return groups


TEMPORAL = "temporal"
"""The relation of an edge between memories that were active at the same time."""
_TEMPORAL_WEIGHT = 0.2
"""Of such an edge: little, since being told at one time says little."""
_ACTIVE = 64
"""Memories of a user, accessed last, that count as active: a session or two."""

Nearest = Callable[[str | None, Sequence[Vector], int], Sequence[Iterable[tuple[str, float]]]]
"""Returns for each vector the ids and cosines of a user's k nearest nodes, best first, ties by id."""


def sequence_edges(node_ids: Sequence[str], new_ids: Iterable[str], *, at: datetime) -> Iterator[MemoryEdge]:
    """Yield a SEQ edge from each node of a document to the next, if one of the two is new.

    Edges between two old nodes stay unchanged, because use may have changed their weights.
    """
    new = frozenset(new_ids)
    for source, target in pairwise(node_ids):
        if source in new or target in new:
            yield MemoryEdge(source, target, EdgeType.SEQ, created_at=at)


def similarity_edges(
    new_nodes: Sequence[MemoryNode],
    nearest: Nearest,
    *,
    neighbors: int,
    at: datetime,
    without: AbstractSet[str] = frozenset(),
) -> Iterator[MemoryEdge]:
    """Yield SIM edges from each new node that has a vector to the `neighbors` most similar earlier nodes of its user.

    Earlier nodes are the nodes in the user's search, but those `without`, and the preceding `new_nodes`. There is no
    threshold. The weight is max(0, cosine). The edges do not depend on the grouping of nodes into calls.
    """
    embedded = [node for node in new_nodes if node.embedding is not None]
    for user_id, nodes in by_user(embedded).items() if neighbors else ():
        vectors = [np.asarray(node.embedding) for node in nodes]
        # One more than needed, since the search may find the node itself: an old version, or the same node that another
        # thread has stored.
        found = nearest(user_id, vectors, neighbors + 1 + len(without))
        exact, size = np.array(vectors, dtype=np.float64), len(vectors)
        cosines = np.where(np.tri(size, k=-1), exact_cosines(exact, exact[:, None]), -np.inf) if size > 1 else exact
        least = np.partition(cosines, -neighbors)[:, -neighbors].tolist() if size > neighbors else [-np.inf] * size
        for position, (node, stored, among_new) in enumerate(zip(nodes, found, cosines.tolist(), strict=True)):
            earlier = zip(nodes[:position], among_new, strict=False)
            near = {
                **{name: one for name, one in stored if name not in without},
                **{one.id: cosine for one, cosine in earlier if cosine >= least[position]},
            }
            for opposite, name in sorted([(-one, name) for name, one in near.items() if name != node.id])[:neighbors]:
                weight = -opposite if 0.0 <= -opposite <= 1.0 else _weight(-opposite)
                yield MemoryEdge(node.id, name, EdgeType.SIM, weight, created_at=at)


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
            rows = view.admitted_nodes()
            last = rows[np.argsort(-view.last_accessed.take(rows), kind="stable")][:_ACTIVE]
            best = last[np.argsort(-view.base_energy.take(last), kind="stable")][: settings.temporal_neighbors]
            active[user] = view.names(best)
        edges += [
            MemoryEdge(node.id, other, EdgeType.ASSOC, _TEMPORAL_WEIGHT, created_at=at, relation=TEMPORAL)
            for other in active[user]
            if other != node.id and other not in gone
        ]
    return edges

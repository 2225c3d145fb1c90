"""The memories of one user in a store, and the nodes that were stored last.

Memories of different users are never linked or compared.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache

from neurogated.core.conflicts import CONFLICT
from neurogated.core.contexts import forgets
from neurogated.core.delta import GraphDelta
from neurogated.core.filters import Filter
from neurogated.core.model import MemoryNode, Vector
from neurogated.core.ports import GraphReader, GraphStorePort
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView

_KEPT = 512
"""Nodes that a writer keeps."""


@lru_cache(64)
def _texts_of(user_id: str | None) -> Filter:
    return Filter(scope=ScopeFilter(user_id, alone=True), originals=True)


class UserGraph:
    """A state of a store for the memories of one user, or for the memories without a user.

    Memories derived from others, such as facts, are left out: they repeat words of their sources, so they would make
    these words seem common.
    """

    def __init__(self, reader: GraphReader, user_id: str | None) -> None:
        self._reader = reader.restricted(_texts_of(user_id))
        self.view = self._reader.view
        """The whole graph; searches in it find the user's memories only."""

    def get_nodes(self, node_ids: Sequence[str]) -> list[MemoryNode]:
        """Return the existing nodes with these ids."""
        return self._reader.nodes(self.view.known_rows(node_ids)) if node_ids else []

    def nearest(self, vectors: Sequence[Vector], k: int) -> list[Iterable[tuple[str, float]]]:
        """Return for each vector the ids and cosines of the user's `k` nearest nodes, best first, ties by id."""
        ids = self.view.ids
        return [
            zip([ids[row] for row in rows.tolist()], cosines.tolist(), strict=True)
            for rows, cosines in self._reader.nearest(vectors, k)
        ]

    def nodes_with(self, terms: Collection[str], limit: int | None = None) -> list[str]:
        """Return at most `limit` of the user's nodes that have all of `terms`, in the order they were added."""
        ids = self.view.ids
        return [ids[row] for row in self._reader.rows_with(terms, limit).tolist()]

    def existing_tags(self, tags: Iterable[str]) -> frozenset[str]:
        """Return the tags that at least one of the user's nodes has."""
        return self._reader.existing_tags(tags)

    def terms_of(self, node_ids: Sequence[str]) -> list[frozenset[str]]:
        """Return each node's tags and search terms."""
        return self._reader.terms_of(self.view.rows(node_ids))


class UserGraphs(dict[str | None, UserGraph]):
    """The graphs of users, made when they are asked for."""

    def __init__(self, reader: GraphReader) -> None:
        super().__init__()
        self._reader = reader
        self.view = reader.view
        """The whole graph."""

    def __missing__(self, user_id: str | None) -> UserGraph:
        graph = self[user_id] = UserGraph(self._reader, user_id)
        return graph


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


def by_user(nodes: Iterable[MemoryNode]) -> Iterator[tuple[str | None, list[MemoryNode]]]:
    """Yield the nodes of each user, in order."""
    groups: dict[str | None, list[MemoryNode]] = defaultdict(list)
    for node in nodes:
        groups[node.scope.user_id].append(node)
    yield from groups.items()

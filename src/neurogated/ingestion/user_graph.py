"""The memories of one user in a store. Memories of different users are never linked or compared."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from neurogated.core.filters import Filter
from neurogated.core.model import MemoryNode, Vector
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import ScopeFilter


class UserGraph:
    """A snapshot of a store for the memories of one user, or for the memories without a user.

    Memories derived from others, such as facts, are left out: they repeat words of their sources, so they would make
    these words seem common.
    """

    def __init__(self, store: GraphStorePort, user_id: str | None) -> None:
        self._store = store
        self.view = store.view(filters=Filter(scope=ScopeFilter(user_id, alone=True), originals=True))
        """The whole graph; searches in it find the user's memories only."""

    def get_nodes(self, node_ids: Sequence[str]) -> list[MemoryNode]:
        """Return the existing nodes with these ids."""
        return self._store.get_nodes(node_ids, missing_ok=True)

    def nearest(self, vectors: Sequence[Vector], k: int) -> list[Iterable[tuple[str, float]]]:
        """Return for each vector the ids and cosines of the user's `k` nearest nodes, best first, ties by id."""
        found = self._store.reader(self.view).nearest(vectors, k)
        ids = self.view.ids
        return [zip((ids[row] for row in rows.tolist()), cosines.tolist(), strict=True) for rows, cosines in found]

    def nodes_with(self, terms: Collection[str], limit: int | None = None) -> list[str]:
        """Return the user's nodes that have all of `terms`; see GraphStorePort."""
        return self._store.nodes_with(terms, limit, self.view)

    def rare_nodes_with(self, limits: Mapping[str, int]) -> dict[str, list[str]]:
        """Return the user's nodes with each term, except for terms that more nodes have than their limit."""
        return self._store.rare_nodes_with(limits, self.view)

    def existing_tags(self, tags: Iterable[str]) -> frozenset[str]:
        """Return the tags that at least one of the user's nodes has."""
        return self._store.existing_tags(tags, self.view)

    def tags_of(self, node_ids: Sequence[str]) -> list[frozenset[str]]:
        """Return each node's tags."""
        return self._store.tags_of(node_ids)

    def terms_of(self, node_ids: Sequence[str], at_most: int) -> list[frozenset[str]]:
        """Return each node's tags and search terms, if possible without those that more than `at_most` nodes have."""
        # The store has no counts of terms for each user.
        return self._store.terms_of(node_ids, at_most if self.view.among is None else None)


def by_user(nodes: Iterable[MemoryNode]) -> Iterator[tuple[str | None, list[MemoryNode]]]:
    """Yield the nodes of each user, in order."""
    groups: dict[str | None, list[MemoryNode]] = defaultdict(list)
    for node in nodes:
        groups[node.scope.user_id].append(node)
    yield from groups.items()

"""What texts name: the TERM and MENTION edges that follow from it, kept right while texts come in.

TERM joins two texts that hold the same rare keyword, MENTION leads from a text to the one whose subject it names.
What is rare depends on all texts there are, so the weights of old edges change with new texts: whatever the order in
which texts come, the edges end up the same.

    TERM:     w(a, b) = min(1, sum of 1 / n(t))     over the terms t in both, held by n(t) <= MAX_TERM_TEXTS texts
    MENTION:  w(a, b) = 1 / log2(1 + n(s))          for the best-known name s of what b is about, named by
                                                    n(s) <= MAX_MENTIONS texts, a among them
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.edge_type import EdgeType
from neurogated.core.keywords import split_keywords
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import named_subjects, quoted, subjects

__all__ = ["MentionIndex"]

Pair = tuple[str, str]
"""Ids of two nodes: source and target of an edge."""


class _Holders:
    """Which texts hold what, as long as no more than `limit` do; what more hold is common and tells nothing."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._ids: dict[str, list[str] | None] = {}

    def of(self, name: str) -> Sequence[str]:
        """Return the holders in the order they came, none where the name is common."""
        return self._ids.get(name) or ()

    def add(self, name: str, node_id: str) -> tuple[str, ...]:
        """Note a holder; return all whose edges are to be weighed anew, none where the name was common already."""
        known = self._ids.setdefault(name, [])
        if known is None or node_id in known:
            return ()
        known.append(node_id)
        if len(known) > self._limit:
            self._ids[name] = None
        return tuple(known)

    def discard(self, name: str, node_id: str) -> None:
        """Forget a holder; what is common stays so."""
        known = self._ids.get(name)
        if known and node_id in known:
            known.remove(node_id)


class MentionIndex:
    """Follows the texts of one store; used by one thread at a time.

    What it knows it reads from the store when it is first asked, and keeps up with every call after that.
    """

    def __init__(self, store: GraphStorePort, config: MemoryConfig) -> None:
        self._store = store
        self._limit = config.MAX_MENTIONS
        self._terms = _Holders(config.MAX_TERM_TEXTS)
        self._mentions = _Holders(config.MAX_MENTIONS)
        self._rare: dict[str, set[str]] = {}
        self._subjects: dict[str, tuple[str, ...]] = {}
        self._about: dict[str, list[str]] = {}
        self._order: dict[str, int] = {}
        self._is_ready = False

    def edges(self, nodes: Sequence[MemoryNode], at: datetime) -> tuple[list[MemoryEdge], list[EdgeKey]]:
        """Take in nodes that are about to be stored; return edges to be put and edges to be removed with them."""
        if not self._is_ready:
            self._follow(list(self._store.all_nodes()))
            self._is_ready = True
        for node in nodes:
            # It was there once: an undone addition, or a write that failed.
            if node.id in self._order:
                self._forget(node)
        terms, names = self._follow(nodes)
        for name in [name for name in names if not set(self._about[name]) - {node.id for node in nodes}]:
            names[name] += self._earlier_mentions(name)
        weights = {
            EdgeType.TERM: {pair: self._term_weight(*pair) for pair in terms},
            EdgeType.MENTION: {pair: self._mention_weight(*pair) for pair in self._mention_pairs(names)},
        }
        return self._changes(weights, {node.id for node in nodes}, at)

    def _follow(self, nodes: Sequence[MemoryNode]) -> tuple[set[Pair], dict[str, list[str]]]:
        """Take in nodes.

        Returns:
            The pairs whose TERM edges change, and the subjects whose MENTION edges change, each with who names it.
        """
        for node in nodes:
            self._order[node.id] = len(self._order)
        pairs = {pair for node in nodes for pair in self._add_terms(node)}
        names: dict[str, list[str]] = {}
        for node in nodes:
            self._subjects[node.id] = subjects(node.metadata)
            for name in self._subjects[node.id]:
                self._about.setdefault(name, []).append(node.id)
                names.setdefault(name, []).extend(self._mentions.of(name))
        for node in nodes:
            for name in self._named_in(node) & self._about.keys():
                names.setdefault(name, []).extend(self._mentions.add(name, node.id))
        return pairs, names

    def _add_terms(self, node: MemoryNode) -> Iterator[Pair]:
        mine = self._rare[node.id] = set[str]()
        for term in set(split_keywords(quoted(node.content, {"title": node.metadata.get("title")}))):
            holders = self._terms.add(term, node.id)
            yield from (self._directed(*pair) for pair in combinations(holders, 2))
            if self._terms.of(term):
                mine.add(term)
                continue
            for holder in holders[:-1]:
                self._rare[holder].discard(term)

    def _named_in(self, node: MemoryNode) -> set[str]:
        """Return what a node may mention; what it is about itself is no mention."""
        return set(named_subjects(node.content)).difference(subjects(node.metadata))

    def _earlier_mentions(self, name: str) -> list[str]:
        """Return the stored nodes that name what nothing was about when they came, as far as they tell something."""
        # Those that fit best come first; many more than the limit are looked at, since some hold the words apart.
        found = [node_id for node_id, _ in self._store.keyword_search(name, self._limit * self._limit)]
        holders = [node.id for node in self._store.get_nodes(found) if name in self._named_in(node)]
        return [
            other
            for holder in sorted(holders, key=self._order.__getitem__)
            for other in self._mentions.add(name, holder)
        ]

    def _mention_pairs(self, names: Mapping[str, Iterable[str]]) -> set[Pair]:
        # Of the nodes about one subject, such as the chunks of a long text, the first ones stand for it.
        return {
            (source, target)
            for name, holders in names.items()
            for source in holders
            for target in self._about[name][: self._limit]
        }

    def _term_weight(self, source: str, target: str) -> float:
        shared = self._rare[source] & self._rare[target]
        return min(1.0, math.fsum(1 / len(self._terms.of(term)) for term in shared))

    def _mention_weight(self, source: str, target: str) -> float:
        holders = [self._mentions.of(name) for name in self._subjects[target]]
        return max((1 / math.log2(1 + len(known)) for known in holders if source in known), default=0.0)

    def _directed(self, first: str, second: str) -> Pair:
        """Return the two as the edge leads: from the later to the earlier, like SIM edges."""
        return (first, second) if self._order[first] > self._order[second] else (second, first)

    def _forget(self, node: MemoryNode) -> None:
        for term in self._rare.pop(node.id):
            self._terms.discard(term, node.id)
        for name in self._named_in(node):
            self._mentions.discard(name, node.id)
        for name in self._subjects.pop(node.id):
            self._about[name].remove(node.id)

    def _changes(
        self, weights: Mapping[EdgeType, Mapping[Pair, float]], new: set[str], at: datetime
    ) -> tuple[list[MemoryEdge], list[EdgeKey]]:
        """Return what has to be put and removed for the edges to have `weights`; 0 is no edge."""
        ids = {node_id for by_pair in weights.values() for pair in by_pair for node_id in pair}
        stored = {node_id for node_id in ids - new if self._store.has_node(node_id)}
        put = [
            MemoryEdge(*pair, edge_type, weight, created_at=at)
            for edge_type, by_pair in weights.items()
            for pair, weight in by_pair.items()
            if weight and stored | new >= set(pair)
        ]
        void = [
            EdgeKey(*pair, edge_type)
            for edge_type, by_pair in weights.items()
            for pair, weight in by_pair.items()
            if not weight and stored >= set(pair)
        ]
        return put, self._stored_edges(void)

    def _stored_edges(self, keys: Sequence[EdgeKey]) -> list[EdgeKey]:
        """Return those of the edges that are in the store; their ends are."""
        view = self._store.view()
        found: list[EdgeKey] = []
        for edge_type in {key.type for key in keys}:
            group = [key for key in keys if key.type is edge_type]
            sources, targets = view.rows(key.source_id for key in group), view.rows(key.target_id for key in group)
            rows = view.edge_rows(sources, targets, edge_type).tolist()
            found += [key for key, row in zip(group, rows, strict=True) if row >= 0]
        return found

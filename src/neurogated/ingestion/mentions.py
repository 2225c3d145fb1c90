"""What texts name: the TERM and MENTION edges that follow from it, kept right while texts come in.

TERM joins two texts that hold the same rare keyword, MENTION leads from a text to the one whose subject it names.
What is rare depends on all texts there are, so the weights of old edges change with new texts: whatever the order in
which texts come, the edges end up the same.

    TERM:     w(a, b) = min(1, sum of 1 / n(t))     over the terms t in both, held by n(t) <= MAX_TERM_TEXTS texts;
                                                    terms are keywords and names of several words
    MENTION:  w(a, b) = max of 1 / log2(1 + n(s))   over the names s of what b is about, named by
                                                    n(s) <= MAX_MENTIONS texts, a among them
"""

from __future__ import annotations

import math
from bisect import insort
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations, count

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.edge_type import EdgeType
from neurogated.core.keywords import fold, split_keywords
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import named_subjects, quoted, subjects
from neurogated.core.words import split_words

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

    def is_common(self, name: str) -> bool:
        """Return whether more than `limit` hold it."""
        return name in self._ids and self._ids[name] is None


class MentionIndex:
    """Follows the texts of one store; used by one thread at a time.

    What it knows it reads from the store when it is first asked, and keeps up with every call after that; it reads
    anew where the store holds other nodes than it was told of, such as after an undo or a write that failed.
    """

    def __init__(self, store: GraphStorePort, config: MemoryConfig) -> None:
        self._store = store
        self._config = config
        self._limit = config.MAX_MENTIONS
        self.forget()

    def edges(self, nodes: Sequence[MemoryNode], at: datetime) -> tuple[list[MemoryEdge], list[EdgeKey]]:
        """Take in nodes that are about to be stored; return edges to be put and edges to be removed with them."""
        if not self._is_current():
            self.forget()
            self._follow(list(self._store.all_nodes()))
        terms, names = self._follow(nodes)
        for name in [name for name in names if not set(self._about[name]) - {node.id for node in nodes}]:
            names[name] += self._earlier_mentions(name)
        weights = {
            EdgeType.TERM: {pair: self._term_weight(*pair) for pair in terms},
            EdgeType.MENTION: {pair: self._mention_weight(*pair) for pair in self._mention_pairs(names)},
        }
        return self._changes(weights, {node.id for node in nodes}, at)

    def forget(self) -> None:
        """Forget what was followed, such as after a write that failed; the store is read anew when next asked."""
        self._terms = _Holders(self._config.MAX_TERM_TEXTS)
        self._mentions = _Holders(self._config.MAX_MENTIONS)
        self._rare: dict[str, set[str]] = {}
        self._subjects: dict[str, tuple[str, ...]] = {}
        self._about: dict[str, list[str]] = {}
        self._holding: dict[str, list[str]] = {}
        self._order: dict[str, int] = {}
        self._row_sum = 0

    def _is_current(self) -> bool:
        """Return whether the store holds the nodes that are known here, by how many they are and the sum of rows."""
        rows = self._store.view().live_nodes()
        return rows.size == len(self._order) and int(rows.sum()) == self._row_sum

    def _follow(self, nodes: Sequence[MemoryNode]) -> tuple[set[Pair], dict[str, list[str]]]:
        """Take in nodes.

        Returns:
            The pairs whose TERM edges change, and the subjects whose MENTION edges change, each with who names it.
        """
        self._number(nodes)
        pairs = {pair for node in nodes for pair in self._add_terms(node)}
        names: dict[str, list[str]] = {}
        for node in nodes:
            for word in set(split_words(fold(node.content))):
                self._holding.setdefault(word, []).append(node.id)
            self._subjects[node.id] = subjects(node.metadata)
            for name in self._subjects[node.id]:
                insort(self._about.setdefault(name, []), node.id, key=self._order.__getitem__)
                names.setdefault(name, []).extend(self._mentions.of(name))
        for node in nodes:
            for name in self._named_in(node) & self._about.keys():
                names.setdefault(name, []).extend(self._mentions.add(name, node.id))
        return pairs, names

    def _number(self, nodes: Sequence[MemoryNode]) -> None:
        """Note the rows nodes have or will have in the store, so that their order is the same after reopening."""
        view = self._store.view()
        following = count(view.node_count)
        for node in nodes:
            row = view.rows_by_id.get(node.id)
            self._order[node.id] = next(following) if row is None else row
            self._row_sum += self._order[node.id]

    def _add_terms(self, node: MemoryNode) -> Iterator[Pair]:
        mine = self._rare[node.id] = set[str]()
        for term in self._terms_of(node):
            holders = self._terms.add(term, node.id)
            yield from (self._directed(*pair) for pair in combinations(holders, 2))
            if self._terms.of(term):
                mine.add(term)
                continue
            for holder in holders[:-1]:
                self._rare[holder].discard(term)

    def _terms_of(self, node: MemoryNode) -> set[str]:
        """Return the keywords of a node and its title, and the names of several words that were found in it."""
        keywords = split_keywords(quoted(node.content, {"title": node.metadata.get("title")}))
        entities = node.metadata.get("entities")
        names = [split_words(fold(str(name))) for name in entities] if isinstance(entities, list) else []
        return {*keywords, *(" ".join(words) for words in names if len(words) > 1)}

    def _named_in(self, node: MemoryNode) -> set[str]:
        """Return what a node may mention; what it is about itself is no mention."""
        return set(named_subjects(node.content)).difference(subjects(node.metadata))

    def _earlier_mentions(self, name: str) -> list[str]:
        """Return the stored nodes that name what nothing was about when they came, as far as they tell something."""
        holding = sorted((self._holding.get(word, []) for word in name.split()), key=len)
        # Some hold the words apart; the texts themselves tell.
        possible = sorted(set(holding[0]).intersection(*holding[1:]), key=self._order.__getitem__)
        stored = [node_id for node_id in possible if self._store.has_node(node_id)]
        found: list[str] = []
        for begin in range(0, len(stored), self._limit + 1):
            # Where the name is common there is no need to look at all.
            if self._mentions.is_common(name):
                break
            for node in self._store.get_nodes(stored[begin : begin + self._limit + 1]):
                if name in self._named_in(node):
                    found += self._mentions.add(name, node.id)
        return found

    def _mention_pairs(self, names: Mapping[str, Iterable[str]]) -> set[Pair]:
        return {
            (source, target)
            for name, holders in names.items()
            for source in holders
            for target in self._standing_for(name)
        }

    def _standing_for(self, name: str) -> list[str]:
        """Return, of the nodes about one subject, such as the chunks of a long text, the first ones."""
        return self._about[name][: self._limit]

    def _term_weight(self, source: str, target: str) -> float:
        shared = self._rare[source] & self._rare[target]
        return min(1.0, math.fsum(1 / len(self._terms.of(term)) for term in shared))

    def _mention_weight(self, source: str, target: str) -> float:
        names = [name for name in self._subjects[target] if target in self._standing_for(name)]
        holders = [self._mentions.of(name) for name in names]
        return max((1 / math.log2(1 + len(known)) for known in holders if source in known), default=0.0)

    def _directed(self, first: str, second: str) -> Pair:
        """Return the two as the edge leads: from the later to the earlier, like SIM edges."""
        return (first, second) if self._order[first] > self._order[second] else (second, first)

    def _changes(
        self, weights: Mapping[EdgeType, Mapping[Pair, float]], new: set[str], at: datetime
    ) -> tuple[list[MemoryEdge], list[EdgeKey]]:
        """Return what has to be put and removed for the edges to have `weights`; 0 is no edge."""
        ids = {node_id for by_pair in weights.values() for pair in by_pair for node_id in pair}
        stored = {node_id for node_id in ids - new if self._store.has_node(node_id)}
        put: list[MemoryEdge] = []
        void: list[EdgeKey] = []
        for edge_type, by_pair in weights.items():
            present = self._stored_weights([pair for pair in by_pair if stored >= set(pair)], edge_type)
            possible = {pair: weight for pair, weight in by_pair.items() if stored | new >= set(pair)}
            put += (
                MemoryEdge(*pair, edge_type, weight, created_at=at)
                for pair, weight in possible.items()
                if weight and present.get(pair) != weight
            )
            void += (EdgeKey(*pair, edge_type) for pair, weight in possible.items() if not weight and pair in present)
        return put, void

    def _stored_weights(self, pairs: Sequence[Pair], edge_type: EdgeType) -> dict[Pair, float]:
        """Return the weights of those edges that the store has; the ends of all are in it."""
        view = self._store.view()
        sources, targets = (view.rows(ends) for ends in zip(*pairs, strict=True)) if pairs else (view.rows(()),) * 2
        rows = view.edge_rows(sources, targets, edge_type)
        weights = view.weight.take(np.maximum(rows, 0)).tolist() if view.edge_count else [0.0] * len(pairs)
        found = zip(pairs, rows.tolist(), weights, strict=True)
        return {pair: weight for pair, row, weight in found if row >= 0}

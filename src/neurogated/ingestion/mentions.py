"""What texts name: the TERM and MENTION edges that follow from it, kept right while texts come, change and go.

TERM joins two texts that hold the same rare keyword, MENTION leads from a text to the one whose subject it names.
What is rare depends on all texts there are, so the weights of old edges change with every text that comes or goes:
whatever the order in which texts come, change and go, the edges end up the same.

    TERM:     w(a, b) = min(1, sum of 1 / n(t))     over the terms t in both, held by n(t) <= MAX_TERM_TEXTS texts;
                                                    terms are keywords and names of several words
    MENTION:  w(a, b) = max of 1 / log2(1 + n(s))   over the names s of what b is about, named by
                                                    n(s) <= MAX_MENTIONS texts, a among them
"""

from __future__ import annotations

import math
from bisect import insort
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import combinations, count, product, takewhile

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import JournalEntry
from neurogated.core.edge_type import EdgeType
from neurogated.core.keywords import fold, split_keywords
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import named_subjects, quoted, subjects
from neurogated.core.view import GraphView
from neurogated.core.words import split_words
from neurogated.ingestion.holders import Holders

__all__ = ["MentionIndex"]

_DOCUMENT_ID = "document_id"

Pair = tuple[str, str]
"""Ids of two nodes: source and target of an edge."""


class MentionIndex:
    """Follows the texts of one store; used by one thread at a time.

    What it knows it reads from the store when it is first asked, and keeps up with every change that it is told of;
    it reads anew where the journal has changes of nodes that it was not told of, such as after an undo.
    """

    def __init__(self, store: GraphStorePort, config: MemoryConfig) -> None:
        self._store = store
        self._config = config
        self._limit = config.MAX_MENTIONS
        self._sequence: int | None = None
        """Number of the last delta that is taken in; None while the store has not been read."""
        self.forget()

    def edges(
        self, nodes: Sequence[MemoryNode], at: datetime, removed: Collection[str] = ()
    ) -> tuple[list[MemoryEdge], list[EdgeKey]]:
        """Take in a change that is about to be made; tell `stored` when it is made, or `forget`.

        Args:
            nodes: nodes that are to be stored, new ones and new versions of old ones.
            at: time of the change.
            removed: ids of stored nodes that are to be removed.

        Returns:
            The edges to be put and those to be removed, between nodes that stay, so that edges fit the texts there are
            then.
        """
        self.catch_up()
        known = [*removed, *(node.id for node in nodes if node.id in self._order)]
        old = {node.id: node for node in self._store.get_nodes(known)}
        told = [node for node in nodes if node.id not in old or _told(node) != _told(old[node.id])]
        leaving = [*(old[node_id] for node_id in removed), *(old[node.id] for node in told if node.id in old)]
        open_names = self._leave(leaving)
        for node_id in removed:
            del self._order[node_id]
        new_names = self._follow(told)
        for name in {*open_names, *new_names}:
            if self._about[name]:
                self._look_up(name, {node.id for node in told})
        weights = {
            EdgeType.TERM: {pair: self._term_weight(*pair) for pair in self._term_pairs()},
            EdgeType.MENTION: {pair: self._mention_weight(*pair) for pair in self._mention_pairs()},
        }
        return self._changes(weights, {node.id for node in nodes if node.id not in old}, at)

    def stored(self, sequence: int) -> None:
        """Note that what was last taken in was stored as the delta of this number."""
        if any(_changes_nodes(entry) for entry in self._journal(sequence)):
            self.forget()
        elif self._sequence is not None:
            self._sequence = sequence

    def forget(self) -> None:
        """Forget what was followed, such as after a write that failed; the store is read anew when next asked."""
        self._terms = Holders(self._config.MAX_TERM_TEXTS, complete=True)
        self._mentions = Holders(self._config.MAX_MENTIONS, complete=False)
        self._rare: dict[str, set[str]] = {}
        self._subjects: dict[str, tuple[str, ...]] = {}
        self._about: dict[str, list[str]] = {}
        self._standing_before: dict[str, list[str]] = {}
        self._holding: dict[str, list[str]] = {}
        self._left = 0
        self._order: dict[str, int] = {}
        self._documents: dict[str, list[str]] = {}
        self._sequence = None

    def catch_up(self) -> None:
        """Read the store, if it has nodes or versions of nodes that are not known here."""
        sequence = self._store.view().sequence
        if self._sequence is None or any(_changes_nodes(entry) for entry in self._journal(sequence + 1)):
            self.forget()
            self._follow(list(self._store.all_nodes()))
            # Nothing stands in the store yet that could be held against what was before.
            self._term_pairs()
            self._mention_pairs()
        self._sequence = sequence

    def document(self, document_id: object) -> list[str]:
        """Return the nodes of a document in their order, none if there is none; call `catch_up` first."""
        known = self._documents.get(document_id, ()) if isinstance(document_id, str) else ()
        return sorted(known, key=self._order.__getitem__)

    def _journal(self, end: int) -> Iterator[JournalEntry]:
        """Return the deltas before the number `end` that were not told of."""
        if self._sequence is None or end <= self._sequence + 1:
            return iter(())
        return takewhile(lambda entry: entry.sequence < end, self._store.journal(self._sequence))

    def _leave(self, nodes: Sequence[MemoryNode]) -> list[str]:
        """Let go of nodes as they are stored; return the subjects of which more holders may be found."""
        terms: dict[str, set[str]] = defaultdict(set)
        names: dict[str, set[str]] = defaultdict(set)
        for node in nodes:
            for term in self._terms_of(node):
                terms[term].add(node.id)
            for name in self._named_in(node) & self._about.keys():
                names[name].add(node.id)
        open_names = self._mentions.remove(names)
        self._terms.remove(terms)
        for node in nodes:
            for name in self._subjects.pop(node.id):
                self._note_standing(name)
                self._about[name].remove(node.id)
            self._rare.pop(node.id)
            document_id = node.metadata.get(_DOCUMENT_ID)
            if isinstance(document_id, str):
                self._documents[document_id].remove(node.id)
                if not self._documents[document_id]:
                    del self._documents[document_id]
        self._left += len(nodes)
        if self._left > len(self._order):
            self._holding = {word: [i for i in ids if i in self._order] for word, ids in self._holding.items()}
            self._left = 0
        return open_names

    def _follow(self, nodes: Sequence[MemoryNode]) -> list[str]:
        """Take in nodes; return the subjects that are new, which stored texts may name already."""
        self._number(nodes)
        new_names = []
        for node in nodes:
            self._rare[node.id] = set()
            document_id = node.metadata.get(_DOCUMENT_ID)
            if isinstance(document_id, str):
                self._documents.setdefault(document_id, []).append(node.id)
            for word in set(split_words(fold(node.content))):
                self._holding.setdefault(word, []).append(node.id)
            for term in self._terms_of(node):
                self._terms.add(term, node.id)
            self._subjects[node.id] = subjects(node.metadata)
            for name in self._subjects[node.id]:
                if name not in self._about:
                    new_names.append(name)
                    self._about[name] = []
                self._note_standing(name)
                insort(self._about[name], node.id, key=self._order.__getitem__)
        for node in nodes:
            for name in self._named_in(node) & self._about.keys():
                self._mentions.add(name, node.id)
        return new_names

    def _number(self, nodes: Sequence[MemoryNode]) -> None:
        """Note the rows nodes have or will have in the store, so that their order is the same after reopening."""
        view = self._store.view()
        following = count(view.node_count)
        for node in nodes:
            row = view.rows_by_id.get(node.id)
            self._order[node.id] = next(following) if row is None else row

    def _terms_of(self, node: MemoryNode) -> set[str]:
        """Return the keywords of a node and its title, and the names of several words that were found in it."""
        keywords = split_keywords(quoted(node.content, {"title": node.metadata.get("title")}))
        entities = node.metadata.get("entities")
        names = [split_words(fold(str(name))) for name in entities] if isinstance(entities, list) else []
        return {*keywords, *(" ".join(words) for words in names if len(words) > 1)}

    def _named_in(self, node: MemoryNode) -> set[str]:
        """Return what a node may mention; what it is about itself is no mention."""
        return set(named_subjects(node.content)).difference(subjects(node.metadata))

    def _look_up(self, name: str, taken_in: Collection[str]) -> None:
        """Find stored nodes that name `name`, beside those just `taken_in`, as far as they tell something."""
        holding = sorted((self._holding.get(word, []) for word in name.split()), key=len)
        # Some hold the words apart, or held them once; the texts themselves tell.
        possible = set(holding[0]).intersection(*holding[1:]) & self._order.keys()
        ordered = sorted(possible.difference(taken_in, self._mentions.known(name)), key=self._order.__getitem__)
        for begin in range(0, len(ordered), self._limit + 1):
            # Where the name is common there is no need to look at all.
            if self._mentions.is_common(name):
                break
            for node in self._store.get_nodes(ordered[begin : begin + self._limit + 1], missing_ok=True):
                if name in self._named_in(node):
                    self._mentions.add(name, node.id)

    def _term_pairs(self) -> set[Pair]:
        """Return the pairs whose TERM edges may have changed since last asked, and keep up which terms are rare."""
        pairs: set[Pair] = set()
        for term, (before, now) in self._terms.changed().items():
            was, is_now = set(before), set(now)
            for node_id in was - is_now:
                self._rare.get(node_id, set()).discard(term)
            for node_id in is_now:
                self._rare[node_id].add(term)
            if was != is_now:
                pairs.update(combinations(sorted(was), 2), combinations(sorted(is_now), 2))
        return {self._directed(*pair) for pair in pairs if self._order.keys() >= set(pair)}

    def _mention_pairs(self) -> set[Pair]:
        """Return the pairs whose MENTION edges may have changed since last asked."""
        changed, standing = self._mentions.changed(), self._standing_before
        self._standing_before = {}
        pairs: set[Pair] = set()
        for name in changed.keys() | standing.keys():
            holders, targets = set(self._mentions.of(name)), set(self._standing_for(name))
            held = set(changed[name][0]) if name in changed else holders
            stood = set(standing.get(name, targets))
            if held != holders or stood != targets:
                pairs.update(product(held | holders, stood | targets))
            if not self._about[name]:
                # Who names it is looked up when it is a subject again.
                del self._about[name]
                self._mentions.drop(name)
        return {pair for pair in pairs if self._order.keys() >= set(pair) and pair[0] != pair[1]}

    def _note_standing(self, name: str) -> None:
        if name not in self._standing_before:
            self._standing_before[name] = self._standing_for(name)

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
        view = self._store.view()
        ids = {node_id for by_pair in weights.values() for pair in by_pair for node_id in pair}
        stored = {node_id for node_id in ids - new if view.find(node_id) is not None}
        put: list[MemoryEdge] = []
        void: list[EdgeKey] = []
        for edge_type, by_pair in weights.items():
            present = _stored_weights(view, [pair for pair in by_pair if stored >= set(pair)], edge_type)
            possible = {pair: weight for pair, weight in by_pair.items() if stored | new >= set(pair)}
            put += (
                MemoryEdge(*pair, edge_type, weight, created_at=at)
                for pair, weight in possible.items()
                if weight and present.get(pair) != weight
            )
            void += (EdgeKey(*pair, edge_type) for pair, weight in possible.items() if not weight and pair in present)
        return put, void


def _stored_weights(view: GraphView, pairs: Sequence[Pair], edge_type: EdgeType) -> dict[Pair, float]:
    """Return the weights of those edges that there are; the ends of all are in the view."""
    sources, targets = (view.rows(ends) for ends in zip(*pairs, strict=True)) if pairs else (view.rows(()),) * 2
    rows = view.edge_rows(sources, targets, edge_type)
    weights = view.weight.take(np.maximum(rows, 0)).tolist() if view.edge_count else [0.0] * len(pairs)
    found = zip(pairs, rows.tolist(), weights, strict=True)
    return {pair: weight for pair, row, weight in found if row >= 0}


def _told(node: MemoryNode) -> tuple[object, ...]:
    """Return what of a node edges follow from, and what document it is of."""
    return (node.content, *(node.metadata.get(name) for name in ("title", "entities", _DOCUMENT_ID)))


def _changes_nodes(entry: JournalEntry) -> bool:
    return bool(entry.delta.nodes or entry.delta.removed_nodes)

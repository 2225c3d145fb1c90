"""MENTION edges, and their updates when texts are added, changed or removed.

A MENTION edge leads from a text to a text whose subject it names. How rare a name is depends on all texts of a user, so
every change of a text may change the weights of old edges. The edges depend only on the present texts, not on the order
of the changes. No edge joins texts of two users.

    w(a, b) = max of 1 / log2(1 + n(s))   over the names s of the subjects of b that a mentions;
                                          n(s) <= MAX_MENTIONS texts mention s

A text mentions a name if it has the name's keywords and its content has the name's words in order.

This module holds no state between two changes. It asks the store's inverted index for the keywords and names that a
change touches, and for no others.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cache, cached_property
from itertools import chain, count, islice, product
from operator import attrgetter
from typing import NamedTuple

import numpy as np

from neurogated.core.delta import WeightChange
from neurogated.core.derivation import is_derived
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import keyword_text, names_in, opening_tag, subject_names, subject_tag, subjects_among
from neurogated.core.view import GraphView
from neurogated.ingestion.edge_builder import UserGraph, UserGraphs, by_user
from neurogated.text.keywords import fold, split_keywords, split_words

MAX_MENTIONS = 20
"""A MENTION edge leads to a subject if at most this many texts name it."""
MAX_TERM_TEXTS = 5
"""A TERM edge joins two texts that share a term if at most this many texts have it."""
_APART = re.compile("(?<=[\u3005\u3040-\u30ff\u3400-\u9fff]) (?=[\u3005\u3040-\u30ff\u3400-\u9fff])")
# Parts of words that an apostrophe separates: before the word ("O'Brien") or after it ("Ender's", "we'll").
_BEFORE = re.compile(r"(?<!\S)([^\W\d_]) (?=[^\W_])")
_AFTER = re.compile(r" (?=(?:[^\W\d_]|ll|re|ve)(?!\S))")

Pair = tuple[str, str]
"""Ids of two nodes: source and target of an edge."""


class EdgeChanges(NamedTuple):
    """The changes of edges that follow from a change of texts."""

    put: list[MemoryEdge]
    reweighted: list[WeightChange]
    removed: list[EdgeKey]


def text_edges(
    store: GraphStorePort,
    nodes: Sequence[MemoryNode],
    at: datetime,
    removed: Collection[str] = (),
    *,
    graphs: UserGraphs,
) -> EdgeChanges:
    """Return the changes of MENTION edges that follow from a change of texts.

    Args:
        store: the store before the change.
        nodes: nodes to store: new ones, and new versions of stored ones.
        at: time of the change.
        removed: ids of stored nodes to remove.
        graphs: the graphs of the users.

    Returns:
        The changes of edges between the nodes that exist after the change. Nodes derived from others have no such
        edges.
    """
    view = graphs.view
    rows = view.known_rows((*removed, *(node.id for node in nodes)))
    derived = {view.ids[row] for row in rows[is_derived(view, rows)].tolist()} if rows.size else set[str]()
    nodes = [node for node in nodes if node.id not in derived]
    ids = dict.fromkeys((*removed, *(node.id for node in nodes)))
    stored = [node_id for node_id in ids if node_id in view.rows_by_id and node_id not in derived]
    known = store.get_nodes(stored, missing_ok=True) if stored else []
    old = {node.id: node for node in known}
    changed = [node for node in nodes if node.id not in old or _source_of(node) != _source_of(old[node.id])]
    staying = {node.id for node in nodes} - {node.id for node in changed}
    leaving = dict(by_user(node for node in known if node.id not in staying))
    coming = dict(by_user(changed))
    new = {node.id for node in nodes if node.id not in old}
    changes = EdgeChanges([], [], [])
    for user_id in dict.fromkeys((*leaving, *coming)):
        graph = graphs[user_id]
        change = TextChange(graph, leaving.get(user_id, []), coming.get(user_id, []))
        weights = _mention_weights(graph, change)
        found = _changes(graph.view, weights, change, new, at)
        changes.put.extend(found.put)
        changes.reweighted.extend(found.reweighted)
        changes.removed.extend(found.removed)
    return changes


def _mention_weights(graph: UserGraph, change: TextChange) -> dict[Pair, float]:
    """Return the new weights of all pairs whose MENTION edges may change."""
    if not (named := change.names()):
        return {}
    about = cache(lambda name: change.about(name, MAX_MENTIONS))
    mentioning = cache(lambda name: change.mentioning(name, MAX_MENTIONS))
    pairs: set[Pair] = set()
    for name in named:
        targets = about(name)
        if not targets.before and not targets.after:
            continue
        sources = mentioning(name)
        if sources.differ or targets.differ:
            pairs.update(product({*sources.before, *sources.after}, {*targets.before, *targets.after}))
    left = change.left.keys() - change.come.keys()
    pairs = {pair for pair in pairs if left.isdisjoint(pair) and pair[0] != pair[1]}
    if not pairs:
        return {}
    come = change.come
    mentioned = {target for _, target in pairs}
    stored = [node_id for node_id in mentioned if node_id not in come]
    names = {node_id: come[node_id].subjects for node_id in mentioned if node_id in come}
    names |= zip(stored, map(subjects_among, graph.terms_of(stored)), strict=True)

    def weight(source: str, target: str) -> float:
        holders = [mentioning(name).after for name in names[target] if target in about(name).after]
        return max((1 / math.log2(1 + len(held)) for held in holders if source in held), default=0.0)

    return {pair: weight(*pair) for pair in pairs}


def _changes(
    view: GraphView, weights: Mapping[Pair, float], change: TextChange, new: Collection[str], at: datetime
) -> EdgeChanges:
    """Return the changes that give the edges these `weights`; weight 0 means no edge."""
    changes = EdgeChanges([], [], [])
    ends = {node_id for pair in weights for node_id in pair}
    if not ends:
        return changes
    # Expired nodes get no new edges, even if they are not removed yet.
    stored = {view.ids[row] for row in view.known_rows(ends.difference(new)).tolist()}
    there, order = stored.union(new), change.rows_of(ends)
    # Sorting by row makes the order of edges deterministic.
    in_order = sorted([(order[source], order[target], (source, target)) for source, target in weights])
    possible = [pair for _, _, pair in in_order if pair[0] in there and pair[1] in there]
    present = _stored_weights(view, [pair for pair in possible if pair[0] in stored and pair[1] in stored])
    for pair in possible:
        weight, before, key = weights[pair], present.get(pair, 0.0), EdgeKey(*pair, EdgeType.MENTION)
        if weight and not before:
            changes.put.append(MemoryEdge(*key, weight, created_at=at))
        elif weight and before != weight:
            changes.reweighted.append(WeightChange(key, weight, derived=True))
        elif before and not weight:
            changes.removed.append(key)
    return changes


def _stored_weights(view: GraphView, pairs: Sequence[Pair]) -> dict[Pair, float]:
    """Return the weights of the existing edges by pair; all nodes of `pairs` must be in the view."""
    if not pairs:
        return {}
    ends = np.array([view.rows_by_id[node_id] for pair in pairs for node_id in pair], dtype=np.int64).reshape(-1, 2)
    rows = view.edge_rows(ends[:, 0], ends[:, 1], EdgeType.MENTION)
    found = (rows >= 0).nonzero()[0]
    weights = view.weight.take(rows[found]).tolist()
    return {pairs[place]: weight for place, weight in zip(found.tolist(), weights, strict=True)}


def _source_of(node: MemoryNode) -> tuple[object, ...]:
    """Return the fields of a node that determine its MENTION edges."""
    return node.content, node.title, node.found.names, keyword_text(node)


class Holders(NamedTuple):
    """Nodes with a term before and after a change, both in the order of the store."""

    before: Sequence[str]
    after: Sequence[str]

    @property
    def differ(self) -> bool:
        """Whether the change alters the nodes."""
        return self.before != self.after


class TitledText(NamedTuple):
    """The words and subjects of a text."""

    node: MemoryNode
    words: Sequence[str]
    """Its folded words."""
    subjects: Collection[str]

    @classmethod
    def of(cls, node: MemoryNode) -> TitledText:
        """Return the text of a node."""
        return cls(node, split_words(fold(node.content)), subject_names(node))

    def having(self, names: Iterable[str], ways: Mapping[str, Sequence[AbstractSet[str]]]) -> list[str]:
        """Return those of some names of which the text has the keywords in one of the `ways` to spell it."""
        terms = frozenset(split_keywords(keyword_text(self.node))) if names else frozenset()
        return [name for name in names if any(way <= terms for way in ways[name])]


class TextChange:
    """A change of texts before it is written: some texts leave the store, others come."""

    def __init__(self, graph: UserGraph, leaving: Iterable[MemoryNode], coming: Sequence[MemoryNode]) -> None:
        """Lay a change over the memories of a user.

        Args:
            graph: the user's graph before the change.
            leaving: stored versions of the nodes to remove or replace.
            coming: nodes to store, in the order of storage.
        """
        self._graph = graph
        self.left: Mapping[str, TitledText] = {node.id: TitledText.of(node) for node in leaving}
        self.come: Mapping[str, TitledText] = {node.id: TitledText.of(node) for node in coming}
        self._rows = graph.view.rows_by_id
        following = count(graph.view.node_count)
        self._new_rows = {node.id: next(following) for node in coming if node.id not in self._rows}
        self._read: dict[str, str] = {}
        self._by_subject = _grouped(self.left, attrgetter("subjects")), _grouped(self.come, attrgetter("subjects"))

    def names(self) -> Collection[str]:
        """Return the subjects of leaving and coming texts, and all subjects that these texts mention."""
        return {name for groups in (*self._by_subject, *self._by_named) for name in groups}

    def rows_of(self, node_ids: Iterable[str]) -> dict[str, int]:
        """Return the present or future row of each node."""
        rows, new = self._rows, self._new_rows
        return {node_id: new[node_id] if node_id in new else rows[node_id] for node_id in node_ids}

    def row(self, node_id: str) -> int:
        """Return the present or future row of a node in the store. Rows define the order of nodes."""
        row = self._rows.get(node_id)
        return self._new_rows[node_id] if row is None else row

    def about(self, subject: str, limit: int) -> Holders:
        """Return the first `limit` nodes about a subject, such as the chunks of a long text."""
        left, come = (group.get(subject, ()) for group in self._by_subject)
        stored = self._with(self._graph.nodes_with([subject_tag(subject)], limit + len(left)), left)
        return Holders(stored[:limit], self._after(stored, left, come)[:limit])

    def mentioning(self, subject: str, limit: int) -> Holders:
        """Return the nodes that mention a subject; no nodes if more than `limit` mention it."""
        left, come = (group.get(subject, ()) for group in self._by_named)
        staying = self._mentioning_and_staying(subject, limit + 1)
        # A side with more than `limit` nodes gets none.
        stored = self._with(staying, left)
        before = stored if len(stored) <= limit else []
        if len(stored) + len(come) - len(left) > limit:
            return Holders(before, [])
        return Holders(before, self._after(stored, left, come))

    @cached_property
    def _by_named(self) -> tuple[Mapping[str, Sequence[str]], Mapping[str, Sequence[str]]]:
        """The ids of leaving and of coming texts, by the subjects that they mention."""
        own = {subject_tag(name) for groups in self._by_subject for name in groups}
        own |= set(map(opening_tag, own))

        def existing(tags: Iterable[str]) -> AbstractSet[str]:
            asked = frozenset(tags)
            return self._graph.existing_tags(asked) | (own & asked)

        texts = [*self.left.values(), *self.come.values()]
        tags = names_in([text.words for text in texts], existing, subjects_only=True)
        # The subjects of the text itself are not mentions.
        names = [
            subjects_among(own).difference(text.subjects) if own else own for text, own in zip(texts, tags, strict=True)
        ]
        ways = {name: keywords_of_name(name) for name in frozenset[str]().union(*names)}
        found = iter([text.having(own, ways) for text, own in zip(texts, names, strict=True)])
        left, come = (_grouped(side, lambda _: next(found)) for side in (self.left, self.come))
        return left, come

    def _with(self, found: Sequence[str], left: Collection[str]) -> Sequence[str]:
        """Return what was found with the leaving nodes, in the order of the rows: searches miss those that expired."""
        return found if set(left) <= set(found) else sorted({*found, *left}, key=self.row)

    def _after(self, stored: Sequence[str], left: Collection[str], come: Sequence[str]) -> list[str]:
        after = [*(node_id for node_id in stored if node_id not in left), *come] if left else [*stored, *come]
        # New nodes follow all others, in the order in which they come.
        return after if self._new_rows.keys() >= set(come) else sorted(after, key=self.row)

    def _mentioning_and_staying(self, subject: str, limit: int) -> list[str]:
        """Return the first `limit` stored nodes that mention a subject and do not leave."""
        ways = keywords_of_name(subject)
        about = subject_tag(subject)
        unfit = {node_id for way in ways for node_id in self._graph.nodes_with([*way, about])}.union(self.left)
        for most in (limit + len(unfit), None):
            found = [self._graph.nodes_with(way, most) for way in ways]
            candidates = sorted({*chain.from_iterable(found)} - unfit, key=self.row)
            naming = self._naming(subject, candidates, limit)
            # If a way has more candidates than were read, its next ones may come before candidates of another way.
            if most is None or all(len(held) < most for held in found) or (len(found) == 1 and len(naming) == limit):
                break
        return naming

    def _naming(self, subject: str, candidates: Sequence[str], limit: int) -> list[str]:
        """Return the first `limit` candidates whose content has the name of a subject. This reads their texts."""
        found, waiting = list[str](), iter(candidates)
        # For a common name, the first candidates suffice.
        while len(found) < limit and (part := list(islice(waiting, limit - len(found)))):
            nodes = self._graph.get_nodes([node_id for node_id in part if node_id not in self._read])
            self._read.update((node.id, f" {' '.join(split_words(fold(node.content)))} ") for node in nodes)
            found += [node_id for node_id in part if f" {subject} " in self._read.get(node_id, "")]
        return found


def _grouped(
    texts: Mapping[str, TitledText], keys: Callable[[TitledText], Iterable[str]]
) -> dict[str, tuple[str, ...]]:
    # A text may have 100,000 keywords. The garbage collector, which stops all threads, drops tuples of texts at once.
    groups: dict[str, tuple[str, ...]] = {}
    for node_id, text in texts.items():
        for key in keys(text):
            groups[key] = (*groups.get(key, ()), node_id)
    return groups


def keywords_of_name(name: str) -> list[AbstractSet[str]]:
    """Return the keywords of a name for each of its spellings: with and without apostrophes.

    The name is given as folded words. A text that mentions the name has all keywords of one of the spellings.
    """
    written = _APART.sub("", name)
    ways = dict.fromkeys((written, _AFTER.sub("'", written), _BEFORE.sub(r"\1'", written)))
    return [way for way in dict.fromkeys(frozenset(split_keywords(one)) for one in ways) if way]

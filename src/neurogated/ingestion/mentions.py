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
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from functools import cache, cached_property
from itertools import chain, compress, count, islice, product
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
    leaving = by_user(node for node in known if node.id not in staying)
    coming = by_user(changed)
    new = {node.id for node in nodes if node.id not in old}
    changes = EdgeChanges([], [], [])
    for user_id in dict.fromkeys((*leaving, *coming)):
        change = TextChange(graphs[user_id], leaving.get(user_id, []), coming.get(user_id, []))
        found = _changes(graphs.view, change, new, at)
        changes.put.extend(found.put)
        changes.reweighted.extend(found.reweighted)
        changes.removed.extend(found.removed)
    return changes


def _changes(view: GraphView, change: TextChange, new: Collection[str], at: datetime) -> EdgeChanges:
    """Return the changes of the edges of one user; `new` are the ids that no stored node has."""
    changes, weights = EdgeChanges([], [], []), change.weights()
    if not weights:
        return changes
    # Expired nodes get no new edges, even if they are not removed yet.
    ends = {node_id for pair in weights for node_id in pair}
    stored = {view.ids[row] for row in view.known_rows(ends.difference(new)).tolist()}
    # Sorting by row makes the order of edges deterministic.
    there = stored.union(new)
    possible = [pair for pair in weights if there.issuperset(pair)]
    possible.sort(key=lambda pair: (change.row(pair[0]), change.row(pair[1])))
    known = [pair for pair in possible if stored.issuperset(pair)]
    rows = np.array([view.rows_by_id[node_id] for pair in known for node_id in pair], dtype=np.int64).reshape(-1, 2)
    edges = view.edge_rows(rows[:, 0], rows[:, 1], EdgeType.MENTION)
    present = dict(zip(compress(known, edges >= 0), view.weight.take(edges[edges >= 0]).tolist(), strict=True))
    for pair in possible:
        weight, before, key = weights[pair], present.get(pair, 0.0), EdgeKey(*pair, EdgeType.MENTION)
        if weight and not before:
            changes.put.append(MemoryEdge(*key, weight, created_at=at))
        elif weight and before != weight:
            changes.reweighted.append(WeightChange(key, weight, derived=True))
        elif before and not weight:
            changes.removed.append(key)
    return changes


def _source_of(node: MemoryNode) -> tuple[object, ...]:
    """Return the fields of a node that determine its MENTION edges."""
    return node.content, node.title, node.found.names, keyword_text(node)


Holders = tuple[Sequence[str], Sequence[str]]
"""Nodes with a name before and after a change, both in the order of the store."""


class TextChange:
    """A change of texts before it is written: some texts leave the store, others come."""

    def __init__(self, graph: UserGraph, leaving: Sequence[MemoryNode], coming: Sequence[MemoryNode]) -> None:
        """Lay a change over the memories of a user.

        Args:
            graph: the user's graph before the change.
            leaving: stored versions of the nodes to remove or replace.
            coming: nodes to store, in the order of storage.
        """
        self._graph, self._texts, size = graph, [*leaving, *coming], len(leaving)
        self._subjects = list(map(subject_names, self._texts))
        self._sides = slice(size), slice(size, None)
        self._left = {node.id for node in leaving}
        self._rows = graph.view.rows_by_id
        following = count(graph.view.node_count)
        self._new_rows = {node.id: next(following) for node in coming if node.id not in self._rows}
        self._read: dict[str, str] = {}
        self._by_subject = self._grouped(self._subjects)

    def weights(self) -> dict[Pair, float]:
        """Return the new weights of all pairs whose MENTION edges may change; 0 means no edge."""
        named = dict.fromkeys(chain.from_iterable((*self._by_subject, *self._by_named)))
        if not named:
            return {}
        about, mentioning = cache(self._about), cache(self._mentioning)
        pairs: set[Pair] = set()
        for name in named:
            targets = about(name)
            if any(targets):
                sources = mentioning(name)
                if sources[0] != sources[1] or targets[0] != targets[1]:
                    pairs.update(product({*chain(*sources)}, {*chain(*targets)}))
        coming = self._sides[1]
        come = {node.id: own for node, own in zip(self._texts[coming], self._subjects[coming], strict=True)}
        left = self._left - come.keys()
        pairs = {pair for pair in pairs if left.isdisjoint(pair) and pair[0] != pair[1]}
        if not pairs:
            return {}
        stored = list({target for _, target in pairs} - come.keys())
        names = {**come, **dict(zip(stored, map(subjects_among, self._graph.terms_of(stored)), strict=True))}

        def weight(source: str, target: str) -> float:
            holders = [mentioning(name)[1] for name in names[target] if target in about(name)[1]]
            return max((1 / math.log2(1 + len(held)) for held in holders if source in held), default=0.0)

        return {pair: weight(*pair) for pair in pairs}

    def row(self, node_id: str) -> int:
        """Return the present or future row of a node in the store. Rows define the order of nodes."""
        row = self._rows.get(node_id)
        return self._new_rows[node_id] if row is None else row

    def _about(self, subject: str) -> Holders:
        """Return the first `MAX_MENTIONS` nodes about a subject, such as the chunks of a long text."""
        left, come = (group.get(subject, ()) for group in self._by_subject)
        stored = self._with(self._graph.nodes_with([subject_tag(subject)], MAX_MENTIONS + len(left)), left)
        return stored[:MAX_MENTIONS], self._after(stored, left, come)[:MAX_MENTIONS]

    def _mentioning(self, subject: str) -> Holders:
        """Return the nodes that mention a subject; no nodes if more than `MAX_MENTIONS` mention it."""
        left, come = (group.get(subject, ()) for group in self._by_named)
        stored = self._with(self._mentioning_and_staying(subject, MAX_MENTIONS + 1), left)
        after = self._after(stored, left, come) if len(stored) + len(come) - len(left) <= MAX_MENTIONS else []
        return stored if len(stored) <= MAX_MENTIONS else [], after

    @cached_property
    def _by_named(self) -> Sequence[Mapping[str, Sequence[str]]]:
        """The ids of leaving and of coming texts, by the subjects that they mention."""
        own = {subject_tag(name) for groups in self._by_subject for name in groups}
        own |= set(map(opening_tag, own))

        def existing(tags: Iterable[str]) -> AbstractSet[str]:
            asked = frozenset(tags)
            return self._graph.existing_tags(asked) | (own & asked)

        words = [split_words(fold(node.content)) for node in self._texts]
        tags = names_in(words, existing, subjects_only=True)
        named = list[Collection[str]]()
        for node, subjects, found in zip(self._texts, self._subjects, tags, strict=True):
            # The subjects of the text itself are not mentions.
            names = subjects_among(found).difference(subjects) if found else ()
            terms = frozenset(split_keywords(keyword_text(node))) if names else frozenset[str]()
            named.append([name for name in names if any(way <= terms for way in keywords_of_name(name))])
        return self._grouped(named) if any(named) else ({}, {})

    def _grouped(self, keys: Sequence[Collection[str]]) -> Sequence[Mapping[str, Sequence[str]]]:
        """Return the ids of leaving and of coming texts by their keys."""
        sides = list[dict[str, tuple[str, ...]]]()
        for side in self._sides:
            groups: dict[str, tuple[str, ...]] = {}
            for node, own in zip(self._texts[side], keys[side], strict=True):
                for key in own:
                    # The garbage collector, which stops all threads, drops tuples of texts at once.
                    groups[key] = (*groups.get(key, ()), node.id)
            sides.append(groups)
        return sides

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
        unfit = {node_id for way in ways for node_id in self._graph.nodes_with([*way, about])}.union(self._left)
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


def keywords_of_name(name: str) -> list[AbstractSet[str]]:
    """Return the keywords of a name for each of its spellings: with and without apostrophes.

    The name is given as folded words. A text that mentions the name has all keywords of one of the spellings.
    """
    written = _APART.sub("", name)
    ways = dict.fromkeys((written, _AFTER.sub("'", written), _BEFORE.sub(r"\1'", written)))
    return [way for way in dict.fromkeys(frozenset(split_keywords(one)) for one in ways) if way]

"""Edges between texts: their order, their similarity, their time and the names that they mention; each of one user.

A MENTION edge leads from a text to a text whose subject it names. How rare a name is depends on all texts of a user, so
every change of a text may change the weights of old edges. The edges depend only on the present texts, not on the order
of the changes.

    w(a, b) = max of 1 / log2(1 + n(s))   over the names s of the subjects of b that a mentions;
                                          n(s) <= MAX_MENTIONS texts mention s

A text mentions a name if it has the name's keywords and its content has the name's words in order.

Nothing is kept between two changes. The store's inverted index is asked for the keywords and names that a change
touches, and for no others.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from functools import cache, cached_property, lru_cache
from itertools import chain, compress, count, islice, pairwise, product
from typing import NamedTuple

import numpy as np

from neurogated.config.groups import MetabolismSettings
from neurogated.core.conflicts import CONFLICT
from neurogated.core.contexts import forgets
from neurogated.core.delta import GraphDelta, WeightChange
from neurogated.core.derivation import is_derived
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, Vector
from neurogated.core.ports import GraphStorePort, Snapshot
from neurogated.core.rendering import SUBJECT, keyword_text, named_among, names_in, opening_tag, subject_names
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView
from neurogated.text.keywords import fold, split_keywords, split_words
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


MAX_MENTIONS = 20
"""A MENTION edge leads to a subject if at most this many texts name it."""
MAX_TERM_TEXTS = 5
"""A TERM edge joins two texts that share a term if at most this many texts have it."""
_APART = re.compile("(?<=[\u3005\u3040-\u30ff\u3400-\u9fff]) (?=[\u3005\u3040-\u30ff\u3400-\u9fff])")
# Parts of words that an apostrophe separates: before the word ("O'Brien") or after it ("Ender's", "we'll").
_BEFORE = re.compile(r"(?<!\S)([^\W\d_]) (?=[^\W_])")
_AFTER = re.compile(r" (?=(?:[^\W\d_]|ll|re|ve)(?!\S))")

Pair = tuple[int, int]
"""Rows of two nodes, source and target of an edge; new nodes have the rows that they will get."""


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
    derived = {*view.names(rows[is_derived(view, rows)])} if rows.size else set[str]()
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
        _add_changes(changes, view, change, new, at)
    return changes


def _add_changes(changes: EdgeChanges, view: GraphView, change: TextChange, new: Collection[str], at: datetime) -> None:
    """Add the changes of the edges of one user; `new` are the ids that no stored node has."""
    if not (weights := change.weights()):
        return
    # Expired nodes get no new edges, even if they are not removed yet.
    ids = {row: change.ids.get(row) or view.ids[row] for pair in weights for row in pair}
    stored = set(view.known_rows([name for name in ids.values() if name not in new]).tolist())
    there = stored.union(row for row, name in ids.items() if name in new)
    # Sorting makes the order of edges deterministic.
    possible = sorted(pair for pair in weights if there.issuperset(pair))
    known = [pair for pair in possible if stored.issuperset(pair)]
    rows = np.array(known, dtype=np.int64).reshape(-1, 2)
    edges = view.edge_rows(rows[:, 0], rows[:, 1], EdgeType.MENTION)
    present = dict(zip(compress(known, edges >= 0), view.weight.take(edges[edges >= 0]).tolist(), strict=True))
    for pair in possible:
        weight, before = weights[pair], present.get(pair, 0.0)
        key = EdgeKey(ids[pair[0]], ids[pair[1]], EdgeType.MENTION)
        if weight and not before:
            changes.put.append(MemoryEdge(*key, weight, created_at=at))
        elif weight and before != weight:
            changes.reweighted.append(WeightChange(key, weight, derived=True))
        elif before and not weight:
            changes.removed.append(key)


def _source_of(node: MemoryNode) -> tuple[object, ...]:
    return node.content, node.title, node.found.names, keyword_text(node)


Holders = tuple[Sequence[int], Sequence[int]]
"""Rows of the nodes with a name before and after a change, both ascending."""


class TextChange:
    """A change of texts before it is written: some texts leave the store, others come."""

    def __init__(self, graph: Snapshot, leaving: Sequence[MemoryNode], coming: Sequence[MemoryNode]) -> None:
        """Lay a change over the memories of a user.

        Args:
            graph: the user's graph before the change.
            leaving: stored versions of the nodes to remove or replace.
            coming: nodes to store, in the order of storage.
        """
        self._graph, self._texts, size = graph, [*leaving, *coming], len(leaving)
        self._subjects = list(map(subject_names, self._texts))
        self._sides = slice(size), slice(size, None)
        known, following = graph.view.rows_by_id, count(graph.view.node_count)
        self._rows = [known[node.id] if node.id in known else next(following) for node in self._texts]
        self.ids = dict(zip(self._rows, (node.id for node in self._texts), strict=True))
        """The ids of these texts by their rows."""
        self._left = set(self._rows[:size])
        self._read: dict[int, str] = {}
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
        come = dict(zip(self._rows[coming], self._subjects[coming], strict=True))
        left = self._left - come.keys()
        pairs = {pair for pair in pairs if left.isdisjoint(pair) and pair[0] != pair[1]}
        if not pairs:
            return {}
        stored = list({target for _, target in pairs} - come.keys())
        terms = self._graph.terms_of(np.array(stored, dtype=np.int64)) if stored else []
        names = {**come, **dict(zip(stored, (named_among(one, SUBJECT) for one in terms), strict=True))}

        def weight(source: int, target: int) -> float:
            holders = [mentioning(name)[1] for name in names[target] if target in about(name)[1]]
            return max((1 / math.log2(1 + len(held)) for held in holders if source in held), default=0.0)

        return {pair: weight(*pair) for pair in pairs}

    def _about(self, subject: str) -> Holders:
        """Return the first `MAX_MENTIONS` nodes about a subject, such as the chunks of a long text."""
        left, come = (group.get(subject, ()) for group in self._by_subject)
        found = self._graph.rows_with([SUBJECT + subject], MAX_MENTIONS + len(left)).tolist()
        # Searches miss leaving nodes that have expired.
        stored = sorted({*found, *left})
        return stored[:MAX_MENTIONS], sorted({*stored}.difference(left).union(come))[:MAX_MENTIONS]

    def _mentioning(self, subject: str) -> Holders:
        """Return the nodes that mention a subject; no nodes if more than `MAX_MENTIONS` mention it."""
        left, come = (group.get(subject, ()) for group in self._by_named)
        stored = sorted({*self._mentioning_and_staying(subject, MAX_MENTIONS + 1), *left})
        is_few = len(stored) + len(come) - len(left) <= MAX_MENTIONS
        after = sorted({*stored}.difference(left).union(come)) if is_few else []
        return stored if len(stored) <= MAX_MENTIONS else [], after

    @cached_property
    def _by_named(self) -> Sequence[Mapping[str, Sequence[int]]]:
        """The rows of leaving and of coming texts, by the subjects that they mention."""
        own = {SUBJECT + name for groups in self._by_subject for name in groups}
        own |= set(map(opening_tag, own))

        def existing(tags: Iterable[str]) -> AbstractSet[str]:
            asked = frozenset(tags)
            return self._graph.existing_tags(asked) | (own & asked)

        words = [split_words(fold(node.content)) for node in self._texts]
        tags = names_in(words, existing, subjects_only=True)
        named = list[Collection[str]]()
        for node, subjects, found in zip(self._texts, self._subjects, tags, strict=True):
            # The subjects of the text itself are not mentions.
            names = named_among(found, SUBJECT).difference(subjects) if found else ()
            terms = frozenset(split_keywords(keyword_text(node))) if names else frozenset[str]()
            named.append([name for name in names if any(way <= terms for way in keywords_of_name(name))])
        return self._grouped(named) if any(named) else ({}, {})

    def _grouped(self, keys: Sequence[Collection[str]]) -> Sequence[Mapping[str, Sequence[int]]]:
        sides = list[dict[str, tuple[int, ...]]]()
        for side in self._sides:
            groups: dict[str, tuple[int, ...]] = {}
            for row, own in zip(self._rows[side], keys[side], strict=True):
                for key in own:
                    # The garbage collector, which stops all threads, drops tuples of numbers at once.
                    groups[key] = (*groups.get(key, ()), row)
            sides.append(groups)
        return sides

    def _mentioning_and_staying(self, subject: str, limit: int) -> list[int]:
        """Return the first `limit` stored nodes that mention a subject and do not leave."""
        ways, about = keywords_of_name(subject), SUBJECT + subject
        unfit = self._left.union(*(self._graph.rows_with([*way, about]).tolist() for way in ways))
        for most in (limit + len(unfit), None):
            found = [self._graph.rows_with(way, most).tolist() for way in ways]
            naming, waiting = list[int](), iter(sorted({*chain.from_iterable(found)} - unfit))
            # For a common name, the texts of the first candidates suffice.
            while len(naming) < limit and (part := list(islice(waiting, limit - len(naming)))):
                unread = np.array([row for row in part if row not in self._read], dtype=np.int64)
                for node in self._graph.nodes(unread) if unread.size else ():
                    row = self._graph.view.rows_by_id[node.id]
                    self._read[row] = f" {' '.join(split_words(fold(node.content)))} "
                naming += [row for row in part if f" {subject} " in self._read.get(row, "")]
            # If a way has more candidates than were read, its next ones may come before candidates of another way.
            if most is None or all(len(held) < most for held in found) or (len(found) == 1 and len(naming) == limit):
                break
        return naming


def keywords_of_name(name: str) -> list[AbstractSet[str]]:
    """Return the keywords of a name for each of its spellings: with and without apostrophes.

    The name is given as folded words. A text that mentions the name has all keywords of one of the spellings.
    """
    written = _APART.sub("", name)
    ways = dict.fromkeys((written, _AFTER.sub("'", written), _BEFORE.sub(r"\1'", written)))
    return [way for way in dict.fromkeys(frozenset(split_keywords(one)) for one in ways) if way]

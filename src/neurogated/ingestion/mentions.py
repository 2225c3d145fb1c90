"""TERM and MENTION edges, and their updates when texts are added, changed or removed.

A TERM edge joins two texts with the same rare keyword. A MENTION edge leads from a text to a text whose subject it
names. The rarity of a keyword depends on all texts of a user, so every change of a text may change the weights of old
edges. The edges depend only on the present texts, not on the order of the changes. No edge joins texts of two users.

    TERM:     w(a, b) = min(1, sum of 1 / n(t))     over the common keywords t of a and b;
                                                    n(t) <= indexing.max_term_texts texts have t
    MENTION:  w(a, b) = max of 1 / log2(1 + n(s))   over the names s of the subjects of b that a mentions;
                                                    n(s) <= indexing.max_mentions texts mention s

A text mentions a name if it has the name's keywords and its content has the name's words in order.

This module holds no state between two changes. It asks the store's inverted index for the keywords and names that a
change touches, and for no others.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import chain, combinations, product
from typing import NamedTuple

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.delta import WeightChange
from neurogated.core.derivation import is_derived
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import keyword_text, subjects_among
from neurogated.core.view import GraphView
from neurogated.ingestion.holders import TextChange
from neurogated.ingestion.user_graph import UserGraph, UserGraphs, by_user

Pair = tuple[str, str]
"""Ids of two nodes: source and target of an edge."""


class EdgeChanges(NamedTuple):
    """The changes of edges that follow from a change of texts."""

    put: list[MemoryEdge]
    reweighted: list[WeightChange]
    removed: list[EdgeKey]


def text_edges(
    store: GraphStorePort,
    config: MemoryConfig,
    nodes: Sequence[MemoryNode],
    at: datetime,
    removed: Collection[str] = (),
    *,
    graphs: UserGraphs | None = None,
) -> EdgeChanges:
    """Return the changes of TERM and MENTION edges that follow from a change of texts.

    Args:
        store: the store before the change.
        config: holds `indexing.max_term_texts` and `indexing.max_mentions`.
        nodes: nodes to store: new ones, and new versions of stored ones.
        at: time of the change.
        removed: ids of stored nodes to remove.
        graphs: the graphs of the users; made here if left out.

    Returns:
        The changes of edges between the nodes that exist after the change. Nodes derived from others have no such
        edges.
    """
    graphs = UserGraphs(store.reader()) if graphs is None else graphs
    view = graphs.view
    rows = view.known_rows((*removed, *(node.id for node in nodes)))
    derived = {view.ids[row] for row in rows[is_derived(view, rows)].tolist()}
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
        weights = {
            EdgeType.TERM: _term_weights(graph, change, config.indexing.max_term_texts),
            EdgeType.MENTION: _mention_weights(graph, change, config.indexing.max_mentions),
        }
        found = _changes(graph.view, weights, change, new, at)
        changes.put.extend(found.put)
        changes.reweighted.extend(found.reweighted)
        changes.removed.extend(found.removed)
    return changes


def _term_weights(graph: UserGraph, change: TextChange, limit: int) -> dict[Pair, float]:
    """Return the new weights of all pairs whose TERM edges may change."""
    if not limit:
        return {}
    pairs: set[Pair] = set()
    parts: dict[Pair, list[float]] = defaultdict(list)
    for before, after in change.holding(limit):
        # Edges lead from the later to the earlier text, like SIM edges.
        for first, second in combinations(after, 2):
            parts[second, first] += (1 / len(after),)
        if before != after:
            pairs |= {(second, first) for side in (before, after) for first, second in combinations(side, 2)}
    come, left = change.come, change.left.keys() - change.come.keys()
    pairs = {pair for pair in pairs if left.isdisjoint(pair)} if left else pairs
    # The loop has seen all terms of the new texts, but two other texts may share further terms.
    others = [pair for pair in pairs if pair[0] not in come and pair[1] not in come]
    if others:
        ids, touched = list(dict.fromkeys(chain.from_iterable(others))), change.terms()
        # A node is in many pairs, so its further terms are computed once.
        terms = dict(zip(ids, (each - touched for each in graph.terms_of(ids, limit)), strict=True))
        # A tag contains a blank, a keyword does not.
        shared = {pair: [term for term in terms[pair[0]] & terms[pair[1]] if " " not in term] for pair in others}
        holding = graph.rare_nodes_with(dict.fromkeys(chain.from_iterable(shared.values()), limit))
        for pair, held in shared.items():
            parts[pair] += [1 / len(holding[term]) for term in held if term in holding]
    return {pair: min(1.0, math.fsum(parts[pair])) for pair in pairs}


def _mention_weights(graph: UserGraph, change: TextChange, limit: int) -> dict[Pair, float]:
    """Return the new weights of all pairs whose MENTION edges may change."""
    if not limit:
        return {}
    if not (named := change.names()):
        return {}
    about = cache(lambda name: change.about(name, limit))
    mentioning = cache(lambda name: change.mentioning(name, limit))
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
    names = _subjects_of({target for _, target in pairs}, graph, change)

    def weight(source: str, target: str) -> float:
        holders = [mentioning(name).after for name in names[target] if target in about(name).after]
        return max((1 / math.log2(1 + len(held)) for held in holders if source in held), default=0.0)

    return {pair: weight(*pair) for pair in pairs}


def _subjects_of(node_ids: Collection[str], graph: UserGraph, change: TextChange) -> Mapping[str, Collection[str]]:
    """Return the subjects of each node after a change."""
    stored = [node_id for node_id in node_ids if node_id not in change.come]
    come = {node_id: text.subjects for node_id, text in change.come.items()}
    return {**come, **dict(zip(stored, map(subjects_among, graph.terms_of(stored)), strict=True))}


def _changes(
    view: GraphView,
    weights: Mapping[EdgeType, Mapping[Pair, float]],
    change: TextChange,
    new: Collection[str],
    at: datetime,
) -> EdgeChanges:
    """Return the changes that give the edges these `weights`; weight 0 means no edge."""
    changes = EdgeChanges([], [], [])
    ends = {node_id for by_pair in weights.values() for pair in by_pair for node_id in pair}
    if not ends:
        return changes
    # Expired nodes get no new edges, even if they are not removed yet.
    stored = {view.ids[row] for row in view.known_rows(ends.difference(new)).tolist()}
    there, order = stored.union(new), change.rows_of(ends)
    for edge_type, by_pair in weights.items():
        # Sorting by row makes the order of edges deterministic.
        in_order = sorted([(order[source], order[target], (source, target)) for source, target in by_pair])
        possible = [pair for _, _, pair in in_order if pair[0] in there and pair[1] in there]
        present = _stored_weights(
            view, [pair for pair in possible if pair[0] in stored and pair[1] in stored], edge_type
        )
        for pair in possible:
            weight, before = by_pair[pair], present.get(pair, 0.0)
            if weight and not before:
                changes.put.append(MemoryEdge(*pair, edge_type, weight, created_at=at))
            elif weight and before != weight:
                changes.reweighted.append(WeightChange(EdgeKey(*pair, edge_type), weight, derived=True))
            elif before and not weight:
                changes.removed.append(EdgeKey(*pair, edge_type))
    return changes


def _stored_weights(view: GraphView, pairs: Sequence[Pair], edge_type: EdgeType) -> dict[Pair, float]:
    """Return the weights of the existing edges by pair; all nodes of `pairs` must be in the view."""
    if not pairs:
        return {}
    ends = np.array([view.rows_by_id[node_id] for pair in pairs for node_id in pair], dtype=np.int64).reshape(-1, 2)
    rows = view.edge_rows(ends[:, 0], ends[:, 1], edge_type)
    found = (rows >= 0).nonzero()[0]
    weights = view.weight.take(rows[found]).tolist()
    return {pairs[place]: weight for place, weight in zip(found.tolist(), weights, strict=True)}


def _source_of(node: MemoryNode) -> tuple[object, ...]:
    """Return the fields of a node that determine its TERM and MENTION edges."""
    return node.content, node.title, node.found.names, keyword_text(node)

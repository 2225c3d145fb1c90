"""Measures of a graph in numpy: PageRank, and communities by local moves.

L. Page, S. Brin, R. Motwani, T. Winograd: The PageRank citation ranking: bringing order to the web (1999)
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neurogated.core.communities import WeightedGraph
from neurogated.core.view import Rows

Labels = NDArray[np.int64]
Values = NDArray[np.float64]

_DAMPING = 0.85
_EXACT = 1e-10
_MOST_ROUNDS = 200
_LOCAL_ROUNDS = 5
_MOVES = 20


def page_rank(graph: WeightedGraph, start: Values | None = None, exact: float = _EXACT) -> Values:
    """Return (nodes,) probabilities, sum 1, by power iteration over weighted links in both directions.

    Args:
        graph: the links.
        start: (nodes,) where to begin.
        exact: end when a round changes the probabilities by less than this in sum.
    """
    if not graph.nodes:
        return np.empty(0)
    ends, weights = np.concatenate((graph.source, graph.target)), np.concatenate((graph.weight, graph.weight))
    others = np.concatenate((graph.target, graph.source))
    degree = degrees(graph)
    share = weights / degree[ends]
    alone = degree == 0
    rank = np.full(graph.nodes, 1 / graph.nodes) if start is None else start / start.sum()
    for _ in range(_MOST_ROUNDS):
        spread = np.bincount(others, share * rank[ends], graph.nodes) + rank[alone].sum() / graph.nodes
        new = _DAMPING * spread + (1 - _DAMPING) / graph.nodes
        change = np.abs(new - rank).sum()
        rank = new
        if change < exact:
            break
    return rank


def local_rank(rank: Values, degree: Values, touched: Rows, ends: tuple[Rows, Rows], weight: Values) -> Values:
    """Return the PageRank with new values at some nodes; it stays at the others.

    Args:
        rank: (nodes,) before.
        degree: (nodes,) the sums of the weights of the links of each node.
        touched: (t,) the nodes whose links have changed, ascending.
        ends: the touched and the other end of each link of these, each (a,).
        weight: (a,) of each.
    """
    origin, other = ends
    rank, share = rank.copy(), weight / degree[other]
    place = np.searchsorted(touched, origin)
    rest = (1 - _DAMPING + _DAMPING * rank[degree == 0].sum()) / max(1, rank.size)
    for _ in range(_LOCAL_ROUNDS):
        rank[touched] = rest + _DAMPING * np.bincount(place, share * rank[other], touched.size)
    scaled: Values = rank / max(rank.sum(), 1e-300)
    return scaled


def moved(graph: WeightedGraph, labels: Labels, free: NDArray[np.bool_], degree: Values | None = None) -> Labels:
    """Return the labels after moves of the `free` nodes to the neighbouring label with the most gain in modularity.

    In each round half of them move, by turns, because two neighbours that moved together could swap for ever.

    Args:
        graph: the links.
        labels: (nodes,) labels from 0 to begin with.
        free: (nodes,) the nodes that may move.
        degree: (nodes,) the sums of the weights at each node; those of its links when left out.
    """
    touched = free[graph.source] | free[graph.target]
    source, target, weight = graph.source[touched], graph.target[touched], graph.weight[touched]
    ends, others, weights = (np.concatenate(pair) for pair in ((source, target), (target, source), (weight, weight)))
    kept = free[ends]
    ends, others, weights = ends[kept], others[kept], weights[kept]
    degree = degrees(graph) if degree is None else degree
    whole = degree.sum()
    random, width, labels = np.random.default_rng(0), int(labels.max(initial=0)) + 1, labels.copy()
    for _ in range(_MOVES):
        total = np.bincount(labels, degree, width)
        turn = random.random(graph.nodes) < 1 / 2
        chosen = turn[ends]
        pairs, place = np.unique(ends[chosen] * width + labels[others[chosen]], return_inverse=True)
        node, label = pairs // width, pairs % width
        own = labels[node] == label
        others_total = total[label] - np.where(own, degree[node], 0.0)
        gain = np.bincount(place, weights[chosen], pairs.size) - degree[node] * others_total / whole
        order = np.lexsort((label, ~own, -gain, node))
        best = order[np.unique(node[order], return_index=True)[1]]
        staying = gain[best] <= 0
        changed = (labels[node[best]] != label[best]) & ~staying
        labels[node[best][changed]] = label[best][changed]
        if not changed.any() and turn[free].any():
            break
    return labels


def moved_from_scratch(graph: WeightedGraph) -> Labels:
    """Return communities by local moves of nodes, then of their communities, and so on (Louvain)."""
    labels, level, degree = np.arange(graph.nodes), graph, degrees(graph)
    while True:
        alone = np.arange(level.nodes)
        found, number = np.unique(moved(level, alone, alone >= 0, degree), return_inverse=True)
        if found.size == level.nodes:
            return labels
        labels, level, degree = number[labels], level.quotient(number), np.bincount(number, degree).astype(np.float64)


def degrees(graph: WeightedGraph) -> Values:
    """Return (nodes,) the sums of the weights of the links of each node."""
    leaving, arriving = (np.bincount(ends, graph.weight, graph.nodes) for ends in (graph.source, graph.target))
    return (leaving + arriving).astype(np.float64)

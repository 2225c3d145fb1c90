"""The structure of a memory for its manifest: communities, their measures and key memories.

L. Page, S. Brin, R. Motwani, T. Winograd: The PageRank citation ranking: bringing order to the web (1999)
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.communities import GraphMeasures, WeightedGraph
from neurogated.core.view import GraphView, Rows

Labels = NDArray[np.int64]
Values = NDArray[np.float64]

_DAMPING = 0.85
_EXACT = 1e-10
_MOST_ROUNDS = 200
_LOCAL_ROUNDS = 5
_MOVES = 20


def page_rank(graph: WeightedGraph, start: Values | None = None, exact: float = _EXACT) -> Values:
    """Return (nodes,) probabilities, sum 1, by power iteration over weighted links in both directions.

    It starts with some probabilities, and ends when a round changes them by less than `exact` in sum.
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
    """Return the (nodes,) PageRank with new values at the (t,) touched nodes, ascending, whose links have changed.

    `degree` has the (nodes,) sums of the weights of all links, `ends` the touched and the other end of each link of the
    touched nodes, (a,) each, with its weight.
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
    """Return (nodes,) labels after the `free` nodes moved to the neighbouring label with the most gain in modularity.

    In each round half of them move, by turns, because two neighbours that moved together could swap for ever. `degree`
    has the sums of the weights at each node; those of its links when left out.
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


Algorithms = Callable[[WeightedGraph], GraphMeasures] | None

_AGAIN = 0.05
"""Communities are found again, from the present ones, when this share of the memories is new."""
_ROUGH = 1e-6


class Structure(NamedTuple):
    """The links of some memories, by their places among them."""

    ids: Sequence[str]
    """The ids of all rows; another object after the rows were renumbered."""
    rows: Rows
    """(n,) the memories, ascending."""
    inside: NDArray[np.bool_]
    """(edges,) the edge rows of the view that are between these memories."""
    edges: int
    """Those that are not removed."""
    computed: int
    """The computed edges between these memories."""
    links: int
    """Pairs of memories that have an edge."""
    degree: Values
    """(n,) the sums of the weights of their links."""
    labels: Labels
    """(n,) their communities, from 0."""
    members: list[Rows]
    """The places of the memories of each community, ascending."""
    rank: Values
    """(n,) PageRank."""
    between: WeightedGraph
    """The links between communities."""
    clustering: float | None
    """Measured when communities were last found; None without algorithms."""
    founded: int
    """How many memories there were then."""
    version: int
    """Another number after the communities were renumbered."""


def structure_of(view: GraphView, rows: Rows, algorithms: Algorithms = None, old: Structure | None = None) -> Structure:
    """Return the structure of the memories at `rows`.

    New memories join communities of an old structure. These are found again after much growth. Without removals,
    the cost is proportional to what is new, beside a few passes over columns.
    """
    if old is not None and old.ids is not view.ids:
        old = None
    place = np.full(view.node_count, -1, dtype=np.int64)
    place[rows] = np.arange(rows.size)
    if old is not None and (grown := _grown(view, rows, place, old)) is not None:
        return grown
    live, inside = _edges(view, place, 0)
    edges = np.flatnonzero(live & inside)
    graph, computed = _graph(view, edges, rows, place)
    known, start = np.arange(graph.nodes), None
    if old is not None:
        there = place[old.rows]
        kept = there >= 0
        known, start = np.full(graph.nodes, -1), np.full(graph.nodes, 1 / max(1, graph.nodes))
        known[there[kept]], start[there[kept]] = old.labels[kept], old.rank[kept]
        known = _joined(graph, known, degrees(graph))
    if old is not None and not _has_grown(rows.size, old):
        labels, measured, founded = known, old.clustering, old.founded
    elif algorithms is None:
        labels, measured, founded = moved_from_scratch(graph) if old is None else known, None, rows.size
    else:
        measures, founded = algorithms(graph), rows.size
        found = measures.communities(None if old is None else known)
        labels, measured = np.unique(found, return_inverse=True)[1], measures.clustering()
    return Structure(
        view.ids,
        rows,
        inside,
        edges.size,
        computed,
        graph.source.size,
        degrees(graph),
        labels,
        np.split(np.argsort(labels, kind="stable"), np.bincount(labels).cumsum()[:-1]) if rows.size else [],
        page_rank(graph, start, _ROUGH),
        graph.quotient(labels),
        measured,
        founded,
        0 if old is None else old.version + 1,
    )


def _edges(view: GraphView, place: Labels, first: int) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which edges are not removed, and which of those from row `first` on are between the memories."""
    source, target = (ends[first : view.edge_count] for ends in (view.edge_source, view.edge_target))
    return ~np.isnan(view.weight.all()[: view.edge_count]), (place[source] >= 0) & (place[target] >= 0)


def _graph(view: GraphView, edges: Rows, later: Rows, place: Labels) -> tuple[WeightedGraph, int]:
    """Return the graph of some edges and of the computed ones from later to earlier memories, and how many these are.

    `place` has the place of each node among all memories; -1 for other nodes.
    """
    source, target, computed = view.computed_edges(later)
    (kept,) = (place[target] >= 0).nonzero()
    sources = np.concatenate((view.edge_source[edges], source[kept]))
    targets = np.concatenate((view.edge_target[edges], target[kept]))
    weight = np.concatenate((view.weight.take(edges).astype(np.float64), computed[kept]))
    return WeightedGraph.of(int(place.max(initial=-1)) + 1, place[sources], place[targets], weight), kept.size


def _has_grown(count: int, old: Structure) -> bool:
    return abs(count - old.founded) >= max(1, _AGAIN * old.founded)


def _grown(view: GraphView, rows: Rows, place: Labels, old: Structure) -> Structure | None:
    """Return an old structure with what is new; None if more has changed."""
    known = old.rows.size
    if _has_grown(rows.size, old) or not np.array_equal(rows[:known], old.rows):
        return None
    live, inside = _edges(view, place, old.inside.size)
    if np.count_nonzero(live[: old.inside.size] & old.inside) != old.edges:
        return None
    edges = old.inside.size + np.flatnonzero(live[old.inside.size :] & inside)
    new, computed = _graph(view, edges, rows[known:], place)
    touched = np.union1d(np.arange(known, rows.size), np.concatenate((new.source, new.target)))
    arcs = view.links(rows[touched], both_ways=True)
    origin, other = touched[arcs.origin], place[arcs.target]
    kept = (other >= 0) & (other != origin) & (arcs.weight > 0)
    origin, other, weight = origin[kept], other[kept], arcs.weight[kept].astype(np.float64)
    degree = np.concatenate((old.degree, np.zeros(rows.size - known)))
    degree[touched] = np.bincount(origin, weight, rows.size)[touched]
    edge = arcs.edge[kept]
    older = np.where(edge < view.edge_count, edge < old.inside.size, np.maximum(origin, other) < known)
    before = np.unique(origin[older] * rows.size + other[older])
    labels = _joined(new, np.concatenate((old.labels, np.full(rows.size - known, -1))), degree)
    members = [
        *old.members,
        *(np.empty(0, dtype=np.int64) for _ in range(int(labels.max(initial=-1)) + 1 - len(old.members))),
    ]
    for label in np.unique(labels[known:]).tolist():
        members[label] = np.concatenate((members[label], known + np.flatnonzero(labels[known:] == label)))
    between = new.quotient(labels)
    rank = np.concatenate((old.rank * (known / max(1, rows.size)), np.full(rows.size - known, 1 / max(1, rows.size))))
    return old._replace(
        rows=rows,
        inside=np.concatenate((old.inside, inside)),
        edges=old.edges + edges.size,
        computed=old.computed + computed,
        links=old.links + int((~np.isin(new.source * rows.size + new.target, before)).sum()),
        degree=degree,
        labels=labels,
        members=members,
        rank=local_rank(rank, degree, touched, (origin, other), weight),
        between=WeightedGraph.of(
            len(members),
            np.concatenate((old.between.source, between.source)),
            np.concatenate((old.between.target, between.target)),
            np.concatenate((old.between.weight, between.weight)),
        ),
    )


def _joined(graph: WeightedGraph, labels: Labels, degree: Values) -> Labels:
    """Return the communities after new memories, whose label is -1, joined them, by the links of these at least.

    Communities that keep members keep their order. `degree` has the (n,) sums of the weights of all links.
    """
    (new,) = (labels < 0).nonzero()
    count = int(labels.max(initial=-1)) + 1
    labels = labels.copy()
    labels[new] = count + np.arange(new.size)
    alone = np.arange(count + new.size)
    joined = moved(graph.quotient(labels), alone, alone >= count, np.bincount(labels, degree).astype(np.float64))[
        labels
    ]
    used = np.bincount(joined, minlength=alone.size) > 0
    numbers: Labels = (used.cumsum() - 1)[joined]
    return numbers

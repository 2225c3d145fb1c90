"""`Structure`: how the memories of a scope are linked; it grows by what is new."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.communities import Graph, GraphMeasures
from neurogated.core.view import GraphView, Rows
from neurogated.manifest.measures import Labels, Values, degrees, local_rank, moved, moved_from_scratch, page_rank

Algorithms = Callable[[Graph], GraphMeasures] | None

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
    between: Graph
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
    known, start = _carried(graph, place, old)
    if old is not None and not _has_grown(rows.size, old):
        labels, measured, founded = known, old.clustering, old.founded
    else:
        labels, measured = _found(graph, algorithms, None if old is None else known)
        founded = rows.size
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


def _graph(view: GraphView, edges: Rows, later: Rows, place: Labels) -> tuple[Graph, int]:
    """Return the graph of some edges and of the computed ones from later to earlier memories, and how many these are.

    Args:
        view: has the edges.
        edges: rows of stored edges between memories.
        later: memories.
        place: of each node among all memories; -1 for other nodes.
    """
    source, target, computed = view.computed_edges(later)
    (kept,) = (place[target] >= 0).nonzero()
    sources = np.concatenate((view.edge_source[edges], source[kept]))
    targets = np.concatenate((view.edge_target[edges], target[kept]))
    weight = np.concatenate((view.weight.take(edges).astype(np.float64), computed[kept]))
    return Graph.of(int(place.max(initial=-1)) + 1, place[sources], place[targets], weight), kept.size


def _found(graph: Graph, algorithms: Algorithms, start: Labels | None) -> tuple[Labels, float | None]:
    """Return communities for all memories, and the clustering."""
    if algorithms is None:
        return moved_from_scratch(graph) if start is None else start, None
    measures = algorithms(graph)
    return np.unique(measures.communities(start), return_inverse=True)[1], measures.clustering()


def _carried(graph: Graph, place: Labels, old: Structure | None) -> tuple[Labels, Values | None]:
    """Return the communities after new memories joined old ones, and the PageRank to begin with."""
    if old is None:
        return np.arange(graph.nodes), None
    there = place[old.rows]
    kept = there >= 0
    labels, rank = np.full(graph.nodes, -1), np.full(graph.nodes, 1 / max(1, graph.nodes))
    labels[there[kept]], rank[there[kept]] = old.labels[kept], old.rank[kept]
    return _joined(graph, labels, degrees(graph)), rank


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
        between=Graph.of(
            len(members),
            np.concatenate((old.between.source, between.source)),
            np.concatenate((old.between.target, between.target)),
            np.concatenate((old.between.weight, between.weight)),
        ),
    )


def _joined(graph: Graph, labels: Labels, degree: Values) -> Labels:
    """Return the communities after new memories joined them, in the graph of old communities and new memories.

    Args:
        graph: the links of the new memories at least.
        labels: (n,) communities; -1 for new memories. Those that keep members keep their order.
        degree: (n,) the sums of the weights of all links.
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

"""Communities by the Leiden algorithm; and by modularity, betweenness and clustering; all by python-igraph.

The objective of Leiden is the constant Potts model (CPM): a community gains a member if the sum of its links to it is
more than `resolution` for each node of the community. So the communities of one user do not depend on the graphs of
other users, as they would with modularity.

    V. A. Traag, L. Waltman, N. J. van Eck: From Louvain to Leiden: guaranteeing well-connected communities. Scientific
    Reports 9, 5233 (2019)

    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre: Fast unfolding of communities in large networks. Journal
    of Statistical Mechanics P10008 (2008)
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.communities import Communities, CommunityLinks, WeightedGraph
from neurogated.core.extras import import_extra
from neurogated.core.view import Rows

Labels = NDArray[np.int64]
Weights = NDArray[np.float64]

_GENERATOR = threading.Lock()
"""igraph has one random generator for the whole process."""


class _Graph(NamedTuple):
    """A graph for igraph."""

    source: Rows
    target: Rows
    weight: Weights
    size: Weights
    """(nodes,) the number of memories that each node stands for."""
    start: Labels | None = None
    """(nodes,) the communities to begin with; a community of its own for each node when left out."""


@contextmanager
def seeded(igraph: Any) -> Iterator[None]:  # noqa: ANN401 - a package that only an extra installs
    """Run a block in which equal graphs have equal communities; then igraph uses Python's generator again."""
    with _GENERATOR:
        igraph.set_random_number_generator(random.Random(0))  # noqa: S311 - not a secret
        try:
            yield
        finally:
            igraph.set_random_number_generator(random)


class LeidenCommunities:
    """Finds communities, and updates them after a change of the links. It holds no state."""

    def find(self, links: CommunityLinks, resolution: float, old: Communities | None = None) -> Communities:
        """Return the communities of linked nodes; see `CommunityFinder`."""
        labels = _from_scratch(links, resolution) if old is None else _updated(links, resolution, old)
        return Communities(labels, links)


def _from_scratch(links: CommunityLinks, resolution: float) -> Labels:
    source, target, weight = valid = _valid(links)
    # Only linked nodes enter the graph.
    linked = np.zeros(links.owner.size, dtype=np.bool_)
    linked[source] = linked[target] = True
    place = linked.cumsum() - 1
    labels = np.full(linked.size, -1, dtype=np.int64)
    count = int(np.count_nonzero(linked))
    labels[linked] = _leiden(_Graph(place[source], place[target], weight, np.ones(count)), resolution)
    return _connected(labels, valid, linked)


def _updated(links: CommunityLinks, resolution: float, old: Communities) -> Labels:
    """Return the communities after a change; only the nodes near the change may move.

    Every old community is one node of the graph for igraph, except its free members. So the time is proportional to the
    change, and the communities elsewhere stay.
    """
    known = np.full(links.owner.size, -1, dtype=np.int64)
    known[: old.labels.size] = old.labels
    changed, broken = _changed(links, old, known)
    free = changed | broken
    if not free.any():
        return known
    source, target, weight = valid = _valid(links)
    touched = free[source] | free[target]
    source, target, weight = source[touched], target[touched], weight[touched]
    linked = np.zeros(free.size, dtype=np.bool_)
    linked[source] = linked[target] = True
    # A node that lost its last link leaves its community.
    (free_rows,) = (free & linked).nonzero()
    (fixed_rows,) = (~free & (known >= 0)).nonzero()
    fixed_labels, fixed_place = np.unique(known[fixed_rows], return_inverse=True)
    place = np.full(free.size, -1, dtype=np.int64)
    place[fixed_rows] = fixed_place
    place[free_rows] = fixed_labels.size + np.arange(free_rows.size)
    # Leiden would not divide a community that has lost its connection, so its members begin alone, as new nodes do.
    alone = known.max(initial=-1) + 1 + np.arange(free_rows.size)
    stays = (known[free_rows] >= 0) & ~broken[free_rows]
    start = np.concatenate((fixed_labels, np.where(stays, known[free_rows], alone)))
    size = np.ones(start.size)
    size[: fixed_labels.size] = np.bincount(fixed_place, minlength=fixed_labels.size)
    _, membership = np.unique(start, return_inverse=True)
    found = _leiden(_Graph(place[source], place[target], weight, size, membership), resolution)
    labels = np.full(free.size, -1, dtype=np.int64)
    labels[place >= 0] = found[place[place >= 0]]
    # Whoever was with a node that moved may have been joined by it.
    moved = free | np.isin(known, known[free & (known >= 0)])
    return _inherited(_connected(labels, valid, moved), known)


def _changed(links: CommunityLinks, old: Communities, known: Labels) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Return which nodes have changed links, and which are in communities that lost links or have a new owner."""
    size, both = links.owner.size, (links, old.links)
    codes = np.concatenate([one.source.astype(np.int64) * size + one.target for one in both])
    pairs, place = np.unique(codes, return_inverse=True)
    parts = np.split(place, [links.weight.size])
    now, before = (np.bincount(at, one.weight, pairs.size) for at, one in zip(parts, both, strict=True))
    source, target = np.divmod(pairs, max(size, 1))
    moved = np.flatnonzero(old.links.owner != links.owner[: old.links.owner.size])
    # With a new owner of one end, a link becomes valid or invalid.
    differs = (before != now) | np.isin(source, moved) | np.isin(target, moved)
    changed = np.zeros(size, dtype=np.bool_)
    changed[source[differs]] = changed[target[differs]] = True
    lost = source[before > now]
    return changed, (known >= 0) & np.isin(known, known[np.concatenate((lost, moved))])


def _valid(links: CommunityLinks) -> tuple[Rows, Rows, Weights]:
    """Return the ends and weights of the links within one owner, sorted; igraph reads sorted links twice as fast."""
    first = np.minimum(links.source, links.target).astype(np.int64)
    second = np.maximum(links.source, links.target).astype(np.int64)
    valid = (links.weight > 0) & (first != second) & (links.owner[first] == links.owner[second])
    first, second, weight = first[valid], second[valid], links.weight[valid]
    order = np.argsort(first * links.owner.size + second)
    return first[order], second[order], weight[order]


def _leiden(graph: _Graph, resolution: float) -> Labels:
    """Return the community of every node."""
    if not graph.size.size:
        return np.empty(0, dtype=np.int64)
    igraph = import_extra("igraph", "communities")

    made = igraph.Graph(n=graph.size.size, edges=np.column_stack((graph.source, graph.target)))
    with seeded(igraph):
        found = made.community_leiden(
            "CPM",
            weights=graph.weight.tolist(),
            node_weights=graph.size.tolist(),
            resolution=resolution,
            initial_membership=None if graph.start is None else graph.start.tolist(),
            n_iterations=1,
        )
    return np.array(found.membership, dtype=np.int64)


def _inherited(labels: Labels, old: Labels) -> Labels:
    """Return the labels with the old number for every community that has most members of an old one.

    A community takes the number that most of its members had. If several claim a number, the one with the most of its
    old members gets it, and the others get new numbers.
    """
    both = (labels >= 0) & (old >= 0)
    width = int(old.max(initial=0)) + 1
    pairs, counts = np.unique(labels[both] * width + old[both], return_counts=True)
    new, inherited = pairs // width, pairs % width
    order = np.lexsort((inherited, -counts))
    # Of every community, keep its most frequent old number; of every old number, its largest heir.
    order = order[np.sort(np.unique(new[order], return_index=True)[1])]
    order = order[np.sort(np.unique(inherited[order], return_index=True)[1])]
    number = np.full(int(labels.max(initial=0)) + 1, -1, dtype=np.int64)
    number[new[order]] = inherited[order]
    (others,) = (number < 0).nonzero()
    number[others] = width + np.arange(others.size)
    return np.where(labels >= 0, number[labels], -1)


def _connected(labels: Labels, links: tuple[Rows, Rows, Weights], touched: NDArray[np.bool_]) -> Labels:
    """Return the labels, numbered from 0, in which no touched community has parts that no link joins.

    Parts can remain where a node left that had joined them, since only the nodes near a change move. So no community
    joins two owners either.

    Args:
        labels: (nodes,) communities.
        links: the valid links.
        touched: (nodes,) the nodes that moved or whose links changed.
    """
    (members,) = ((labels >= 0) & np.isin(labels, labels[touched])).nonzero()
    place = np.full(labels.size, -1, dtype=np.int64)
    place[members] = np.arange(members.size)
    source, target, _ = links
    inside = (place[source] >= 0) & (labels[source] == labels[target])
    edges = np.column_stack((place[source[inside]], place[target[inside]]))
    parts = import_extra("igraph", "communities").Graph(n=members.size, edges=edges).connected_components()
    found = labels.copy()
    found[members] = labels.max(initial=0) + 1 + np.array(parts.membership, dtype=np.int64)
    found[found >= 0] = np.unique(found[found >= 0], return_inverse=True)[1]
    return found


# Modularity of the random graph that communities are compared with; 1 is its definition.
_RESOLUTION = 1.0


class IgraphMeasures:
    """See `GraphMeasures`."""

    def __init__(self, graph: WeightedGraph) -> None:
        self._igraph = import_extra("igraph", "communities")
        # igraph reads a list faster than an array.
        self._graph = self._igraph.Graph(
            graph.nodes, list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
        )
        self._weights = graph.weight.tolist()

    def communities(self, start: Labels | None = None) -> Labels:
        """Return (nodes,) numbers of communities; equal graphs have equal ones."""
        with seeded(self._igraph):
            found = self._graph.community_leiden(
                "modularity",
                weights=self._weights,
                resolution=_RESOLUTION,
                initial_membership=None if start is None else np.unique(start, return_inverse=True)[1].tolist(),
                n_iterations=2,
            )
        return np.array(found.membership, dtype=np.int64)

    def betweenness(self) -> NDArray[np.float64]:
        """Return (links,) how many shortest paths between two nodes pass each link, by the number of links."""
        return np.array(self._graph.edge_betweenness(directed=False), dtype=np.float64)

    def clustering(self) -> float:
        """Return the mean local clustering coefficient, without weights."""
        # It is nan without nodes.
        return float(np.nan_to_num(self._graph.transitivity_avglocal_undirected(mode="zero")))

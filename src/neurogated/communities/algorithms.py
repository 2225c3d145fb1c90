"""Communities by the Leiden algorithm; and by modularity, betweenness and clustering; all by python-igraph.

The objective of Leiden is the constant Potts model (CPM): a community gains a member if the sum of its links to it is
more than `resolution` for each node of the community. So the communities of one user do not depend on the graphs of
other users, as they would with modularity.

    V. A. Traag, L. Waltman, N. J. van Eck: From Louvain to Leiden: guaranteeing well-connected communities. Scientific
    Reports 9, 5233 (2019)

    V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre: Fast unfolding of communities in large networks. Journal
    of Statistical Mechanics P10008 (2008)
"""

import random
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.communities import Communities, CommunityLinks, WeightedGraph
from neurogated.core.extras import import_extra

Labels = NDArray[np.int64]

_GENERATOR = threading.Lock()
"""igraph has one random generator for the whole process."""


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
    """Finds communities. It holds no state."""

    def find(self, links: CommunityLinks, resolution: float) -> Communities:
        """Return the communities of linked nodes; see `CommunityFinder`."""
        igraph = import_extra("igraph", "communities")
        first = np.minimum(links.source, links.target).astype(np.int64)
        second = np.maximum(links.source, links.target).astype(np.int64)
        valid = (links.weight > 0) & (first != second) & (links.owner[first] == links.owner[second])
        labels = np.full(links.owner.size, -1, dtype=np.int64)
        if not valid.any():
            return Communities(labels, links)
        first, second, weight = first[valid], second[valid], links.weight[valid]
        # igraph reads sorted links twice as fast, and only linked nodes enter the graph.
        order = np.argsort(first * labels.size + second)
        linked, ends = np.unique(np.column_stack((first, second))[order], return_inverse=True)
        ends = ends.reshape(-1, 2)
        with seeded(igraph):
            found = igraph.Graph(n=linked.size, edges=ends).community_leiden(
                "CPM", weights=weight[order].tolist(), resolution=resolution, n_iterations=1
            )
        membership = np.array(found.membership, dtype=np.int64)
        # No community has parts that no link joins.
        inside = ends[membership[ends[:, 0]] == membership[ends[:, 1]]]
        labels[linked] = igraph.Graph(n=linked.size, edges=inside).connected_components().membership
        return Communities(labels, links)


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
        return np.array(self._graph.edge_betweenness(directed=False), dtype=np.float64)

    def clustering(self) -> float:
        # It is nan without nodes.
        return float(np.nan_to_num(self._graph.transitivity_avglocal_undirected(mode="zero")))

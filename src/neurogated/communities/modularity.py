"""Communities by modularity, betweenness and clustering, by python-igraph.

V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre: Fast unfolding of communities in large networks. Journal
of Statistical Mechanics P10008 (2008); for the Leiden algorithm see `leiden`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neurogated.communities.leiden import Labels, seeded
from neurogated.core.communities import Graph
from neurogated.core.extras import import_extra

# Modularity of the random graph that communities are compared with; 1 is its definition.
_RESOLUTION = 1.0


class IgraphMeasures:
    """See `GraphMeasures`."""

    def __init__(self, graph: Graph, algorithm: str = "leiden") -> None:
        """Take a graph, and `leiden` or `louvain`."""
        self._igraph = import_extra("igraph", "communities")
        # igraph reads a list faster than an array.
        self._graph = self._igraph.Graph(
            graph.nodes, list(zip(graph.source.tolist(), graph.target.tolist(), strict=True))
        )
        self._weights, self._algorithm = graph.weight.tolist(), algorithm

    def communities(self, start: Labels | None = None) -> Labels:
        """Return (nodes,) numbers of communities; equal graphs have equal ones. Louvain begins without `start`."""
        with seeded(self._igraph):
            if self._algorithm == "louvain":
                found = self._graph.community_multilevel(weights=self._weights, resolution=_RESOLUTION)
            else:
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

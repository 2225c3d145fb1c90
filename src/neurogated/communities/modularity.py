"""Communities by modularity, and betweenness, by python-igraph.

V. D. Blondel, J.-L. Guillaume, R. Lambiotte, E. Lefebvre: Fast unfolding of communities in large networks. Journal
of Statistical Mechanics P10008 (2008); for the Leiden algorithm see `leiden`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.communities.leiden import Labels, seeded
from neurogated.core.communities import Graph
from neurogated.core.extras import import_extra

# Modularity of the random graph that communities are compared with; 1 is its definition.
_RESOLUTION = 1.0


class IgraphAlgorithms:
    """See `GraphAlgorithms`. It holds no state."""

    def __init__(self, algorithm: str = "leiden") -> None:
        """Choose `leiden` or `louvain`."""
        self._algorithm = algorithm

    def communities(self, graph: Graph, start: Labels | None = None) -> Labels:
        """Return (nodes,) numbers of communities; equal graphs have equal ones. Louvain begins without `start`."""
        igraph, made = _made(graph)
        with seeded(igraph):
            if self._algorithm == "louvain":
                found = made.community_multilevel(weights=graph.weight.tolist(), resolution=_RESOLUTION)
            else:
                found = made.community_leiden(
                    "modularity",
                    weights=graph.weight.tolist(),
                    resolution=_RESOLUTION,
                    initial_membership=None if start is None else np.unique(start, return_inverse=True)[1].tolist(),
                    n_iterations=2,
                )
        return np.array(found.membership, dtype=np.int64)

    def betweenness(self, graph: Graph) -> NDArray[np.float64]:
        """Return (links,) how many shortest paths between two nodes pass each link, by the number of links."""
        return np.array(_made(graph)[1].edge_betweenness(directed=False), dtype=np.float64)


def _made(graph: Graph) -> tuple[Any, Any]:
    igraph = import_extra("igraph", "communities")
    return igraph, igraph.Graph(graph.nodes, list(zip(graph.source.tolist(), graph.target.tolist(), strict=True)))

"""Links between the nodes of a view, and the communities that they form."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows


class CommunityLinks(NamedTuple):
    """Weighted links between nodes, without direction."""

    source: NDArray[np.int32]
    """(links,) node rows."""
    target: NDArray[np.int32]
    """(links,) node rows."""
    weight: NDArray[np.float64]
    """(links,), ≥ 0; 0 is no link."""
    owner: NDArray[np.int32]
    """(nodes,) numbers; no community joins nodes of different numbers."""

    def among(self, rows: Rows) -> CommunityLinks:
        """Return the links without those that have an end outside of `rows`; they keep their places."""
        inside = np.zeros(self.owner.size, dtype=np.bool_)
        inside[rows] = True
        return self._replace(weight=np.where(inside[self.source] & inside[self.target], self.weight, 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Communities:
    """The community of every node, and the links that formed them."""

    labels: NDArray[np.int64]
    """(nodes,) numbers of communities; -1 for a node without links."""
    links: CommunityLinks

    def members(self) -> list[Rows]:
        """Return the rows of each community, ascending; the communities in the order of their numbers."""
        (linked,) = (self.labels >= 0).nonzero()
        order = linked[np.argsort(self.labels[linked], kind="stable")]
        _, starts = np.unique(self.labels[order], return_index=True)
        return np.split(order, starts[1:]) if order.size else []


class WeightedGraph(NamedTuple):
    """A graph of numbered nodes without directions and loops; at most one link joins two nodes."""

    nodes: int
    """Their number; they are numbered from 0."""
    source: NDArray[np.int64]
    """(links,) the smaller end of each link; links are sorted by both ends."""
    target: NDArray[np.int64]
    """(links,) the larger end."""
    weight: NDArray[np.float64]
    """(links,), > 0."""

    @classmethod
    def of(cls, count: int, source: Rows, target: Rows, weight: NDArray[np.float64]) -> WeightedGraph:
        """Return the graph of some edges; the weights of edges between the same two nodes are added."""
        kept = (source != target) & (weight > 0)
        low, high = np.minimum(source, target)[kept], np.maximum(source, target)[kept]
        code = low.astype(np.int64) * count + high
        order = code.argsort()
        code, weight = code[order], weight[kept][order]
        (starts,) = np.concatenate(([True], code[1:] != code[:-1])).nonzero() if code.size else (order,)
        summed = np.add.reduceat(weight, starts) if code.size else weight
        return cls(count, code[starts] // max(1, count), code[starts] % max(1, count), summed)

    def quotient(self, labels: NDArray[np.int64]) -> WeightedGraph:
        """Return the graph whose nodes are the labels 0 to n - 1 of this graph's nodes, without the links inside."""
        return WeightedGraph.of(int(labels.max(initial=-1)) + 1, labels[self.source], labels[self.target], self.weight)


class GraphMeasures(Protocol):
    """Measures of one graph, by algorithms that an extra installs."""

    def communities(self, start: NDArray[np.int64] | None = None) -> NDArray[np.int64]:
        """Return (nodes,) numbers of communities of high modularity; `start` has the communities to begin with."""

    def betweenness(self) -> NDArray[np.float64]:
        """Return (links,) how many shortest paths between two nodes pass each link; equal paths share one."""

    def clustering(self) -> float:
        """Return the mean local clustering coefficient; a node with fewer than two neighbours counts as 0."""


class CommunityFinder(Protocol):
    """Finds groups of nodes that are linked more with one another than with the rest of the graph."""

    def find(self, links: CommunityLinks, resolution: float) -> Communities:
        """Return the communities of linked nodes; a higher resolution, a least mean weight, gives smaller ones."""

"""Alternatives on the same data: loops over dicts, graph libraries, vector and keyword indexes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence

import igraph
import networkx as nx
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from benchmarks.memories import EDGE_TYPES
from benchmarks.synthetic import Synthetic
from neurogated import Kernel

__all__ = ["DictGraph", "hops", "keyword_search", "networkx_expansion", "pagerank", "terms_in", "vector_search"]

Energies = Mapping[int, float]


class DictGraph:
    """The gated activation's formula without its cap, as a loop over adjacency lists with precomputed shares."""

    def __init__(self, synthetic: Synthetic) -> None:
        """Group the arcs by source node, each with its share of the activation, in proportion to its weight."""
        self.neighbours: dict[int, list[tuple[int, float, int]]] = defaultdict(list)
        totals: dict[tuple[int, int], float] = defaultdict(float)
        arcs = list(_arcs(synthetic))
        for source, _, weight, code in arcs:
            totals[source, code // 2] += weight
        for source, target, weight, code in arcs:
            self.neighbours[source].append((target, weight * weight / totals[source, code // 2], code))

    def expand(self, anchors: Energies, kernel: Kernel, *, hops: int, decay: float) -> dict[int, float]:
        """Return the activation that reaches each node over edges."""
        modulation = _modulation(kernel, decay)
        moving, spread = anchors, defaultdict[int, float](float)
        for _ in range(hops):
            arrived: dict[int, float] = defaultdict(float)
            for source, energy in moving.items():
                for target, share, code in self.neighbours[source]:
                    arrived[target] += energy * share * modulation[code]
            for node, energy in arrived.items():
                spread[node] += energy
            moving = arrived
        return spread


def _arcs(synthetic: Synthetic) -> Iterator[tuple[int, int, float, int]]:
    """Yield source, target, weight and code of each arc; a type has two codes, the second for its own direction."""
    columns = (np.asarray(synthetic.edges).tolist(), synthetic.weights.tolist(), synthetic.types.tolist())
    for ends, weight, kind in zip(*columns, strict=True):
        older, newer = sorted(ends)
        yield newer, older, weight, 2 * kind + 1
        if EDGE_TYPES[kind].both_ways:
            yield older, newer, weight, 2 * kind


def _modulation(kernel: Kernel, decay: float) -> list[float]:
    return [decay * weight for kind in EDGE_TYPES for weight in (kernel.backwards(kind), kernel[kind])]


def networkx_expansion(graph: DictGraph) -> Callable[..., dict[int, float]]:
    """Return the same loop over a networkx graph."""
    made = nx.MultiDiGraph()
    for source, arcs in graph.neighbours.items():
        made.add_edges_from((source, target, {"share": share, "code": code}) for target, share, code in arcs)

    def expand(anchors: Energies, kernel: Kernel, *, hops: int, decay: float) -> dict[int, float]:
        modulation = _modulation(kernel, decay)
        moving, spread = anchors, defaultdict[int, float](float)
        for _ in range(hops):
            arrived: dict[int, float] = defaultdict(float)
            for source, energy in moving.items():
                if source in made:
                    for _, target, arc in made.out_edges(source, data=True):
                        arrived[target] += energy * arc["share"] * modulation[arc["code"]]
            for node, energy in arrived.items():
                spread[node] += energy
            moving = arrived
        return spread

    return expand


def pagerank(synthetic: Synthetic) -> Callable[[Sequence[int]], list[float]]:
    """Return igraph's personalised PageRank from given nodes, over weighted edges."""
    graph = igraph.Graph(n=synthetic.nodes, edges=np.asarray(synthetic.edges).tolist())
    weights = synthetic.weights.tolist()
    return lambda anchors: graph.personalized_pagerank(reset_vertices=list(anchors), weights=weights)


def keyword_search(synthetic: Synthetic, k1: float = 1.2, b: float = 0.75) -> Callable[[Sequence[int], int], NDArray]:
    """Return BM25 over a matrix of precomputed scores: from term numbers to the best nodes."""
    words = np.asarray(synthetic.words)
    nodes, length = words.shape
    rows = np.repeat(np.arange(nodes), length)
    counts = sparse.coo_matrix((np.ones(words.size, np.float32), (rows, words.ravel()))).tocsc()
    frequency = np.diff(counts.indptr)
    rarity = np.log1p((nodes - frequency + 0.5) / (frequency + 0.5))
    # All texts have the same length, so b has no effect.
    scores = counts.data * (k1 + 1) / (counts.data + k1 * (1 - b + b)) * np.repeat(rarity, frequency)
    matrix = sparse.csc_matrix((scores.astype(np.float32), counts.indices, counts.indptr), counts.shape)

    def search(question: Sequence[int], count: int) -> NDArray:
        found = np.zeros(nodes, np.float32)
        for word in question:
            at = slice(matrix.indptr[word], matrix.indptr[word + 1])
            found[matrix.indices[at]] += matrix.data[at]
        best = np.argpartition(-found, count)[:count]
        return best[np.argsort(-found[best])]

    return search


def terms_in(text: str) -> list[int]:
    """Return the term numbers of a question."""
    return [int(word[1:]) for word in text.rstrip("?").split() if word[1:].isdigit()]


def vector_search(synthetic: Synthetic, wanted: int) -> Callable[[NDArray[np.float32]], NDArray[np.int64]]:
    """Return exact search by numpy: from a vector to the best nodes."""
    vectors = np.array(synthetic.vectors)

    def search(vector: NDArray[np.float32]) -> NDArray[np.int64]:
        cosines = vectors @ vector
        best = np.argpartition(-cosines, wanted - 1)[:wanted]
        return best[np.argsort(-cosines[best])]

    return search


def hops(synthetic: Synthetic, count: int = 2) -> Callable[[NDArray[np.int64]], NDArray[np.int64]]:
    """Return some hops over compressed sparse rows: from nodes to those that activation reaches."""
    source, target, weight, _ = map(np.array, zip(*_arcs(synthetic), strict=True))
    order = source.argsort(kind="stable")
    target, weight = target[order], weight[order]
    begins = np.concatenate(([0], np.bincount(source, minlength=synthetic.nodes).cumsum()))

    def spread(rows: NDArray[np.int64]) -> NDArray[np.int64]:
        moving = np.ones(rows.size)
        for _ in range(count):
            sizes = begins[rows + 1] - begins[rows]
            arcs = np.arange(sizes.sum()) + (begins[rows + 1] - sizes.cumsum()).repeat(sizes)
            arrived = np.bincount(target[arcs], moving.repeat(sizes) * weight[arcs] / 2, synthetic.nodes)
            rows = arrived.nonzero()[0]
            moving = arrived[rows]
        return rows

    return spread

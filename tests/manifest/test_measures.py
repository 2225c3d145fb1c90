"""The measures of a graph, against igraph and networkx."""

from collections.abc import Sequence

import hypothesis.strategies as st
import networkx as nx
import numpy as np
import pytest
from hypothesis import given

from neurogated.communities.algorithms import IgraphMeasures
from neurogated.core.communities import WeightedGraph
from neurogated.manifest.structure import moved_from_scratch, page_rank

igraph = pytest.importorskip("igraph")


@st.composite
def graphs(draw: st.DrawFn) -> WeightedGraph:
    count = draw(st.integers(1, 25))
    node = st.integers(0, count - 1)
    links = draw(st.lists(st.tuples(node, node, st.sampled_from([0.1, 0.5, 1.0])), max_size=80))
    return graph_of(count, links)


def graph_of(count: int, links: Sequence[tuple[int, int, float]]) -> WeightedGraph:
    ends = np.array([link[:2] for link in links], dtype=np.int64).reshape(-1, 2)
    return WeightedGraph.of(count, ends[:, 0], ends[:, 1], np.array([link[2] for link in links], dtype=np.float64))


def networkx_graph(graph: WeightedGraph) -> nx.Graph:
    made = nx.Graph()
    made.add_nodes_from(range(graph.nodes))
    made.add_weighted_edges_from(zip(graph.source.tolist(), graph.target.tolist(), graph.weight.tolist(), strict=True))
    return made


def groups(count: int, members: int, within: float, between: float) -> tuple[WeightedGraph, np.ndarray]:
    """Return a random graph of groups, and the group of each node."""
    random = np.random.default_rng(0)
    group = np.arange(count * members) // members
    source, target = np.triu_indices(group.size, 1)
    kept = random.random(source.size) < np.where(group[source] == group[target], within, between)
    return WeightedGraph.of(group.size, source[kept], target[kept], np.ones(int(kept.sum()))), group


@given(graphs())
def test_page_rank_equals_networkx(graph: WeightedGraph) -> None:
    found = page_rank(graph)
    by_networkx = nx.pagerank(networkx_graph(graph), alpha=0.85, tol=1e-12, max_iter=1000)
    assert found == pytest.approx([by_networkx[node] for node in range(graph.nodes)], abs=1e-8)


@given(graphs())
def test_betweenness_equals_networkx(graph: WeightedGraph) -> None:
    expected = nx.edge_betweenness_centrality(networkx_graph(graph), normalized=False)
    found = IgraphMeasures(graph).betweenness()
    ends = zip(graph.source.tolist(), graph.target.tolist(), strict=True)
    assert found == pytest.approx([expected[pair] for pair in ends])


@pytest.mark.parametrize("by_igraph", [True, False])
def test_planted_groups_are_found(*, by_igraph: bool) -> None:
    graph, group = groups(8, 20, 0.5, 0.01)
    found = IgraphMeasures(graph).communities() if by_igraph else moved_from_scratch(graph)
    assert igraph.compare_communities(found.tolist(), group.tolist(), method="nmi") > 0.95

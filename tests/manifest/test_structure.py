"""How the structure of a memory grows, equal to one that is computed at once, and its measures."""

from collections import defaultdict
from collections.abc import Sequence

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import EdgeType, MemoryEdge, MemoryNode
from neurogated.communities.algorithms import IgraphMeasures
from neurogated.core.communities import WeightedGraph
from neurogated.core.delta import GraphDelta
from neurogated.manifest.structure import Structure, moved_from_scratch, page_rank, structure_of
from neurogated.storage.graph_store import GraphStore

igraph = pytest.importorskip("igraph")

OLD = 40
TYPES = (EdgeType.SIM, EdgeType.ASSOC)
weights = st.sampled_from([0.0, 0.25, 1.0])


def edge(source: int, target: int, weight: float, edge_type: EdgeType = EdgeType.SIM) -> MemoryEdge:
    return MemoryEdge(str(source), str(target), edge_type, weight)


def edges(count: int) -> st.SearchStrategy[list[MemoryEdge]]:
    # Few nodes have edges, so that several join the same two.
    node = st.integers(0, 7) | st.just(count - 1)
    ends = st.tuples(node, node).filter(lambda pair: pair[0] != pair[1])
    made = st.builds(lambda pair, *rest: edge(*pair, *rest), ends, weights, st.sampled_from(TYPES))
    return st.lists(made, max_size=40, unique_by=lambda one: one.key)


def nodes(first: int, last: int) -> tuple[MemoryNode, ...]:
    return tuple(MemoryNode(str(number), f"text {number}") for number in range(first, last))


def structure(store: GraphStore, old: Structure | None = None) -> Structure:
    view = store.view()
    return structure_of(view, view.admitted_nodes(), IgraphMeasures, old)


def assert_equal(found: Structure, expected: Structure) -> None:
    assert (found.edges, found.links) == (expected.edges, expected.links)
    assert found.degree == pytest.approx(expected.degree)
    assert found.rank.sum() == pytest.approx(1)
    for label, members in enumerate(found.members):
        assert (found.labels[members] == label).all()
        assert (np.diff(members) > 0).all()
    assert sum(members.size for members in found.members) == found.rows.size


@given(edges(OLD), edges(OLD + 1), st.integers(0, 2))
def test_a_grown_structure_equals_a_new_one(before: list[MemoryEdge], after: list[MemoryEdge], removed: int) -> None:
    store = GraphStore()
    store.apply(GraphDelta(nodes=nodes(0, OLD), edges=tuple(before)))
    old = structure(store)
    known = {one.key for one in before}
    store.apply(GraphDelta(removed_edges=tuple(known)[:removed]))
    new = tuple(one for one in after if one.key not in known)
    store.apply(GraphDelta(nodes=nodes(OLD, OLD + 1), edges=new))
    grown = structure(store, old)
    assert (grown.version == old.version) == (not removed or not before)
    assert_equal(grown, structure(store))
    between = defaultdict[tuple[int, int], float](float)
    for one in store.all_edges():
        first, second = sorted(int(grown.labels[int(end)]) for end in (one.source_id, one.target_id))
        between[first, second] += one.weight if first != second else 0.0
    found = zip(grown.between.source.tolist(), grown.between.target.tolist(), strict=True)
    assert dict(zip(found, grown.between.weight.tolist(), strict=True)) == {
        pair: weight for pair, weight in between.items() if weight
    }


def test_memories_that_join_are_in_the_communities_that_all_would_form() -> None:
    random = np.random.default_rng(0)
    groups, count, more = 8, 800, 300
    ends = [
        (one, other)
        for one in range(groups, count + more)
        for step in random.integers(1, 1 + one // groups, 6).tolist()
        for other in (one - groups * step if random.random() < 0.8 else int(random.integers(one)),)
    ]
    store = GraphStore()
    made = tuple(edge(*pair, 1.0) for pair in dict.fromkeys(ends))
    store.apply(GraphDelta(nodes=nodes(0, count), edges=tuple(one for one in made if int(one.source_id) < count)))
    found = structure(store)
    for first in range(count, count + more, 10):
        new = tuple(one for one in made if first <= int(one.source_id) < first + 10)
        store.apply(GraphDelta(nodes=nodes(first, first + 10), edges=new))
        found = structure(store, found)
        if first == count:
            alike = [
                found.labels[one] == np.bincount(found.labels[one % groups : count : groups]).argmax()
                for one in range(count, count + 10)
            ]
            assert found.version == 0
            assert np.mean(alike) >= 0.7
            assert np.abs(found.rank - structure(store).rank)[count:].sum() < 0.0001
    expected = structure(store)
    assert found.version > 0
    assert igraph.compare_communities(found.labels.tolist(), expected.labels.tolist(), method="nmi") > 0.95
    assert np.abs(found.rank - expected.rank).sum() < 0.02


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

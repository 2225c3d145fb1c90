"""Activation against the matrices of an independent graph library."""

import igraph
import numpy as np
import pytest

from neurogated import (
    EdgeType,
    GraphDelta,
    GraphStore,
    Kernel,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    SpreadingActivation,
)
from neurogated.config.groups import RuntimeSettings
from neurogated.config.retrieval_settings import RetrievalSettings, RetrievalSwitches

NODES, EDGES, HOPS, DECAY = 300, 1500, 3, 0.5


@pytest.fixture(scope="module")
def graph() -> igraph.Graph:
    rng = np.random.default_rng(11)
    ends = np.unique(rng.integers(0, NODES, (EDGES, 2)), axis=0)
    ends = ends[ends[:, 0] != ends[:, 1]]
    return igraph.Graph(
        n=NODES, edges=ends.tolist(), directed=True, edge_attrs={"weight": rng.uniform(0.1, 1, len(ends))}
    )


@pytest.fixture(scope="module")
def store(graph: igraph.Graph) -> GraphStore:
    store = GraphStore(config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=64)))
    store.apply(GraphDelta(nodes=tuple(MemoryNode(id=str(name), content="x") for name in range(NODES))))
    for edge in graph.es:
        store.add_edge(MemoryEdge(str(edge.source), str(edge.target), EdgeType.SEQ, edge["weight"]))
    return store


def _spread(store: GraphStore, mode: str, *, never_back: bool = True) -> np.ndarray:
    config = MemoryConfig(
        ACTIVATION=mode,
        MAX_HOPS=HOPS,
        ENERGY_DECAY_RATE=DECAY,
        retrieval=RetrievalSettings(max_frontier=NODES, switches=RetrievalSwitches(never_back=never_back)),
    )
    anchors = {str(name): 1.0 - name / 10 for name in range(5)}
    total = SpreadingActivation(config).spread(store.view(), anchors, Kernel()).total
    activations = np.zeros(NODES)
    activations[total.rows] = total.values
    return activations


def test_classic_is_the_power_of_one_plus_the_adjacency(graph: igraph.Graph, store: GraphStore) -> None:
    step = np.eye(NODES) + DECAY * np.array(graph.get_adjacency(attribute="weight").data, dtype=float)
    start = np.array([1.0 - name / 10 if name < 5 else 0.0 for name in range(NODES)])
    assert _spread(store, "classic") == pytest.approx(start @ np.linalg.matrix_power(step, HOPS))


def test_gated_is_a_sum_of_shared_out_steps_both_ways(graph: igraph.Graph, store: GraphStore) -> None:
    one_way = np.array(graph.get_adjacency(attribute="weight").data, dtype=float)
    # Each edge takes its share by its weight, and multiplies it by its weight.
    squares = one_way**2 + one_way.T**2
    strengths = (one_way + one_way.T).sum(axis=1, keepdims=True)
    step = DECAY * np.divide(squares, strengths, out=np.zeros_like(squares), where=strengths > 0)
    start = np.array([1.0 - name / 10 if name < 5 else 0.0 for name in range(NODES)])
    expected = sum(start @ np.linalg.matrix_power(step, hop) for hop in range(HOPS + 1))
    assert _spread(store, "gated", never_back=False) == pytest.approx(expected)


def test_gated_without_return_is_a_walk_on_the_arcs(graph: igraph.Graph, store: GraphStore) -> None:
    """The states are arcs, as in Hashimoto's non-backtracking matrix: an edge walked one way follows any other edge."""
    ends, weights = np.array(graph.get_edgelist()), np.array(graph.es["weight"])
    source, target = np.concatenate((ends, ends[:, ::-1])).T
    edge = np.tile(np.arange(len(ends)), 2)
    weight = weights[edge]
    strengths = np.bincount(source, weight, NODES)
    follows = (target[:, None] == source) & (edge[:, None] != edge)
    left = np.where(follows, strengths[target][:, None] - weight[:, None], np.inf)
    step = DECAY * follows * weight**2 / np.where(left > 0, left, np.inf)
    start = np.array([1.0 - name / 10 if name < 5 else 0.0 for name in range(NODES)])
    moving, expected = start[source] * weight**2 / strengths[source] * DECAY, start.copy()
    for _ in range(HOPS):
        expected += np.bincount(target, moving, NODES)
        moving = moving @ step
    assert _spread(store, "gated") == pytest.approx(expected)

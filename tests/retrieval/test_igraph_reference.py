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

"""`PlasticityEngine`: LTP and LTD."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from neurogated import MemoryConfig
from neurogated.core.edge_type import EdgeType
from neurogated.plasticity.plasticity_engine import PlasticityEngine
from neurogated.storage.graph_store import GraphStore


def test_a_path_of_nodes_or_ids_is_strengthened(graph: GraphStore) -> None:
    engine = PlasticityEngine(store=graph, config=MemoryConfig(HEBBIAN_LEARNING_RATE=0.2))
    engine.reinforce_path(retrieved_nodes=["b", "c"])
    engine.reinforce_path([graph.get_node("b"), graph.get_node("c")])

    assert graph.get_edge("b", "c").weight == pytest.approx(0.9)


def test_unused_edges_decay_but_not_similarity(graph: GraphStore) -> None:
    graph.add_edge("a", "b", EdgeType.SIM, weight=0.6)
    engine = PlasticityEngine(graph, MemoryConfig())
    engine.decay_unused()
    engine.decay_unused(datetime.now(UTC) + timedelta(days=3))

    assert graph.get_edge("a", "b", EdgeType.SIM).weight == 0.6
    assert graph.get_edge("a", "b", EdgeType.SEQ).weight == pytest.approx(0.99**2, rel=1e-3)
    assert graph.get_edge("a", "c", EdgeType.CAUSE).weight == pytest.approx(0.8 * 0.99**2, rel=1e-3)


def test_edges_that_have_decayed_are_removed(graph: GraphStore) -> None:
    config = MemoryConfig(TIME_DECAY_FACTOR=0.5, MIN_EDGE_WEIGHT=0.1)
    PlasticityEngine(graph, config).decay_unused(datetime.now(UTC) + timedelta(days=365))

    assert list(graph.all_edges()) == []

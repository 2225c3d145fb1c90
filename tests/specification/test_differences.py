"""Snippets that differ on purpose: their errors and their replacements, see docs/specification.md."""

from __future__ import annotations

import dataclasses
import enum

import pytest

from neurogated import EdgeType, GraphStore, MemoryConfig
from neurogated.errors import AmbiguousEdgeError, InputError, UnknownIdError


def test_settings_are_replaced_and_not_assigned() -> None:
    config = MemoryConfig()
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.TOP_K_ANCHORS = 10  # type: ignore[misc]

    assert config.replace(TOP_K_ANCHORS=10).TOP_K_ANCHORS == 10


def test_nodes_and_weights_are_written_to_the_store_and_not_assigned(graph: GraphStore) -> None:
    node, edge = graph.get_node("a"), graph.get_edge("b", "c")
    with pytest.raises(dataclasses.FrozenInstanceError):
        node.base_energy = 0.5  # type: ignore[misc]
    with pytest.raises(dataclasses.FrozenInstanceError):
        edge.weight = min(1.0, edge.weight + 0.1)  # type: ignore[misc]

    graph.add_edge(dataclasses.replace(edge, weight=min(1.0, edge.weight + 0.1)))
    graph.add_node(dataclasses.replace(node, base_energy=0.5))
    assert graph.get_edge("b", "c").weight == pytest.approx(0.6)
    assert graph.get_node("a").base_energy == 0.5


def test_types_of_edges_are_a_registry_and_no_enum() -> None:
    assert not issubclass(EdgeType, enum.Enum)
    assert len(EdgeType) > 3
    assert [kind.name for kind in EdgeType][:3] == ["SEQ", "SIM", "CAUSE"]


def test_two_types_between_two_nodes_have_to_be_told_apart(graph: GraphStore) -> None:
    graph.add_edge("a", "b", EdgeType.SIM, weight=0.6)
    with pytest.raises(AmbiguousEdgeError):
        graph.get_edge("a", "b")

    assert graph.get_edge("a", "b", EdgeType.SIM).weight == 0.6


def test_a_negative_cosine_is_no_weight(graph: GraphStore) -> None:
    with pytest.raises(InputError):
        graph.add_edge("a", "b", EdgeType.SIM, weight=-0.2)

    graph.add_edge("a", "b", EdgeType.SIM, weight=max(0.0, -0.2))
    assert graph.get_edge("a", "b", EdgeType.SIM).weight == 0.0


def test_a_missing_id_is_an_error_and_not_none(graph: GraphStore) -> None:
    with pytest.raises(UnknownIdError):
        graph.get_node("ghost")
    with pytest.raises(UnknownIdError):
        graph.get_edge("b", "a")

    assert not graph.has_node("ghost")

"""`MemoryNode`, `MemoryEdge` and `EdgeType`."""

from __future__ import annotations

from datetime import UTC, datetime
from uuid import uuid4

import numpy as np
import pytest

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode

NAMES = {"SEQ": "sequential", "SIM": "similarity", "CAUSE": "causal"}


def test_a_node_needs_id_content_and_embedding() -> None:
    node = MemoryNode(id="test-1", content="Test", embedding=[0.1, 0.2])

    assert (node.id, node.content) == ("test-1", "Test")
    assert list(node.embedding) == pytest.approx([0.1, 0.2])  # type: ignore[arg-type]
    assert node.base_energy == 1.0
    assert isinstance(node.last_accessed, datetime)
    assert node.metadata == {}


def test_nodes_and_edges_take_their_fields_in_the_order_of_the_specification() -> None:
    then, uuid = datetime(2026, 1, 2, tzinfo=UTC), uuid4()
    node = MemoryNode(uuid, "Test", np.array([0.1, 0.2]), 0.5, then, {"source": "notes"})  # type: ignore[arg-type]
    edge = MemoryEdge("a", "b", EdgeType.SEQ, 0.5, then)

    assert (node.id, node.base_energy, node.last_accessed, node.metadata) == (str(uuid), 0.5, then, {"source": "notes"})
    assert (edge.key, edge.weight, edge.created_at) == (("a", "b", EdgeType.SEQ), 0.5, then)


@pytest.mark.parametrize(("name", "value"), NAMES.items())
def test_a_type_is_found_by_attribute_name_and_value(name: str, value: str) -> None:
    member = getattr(EdgeType, name)

    assert EdgeType[name] is EdgeType(value) is member
    assert EdgeType.__members__[name] is member
    assert (member.name, member.value) == (name, value)
    assert str(member) == f"EdgeType.{name}"


def test_a_type_is_the_key_of_a_dictionary() -> None:
    weights = {EdgeType.SEQ: 0.5, EdgeType.SIM: 1.5, EdgeType.CAUSE: 2.0}

    assert weights[EdgeType("causal")] == 2.0
    assert EdgeType.SEQ != EdgeType.SIM


def test_an_unknown_value_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="unknown"):
        EdgeType("unknown")

"""Nodes, edges and their types as values."""

import copy
import pickle
from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID, uuid4

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from neurogated import EdgeKey, EdgeType, MemoryEdge, MemoryNode
from neurogated.core.clock import from_micros, to_micros, utc_now
from neurogated.errors import ConfigError, InputError


def test_a_node_needs_id_content_and_embedding_only() -> None:
    node = MemoryNode(id="a", content="text", embedding=[0.1, 0.2])
    assert node.base_energy == 1.0
    assert node.metadata == {}
    assert node.last_accessed <= utc_now()
    assert (node.valid_from, node.valid_to) == (None, None)


def test_embeddings_compare_by_value_and_cannot_be_changed() -> None:
    moment = utc_now()
    one, two = (
        MemoryNode(id="a", content="x", embedding=vector, last_accessed=moment, created_at=moment)
        for vector in ([0.1, 0.2], np.array([0.1, 0.2], dtype=np.float32))
    )
    assert one == two
    assert hash(one) == hash(two)
    assert one != replace(one, embedding=[0.1, 0.3])
    assert one != replace(one, embedding=None)
    assert one != "a"
    with pytest.raises(ValueError, match="read-only"):
        one.embedding[0] = 5.0  # type: ignore[index]


def test_values_are_frozen() -> None:
    node = MemoryNode(id="a", content="x")
    with pytest.raises(FrozenInstanceError):
        node.content = "y"  # type: ignore[misc]


def test_a_uuid_is_kept_as_text() -> None:
    number = uuid4()
    assert UUID(MemoryNode(id=number, content="x").id) == number  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"id": ""}, "id is empty"),
        ({"embedding": [1.0, float("nan")]}, "nan at position 1"),
        ({"embedding": [float("inf")]}, "inf at position 0"),
        ({"embedding": []}, "non-empty"),
        ({"embedding": [[1.0]]}, "shape"),
        ({"base_energy": 1.5}, "base_energy of node 'a' is 1.5"),
        ({"base_energy": float("nan")}, "between 0 and 1"),
        ({"metadata": {"when": datetime(2026, 1, 1, tzinfo=UTC)}}, "not JSON"),
        ({"metadata": {"x": float("nan")}}, "not JSON"),
        ({"content": "lone \ud800"}, "lone surrogate at character 5"),
        ({"metadata": {"x": "\udfff"}}, "lone surrogate"),
    ],
)
def test_a_value_that_cannot_be_stored_is_refused_with_the_reason(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MemoryNode(**{"id": "a", "content": "x", **arguments})  # type: ignore[arg-type]


def test_metadata_becomes_the_form_that_a_store_returns() -> None:
    given_values = {"entities": ("a", "b"), 3: {"deep": [None, True]}}
    node = MemoryNode(id="a", content="x", metadata=given_values)  # type: ignore[arg-type]
    assert node.metadata == {"entities": ["a", "b"], "3": {"deep": [None, True]}}


def test_times_are_kept_in_utc() -> None:
    elsewhere = datetime(2026, 5, 1, 12, tzinfo=timezone(timedelta(hours=8)))
    node = MemoryNode(id="a", content="x", last_accessed=elsewhere)
    assert node.last_accessed == elsewhere
    assert node.last_accessed.tzinfo is UTC
    naive = datetime(2026, 5, 1, 12)  # noqa: DTZ001 - taken as local time, as Python does
    assert MemoryNode(id="a", content="x", last_accessed=naive).last_accessed == naive.astimezone(UTC)


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_hold_every_moment(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


@pytest.mark.parametrize("weight", [-0.1, 1.01, float("nan")])
def test_an_edge_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError, match="weight of edge"):
        MemoryEdge("a", "b", EdgeType.SEQ, weight)


def test_an_edge_to_itself_is_refused() -> None:
    with pytest.raises(InputError, match="'a' to itself"):
        MemoryEdge("a", "a", EdgeType.SEQ)


def test_an_edge_was_last_activated_when_it_was_made() -> None:
    edge = MemoryEdge("a", "b", EdgeType("causal"), 0.5)
    assert edge.last_activated == edge.created_at
    assert edge.key == EdgeKey("a", "b", EdgeType.CAUSE)


def test_edge_types_read_like_an_enum() -> None:
    assert EdgeType.SEQ.value == "sequential"
    assert EdgeType("sequential") is EdgeType.SEQ
    assert EdgeType(EdgeType.SIM) is EdgeType.SIM
    assert EdgeType["CAUSE"] is EdgeType.CAUSE
    assert [kind.name for kind in EdgeType][:4] == ["SEQ", "SIM", "CAUSE", "ASSOC"]
    assert len(EdgeType) == len(list(EdgeType))
    assert repr(EdgeType.SEQ) == "<EdgeType.SEQ: 'sequential'>"


def test_edge_types_stay_themselves_when_copied_and_pickled() -> None:
    for kind in EdgeType:
        assert pickle.loads(pickle.dumps(kind)) is kind  # noqa: S301 - our own bytes
        assert copy.deepcopy(kind) is kind


def test_registering_a_type_adds_a_member_once() -> None:
    new = EdgeType.register("TEST_NEW", "test new", plastic=True, both_ways=False)
    assert EdgeType("test new") is new
    assert EdgeType.TEST_NEW is new  # type: ignore[attr-defined]
    assert new in list(EdgeType)
    assert EdgeType.register("TEST_NEW", "test new", plastic=True, both_ways=False) is new


@pytest.mark.parametrize(
    ("name", "value"),
    [("SEQ", "other"), ("OTHER", "sequential"), ("lower", "x"), ("", "x"), ("NO VALUE", ""), ("X", "")],
)
def test_a_type_that_clashes_or_is_no_word_is_refused(name: str, value: str) -> None:
    with pytest.raises(ConfigError):
        EdgeType.register(name, value, plastic=False, both_ways=False)


def test_an_unknown_type_names_the_known_ones() -> None:
    with pytest.raises(ConfigError, match="sequential, similarity, causal"):
        EdgeType("telepathic")
    with pytest.raises(ConfigError, match="SEQ"):
        EdgeType["TELEPATHY"]

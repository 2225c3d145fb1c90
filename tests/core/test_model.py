"""Nodes, edges and their types as values."""

from dataclasses import replace
from datetime import UTC, datetime

import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

from neurogated import EdgeType, MemoryEdge, MemoryNode
from neurogated.core.clock import from_micros, to_micros, utc_now
from neurogated.errors import InputError


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
    ],
)
def test_a_value_that_cannot_be_stored_is_refused_with_the_reason(arguments: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        MemoryNode(**{"id": "a", "content": "x", **arguments})  # type: ignore[arg-type]


@given(st.datetimes(timezones=st.just(UTC)))
def test_microseconds_hold_every_moment(moment: datetime) -> None:
    assert from_micros(to_micros(moment)) == moment


@pytest.mark.parametrize("weight", [-0.1, 1.01, float("nan")])
def test_an_edge_weight_out_of_range_is_refused(weight: float) -> None:
    with pytest.raises(InputError):
        MemoryEdge("a", "b", EdgeType.SEQ, weight)

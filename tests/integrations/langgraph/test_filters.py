"""The filters of a search."""

from __future__ import annotations

from functools import reduce

import pytest

from neurogated.errors import InputError
from neurogated.integrations.langgraph.filters import compiled

VALUE = {"n": 10, "text": "10", "flag": True, "none": None, "a.b": 1, "a": {"b": 2, "c": {"d": "x"}}, "tags": ["t", 1]}


@pytest.mark.parametrize(
    ("condition", "passing"),
    [
        ({"n": 10}, True),
        ({"n": 10.0}, True),
        ({"n": "10"}, False),
        ({"flag": True}, True),
        ({"flag": 1}, False),
        ({"tags": ["t", True]}, False),
        ({"tags": ["t", 1]}, True),
        ({"none": None}, True),
        ({"gone": None}, False),
        ({"gone": {"$ne": 1}}, True),
        ({"n": {"$ne": 10}}, False),
        ({"n": {"$gt": 9, "$lt": 11}}, True),
        ({"n": {"$gte": 10, "$lte": 9.5}}, False),
        ({"text": {"$gt": 9}}, False),
        ({"text": {"$gt": "1"}}, True),
        ({"gone": {"$lt": 1}}, False),
        ({"flag": {"$gte": 0}}, False),
        ({"n": {"$lt": float("inf")}}, True),
        ({"n": {"$eq": float("nan")}}, False),
        ({"a": {"b": 2}}, True),
        ({"a": {"$eq": {"b": 2}}}, False),
        ({"a": {"$eq": {"c": {"d": "x"}, "b": 2}}}, True),
        ({"a": {"c": {"d": {"$gte": "x"}}}}, True),
        ({"a.b": 1}, True),
        ({"a.b": 2}, False),
        ({"a.c.d": "x"}, True),
        ({"n.b": 1}, False),
        ({"n": 10, "flag": False}, False),
        ({}, True),
    ],
)
def test_a_filter_compares_values_as_json(condition: dict[str, object], *, passing: bool) -> None:
    check = compiled(condition)
    assert (check is None or check(VALUE)) is passing


@pytest.mark.parametrize(
    "condition",
    [
        {"$or": [{"n": 1}]},
        {"n": {"$or": [1, 2]}},
        {"n": {"$in": [1]}},
        {"n": {"$gt": None}},
        {"n": {"$gt": [1]}},
        {"n": {"$gt": True}},
        {"n": {"$gt": 1, "m": 2}},
        {"a..b": 1},
        {"": 1},
        ["n"],
        reduce(lambda inner, _: {"n": inner}, range(5000), dict[str, object](n=1)),
    ],
    ids=range(11),
)
def test_a_filter_that_no_value_could_pass_is_refused(condition: dict[str, object]) -> None:
    with pytest.raises(InputError):
        compiled(condition)

"""The filters of a search."""

from __future__ import annotations

from functools import reduce

import pytest

from neurogated.errors import InputError
from neurogated.integrations.langgraph.filters import compiled


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

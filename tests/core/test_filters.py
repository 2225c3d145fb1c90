"""Conditions on metadata."""

from functools import reduce
from operator import or_

import pytest

from neurogated.core.filters import Condition, field
from neurogated.errors import InputError


def test_conditions_that_lie_too_deep_in_each_other_are_refused() -> None:
    years: list[Condition] = [field("year") == number for number in range(2000)]
    with pytest.raises(InputError):
        reduce(or_, years)
    assert reduce(or_, years[:200]).admits({"year": 0})


def test_many_conditions_may_be_joined_in_groups() -> None:
    def joined(first: int, count: int) -> Condition:
        if count == 1:
            return field("year") == first
        return joined(first, count // 2) | joined(first + count // 2, count - count // 2)

    condition = joined(0, 2000)
    assert condition.admits({"year": 1999})
    assert not condition.admits({"year": 2000})
    assert (~condition).admits({"year": 2000})

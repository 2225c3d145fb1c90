"""Conditions on metadata."""

from collections.abc import Callable
from functools import reduce
from operator import or_
from typing import Any

import numpy as np
import pytest

from neurogated.core.filters import Condition, field, recallable
from neurogated.core.node_kind import PLACEHOLDER
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


@pytest.mark.parametrize("names", [["turn", "fact"], []])
def test_names_may_stand_in_an_array_or_come_from_an_iterator(names: list[str]) -> None:
    wanted = recallable({"kinds": names, "tags": names, "path": names})
    assert wanted.except_kinds == (frozenset() if names else {PLACEHOLDER})
    listings: list[Callable[[list[str]], Any]] = [np.array, iter]
    for given in listings:
        found = recallable({"kinds": given(names), "tags": given(names), "path": given(names)})
        assert found == wanted

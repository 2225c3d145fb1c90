"""How two values of an attribute relate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.slots.values import attribute_named, compare_values
from tests.golden import rows

OPPOSITE = {"narrower": "wider", "wider": "narrower"}


@pytest.mark.parametrize(
    ("attribute", "one", "other", "relation"),
    rows(__file__, "values"),
)
def test_values_relate_by_their_type(attribute: str, one: str, other: str, relation: str) -> None:
    own = attribute_named(attribute)
    assert compare_values(own, one, other) == relation
    assert compare_values(own, other, one) == OPPOSITE.get(relation, relation)


ATTRIBUTES = st.sampled_from(["home", "manager", "rent", "birthday", "phone_number", "like"])


@given(ATTRIBUTES, st.text(max_size=20), st.text(max_size=20))
def test_the_relation_of_any_two_values_is_symmetric(attribute: str, one: str, other: str) -> None:
    own = attribute_named(attribute)
    relation = compare_values(own, one, other)
    assert compare_values(own, other, one) == OPPOSITE.get(relation, relation)

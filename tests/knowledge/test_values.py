"""How two values of an attribute relate."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.slots.values import attribute_named, compare_values

OPPOSITE = {"narrower": "wider", "wider": "narrower"}


@pytest.mark.parametrize(
    ("attribute", "one", "other", "relation"),
    [
        ("home", "Hackney", "London", "narrower"),
        ("home", "Ghent", "Belgium", "narrower"),
        ("home", "Ghent, Belgium", "Gent", "same"),
        ("home", "Ghent", "Antwerp", "different"),
        ("home", "徐汇区", "上海", "narrower"),
        ("doctor", "Dr. Brandt", "Brandt", "same"),
        ("manager", "Linda Park", "Linda", "narrower"),
        ("weight", "70 kg", "154 lbs", "same"),
        ("age", "三十", "30", "same"),
        ("salary", "60k", "60,000", "same"),
        ("budget", "more than 10,000 dollars", "12,500 dollars", "wider"),
        ("rent", "900 euros", "1,100 euros", "different"),
        ("phone_number", "555-1234", "555 1234", "same"),
        ("birthday", "October 9th", "9 October 1987", "wider"),
        ("birthday", "October 9th", "October 10th", "different"),
        ("like", "to swim", "swimming", "same"),
    ],
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

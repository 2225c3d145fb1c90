"""When two texts are the same text: courtesies, marks, contractions and free order make no difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.equal_text import are_equal, equal_key
from tests.golden import rows


@pytest.mark.parametrize(
    ("one", "other"),
    rows(__file__, "different"),
)
def test_near_misses_differ(one: str, other: str) -> None:
    assert not are_equal([one, other])


@given(st.text(max_size=80))
def test_any_text_is_equal_to_itself_and_has_a_key(text: str) -> None:
    assert are_equal([text, text])
    assert bool(equal_key(text)) == bool(text.strip())

"""When two texts are the same text: courtesies, marks, contractions and free order make no difference."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.core.equal_text import are_equal, equal_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("All nurses are women.", "All women are nurses."),
        ("Tom introduced Ana to Ben.", "Ben introduced Ana to Tom."),
        ("I have yoga at 10 am.", "I have yoga at 10 pm."),
        ("Only I have the key.", "I have only the key."),
        ("No me gusta el té.", "Me gusta el té."),
        ("Nur ich habe den Schlüssel.", "Ich habe nur den Schlüssel."),
        ("My boss is Ana.", "My boss was Ana."),
        ("I live in Ghent.", "Do I live in Ghent?"),
        ("Call us.", "Call US."),
        ("मेरा दिन अच्छा है।", "मेरा दान अच्छा है।"),
        ("ฉันกินข้าว", "ฉันกันข้าว"),
        ("কাল আসি", "কালি আস"),
    ],
)
def test_near_misses_differ(one: str, other: str) -> None:
    assert not are_equal([one, other])


@given(st.text(max_size=80))
def test_any_text_is_equal_to_itself_and_has_a_key(text: str) -> None:
    assert are_equal([text, text])
    assert bool(equal_key(text)) == bool(text.strip())

"""Plain words of a sentence: brackets that belong to it stay."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated.text.normalise import is_courtesy, plain_sentences, plain_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("I moved to Springfield (Illinois).", "I moved to Springfield (Illinois)"),
        ("我住在上海\uff08浦东\uff09。", "我住在上海\uff08浦东\uff09"),
        ("(0113) 496 0000 is my number.", "(0113) 496 0000 is my number"),
        ("(I live in Leeds.)", "I live in Leeds"),
        ("I like tea :)", "I like tea"),
        ("I like tea (green) )", "I like tea (green)"),
        ("a) first, b) second)", "a) first, b) second"),
    ],
)
def test_a_bracket_goes_only_if_it_has_no_partner(text: str, plain: str) -> None:
    assert plain_text(text) == plain


@given(st.text(alphabet="ab (). "))
def test_whatever_stands_in_a_pair_of_brackets_keeps_both(inside: str) -> None:
    assert plain_text(f"word (x{inside.replace('(', '').replace(')', '')}y).").endswith("y)")


_PARTS = st.lists(
    st.sampled_from(
        ["Hi", "hello Ana,", "thanks", "well,", "by the way", "vielen Dank", "hola", "谢谢", "Ana swims", "(", "x", "!"]
    )
    | st.text(max_size=4),
    max_size=4,
)


@given(_PARTS)
def test_a_courtesy_is_what_leaves_only_the_text_behind_it(parts: list[str]) -> None:
    for one in plain_sentences(" ".join(parts)):
        assert is_courtesy(one.text) == (plain_text(f"{one.text}, x") == "x")

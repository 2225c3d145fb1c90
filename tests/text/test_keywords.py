"""Texts to keywords, in English, Chinese and mixtures."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated.text.keywords import search_terms, split_keywords
from tests.golden import rows


@pytest.mark.parametrize(
    ("text", "keywords"),
    rows(__file__, "keywords"),
)
def test_words_without_content_go_and_the_rest_is_reduced(text: str, keywords: list[str]) -> None:
    assert split_keywords(text) == keywords


@given(st.text(st.characters()))
def test_a_text_is_searched_by_its_keywords_and_by_parts_that_are_none(text: str) -> None:
    keywords, terms = split_keywords(text), search_terms(text)
    assert [one for one in terms if not one.startswith(" ")] == keywords
    assert not {one[1:] for one in terms if one.startswith(" ") and len(one) > 2} & set(keywords)

"""Where sentences end."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated.text.sentences import split_sentences
from tests.golden import rows


@given(st.text(st.sampled_from("aB 1.!?。！？…\n\t\u00a0\u2028'\"”)我É゙")))
def test_the_sentences_are_the_text_to_the_letter(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert all(sentences)


@pytest.mark.parametrize(
    "sentences",
    rows(__file__, "sentences"),
)
def test_sentences_end_where_a_reader_says(sentences: list[str]) -> None:
    assert split_sentences("".join(sentences)) == sentences

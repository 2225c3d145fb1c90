"""Where sentences end."""

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated.text.sentences import split_sentences


@given(st.text(st.sampled_from("aB 1.!?。！？…\n\t\u00a0\u2028'\"”)我É゙")))
def test_the_sentences_are_the_text_to_the_letter(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert all(sentences)


@pytest.mark.parametrize(
    "sentences",
    [
        ["One. ", "Two! ", "Three? ", "Four"],
        ["Dr. Quill went to St. Ives at No. 5. ", "He stayed."],
        ["It is 3.5 m long. ", "The U.S.A. is far e.g. from here."],
        ['"Stop." ', "He stopped."],
        ["J. R. Garrow came. ", "So did I. ", "We left."],
        ["A heading\n\n", "A paragraph without a stop\n \n", "Another"],
        ["今天下雨了。", "所以比赛取消。", "好吗？", "是的"],
        ["他说：“走吧。”", "然后走了。"],
        ["Wait... ", "What?! ", "No."],
        ["Lee paid 3.50. ", "He left at 9.30. ", "Am 3.12. Anna besuchen"],
        ["See www.example.com for more. ", "Bye."],
        ["It ended on 5 Nov. 1911 in rain. ", "Then came snow."],
    ],
)
def test_sentences_end_where_a_reader_says(sentences: list[str]) -> None:
    assert split_sentences("".join(sentences)) == sentences

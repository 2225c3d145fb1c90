import re
import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neurogated.core.words import count_words, split_words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        (" \n\t", []),
        ("?! … —", []),
        ("The cat, the CAT!", ["the", "cat", "the", "cat"]),
        ("room 101 (north)", ["room", "101", "north"]),
        ("don't", ["don", "t"]),
        ("Straße Ärger façade", ["straße", "ärger", "façade"]),
        ("我愛你。", ["我", "愛", "你"]),
        ("カナ かな", ["カ", "ナ", "か", "な"]),
        ("GPT4很好", ["gpt4", "很", "好"]),
        ("한국어 단어", ["한국어", "단어"]),
        ("Привет, мир", ["привет", "мир"]),
        ("👨\u200d👩 ok", ["ok"]),
    ],
)
def test_words_of_many_scripts_are_found_in_lower_case(text: str, words: list[str]) -> None:
    assert split_words(text) == words


@given(st.lists(st.text("abcxyzàßж019", min_size=1, max_size=6), max_size=8), st.sampled_from([" ", ", ", "\n", " – "]))
def test_words_are_found_in_order_with_any_separator(words: list[str], separator: str) -> None:
    assert split_words(separator.join(words)) == words


@given(st.text(alphabet="人我愛かなカナ", max_size=20))
def test_each_han_or_kana_character_is_a_word(text: str) -> None:
    assert split_words(text) == list(text)


@given(st.text())
def test_a_word_is_never_blank_and_never_holds_white_space(text: str) -> None:
    assert all(re.fullmatch(r"\S+", word) for word in split_words(text))


@given(st.lists(st.text(max_size=30), max_size=5))
@example(["İstanbul"])  # lower case turns the dotted capital into two characters
def test_the_count_is_the_number_of_words_split(texts: list[str]) -> None:
    assert count_words(texts) == [len(split_words(text)) for text in texts]


@pytest.mark.parametrize("word", ["café", "naïve", "Łódź"])
def test_an_accent_written_as_a_character_of_its_own_does_not_cut_the_word(word: str) -> None:
    assert count_words([unicodedata.normalize("NFD", word)]) == [1]

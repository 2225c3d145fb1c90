"""Words, sentences, names and passwords in texts of many languages."""

from __future__ import annotations

import hypothesis.strategies as st
import pytest
from hypothesis import given

from neurogated.text.keywords import search_terms, split_keywords, split_words
from neurogated.text.names import names_in
from neurogated.text.normalise import is_courtesy, plain_sentences, plain_text
from neurogated.text.sentences import split_sentences
from neurogated.text.strings import without_passwords
from tests.golden import rows


@pytest.mark.parametrize(("text", "words"), rows(__file__, "words"))
def test_words_of_many_scripts_are_found_in_lower_case(text: str, words: list[str]) -> None:
    assert split_words(text) == words


# Texts to keywords, in English, Chinese and mixtures


@pytest.mark.parametrize(("text", "keywords"), rows(__file__, "keywords"))
def test_words_without_content_go_and_the_rest_is_reduced(text: str, keywords: list[str]) -> None:
    assert split_keywords(text) == keywords


@given(st.text(st.characters()))
def test_a_text_is_searched_by_its_keywords_and_by_parts_that_are_none(text: str) -> None:
    keywords, terms = split_keywords(text), search_terms(text)
    assert [one for one in terms if not one.startswith(" ")] == keywords
    assert not {one[1:] for one in terms if one.startswith(" ") and len(one) > 2} & set(keywords)


# Where sentences end


@given(st.text(st.sampled_from("aB 1.!?。！？…\n\t\u00a0\u2028'\"”)我É゙")))
def test_the_sentences_are_the_text_to_the_letter(text: str) -> None:
    sentences = split_sentences(text)
    assert "".join(sentences) == text
    assert all(sentences)


@pytest.mark.parametrize("sentences", rows(__file__, "sentences"))
def test_sentences_end_where_a_reader_says(sentences: list[str]) -> None:
    assert split_sentences("".join(sentences)) == sentences


# Names in German, French and Spanish texts


@pytest.mark.parametrize(("text", "names"), rows(__file__, "names"))
def test_names_are_found_and_other_nouns_are_not(text: str, names: list[str]) -> None:
    found = names_in(text)
    assert sorted(found) == names
    assert sorted(found, key=text.index) == list(found)


@given(st.text(st.sampled_from("AaéÉ .,'-«3\n"), max_size=60))
def test_every_name_stands_in_the_text(text: str) -> None:
    for name in names_in(text):
        assert name in " ".join(text.split())


# Texts that are shown must not give a password away


@pytest.mark.parametrize("password", ["secret", "se@cret", "se:cret", "%2Fsecret"])
def test_no_part_of_a_password_in_a_url_is_shown(password: str) -> None:
    shown = without_passwords(
        f"cannot reach bolt://ana:{password}@host:7687/db, postgresql://host/db?password={password}"
    )
    assert "cret" not in shown
    assert "ana" in shown
    assert "@host:7687/db" in shown


# Plain words of a sentence: brackets that belong to it stay


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

"""Words, and spans of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.text import time_spans
from neurogated.text.keywords import search_terms, split_keywords, split_words
from neurogated.text.names import names_in
from neurogated.text.normalise import is_courtesy, plain_sentences, plain_text
from neurogated.text.sentences import split_sentences
from neurogated.text.strings import without_passwords
from neurogated.text.time_spans import span_of
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


NOW = datetime(2026, 5, 13, 15, tzinfo=UTC)
"""A Wednesday."""
TENSE = partial(time_spans._Tense, ahead=False, past=False)


@pytest.mark.parametrize(
    ("question", "span"),
    rows(__file__, "days"),
)
def test_the_days_that_a_question_means(question: str, span: list[str] | None) -> None:
    assert span_of(question, NOW) == (span and tuple(map(date.fromisoformat, span)))


MONTHS = {
    "January": ("januar", "janvier", "enero", "一月", "1月"),
    "February": ("februar", "février", "febrero", "二月", "2月份"),
    "March": ("märz", "mars", "marzo", "三月", "3月"),
    "April": ("april", "avril", "abril", "四月", "4月"),
    "May": ("mai", "mai", "mayo", "五月", "5月"),
    "June": ("juni", "juin", "junio", "六月", "6月"),
    "July": ("juli", "juillet", "julio", "七月", "7月"),
    "August": ("august", "août", "agosto", "八月", "8月"),
    "September": ("september", "septembre", "septiembre", "九月", "9月"),
    "October": ("oktober", "octobre", "octubre", "十月", "10月"),
    "November": ("november", "novembre", "noviembre", "十一月", "11月"),
    "December": ("dezember", "décembre", "diciembre", "十二月", "12月"),
}
# The forms of a phrase: English with the English name, German, French, Spanish, and two in Chinese.
LATEST = (
    "What did I do on {}?",
    "Was tat ich {}?",
    "Qu'ai-je fait {} ?",
    "¿Qué hice {}?",
    "我在{}做了什么？",
    "{}呢？",
)
LAST = ("Last {}?", "Und letzten {}?", "Et {} dernier ?", "¿Y el {} pasado?")
NEXT = ("Who comes next {}?", "Wer kommt nächsten {}?", "Qui vient {} prochain ?", "¿Quién viene el próximo {}?")
MOMENTS = st.datetimes(datetime(1990, 1, 1), datetime(2090, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001 - with a zone


def _forms(
    phrases: tuple[str, ...], names: Mapping[str, tuple[str, ...]], before: tuple[str, ...] = ("",) * 4
) -> st.SearchStrategy:
    """Draw an English name and a phrase with the name in one language; `before` are words such as "am" and "el"."""
    return st.tuples(st.sampled_from(sorted(names)), st.integers(0, len(phrases) - 1)).map(
        lambda drawn: (drawn[0], phrases[drawn[1]].format(before[drawn[1]] + (drawn[0], *names[drawn[0]])[drawn[1]]))
    )


def _walk(day: date, step: int, wanted: Callable[[date], bool]) -> date:
    """Return the first wanted day in one direction, day by day: the slow reference."""
    while not wanted(day):
        day += timedelta(step)
    return day


def _whole_month(day: date) -> tuple[date, date]:
    first = _walk(day, -1, lambda one: one.day == 1)
    return first, _walk(day, 1, lambda one: (one + timedelta(1)).day == 1)


@given(
    _forms(LATEST, MONTHS, ("", "im ", "en ", "en ", "", "")),
    _forms(LAST, MONTHS, ("",) * 4),
    _forms(NEXT, MONTHS, ("",) * 4),
    MOMENTS,
)
def test_months_are_those_of_the_calendar(
    latest: tuple[str, str], last: tuple[str, str], following: tuple[str, str], now: datetime
) -> None:
    """A month that has begun is the latest; the last one is over, and the next one has not begun."""
    begin, end = _whole_month(now.date())
    first = (latest[0], latest[1].replace(" on ", " in "))
    starts = ((first, end, -1), (last, begin - timedelta(1), -1), (following, end + timedelta(1), 1))
    for (name, question), start, step in starts:
        expected = _walk(start, step, lambda one, name=name: f"{one:%B}" == name)  # type: ignore[misc]
        assert span_of(question, now) == _whole_month(expected), question


@pytest.mark.parametrize("question", ["What did I bake last week?", "Was habe ich letzte Woche gebacken (bake)?"])
def test_memories_of_that_time_come_before_others_of_the_same_topic(question: str) -> None:
    config = MemoryConfig(storage="memory", embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        for weeks in range(160):
            at = NOW - timedelta(weeks=weeks)
            memory.add(f"I did bake bread number {weeks}.", timestamp=at)
        memory.add("I did bake a cake.")
        (first, *_) = memory.recall(question, now=NOW, top_n=1)
        assert first.content == "I did bake bread number 1."
        (later, *_) = memory.recall(question, now=NOW - timedelta(weeks=20), top_n=1)
        assert later.content == "I did bake bread number 21."


@given(
    st.lists(
        st.sampled_from(
            [word for row in time_spans._WORDS for word in "|".join(row[2:]).split("|") if word.isalpha()]
            + ["an", "the", "in", "2019", "3", "12", "2021年", "3月", "the", "de", "l'an", "un an", "what", "word7"]
        ),
        max_size=5,
    ).map(" ".join)
)
def test_the_quick_look_for_a_day_misses_none(question: str) -> None:
    if not time_spans._NAMES_DAY.search(question):
        assert time_spans._span(time_spans._tokens(question), NOW.date(), TENSE, years=True) is None

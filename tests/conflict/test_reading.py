"""Numbers, times and polarity are read in several languages."""

from __future__ import annotations

import pytest

from neurogated.conflict.moments import Moment, find_moments
from neurogated.conflict.quantities import number_of
from neurogated.conflict.statement import read_statement


@pytest.mark.parametrize(
    ("word", "language", "value"),
    [
        ("1,200", "en", 1200), ("1.200", "de", 1200), ("1.5", "en", 1.5), ("thirty-five", "en", 35),
        ("fünfunddreißig", "de", 35), ("doce", "es", 12), ("十二", "zh", 12), ("两", "zh", 2), ("3k", "en", 3000),
    ],
)  # fmt: skip
def test_numbers_are_read(word: str, language: str, value: float) -> None:
    found = number_of(word, language)
    assert found is not None
    assert found[0] == value


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("on 2024-06-01", Moment(2024, 6, 1)),
        ("on June 1, 2024", Moment(2024, 6, 1)),
        ("am 1. Juni 2024", Moment(2024, 6, 1)),
        ("el 1 de junio de 2024", Moment(2024, 6, 1)),
        ("2024年6月1日", Moment(2024, 6, 1)),
        ("at 10:30 am", Moment(hour=10, minute=30)),
        ("下午3点半", Moment(hour=15, minute=30)),
        ("on Tuesday", Moment(weekday=1)),
        ("am Dienstag", Moment(weekday=1)),
        ("星期二", Moment(weekday=1)),
    ],
)
def test_times_are_read(text: str, moment: Moment) -> None:
    (found,) = find_moments(text, han=not text.isascii())
    assert found.moment == moment


@pytest.mark.parametrize(
    "text",
    [
        "I don't smoke.",
        "Nobody smokes.",
        "Ich rauche nicht.",
        "Nunca fumo cuando estoy con los niños.",
        "Je ne fume pas.",
        "我不抽烟。",
    ],
)
def test_a_negation_is_read_once(text: str) -> None:
    assert read_statement(text).is_negated


@pytest.mark.parametrize("text", ["I smoke.", "Not only Ann smokes.", "Nicht nur Anna raucht.", "他不但抽烟。"])
def test_a_word_that_only_looks_like_a_negation_denies_nothing(text: str) -> None:
    assert not read_statement(text).is_negated

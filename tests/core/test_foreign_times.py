"""Time words in German, French and Spanish."""

# ruff: noqa: E501, ISC004 - paragraphs of prose

from __future__ import annotations

import pytest

from neurogated.core.times import find_times

TEXTS = [
    (
        "Gestern war Anna hier. Am 3. März 2021 zog sie um, vor zwei Jahren also, und letzte Woche kam sie zurück. "
        "Nächsten Dienstag um 15 Uhr sehen wir uns, heute Abend nicht.",
        ("Gestern", "3. März 2021", "vor zwei Jahren", "letzte Woche", "Nächsten Dienstag", "15 Uhr", "heute Abend"),
    ),
    (
        "Hier, Marie est arrivée à 15 h 30. La semaine dernière elle était à Nice, le 14 juillet 2019 aussi. Il y a trois "
        "mois, nous avons déménagé ; lundi prochain, ce sera fini.",
        ("Hier", "15 h 30", "La semaine dernière", "14 juillet 2019", "Il y a trois mois", "lundi prochain"),
    ),
    (
        "Ayer Pedro fue a Madrid. Hace dos años vivía en Lima. La reunión es el 5 de mayo a las tres, y el mes que viene no "
        "hay otra. La semana pasada llovió.",
        ("Ayer", "Hace dos años", "5 de mayo", "a las tres", "el mes que viene", "La semana pasada"),
    ),
    ("Der Hafen ist alt, und die Brücke auch.", ()),
    ("Le port est vieux et le pont aussi.", ()),
    ("El puerto es viejo y el puente también.", ()),
]


@pytest.mark.parametrize(("text", "times"), TEXTS)
def test_words_that_tell_when_are_found(text: str, times: tuple[str, ...]) -> None:
    assert find_times(text) == times


def test_a_word_means_a_time_in_its_own_language_only() -> None:
    assert find_times("Hier steht das alte Haus, und es ist nicht schön.") == ()
    assert find_times("The mars rover was sent by the team.") == ()

"""Months, weekdays, units of time and numbers in English, German, French and Spanish, as patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from neurogated.text.language import Language


def _list(words: str) -> tuple[str, ...]:
    return tuple(words.split())


MONTHS: Mapping[Language, Sequence[str]] = {
    "en": _list("january february march april may june july august september october november december"),
    "de": _list("januar|jänner februar märz april mai juni juli august september oktober november dezember"),
    "fr": _list("janvier février mars avril mai juin juillet août septembre octobre novembre décembre"),
    "es": _list("enero febrero marzo abril mayo junio julio agosto septiembre|setiembre octubre noviembre diciembre"),
}
WEEKDAYS: Mapping[Language, Sequence[str]] = {
    "en": _list("monday tuesday wednesday thursday friday saturday sunday"),
    "de": _list("montag dienstag mittwoch donnerstag freitag samstag|sonnabend sonntag"),
    "fr": _list("lundi mardi mercredi jeudi vendredi samedi dimanche"),
    "es": _list("lunes martes miércoles jueves viernes sábado domingo"),
}
"""From Monday on."""
NUMBERS: Mapping[Language, Sequence[str]] = {
    "en": _list(
        """an?|one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
        seventeen eighteen nineteen twenty"""
    ),
    "de": _list(
        """eine?[mnrs]?|eins? zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn
        sechzehn siebzehn achtzehn neunzehn zwanzig"""
    ),
    "fr": _list(
        """une? deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit
        dix-neuf vingt"""
    ),
    "es": _list(
        r"""una? dos tres cuatro cinco seis siete ocho nueve diez once(?=\s(?:día|semana|mes|año)) doce trece
        catorce quince dieciséis diecisiete dieciocho diecinueve veinte"""
    ),
}
"""From one to twenty."""
_GERMAN_ENDING = "(?:e?[ns]|e)?"
UNITS: Mapping[Language, Mapping[str, str]] = {
    "en": {unit: f"{unit}s?" for unit in ("day", "week", "month", "year")},
    "de": {
        "day": f"tag{_GERMAN_ENDING}",
        "week": "wochen?",
        "month": f"monat{_GERMAN_ENDING}",
        "year": f"jahr{_GERMAN_ENDING}",
    },
    "fr": {"day": "jours?", "week": "semaines?", "month": "mois", "year": "ans|années?"},
    "es": {"day": "días?", "week": "semanas?", "month": "mes(?:es)?", "year": "años?"},
}
_REST_OF_NAME = re.compile(r"\b(\w{3})(\w+)")


def any_of(*words: Sequence[str]) -> str:
    """Return a pattern that matches any of the given patterns."""
    return "|".join(one for group in words for one in ([group] if isinstance(group, str) else group))


def short_months(language: Language) -> list[str]:
    """Return the patterns of months, which in English and German match "Jan" and "Sept" as well."""
    names = MONTHS[language]
    if language not in ("en", "de"):
        return list(names)
    return [_REST_OF_NAME.sub(r"\1(?:\2)?", name) + ("|sept" if name.startswith("sept") else "") for name in names]

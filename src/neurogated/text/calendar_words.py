"""Months, weekdays, units of time and numbers in English, German, French and Spanish, as patterns."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from neurogated.text.language import Language
from neurogated.text.tables import table_of

_TABLE = table_of(__package__, "calendar")


def _lists(name: str) -> dict[Language, Sequence[str]]:
    return {language: tuple(words.split()) for language, words in _TABLE[name].items()}


MONTHS: Mapping[Language, Sequence[str]] = _lists("months")
WEEKDAYS: Mapping[Language, Sequence[str]] = _lists("weekdays")
"""From Monday on."""
NUMBERS: Mapping[Language, Sequence[str]] = _lists("numbers")
"""From one to twenty."""
UNITS: Mapping[Language, Mapping[str, str]] = _TABLE["units"]
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

"""Tells texts apart by the signs, codes and numbers that a reading of their words passes over."""

from __future__ import annotations

import re

from neurogated.conflict.clauses import language_in
from neurogated.conflict.moments import find_moments
from neurogated.core.keywords import fold

__all__ = ["same_literals"]

_TOKEN = re.compile("[\u3400-\u9fff]+|[^\\s\u3400-\u9fff，。！？；：、\uff08\uff09《》]+")
_QUOTES = "\"'\u2018\u2019“”„«»"
_END = r")\].,;:!?…"


def _plain(thousands: str) -> re.Pattern[str]:
    number = rf"[$€£]?(?:0|[1-9][0-9]*)(?:[{thousands}][0-9]{{3}})*(?:[.,][0-9]*[1-9])?[%$€£°k]?"
    return re.compile(
        rf"[{_QUOTES}(\[¿¡]*(?:"
        rf"[^\W\d_]+(?:['\u2019\u2013-][^\W\d_]+)*[{_QUOTES}{_END}]*"
        rf"|[0-9]+(?:st|nd|rd|th)[{_QUOTES}{_END}]*"
        rf"|(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|[0-9]{{1,2}}:[0-9]{{2}}|{number}|[$€£])[{_END}]*"
        rf"|[\u2013—-]?[{_QUOTES}{_END}]*)"
    )


_PLAIN, _PLAIN_ENGLISH = _plain(".,"), _plain(",")
"""A word, a date, a time of day, a currency, or a number without a sign, a leading zero or a zero at its end.

In English, 1.100 is a version."""
_OWNED = re.compile(r"['\u2019]s\Z")


def same_literals(one: str, other: str) -> bool:
    """Return whether two texts have the same codes, versions, addresses, signs and symbols, apart from case."""
    return _literals(one) == _literals(other)


def _literals(text: str) -> list[str]:
    bare = text
    for each in find_moments(text, han=False):
        bare = bare[: each.begin] + " " * (each.end - each.begin) + bare[each.end :]
    plain = _PLAIN_ENGLISH if language_in(text) == "en" else _PLAIN
    found = (token.rstrip(".,;:)") for token in _TOKEN.findall(bare) if not plain.fullmatch(token))
    return sorted(fold(_OWNED.sub("", token)) for token in found)

"""How the values of an attribute relate: equal, narrower, wider or different."""

from __future__ import annotations

import re
from datetime import date, datetime, timedelta
from typing import Literal

from neurogated.core.text_caches import remembered
from neurogated.knowledge.read.table import Attribute
from neurogated.text.calendar_words import MONTHS
from neurogated.text.keywords import split_keywords
from neurogated.text.time_spans import Span, span_of

__all__ = ["ValueRelation", "compare_values", "date_of", "number_of"]

ValueRelation = Literal["same", "narrower", "wider", "different"]
_MONTH = (
    {
        f"{name}": place + 1
        for language in MONTHS
        for place, names in enumerate(MONTHS[language])
        for name in names.split("|")
    }
    | {names[:3]: place + 1 for place, names in enumerate(MONTHS["en"])}
    | {"sept": 9}
)
_NAMES = "|".join(sorted(_MONTH, key=len, reverse=True))
_YEAR, _DAY = r"(?P<y>\d{4})", r"(?P<d>\d\d?)(?:st|nd|rd|th|er|\.)?"
_MONTH_NAME = rf"(?P<m>{_NAMES})\b\.?,?"
_DATES = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"(?<!\d){_YEAR}-(?P<m>\d\d)(?:-{_DAY})?(?!\d)",
        rf"(?<!\d){_DAY}(?: of| de)? {_MONTH_NAME}(?: (?:de )?{_YEAR})?",
        rf"\b{_MONTH_NAME} {_DAY}\b(?:,? {_YEAR})?",
        rf"\b{_MONTH_NAME}(?: (?:of |de )?{_YEAR})\b",
        rf"(?:{_YEAR}年)?(?P<m>\d\d?)月(?:{_DAY}[日号號]?)?",
        r"(?<!\d)(?P<y>(?:1[89]|20)\d\d)(?!\d)",
    )
]
"""Ways to write a date, in the order in which they are tried."""
_NUMBER = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?")
_UNIT = re.compile(r"\d\s*([^\W\d_]+|%|€|\$|£)")


def date_of(text: str, said: datetime | None = None) -> Span | None:
    """Return the days that a text names; a day without year is in the year of `said`, or in year 1 without it."""
    found = next(filter(None, (pattern.search(text) for pattern in _DATES)), None)
    if found is None:
        return span_of(text, said) if said else None
    parts = found.groupdict()
    month = parts.get("m") or "0"
    number = int(month) if month.isdecimal() else _MONTH[month.lower()]
    try:
        return _days(int(parts["y"] or (said.year if said else 1)), number, int(parts.get("d") or 0))
    except ValueError:
        return None


def _days(year: int, month: int, day: int) -> Span:
    if day:
        return Span(date(year, month, day), date(year, month, day))
    if not month:
        return Span(date(year, 1, 1), date(year, 12, 31))
    after = date(year + month // 12, month % 12 + 1, 1)
    return Span(date(year, month, 1), after - timedelta(1))


def number_of(text: str) -> tuple[float, str] | None:
    """Return the first number of a text and its unit."""
    found = _NUMBER.search(text)
    if not found:
        return None
    unit = _UNIT.search(text)
    return float(found[0].replace(",", "")), unit[1].lower() if unit else ""


@remembered(4_096)
def compare_values(attribute: Attribute, one: str, other: str) -> ValueRelation:
    """Return how the first value relates to the second: "narrower" if it says more, as Ghent does than Belgium."""
    if one.casefold() == other.casefold():
        return "same"
    if attribute.type == "date" and (first := date_of(one)) and (second := date_of(other)):
        return _compare_spans(first, second)
    if attribute.type == "number" and (a := number_of(one)) and (b := number_of(other)):
        return "same" if a[0] == b[0] else "different"
    words, others = set(split_keywords(one)), set(split_keywords(other))
    if words == others or not (words and others):
        return "same" if words else "different"
    return "narrower" if words > others else "wider" if words < others else "different"


def _compare_spans(first: Span, second: Span) -> ValueRelation:
    if first == second:
        return "same"
    if second.first <= first.first and first.last <= second.last:
        return "narrower"
    return "wider" if first.first <= second.first and second.last <= first.last else "different"

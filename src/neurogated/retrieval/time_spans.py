"""Finds the days that a question names by a relative time, such as "last week" or "vor zwei Tagen"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from typing import NamedTuple, TypeVar

__all__ = ["Span", "span_of"]

T = TypeVar("T")

_MOST_DAYS = 14
_WEEK, _YEAR = 7, 12
_DAYS_OF_A_YEAR, _SHORTER_THAN_A_MONTH = 366, 27


class Span(NamedTuple):
    """Consecutive days, in UTC."""

    first: date
    last: date

    def holds(self, moment: datetime | None) -> bool:
        """Return whether a time is in the span; False for None."""
        return moment is not None and self.first <= moment.astimezone(UTC).date() <= self.last

    @property
    def dates(self) -> str:
        """The dates, or the months of a longer span, as text for keyword search."""
        days = (self.last - self.first).days + 1
        if days <= _MOST_DAYS:
            return " ".join(f"{day.day} {day:%B %Y}" for day in (self.first + timedelta(n) for n in range(days)))
        return " ".join(
            dict.fromkeys(
                f"{self.first + timedelta(n):%B %Y}"
                for n in range(0, min(days, _DAYS_OF_A_YEAR), _SHORTER_THAN_A_MONTH)
            )
        )


_DAYS = {
    -2: r"day before yesterday|\bvorgestern\b|\bavant-hier\b|\banteayer\b|前天",
    -1: r"\byesterday\b|\blast night\b|\bgestern\b|\bhier\b|\bayer\b|\banoche\b|昨[天晚]",
    0: r"\btoday\b|\btonight\b|\bheute\b|\baujourd['’]hui\b|\bhoy\b|今天",
    2: r"day after tomorrow|\bübermorgen\b|\baprès-demain\b|\bpasado mañana\b|后天",
    1: r"\btomorrow\b|\bdemain\b|明天",
}
_UNITS = {
    "day": r"days?|tage?n?|jours?|días?|天",
    "week": r"weeks?|wochen?|semaines?|semanas?|个?周|个?星期",
    "month": r"months?|monate?n?|mois|mes(?:es)?|个?月",
    "year": r"years?|jahre?n?|ans?|années?|años?|年",
}
_SIDES = {
    -1: r"last|previous|letzte[nrms]?|vorige[nrms]?|vergangene[nrms]?|derni(?:er|ère)|passée?|pasad[oa]|anterior|上|去",
    0: r"this|diese[nrms]?|cet(?:te)?|ce|est[ea]|这|本|今",
    1: r"next|coming|nächste[nrms]?|kommende[nrms]?|prochaine?|próxim[oa]|que viene|下|明",
}
_NUMBERS = (
    "an?|one|eine?[mnr]?|une?|una|一",
    "two|zwei|deux|dos|两|二",
    "three|drei|trois|tres|三",
    "four|vier|quatre|cuatro|四",
    "five|fünf|cinq|cinco|五",
    "six|sechs|seis|六",
    "seven|sieben|sept|siete|七",
    "eight|acht|huit|ocho|八",
    "nine|neun|neuf|nueve|九",
    "ten|zehn|dix|diez|十",
)
_NUMBER = rf"(?P<number>\d{{1,3}}|{'|'.join(_NUMBERS)})"
_UNIT = rf"(?P<unit>{'|'.join(_UNITS.values())})"
_SIDE = rf"(?P<side>{'|'.join(_SIDES.values())})"
_BETWEEN = re.compile(r"(\d{4}-\d\d-\d\d)\b\D{1,12}(\d{4}-\d\d-\d\d)\b")
_OTHER_NUMBER, _OTHER_UNIT = _NUMBER.replace("number", "n1"), _UNIT.replace("unit", "u1")
_AGO = re.compile(rf"\b{_NUMBER} {_UNIT} (?:ago|back)\b|{_OTHER_NUMBER}{_OTHER_UNIT}前")
_AGO_BEFORE = re.compile(rf"\b(?:vor|il y a|hace) {_NUMBER} {_UNIT}\b")
_WITHIN = re.compile(
    rf"\b(?:last|past|letzten|vergangenen|últim[oa]s|最近) ?{_NUMBER} ?(?:derni(?:er|ère)s )?{_UNIT}"
    rf"|\b(?:ces|les) {_OTHER_NUMBER} derni(?:er|ère)s {_OTHER_UNIT}\b"
)
_OTHER_SIDE = _SIDE.replace("side", "s1")
_WHICH = re.compile(rf"(?<!\w){_SIDE} {_UNIT}(?!\w)|(?<!\w){_OTHER_UNIT} {_OTHER_SIDE}\b")
_CHINESE_WHICH = re.compile("(?P<side>[上下去今明这本])(?P<unit>个?周|个?星期|个?月|年)")


def span_of(question: str, now: datetime) -> Span | None:
    """Return the days that a question names relative to `now`, None if it names none or an impossible date."""
    text = " ".join(question.lower().split())
    try:
        return next(_spans(text, now.astimezone(UTC).date()), None)
    except (ValueError, OverflowError):
        return None


def _spans(text: str, today: date) -> Iterator[Span]:
    if found := _BETWEEN.search(text):
        first, last = sorted(map(date.fromisoformat, found.groups()))
        yield Span(first, last)
    if found := _WITHIN.search(text):
        unit, number = _counted(found)
        yield Span(_around(today, unit, -number, whole=False).first, today)
    if found := _AGO.search(text) or _AGO_BEFORE.search(text):
        unit, number = _counted(found)
        span = _around(today, unit, -number, whole=unit != "week")
        # "Two weeks ago" also means the days around that day.
        around = timedelta(_WEEK // 2) if unit == "week" else timedelta(0)
        yield Span(span.first - around, span.last + around)
    for offset, words in _DAYS.items():
        if re.search(words, text):
            yield Span(today + timedelta(offset), today + timedelta(offset))
    for found in (*_WHICH.finditer(text), *_CHINESE_WHICH.finditer(text)):
        groups = found.groupdict()
        side = _named(_SIDES, groups["side"] or groups["s1"])
        yield _around(today, _named(_UNITS, groups["unit"] or groups["u1"]), side, whole=True)


def _counted(found: re.Match[str]) -> tuple[str, int]:
    groups = found.groupdict()
    written = groups["number"] or groups["n1"]
    numbers = dict(enumerate(_NUMBERS, 1))
    number = int(written) if written.isdecimal() else _named(numbers, written)
    return _named(_UNITS, groups["unit"] or groups["u1"]), number


def _named(table: Mapping[T, str], written: str) -> T:
    return next(key for key, words in table.items() if re.fullmatch(words, written))


def _around(today: date, unit: str, count: int, *, whole: bool) -> Span:
    """Return the day, week, month or year that is `count` units from today.

    If not `whole`, return one day for units of days or weeks, else the days from the first of that month until today.
    """
    if unit in ("month", "year"):
        months = today.year * _YEAR + today.month - 1 + count * (_YEAR if unit == "year" else 1)
        first = date(months // _YEAR, 1 if unit == "year" else months % _YEAR + 1, 1)
        if not whole:
            return Span(first.replace(month=months % _YEAR + 1), today)
        months = first.year * _YEAR + first.month - 1 + (_YEAR if unit == "year" else 1)
        after = date(months // _YEAR, months % _YEAR + 1, 1)
        return Span(first, after - timedelta(1))
    day = today + timedelta(count * (_WEEK if unit == "week" else 1))
    if unit == "day" or not whole:
        return Span(day, day)
    monday = day - timedelta(day.weekday())
    return Span(monday, monday + timedelta(_WEEK - 1))

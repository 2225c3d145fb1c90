"""Dates of the calendar in texts, such as "17 November", "am 17.11.", "el 17 de noviembre de 2026" and "11月17日"."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import NamedTuple

from neurogated.text.language import Language
from neurogated.text.strings import table_of

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


_MONTHS_A_YEAR = 12
_NAMES = [(re.compile(name), place) for language in MONTHS for place, name in enumerate(short_months(language), 1)]
NAME_OF_MONTH = f"(?:{'|'.join(pattern.pattern for pattern, _ in _NAMES)})"
_YEAR = r"(?:1[0-9]|20)\d\d"
_GIVEN_YEAR = rf"(?P<y>{_YEAR})(?!\d)"
_DIGITS = "一二三四五六七八九"
_HAN = rf"(?:\d{{1,2}}|[二三]?十[{_DIGITS}]?|[{_DIGITS}])"
_END = r" *(?:$|[.,;:!?()]"
_ISO = rf"(?P<y>{_YEAR})[-/.](?P<m>\d\d?)[-/.](?P<d>\d\d?)(?:t[\d:.]+z?)?(?!\d)"
# The parts: year, month, its name, and day. Of two numbers between strokes, only one may be a month.
_LATIN_FORMS = (
    _ISO,
    rf"(?P<d>\d\d?)\. ?(?P<m>\d\d?)\.(?: ?(?P<y>{_YEAR}))?(?!\d)",
    rf"(?P<a>\d\d?)[/-](?P<b>\d\d?)[/-](?P<y>{_YEAR})(?!\d)",
    rf"(?P<d>\d\d?)(?:st|nd|rd|th|er|\.)? (?:of |de )?(?P<n>{NAME_OF_MONTH})\.?(?!\w)(?:,? (?:del? )?{_GIVEN_YEAR})?",
    rf"(?P<n>{NAME_OF_MONTH})\.? (?P<d>\d\d?)(?:st|nd|rd|th)?(?![\w:])(?:,? {_GIVEN_YEAR})?",
    rf"(?:on )?the (?P<d>\d\d?)(?:st|nd|rd|th)(?={_END}|at |in the |i |we |is |for |with |to ))",
    rf"am (?P<d>\d\d?)\.(?! ?(?:\d|{NAME_OF_MONTH}))",
    rf"el (?:día )?(?P<d>\d\d?)(?={_END}|a las |por la |tengo |es |hay |vamos ))",
)
_HAN_FORMS = (
    _ISO,
    rf"(?:(?P<y>{_YEAR})年)?(?P<m>{_HAN})月(?P<d>{_HAN})[日号號]?(?![天个個])",
    rf"(?<![月\d])(?P<d>{_HAN})[号號](?![码碼线線楼樓门門院馆館])",
)
_READERS = [re.compile(one) for one in (*_LATIN_FORMS, *_HAN_FORMS)]
LATIN_DATES, HAN_DATES = (
    "|".join(re.sub(r"\(\?P<\w>", "(?:", form) for form in forms) for forms in (_LATIN_FORMS, _HAN_FORMS)
)
"""Patterns of dates in lower case, without groups."""
MAY_BE_DATE = rf"\d(?:[./-]\d|st|nd|rd|th)|am \d\d?\.|el (?:día )?\d|\d (?:{NAME_OF_MONTH})|{NAME_OF_MONTH}\.? \d"
"""Matches in any text with a date in Latin letters."""


class CalendarDate(NamedTuple):
    """A date; without a year it is of any year, and without a month of any month."""

    year: int | None
    month: int | None
    day: int

    @classmethod
    def read(cls, text: str) -> CalendarDate:
        """Return the date that a pattern found; raises ValueError if its day and month could be exchanged."""
        found = next(filter(None, (pattern.fullmatch(text) for pattern in _READERS)))
        parts = {name: part for name, part in found.groupdict().items() if part is not None}
        year = int(parts["y"]) if "y" in parts else None
        if "a" in parts:
            day, month = (int(parts[name]) for name in "ab")
            if day <= _MONTHS_A_YEAR and month <= _MONTHS_A_YEAR and day != month:
                raise ValueError(text)
            return cls(year, *((month, day) if month <= _MONTHS_A_YEAR else (day, month)))
        if "n" in parts:
            return cls(year, next(place for name, place in _NAMES if name.fullmatch(parts["n"])), int(parts["d"]))
        return cls(year, read_number(parts["m"]) if "m" in parts else None, read_number(parts["d"]))

    def near(self, today: date, *, ahead: bool, latest: bool) -> date:
        """Return the day of the date: of a part that is not given, the one nearest to today that exists.

        It is not after today if `latest`, and a day without a month not before today if `ahead`.
        """
        if self.year is not None and self.month is not None:
            return date(self.year, self.month, self.day)
        if self.month is not None:
            months = [(today.year + n, self.month) for n in (-1, 0, 1)]
        else:
            count = today.year * _MONTHS_A_YEAR + today.month - 1
            months = [(n // _MONTHS_A_YEAR, n % _MONTHS_A_YEAR + 1) for n in range(count - 1, count + 2)]
        found = [date(year, month, self.day) for year, month in months if _exists(year, month, self.day)]
        if latest:
            return max(one for one in found if one <= today)
        if ahead and self.month is None:
            return min(one for one in found if one >= today)
        return min(found, key=lambda one: abs((one - today).days))


def read_number(text: str) -> int:
    """Return a number up to 99 in digits or Chinese."""
    if text.isdecimal():
        return int(text)
    tens, ten, ones = text.rpartition("十")
    return (_DIGITS.index(tens) + 1 if tens else bool(ten)) * 10 + (_DIGITS.index(ones) + 1 if ones else 0)


def _exists(year: int, month: int, day: int) -> bool:
    try:
        return bool(date(year, month, day))
    except ValueError:
        return False

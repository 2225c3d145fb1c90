"""Dates and times of day in a text, known to the year, month, day, weekday or minute."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date
from typing import NamedTuple

from neurogated.text.calendar_words import MONTHS, WEEKDAYS, any_of, short_months

__all__ = ["Found", "Moment", "Window", "find_moments"]

_NOON = 12
_SHORT_YEAR = 100
_CENTURY = 2000
_HALF_HOUR = 30


@dataclass(frozen=True, slots=True)
class Moment:
    """A date or a time of day, in which any part may be unknown."""

    year: int | None = None
    month: int | None = None
    day: int | None = None
    weekday: int | None = None
    """0 for Monday."""
    hour: int | None = None
    minute: int | None = None
    relative: str | None = None
    """A word such as "yesterday", seen from an unknown day."""

    def differs(self, other: Moment) -> bool:
        """Return whether both name a part and do not agree on it."""
        return any(
            getattr(self, name) is not None
            and getattr(other, name) is not None
            and getattr(self, name) != getattr(other, name)
            for name in _PARTS
        ) or (bool(self.relative) != bool(other.relative) and not self._is_time and not other._is_time)

    def holds(self, other: Moment) -> bool:
        """Return whether the other says all of this and more."""
        return self != other and all(getattr(self, name) in {None, getattr(other, name)} for name in _PARTS)

    @property
    def _is_time(self) -> bool:
        return self.hour is not None and self.year is None and self.month is None

    @property
    def earliest(self) -> tuple[int, int, int] | None:
        """Year, month and day to compare with others, None without a year."""
        return None if self.year is None else (self.year, self.month or 1, self.day or 1)


_PARTS = tuple(field.name for field in fields(Moment))


class Found(NamedTuple):
    """A moment and its place in a text."""

    begin: int
    end: int
    moment: Moment
    role: str
    """The word before it: "since", "until", "from" or another preposition."""


class Window(NamedTuple):
    """When a statement holds; None is open."""

    begin: tuple[int, int, int] | None = None
    end: tuple[int, int, int] | None = None

    def is_before(self, other: Window) -> bool:
        """Return whether this ends when the other begins, or earlier."""
        return self.end is not None and other.begin is not None and self.end <= other.begin

    @property
    def is_open(self) -> bool:
        """Return whether it says nothing."""
        return self.begin is None and self.end is None


_MONTHS = tuple(map(any_of, zip(*map(short_months, MONTHS), strict=True)))
_DAYS = tuple(
    "|".join(rf"(?:{name})s?" for name in names) + f"|星期{han}|周{han}|礼拜{han}"
    for *names, han in zip(*WEEKDAYS.values(), (*"一二三四五六", "[天日]"), strict=True)
)
_RELATIVE = {
    "yesterday": "yesterday|gestern|ayer|hier(?= )|昨天",
    "today": "today|heute|hoy|aujourd'hui|今天",
    "tomorrow": "tomorrow|demain|明天",
    "last": "last (?:week|month|year)|letzte[ns]? (?:woche|monat|jahr)|(?:la semana|el mes|el año) pasad[oa]|上周|上个月|去年",
    "this": "this (?:week|month|year)|diese[ns]? (?:woche|monat|jahr)|est[ea] (?:semana|mes|año)|这周|这个月|今年",
    "next": "next (?:week|month|year)|nächste[ns]? (?:woche|monat|jahr)|(?:la|el) próxim[oa] (?:semana|mes|año)|下周|下个月|明年",
}
_MONTH = "|".join(_MONTHS)
_HAN_NUMBER = "[零一二三四五六七八九十]{1,3}"
_ROLE = (
    r"(?P<role>since|until|till|from|between|to|and|by|on|in|at|before|after|of|seit|bis|von|zwischen|ab|am|im|um|vor|nach|und"
    r"|desde|hasta|de|entre|en|el|a|y|depuis|jusqu'en|jusqu'à|à|le|et)\s+(?:(?:the|las|la|los|el|about|around|gegen|dem|den)\s+)*"
)
_DATE = re.compile(
    rf"""
    (?:(?<![\w]){_ROLE})?
    (?:
      (?<![a-z\d:-])(?P<y1>\d{{4}})-(?P<m1>\d\d)-(?P<d1>\d\d)(?:[t ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?z?)?(?![a-z\d-])
    | (?<![\w.])(?P<d2>\d{{1,2}})[./](?P<m2>\d{{1,2}})[./](?P<y2>\d{{2,4}})(?!\w)
    | (?<!\w)(?P<d3>\d{{1,2}})(?:st|nd|rd|th|\.|º)?\ (?:(?:of|de)\ )?(?P<n3>{_MONTH})\b\.?,?(?:\ (?:de\ )?(?P<y3>\d{{4}})\b)?
    | (?<!\w)(?P<n4>{_MONTH})\b\.?\ (?P<d4>\d{{1,2}})(?:st|nd|rd|th)?\b(?!:|\d)(?:,?\ (?P<y4>\d{{4}})\b)?
    | (?<!\w)(?P<n5>{_MONTH})\b\.?,?(?:\ (?:de\ )?(?P<y5>\d{{4}}))\b
    | (?<!\w)(?P<y6>(?:1[5-9]|20)\d\d)(?![\w$€£%-]|[.,]\d)
    | (?<!\w)(?P<h7>\d{{1,2}})(?:[:.](?P<i7>\d\d))?\ ?(?P<half>[ap]\.?m\b\.?|uhr\b|o'clock\b|h\b(?!\w))
    | (?<![\w:])(?P<h8>\d{{1,2}}):(?P<i8>\d\d)(?::\d\d)?(?![\w:])
    )
    """,
    re.VERBOSE | re.IGNORECASE,
)
_NAMED_MONTH = re.compile(
    rf"(?<!\w){_ROLE}(?:(?:last|early|late|mid|letzten|anfang|ende)\s+)?(?P<name>{_MONTH})(?!\w)", re.IGNORECASE
)
_WEEKDAY = re.compile(
    rf"(?:(?<!\w)(?P<role>on|by|until|every|since|am|bis|jeden|el|los|le|les|hasta)\s+)?(?<!\w)(?P<name>{'|'.join(_DAYS)})(?!\w)",
    re.IGNORECASE,
)
_HAN_WEEKDAY = re.compile(
    "(?P<name>" + "|".join(han for day in _DAYS for han in day.split("|") if not han[0].isascii()) + ")"
)
_AT_HOUR = re.compile(
    r"(?<!\w)(?P<role>at|um|a las?|à|gegen)\s+(?P<hour>\d{1,2}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon"
    r"|zwei|drei|vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|una|dos|tres|cuatro|cinco|seis|siete|ocho|nueve|diez|once|doce)"
    r"(?![\w%$€:]|\s*(?:percent|dollars?|euros?|km|people))",
    re.IGNORECASE,
)
_HOURS = {
    word: n
    for words in (
        "- one two three four five six seven eight nine ten eleven twelve",
        "- eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "- una dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for n, word in enumerate(words.split())
} | {"noon": _NOON}
_HAN_DATE = re.compile(
    rf"(?P<since>自|从|到)?(?:(?P<year>\d{{4}})年)?(?:(?P<month>\d{{1,2}}|{_HAN_NUMBER})月(?:(?P<day>\d{{1,2}}|{_HAN_NUMBER})[日号])?)?"
)
_HAN_HOUR = re.compile(
    r"(?P<part>上午|早上|下午|晚上|中午|凌晨)?(?P<hour>\d{1,2}|[两一二三四五六七八九十]{1,3})点(?P<minute>半|\d{1,2}分)?"
)
_RELATIVES = re.compile(
    "|".join(rf"(?P<{name}>(?<![a-zà-ÿ])(?:{words})(?![a-zà-ÿ]))" for name, words in _RELATIVE.items()), re.IGNORECASE
)


def find_moments(text: str, *, han: bool) -> list[Found]:
    """Return the dates and times of a text in order; `han` says that it is Chinese."""
    found = [*_dates(text), *_words(text), *(_han(text) if han else ())]
    chosen: list[Found] = []
    for each in sorted(found, key=lambda one: (one.begin - one.end, one.begin)):
        if all(each.end <= other.begin or other.end <= each.begin for other in chosen):
            chosen.append(each)
    return sorted(chosen)


def _dates(text: str) -> Iterator[Found]:
    for match in _DATE.finditer(text):
        got = {name: value for name, value in match.groupdict().items() if value is not None}
        role = got.get("role", "").lower()
        numbers = {name[0]: value for name, value in got.items() if name[-1].isdigit()}
        year = int(numbers["y"]) if "y" in numbers else None
        if year is not None and year < _SHORT_YEAR:
            year += _CENTURY
        month = int(numbers["m"]) if "m" in numbers else _number(_MONTHS, numbers.get("n"))
        day = int(numbers["d"]) if "d" in numbers else None
        if "d2" in got and month is not None and day is not None and month > _NOON >= day:
            day, month = month, day
        hour = int(numbers["h"]) if "h" in numbers else None
        if hour is not None and got.get("half", "").lower().startswith("p") and hour < _NOON:
            hour += _NOON
        minute = int(numbers.get("i", 0)) if hour is not None else None
        moment = Moment(year, month, day, None, hour, minute)
        if _is_possible(moment):
            yield Found(match.start(), match.end(), moment, role)


def _words(text: str) -> Iterator[Found]:
    if (month := _number(_MONTHS, text.strip(" ."))) is not None:
        yield Found(0, len(text), Moment(month=month), "")
    for match in _NAMED_MONTH.finditer(text):
        if match["name"] != "may":
            moment = Moment(month=_number(_MONTHS, match["name"]))
            yield Found(match.start(), match.end(), moment, match["role"].lower())
    for match in (*_WEEKDAY.finditer(text), *_HAN_WEEKDAY.finditer(text)):
        role = (match.groupdict().get("role") or "").lower()
        yield Found(match.start(), match.end(), Moment(weekday=_number(_DAYS, match["name"])), role)
    for match in _AT_HOUR.finditer(text):
        written = match["hour"].lower()
        hour = int(written) if written.isdecimal() else _HOURS.get(written)
        yield Found(match.start(), match.end(), Moment(hour=hour, minute=0), match["role"].lower())
    for match in _RELATIVES.finditer(text):
        yield Found(match.start(), match.end(), Moment(relative=match.lastgroup), "")


def _han(text: str) -> Iterator[Found]:
    for match in _HAN_DATE.finditer(text):
        if match["year"] or match["month"]:
            role = (
                "since"
                if text[match.end() :].startswith(("以来", "起")) or match["since"] == "自"
                else match["since"] or ""
            )
            role = {"从": "from", "到": "until"}.get(role, role)
            moment = Moment(
                int(match["year"]) if match["year"] else None, _han_number(match["month"]), _han_number(match["day"])
            )
            yield Found(match.start(), match.end(), moment, role)
    for match in _HAN_HOUR.finditer(text):
        hour = _han_number(match["hour"]) or 0
        if match["part"] in {"下午", "晚上"} and hour < _NOON:
            hour += _NOON
        written = match["minute"] or ""
        minute = _HALF_HOUR if written == "半" else int(written.removesuffix("分") or 0)
        yield Found(match.start(), match.end(), Moment(hour=hour, minute=minute), "")


def _han_number(written: str | None) -> int | None:
    if written is None or written.isdecimal():
        return int(written) if written else None
    digits = {digit: n for n, digit in enumerate("零一二三四五六七八九")} | {"两": 2}
    tens, ten, ones = written.rpartition("十")
    if not ten:
        return digits.get(written)
    return (digits.get(tens, 1) if tens else 1) * len("..........") + digits.get(ones, 0)


def _number(names: tuple[str, ...], written: str | None) -> int | None:
    if written is None:
        return None
    first = 0 if names is _DAYS else 1
    return next((n for n, words in enumerate(names, first) if re.fullmatch(words, written, re.IGNORECASE)), None)


def _is_possible(moment: Moment) -> bool:
    try:
        date(moment.year or _CENTURY, moment.month or 1, moment.day or 1)
    except ValueError:
        return False
    return moment.hour is None or moment.hour <= 2 * _NOON

"""Dates of the calendar in texts, such as "am 17.11." and "11月17日", and other time expressions; names of zones."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date, tzinfo
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

from neurogated.errors import InputError
from neurogated.text.keywords import Language, language_of
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
_HAN_NUMBER = rf"(?:\d{{1,2}}|[二三]?十[{_DIGITS}]?|[{_DIGITS}])"
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
    rf"(?:(?P<y>{_YEAR})年)?(?P<m>{_HAN_NUMBER})月(?P<d>{_HAN_NUMBER})[日号號]?(?![天个個])",
    rf"(?<![月\d])(?P<d>{_HAN_NUMBER})[号號](?![码碼线線楼樓门門院馆館])",
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
        """Return the day that exists nearest to today: no later if `latest`; a day alone no earlier if `ahead`."""
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


Zone = tzinfo | None
"""Where a user's days begin; None is the zone of the machine."""


def zone_named(name: object) -> tzinfo:
    """Return the zone with a name of the IANA, such as `Europe/Berlin`; raises InputError if there is none."""
    try:
        return ZoneInfo(name)  # type: ignore[arg-type]
    except (KeyError, ValueError, TypeError, OSError):
        raise InputError(f"the timezone is {name!r}, but must be a name such as 'Europe/Berlin' or 'UTC'") from None


def _pattern(language: Language, words: Mapping[str, str]) -> re.Pattern[str]:
    """Return the pattern of all expressions of a language; a space in its patterns is any white space."""
    month = any_of(short_months(language))
    day = f"(?:{any_of(WEEKDAYS[language])})(?:s|en?)?"
    unit = f"(?:{any_of(list(UNITS[language].values()), words['units'])})"
    number = rf"(?:\d+|{any_of(NUMBERS[language], words['numbers'])})"
    part, which, after, ordinal = (words[name] for name in ("parts", "which", "after", "ordinal"))
    alternatives = (
        r"\d{4}-\d\d(?:-\d\d(?:t\d\d:\d\d(?::\d\d)?)?)?|(?:1[0-9]|20)\d\ds?|\d\d?:\d\d(?:\s?[ap]\.?m\b)?",
        rf"(?:{ordinal} )?(?:{month})(?: \d\d?(?:st|nd|rd|th)?)?,? {words.get('before_year', '')}(?:1[0-9]|20)\d\d",
        rf"{ordinal} (?:{month})",
        rf"(?:{words['before_month']}) ?(?:{month}|{part})",
        rf"(?:(?:{which}) )?{day}(?: ?(?:{part}|{after}))?",
        rf"(?:{which}) (?:{number} )?(?:{unit}|{part})(?: (?:{after}))?",
        rf"{number} {unit}(?: (?:{after}))?|{unit} (?:{after})",
        words["more"].replace("@MONTH", f"(?:{month})"),
    )
    return re.compile(rf"\b(?=\w)(?:{'|'.join(alternatives)})(?!\w)".replace(" ", r"\s"))


_PATTERNS: Mapping[Language, re.Pattern[str]] = {
    language: _pattern(language, words) for language, words in _TABLE["times"].items()
}
_DIGIT = "[0-9\u3007零一二两兩三四五六七八九十百千几幾数數]"
_HAN = re.compile("[\u3007\u3400-\u9fff]")
_CHINESE = re.compile(
    # Start at the first digit only; otherwise the regex would scan a long number from each of its digits.
    rf"(?<!{_DIGIT}){_DIGIT}+(?:年|月|日|号|號|点|點|时|時|个?小时|個?小時|分钟|分鐘|天|周|週|星期|个月|個月|世纪|世紀|年代)(?:前|后|後)?"
    r"|(?:星期|周|週|礼拜|禮拜)[一二三四五六日天末]"
    r"|(?:上|下|这|這|本|前|今|明|后|後|昨)(?:个|個)?(?:年|月|周|週|星期|天|晚|夜|日)|去年"
    r"|(?:春|夏|秋|冬)(?:天|季)|早上|上午|中午|下午|傍晚|晚上|凌晨|半夜|刚才|剛才|最近|不久|当时|當時|后来|後來|从前|從前|以前|之前|之后|之後"
)


def find_times(text: str) -> tuple[str, ...]:
    """Return the time expressions as written, such as hours, "two weeks ago" and "去年", each once, in order."""
    return tuple(dict.fromkeys([text[begin:end].strip() for begin, end in locate_times(text, language_of(text))]))


@lru_cache(128)
def locate_times(text: str, language: Language) -> tuple[tuple[int, int], ...]:
    """Return begin and end of each time expression of a text in a language; Chinese ones last."""
    lower = text.lower()
    # A few letters become two in lower case.
    found = [match.span() for match in _PATTERNS[language].finditer(lower if len(lower) == len(text) else text)]
    return tuple(found + [match.span() for match in _CHINESE.finditer(text)] if _HAN.search(text) else found)

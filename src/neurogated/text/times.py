"""Finds time expressions without a model, in English, Chinese, German, French and Spanish; names zones."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

from neurogated.errors import InputError
from neurogated.text.dates import NUMBERS, UNITS, WEEKDAYS, any_of, short_months
from neurogated.text.language import Language, language_of
from neurogated.text.strings import table_of

Zone = tzinfo | None
"""Where a user's days begin; None is the zone of the machine."""


def zone_named(name: object) -> tzinfo:
    """Return the zone with a name of the IANA, such as `Europe/Berlin`; raises InputError if there is none."""
    try:
        return ZoneInfo(name)  # type: ignore[arg-type]
    except (KeyError, ValueError, TypeError, OSError):
        raise InputError(f"the timezone is {name!r}, but must be a name such as 'Europe/Berlin' or 'UTC'") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Words:
    """Patterns of one language, in which a space is any white space."""

    ordinal: str
    """A day of a month."""
    before_year: str = ""
    before_month: str
    """Words that show that a word such as "may" is a month."""
    which: str
    """Words before a weekday or a unit: "last"."""
    after: str
    """Words after a number and a unit: "ago"."""
    units: str
    """Further units."""
    numbers: str
    """Further numbers."""
    parts: str
    """Parts of a day or year."""
    more: str
    """Other expressions."""

    def pattern(self, language: Language) -> str:
        """Return the pattern of all expressions."""
        month = any_of(short_months(language))
        day = f"(?:{any_of(WEEKDAYS[language])})(?:s|en?)?"
        unit = f"(?:{any_of(list(UNITS[language].values()), self.units)})"
        number = rf"(?:\d+|{any_of(NUMBERS[language], self.numbers)})"
        part, which, after = self.parts, self.which, self.after
        alternatives = (
            r"\d{4}-\d\d(?:-\d\d(?:t\d\d:\d\d(?::\d\d)?)?)?|(?:1[0-9]|20)\d\ds?|\d\d?:\d\d(?:\s?[ap]\.?m\b)?",
            rf"(?:{self.ordinal} )?(?:{month})(?: \d\d?(?:st|nd|rd|th)?)?,? {self.before_year}(?:1[0-9]|20)\d\d",
            rf"{self.ordinal} (?:{month})",
            rf"(?:{self.before_month}) ?(?:{month}|{part})",
            rf"(?:(?:{which}) )?{day}(?: ?(?:{part}|{after}))?",
            rf"(?:{which}) (?:{number} )?(?:{unit}|{part})(?: (?:{after}))?",
            rf"{number} {unit}(?: (?:{after}))?|{unit} (?:{after})",
            self.more,
        )
        return "|".join(alternatives).replace(" ", r"\s")


_WORDS: Mapping[Language, _Words] = {
    language: _Words(**{**words, "more": words["more"].replace("@MONTH", f"(?:{any_of(short_months(language))})")})
    for language, words in table_of(__package__, "calendar")["times"].items()
}
_PATTERNS = {
    language: re.compile(rf"\b(?=\w)(?:{words.pattern(language)})(?!\w)") for language, words in _WORDS.items()
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
    """Return the time expressions as written, without duplicates, in order of appearance.

    They are dates, hours, spans ("two weeks ago"), days and months, and words such as "yesterday" and "去年".
    """
    return tuple(dict.fromkeys([text[begin:end].strip() for begin, end in locate_times(text, language_of(text))]))


@lru_cache(128)
def locate_times(text: str, language: Language) -> tuple[tuple[int, int], ...]:
    """Return begin and end of each time expression of a text in a language; Chinese ones last."""
    lower = text.lower()
    # A few letters become two in lower case.
    found = [match.span() for match in _PATTERNS[language].finditer(lower if len(lower) == len(text) else text)]
    return tuple(found + [match.span() for match in _CHINESE.finditer(text)] if _HAN.search(text) else found)

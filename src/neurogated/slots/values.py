"""Attributes of persons and things, and how two values relate: equal, narrower, wider or different; nested places."""

from __future__ import annotations

import functools
import gzip
import math
import re
from collections.abc import Callable
from datetime import date, datetime
from importlib import resources
from typing import Literal, NamedTuple

from neurogated.core.contexts import remembered
from neurogated.text.keywords import split_keywords
from neurogated.text.strings import table_of
from neurogated.text.time_spans import Span, span_around, span_of
from neurogated.text.times import MONTHS


class Attribute(NamedTuple):
    """One property of persons or things."""

    key: str
    is_single: bool
    """Whether it has one value at a time."""
    type: str
    """`place`, `name`, `date`, `time`, `number`, `id`, `noun` or `text`; it says how values compare."""


_TABLE = table_of(__package__, "attributes")
ATTRIBUTES = {
    key: Attribute(key, name == "single", kind)
    for name in ("single", "many")
    for kind, keys in _TABLE[name].items()
    for key in keys.split()
}
"""The attributes of the table by their keys."""
_OTHER_NAMES = {name.strip(): key for key, names in _TABLE["names"].items() for name in names.split("|")}
_OPEN = _TABLE["open"]
_NUMBERS = {
    name: float(number)
    for words in _TABLE["numbers"].values()
    for name, _, number in (entry.strip().rpartition(" ") for entry in words.split("|"))
}
"""The numbers of words, and the factors of units to the first of their dimension."""
_EVERY = {key: frozenset(words.split("|")) for key, words in _TABLE["every"].items()}


@functools.lru_cache(4_096)
def attribute_named(words: str) -> Attribute:
    """Return the attribute of a key, of another name such as "lives in", or else of words that the table lacks."""
    for key, phrase in _TABLE["keyed"].items():
        before, _, after = phrase.partition("{}")
        if words.startswith(before) and words.endswith(after) and len(words) > len(before + after):
            return ATTRIBUTES[key]._replace(key=words)
    listed, dropped = words.lower().replace("_", " ").split(), _OPEN["dropped"].split()
    # Without articles and copulas, so that "is located in" and "located in" are one.
    key = [word for word in listed if word not in dropped]
    if found := ATTRIBUTES.get(words) or ATTRIBUTES.get(_OTHER_NAMES.get(" ".join(key), "")):
        return found
    # A noun with a copula has one value at a time, as in "the status is", and so have the verbs that the table lists.
    has_copula = bool(listed and key) and listed[-1] in _OPEN["copulas"].split()
    kind = next((kind for kind, nouns in _OPEN["types"].items() if key and key[-1] in nouns.split()), "text")
    is_single = kind != "text" or has_copula or any(word in _OPEN["one"].split() for word in key)
    return Attribute(" ".join(key) or words.lower(), is_single, kind)


_PARTS = re.compile(r"\s*[,，(/]\s*|\s+(?:in|near)\s+")
_LEAST_RADIUS, _RADIUS_OF_A_MILLION, _MOST_SHARE = 4, 16, 0.4
"""Kilometres; and the share of people that a part of a city has at most."""
_KM_OF_A_DEGREE = 111
_LESS_KNOWN = 20
"""A name does not mean a place with this many times fewer people than another of the name."""


class _Place(NamedTuple):
    country: str
    region: str
    latitude: float
    longitude: float
    people: int
    """In thousands."""

    def is_in(self, other: _Place) -> bool:
        """Return whether it lies in a country, a region, or within a larger city."""
        if self.country != other.country or self == other:
            return False
        if not other.latitude:
            return not other.region or (bool(self.latitude) and other.region == self.region)
        if not self.latitude or self.region != other.region or self.people > _MOST_SHARE * other.people:
            return False
        east = (self.longitude - other.longitude) * math.cos(math.radians(self.latitude))
        distance = _KM_OF_A_DEGREE * math.hypot(east, self.latitude - other.latitude)
        return distance < _LEAST_RADIUS + _RADIUS_OF_A_MILLION * math.sqrt(other.people / 3000)


@functools.cache
def _places() -> dict[str, list[_Place]]:
    data = gzip.decompress(resources.files(__package__).joinpath("places.tsv.gz").read_bytes()).decode()
    found: dict[str, list[_Place]] = {}
    for line in data.split("\n"):
        names, country, region, latitude, longitude, people = line.split("\t")
        place = _Place(country, region, float(latitude or 0), float(longitude or 0), int(people))
        for name in names.casefold().split("|"):
            found.setdefault(name, []).append(place)
    return found


@remembered(4_096)
def _named(text: str) -> list[_Place]:
    name = text.casefold().removeprefix("the ").strip()
    short = name[:-1] if len(name) > 2 and name[-1] in "市区縣县省" else name  # noqa: PLR2004 - a name of one character is none
    found = _places().get(name) or _places().get(short) or []
    most = max((place.people for place in found), default=0)
    return [place for place in found if place.people * _LESS_KNOWN >= most]


def is_place(text: str) -> bool:
    """Return whether a text names a known place, as "Ghent" and "Ghent, Belgium" do."""
    return bool(_named(_PARTS.split(text)[0]))


@remembered(4_096)
def lies_in(one: str, other: str) -> bool:
    """Return whether the first place lies in the second; both are names such as "Hackney" or "Ghent, Belgium"."""
    first, *around = _PARTS.split(one)
    if any(part.casefold() == other.casefold() for part in around):
        return True
    seconds = _named(_PARTS.split(other)[0])
    return any(place.is_in(second) for part in (first, *around) for place in _named(part) for second in seconds)


ValueRelation = Literal["same", "narrower", "wider", "different"]
_MONTH = {"sept": 9} | {
    name: place
    for months in MONTHS.values()
    for place, names in enumerate(months, 1)
    for name in (*names.split("|"), *([names[:3]] if months is MONTHS["en"] else ()))
}
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
        rf"\b{_MONTH_NAME}\s*$",
    )
]
"""Ways to write a date, in the order in which they are tried."""
_NUMBER = re.compile(
    r"(\d+(?:,\d{3})*(?:\.\d+)?|[零一二两三四五六七八九十百千万]+|[a-z]+)\s*(k(?![a-z])|万)?\s*([^\W\d_]+|[%€$£])?",
    re.IGNORECASE,
)
_HAN_UNITS = {"十": 10, "百": 100, "千": 1_000, "万": 10_000}
_LEAST, _MOST = (
    re.compile("more than|over|above|at least|超过|以上"),
    re.compile("less than|under|below|at most|up to|不到|以下"),
)
_ROUGHLY, _TOLERANCE = re.compile("about|around|roughly|nearly|almost|some|大约|大概|左右|~"), 0.1
_ROUNDING = 0.01
_TITLE = re.compile(
    r"\b(?:mr|mrs|ms|miss|dr|prof|professor|sir|herr|frau|señora?|don|doña|mme|madame|monsieur|doctora?)\b\.?",
    re.IGNORECASE,
)
_INDEFINITE, _SPECIFIC = re.compile("an? ", re.IGNORECASE), re.compile(r"[A-Z\d@]")
"""A description of a kind, which says less than a name or a number: "a bank"."""
_SIGNS = re.compile(r"[\W_]+")


def date_of(text: str, said: datetime | None = None) -> Span | None:
    """Return the days that a text names; a day without year is in the year of `said`, or in year 1 without it."""
    found = next(filter(None, (pattern.search(text) for pattern in _DATES)), None)
    if found is None:
        return span_of(text, said) if said else None
    parts = found.groupdict()
    month = parts.get("m") or "0"
    number = int(month) if month.isdecimal() else _MONTH[month.lower()]
    year = said.year - (not parts.get("d") and number > said.month) if said else 1
    day = int(parts.get("d") or 0)
    try:
        first = date(int(parts.get("y") or year), number if day else number or 1, day or 1)
        return span_around(first, "day" if day else "month" if number else "year")
    except ValueError:
        return None


def number_of(text: str) -> tuple[float, str] | None:
    """Return the first number of a text, in metres, kilogrammes or minutes if it has such a unit, and its unit."""
    for found in _NUMBER.finditer(text.lower()):
        number = _value(found[1])
        if number is not None:
            number *= {"k": 1e3, "万": 1e4}.get(found[2] or "", 1)
            return number * _NUMBERS.get(f"1 {found[3]}", 1), found[3] or ""
    return None


def _value(word: str) -> float | None:
    if word[0].isdecimal():
        return float(word.replace(",", ""))
    if word in _NUMBERS or word[0] not in "一二两三四五六七八九十百千万":
        return _NUMBERS.get(word)
    total, digit = 0.0, 0.0
    for sign in word:
        if sign in _HAN_UNITS:
            total, digit = total + (digit or 1) * _HAN_UNITS[sign], 0.0
        else:
            digit = _NUMBERS.get(sign, 0)
    return total + digit


def is_every(attribute: Attribute, value: str) -> bool:
    """Return whether a value stands for all of an attribute, as "anything" does, and "siblings" for those one has."""
    return any(value.casefold() in _EVERY.get(key, ()) for key in ("all", attribute.key))


@remembered(4_096)
def compare_values(attribute: Attribute, one: str, other: str) -> ValueRelation:
    """Return how the first value relates to the second: "narrower" if it says more, as Ghent does than Belgium."""
    if one.casefold() == other.casefold():
        return "same"
    if one.startswith("not ") != other.startswith("not ") and one.removeprefix("not ") != other.removeprefix("not "):
        return "wider" if one.startswith("not ") else "narrower"
    if _INDEFINITE.match(one) is not None or _INDEFINITE.match(other) is not None:
        kind, named = (one, other) if _INDEFINITE.match(one) else (other, one)
        if _SPECIFIC.search(named) and not _INDEFINITE.match(named):
            return "wider" if kind == one else "narrower"
    compared = _COMPARED.get(attribute.type, _compare_places)(one, other)
    return compared or _compare_words(one, other)


def _compare_places(one: str, other: str) -> ValueRelation | None:
    first, second = _PARTS.split(one)[0], _PARTS.split(other)[0]
    if first.casefold() == second.casefold() or any(place in _named(second) for place in _named(first)):
        return "same"
    if lies_in(one, other):
        return "narrower"
    return "wider" if lies_in(other, one) else None


def _compare_dates(one: str, other: str) -> ValueRelation | None:
    first, second = date_of(one), date_of(other)
    if not (first and second):
        return None
    if (first.first.year == 1) == (second.first.year == 1):
        if first == second:
            return "same"
        if second.first <= first.first and first.last <= second.last:
            return "narrower"
        return "wider" if first.first <= second.first and second.last <= first.last else "different"
    days = [(span.first.month, span.first.day, span.last.day) for span in (first, second)]
    if days[0] != days[1]:
        return "different"
    return "wider" if first.first.year == 1 else "narrower"


def _compare_numbers(one: str, other: str) -> ValueRelation | None:
    first, second = number_of(one), number_of(other)
    if not (first and second):
        return None
    (a, _), (b, _) = first, second
    tolerance = _TOLERANCE if _ROUGHLY.search(f"{one} {other}".lower()) else _ROUNDING * (first[1] != second[1])
    if abs(a - b) <= tolerance * max(a, b):
        return "same"
    if (_LEAST.search(one) and b > a) or (_MOST.search(one) and b < a):
        return "wider"
    if (_LEAST.search(other) and a > b) or (_MOST.search(other) and a < b):
        return "narrower"
    return "different"


def _compare_names(one: str, other: str) -> ValueRelation | None:
    return _compare_places(one, other) or _compare_words(_TITLE.sub("", one), _TITLE.sub("", other))


def _compare_ids(one: str, other: str) -> ValueRelation:
    return "same" if _SIGNS.sub("", one.casefold()) == _SIGNS.sub("", other.casefold()) else "different"


def _compare_words(one: str, other: str) -> ValueRelation:
    words, others = set(split_keywords(one)), set(split_keywords(other))
    if words == others or not (words and others):
        return "same" if words and others else "different"
    return "narrower" if words > others else "wider" if words < others else "different"


_COMPARED: dict[str, Callable[[str, str], ValueRelation | None]] = {
    "place": _compare_places,
    "date": _compare_dates,
    "number": _compare_numbers,
    "name": _compare_names,
    "id": _compare_ids,
}
"""How values of a type compare; None leaves it to their words."""

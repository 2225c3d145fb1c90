"""Numbers with their units and bounds, as digits or words, in five languages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

__all__ = ["Bound", "Quantity", "number_of", "ordinal_of", "quantities", "unit_of"]

Bound = Literal["above", "below", ""]

_TOLERANCE = 1e-6
_TEN, _TWENTY, _HUNDRED = 10, 20, 100
_MULTIPLES = {"k": 1e3, "m": 1e6, "bn": 1e9, "万": 1e4, "亿": 1e8}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number in the base unit of its dimension."""

    value: float
    dimension: str = ""
    """Length, mass, time, a currency and so on; empty for a count."""
    bound: Bound = ""

    def equals(self, other: Quantity) -> bool:
        """Return whether both are the same amount."""
        scale = max(abs(self.value), abs(other.value), 1.0)
        return self.fits(other) and self.bound == other.bound and abs(self.value - other.value) <= _TOLERANCE * scale

    def fits(self, other: Quantity) -> bool:
        """Return whether both measure the same thing."""
        return self.dimension == other.dimension or not (self.dimension and other.dimension)

    def admits(self, other: Quantity) -> bool:
        """Return whether this is a bound that the other number satisfies."""
        if not self.bound or other.bound or not self.fits(other):
            return False
        return other.value >= self.value if self.bound == "above" else other.value <= self.value


_UNITS: dict[str, tuple[str, float]] = {}
for _dimension, _names in {
    "length": "km:1000 kilometer:1000 kilometre:1000 kilómetro:1000 kilomètre:1000 公里:1000 千米:1000 m:1 meter:1 metre:1"
    " metro:1 mètre:1 米:1 cm:0.01 centimeter:0.01 centimetre:0.01 zentimeter:0.01 厘米:0.01 mm:0.001 mile:1609.344"
    " meile:1609.344 milla:1609.344 inch:0.0254 foot:0.3048 feet:0.3048 ft:0.3048",
    "mass": "kg:1 kilo:1 kilogram:1 kilogramm:1 kilogramo:1 kilogramme:1 公斤:1 千克:1 斤:0.5 g:0.001 gram:0.001 gramm:0.001"
    " gramo:0.001 克:0.001 mg:0.000001 lb:0.45359237 lbs:0.45359237 pound:0.45359237 ton:1000 tonne:1000 吨:1000",
    "volume": "l:1 liter:1 litre:1 litro:1 升:1 ml:0.001 毫升:0.001 gallon:3.785411784",
    "duration": "second:1 sekunde:1 segundo:1 seconde:1 秒:1 minute:60 min:60 minuto:60 分钟:60 hour:3600 stunde:3600 hora:3600"
    " heure:3600 小时:3600 day:86400 tag:86400 día:86400 jour:86400 天:86400 week:604800 woche:604800 semana:604800"
    " semaine:604800 周:604800 month:2629800 monat:2629800 mes:2629800 mois:2629800 个月:2629800 year:31557600"
    " jahr:31557600 año:31557600 an:31557600 岁:31557600",
    "USD": "usd:1 $:1 dollar:1 dólar:1 美元:1",
    "EUR": "eur:1 €:1 euro:1 欧元:1",
    "GBP": "gbp:1 £:1",
    "CNY": "cny:1 rmb:1 元:1 块:1 人民币:1",
    "share": "%:1 percent:1 prozent:1",
    "temperature": "°c:1 °:1 degree:1 grad:1 grado:1 degré:1 度:1",
}.items():
    for _name, _factor in (entry.split(":") for entry in _names.split()):
        _UNITS[_name] = _dimension, float(_factor)

_ENGLISH = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
)
_WORDS: Mapping[str, str] = {
    "en": f"{_ENGLISH} eighteen nineteen",
    "de": "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn"
    " achtzehn neunzehn",
    "es": "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince dieciséis diecisiete"
    " dieciocho diecinueve",
    "fr": "zéro - deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize dix-sept dix-huit"
    " dix-neuf",
}
_TENS: Mapping[str, str] = {
    "en": "twenty thirty forty fifty sixty seventy eighty ninety hundred",
    "de": "zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert",
    "es": "veinte treinta cuarenta cincuenta sesenta setenta ochenta noventa cien",
    "fr": "vingt trente quarante cinquante soixante soixante-dix quatre-vingts quatre-vingt-dix cent",
}
_NUMBERS: dict[str, dict[str, int]] = {
    language: {word: n for n, word in enumerate(words.split())}
    | {word: _TEN * n for n, word in enumerate(_TENS[language].split(), 2)}
    for language, words in _WORDS.items()
}
_HAN_DIGITS = {digit: n for n, digit in enumerate("零一二三四五六七八九")} | {"两": 2, "\u3007": 0}
_GERMAN_UNITS = {
    word.removesuffix("s") if word == "eins" else word: n for word, n in _NUMBERS["de"].items() if n < _TEN
}
_DIGITS = re.compile(r"([$€£]?)(\d[\d.,']*)(k|m|bn|万|亿)?([$€£%°]?)\Z", re.IGNORECASE)
_ABOVE = r"(?:more than|over|above|at least|mehr als|über|mindestens|más de|al menos|mayor (?:que|de)|plus de|au moins|超过|至少|多于|高于)"
_BELOW = (
    r"(?:less than|under|below|at most|up to|weniger als|unter|höchstens|maximal|menos de|como máximo|moins de|au plus"
    r"|少于|低于|不到|最多)"
)
_BOUNDS: Mapping[Bound, re.Pattern[str]] = {
    "above": re.compile(rf"{_ABOVE}\s*$", re.IGNORECASE),
    "below": re.compile(rf"{_BELOW}\s*$", re.IGNORECASE),
}
_REACH = 24
_LEAST_FORM = 3
"""Letters of a unit that can take an ending."""


_ORDINAL = re.compile(r"(\d+)(?:st|nd|rd|th)")
_ORDINALS = [
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
    "twentieth",
]


def ordinal_of(word: str) -> int | None:
    """Return the place that an English word such as "3rd" or "third" names, None for another word."""
    if match := _ORDINAL.fullmatch(word):
        return int(match[1])
    return _ORDINALS.index(word) + 1 if word in _ORDINALS else None


def number_of(word: str, language: str) -> tuple[float, str] | None:  # noqa: PLR0911 - rules in order
    """Return the number that a word writes, and the unit written with it, None for another word."""
    if match := _DIGITS.match(word):
        prefix, digits, multiple, suffix = match.groups()
        if (value := _value(digits, language)) is None:
            return None
        return value * _MULTIPLES.get((multiple or "").lower(), 1.0), prefix or suffix
    if language == "zh":
        value = _han_number(word)
        return None if value is None else (value, "")
    numbers = _NUMBERS.get(language, {})
    if word in numbers:
        return float(numbers[word]), ""
    if language == "de" and "und" in word:
        ones, _, tens = word.partition("und")
        if ones in _GERMAN_UNITS and tens in numbers:
            return float(_GERMAN_UNITS[ones] + numbers[tens]), ""
    first, _, second = word.partition("-")
    if second and first in numbers and second in numbers and numbers[first] >= _TWENTY > numbers[second]:
        return float(numbers[first] + numbers[second]), ""
    return None


def _value(digits: str, language: str) -> float | None:
    """Return the value of digits with separators; three digits after a separator may be thousands."""
    digits = digits.rstrip(".,'").replace("'", "")
    groups = re.split("[.,]", digits)
    marks = re.findall("[.,]", digits)
    grouped = len(groups) > 1 and all(len(group) == len("000") for group in groups[1:]) and len(set(marks)) == 1
    thousands = "." if language in {"de", "es", "fr"} else ","
    if grouped and (marks[0] == thousands or len(groups) > 2):  # noqa: PLR2004 - two separators of one kind
        return float("".join(groups))
    if len(marks) > 1 and len(set(marks)) == 1:
        return None
    if len(set(marks)) > 1:
        return float("".join(groups[:-1]) + "." + groups[-1])
    return float(".".join(groups))


def _han_number(word: str) -> float | None:
    if not word or any(digit not in _HAN_DIGITS and digit not in "十百" for digit in word):
        return None
    total, digit = 0, 0
    for character in word:
        if character in "十百":
            total += max(digit, 1) * (_TEN if character == "十" else _HUNDRED)
            digit = 0
        else:
            digit = _HAN_DIGITS[character] + digit * _TEN
    return float(total + digit)


def unit_of(word: str) -> tuple[str, float] | None:
    """Return dimension and factor of a unit, None for another word."""
    word = word.lower()
    for form in (
        word,
        word.removesuffix("s"),
        word.removesuffix("es"),
        word.removesuffix("n"),
        word.removesuffix("en"),
        word.removesuffix("e"),
    ):
        if form in _UNITS and (form == word or len(form) >= _LEAST_FORM):
            return _UNITS[form]
    return None


def quantities(value: float, unit: str, before: str) -> Quantity:
    """Return the quantity of a number with its unit; the words `before` it may bound it."""
    dimension, factor = _UNITS.get(unit.lower()) or unit_of(unit) or ("", 1.0)
    tail = before[-_REACH:]
    bound: Bound = next((kind for kind, pattern in _BOUNDS.items() if pattern.search(tail)), "")
    return Quantity(value * factor, dimension, bound)

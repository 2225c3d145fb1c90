"""The larger places of the world, and which of them lie in others."""

from __future__ import annotations

import functools
import gzip
import math
import re
from importlib import resources
from typing import NamedTuple

from neurogated.core.contexts import remembered

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


def is_same_place(one: str, other: str) -> bool:
    """Return whether two names mean one place, as "Gent" and "Ghent, Belgium" do."""
    first, second = _PARTS.split(one)[0], _PARTS.split(other)[0]
    return first.casefold() == second.casefold() or any(place in _named(second) for place in _named(first))


@remembered(4_096)
def lies_in(one: str, other: str) -> bool:
    """Return whether the first place lies in the second; both are names such as "Hackney" or "Ghent, Belgium"."""
    first, *around = _PARTS.split(one)
    if any(part.casefold() == other.casefold() for part in around):
        return True
    seconds = _named(_PARTS.split(other)[0])
    return any(place.is_in(second) for part in (first, *around) for place in _named(part) for second in seconds)

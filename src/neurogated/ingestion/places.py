"""The place that a text names, by the word before a name: "in Lyon", "bei Kassel", "à Quimper", "在成都"."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["named_place", "place_of"]

_BEFORE = re.compile(
    r"(?:\b(?:in|at|near|from|to|around|outside|bei|nach|aus|à|chez|près de|vers|en|desde|hacia|cerca de)"
    r"(?: (?:the|der|den|la|le|el))?\s+|[在到去从住])\Z",
    re.IGNORECASE,
)
_REACH = 16
_LOCATION = "location"


def named_place(text: str, names: Iterable[str]) -> str | None:
    """Return the first of the names in a text that follows a word of place; None if none does."""
    for name in names:
        begin = text.find(name)
        if begin > 0 and _BEFORE.search(text[max(0, begin - _REACH) : begin]):
            return name
    return None


def place_of(metadata: Mapping[str, object], text: str, names: Iterable[str]) -> str | None:
    """Return the caller's `location`, else the place that the text names."""
    given = metadata.get(_LOCATION)
    return given.strip() if isinstance(given, str) and given.strip() else named_place(text, names)

"""The places that a text names, by the word before a name: "in Lyon", "bei Kassel", "à Quimper", "在成都"."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise

from neurogated.text.keywords import fold
from neurogated.text.words import split_words

_WORD = (
    r"(?:\b(?:in|at|near|from|to|around|outside|bei|nach|aus|à|chez|près de|vers|en|desde|hacia|cerca de)"
    r"(?: (?:the|der|den|la|le|el))?\s+|[在到去从住])"
)
_BEFORE, _ANYWHERE = re.compile(rf"{_WORD}\Z", re.IGNORECASE), re.compile(_WORD, re.IGNORECASE)
_REACH = 16
_LOCATION = "location"


def named_place(text: str, names: Iterable[str]) -> str | None:
    """Return the first of the names in a text that follows a word of place; None if none does."""
    for name in names:
        begin = text.find(name)
        if begin > 0 and _BEFORE.search(text[max(0, begin - _REACH) : begin]):
            return name
    return None


def named_places(text: str, names: Iterable[str]) -> Iterator[str]:
    """Yield those of the names, in folded words, that follow a word of place in a text."""
    ends = [word.end() for word in _ANYWHERE.finditer(text)]
    words, begins = list[str](), defaultdict[str, list[int]](list)
    # Each word is folded once, however many words of place stand before it.
    for begin, end in pairwise([*ends, len(text)]):
        further = split_words(fold(text[begin:end]))
        for first in further[:1]:
            begins[first].append(len(words))
        words += further
    for name in names:
        wanted = name.split(" ")
        if any(words[begin : begin + len(wanted)] == wanted for begin in begins.get(wanted[0], ())):
            yield name


def place_of(metadata: Mapping[str, object], text: str, names: Iterable[str]) -> str | None:
    """Return the caller's `location`, else the place that the text names."""
    given = metadata.get(_LOCATION)
    return given.strip() if isinstance(given, str) and given.strip() else named_place(text, names)

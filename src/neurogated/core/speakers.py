"""Whether two memories were said by the same speaker; and the places that a text names.

A place is known by the word before a name: "in Lyon", "bei Kassel", "à Quimper", "在成都".
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import pairwise
from operator import eq

from neurogated.core.contexts import remembered
from neurogated.core.model import MemoryNode
from neurogated.text.keywords import fold, split_words

_USER = "user"
_FEW = 2


def same_speaker(one: MemoryNode, other: MemoryNode, names: Collection[str] = ()) -> bool:
    """Return whether two memories were said by the same speaker. It reads their fields only, and needs no store.

    One person is one speaker: within one `user_id`, messages of one role with equal names or with none, a message with
    a name and one without, and two names of which one begins the other, such as "Sam" and "Sam Vries". A text without a
    role is the user's. Without a `user_id`, memories of two sessions may be those of two persons who share no name.

    `names` are all speakers in the sessions of both. Where two persons speak in turn, a message without a name is of
    neither of them; and "Sam" and "Sam Vries" are two persons if both are among the names.
    """
    if one.scope.user_id != other.scope.user_id or (one.role or _USER) != (other.role or _USER):
        return False
    persons = {_words(name) for name in names} if names else ()
    if one.speaker and other.speaker:
        first, second = _words(one.speaker), _words(other.speaker)
        return first == second or (same_name(one.speaker, other.speaker) and not {first, second} <= {*persons})
    in_one_place = one.scope.user_id is not None or one.scope.session_id == other.scope.session_id
    return in_one_place and (one.speaker == other.speaker or len(persons) < _FEW)


def same_name(one: str, other: str) -> bool:
    """Return whether two names may be those of one person: they are equal but for case, or one begins the other."""
    return all(map(eq, _words(one), _words(other)))


@remembered(1024)
def _words(name: str) -> tuple[str, ...]:
    return tuple(split_words(fold(name))) or (name,)


_WORD = (
    r"(?:\b(?:in|at|near|from|to|around|outside|bei|nach|aus|à|chez|près de|vers|en|desde|hacia|cerca de)"
    r"(?: (?:the|der|den|la|le|el))?\s+|[在到去从住])"
)
_BEFORE, _ANYWHERE = re.compile(rf"{_WORD}\Z", re.IGNORECASE), re.compile(_WORD, re.IGNORECASE)
_REACH = 16
_LOCATION = "location"


def named_place(text: str, names: Iterable[str]) -> str | None:
    """Return the first of the names in a text that follows a word of place; None if none does."""
    begins = ((text.find(name), name) for name in names)
    return next((n for at, n in begins if at > 0 and _BEFORE.search(text[max(0, at - _REACH) : at])), None)


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

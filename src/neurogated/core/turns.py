"""Properties of a turn of a conversation: role, length, whom it addresses, who says it, and the place it names.

A place is known by the word before a name: "in Lyon", "bei Kassel", "à Quimper", "在成都".
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import pairwise
from operator import eq
from typing import Protocol

from neurogated.core.contexts import remembered
from neurogated.core.found import Found
from neurogated.core.model import MemoryNode
from neurogated.text.keywords import fold, number_of_words, split_words

ASKS_TAG = "turn asks"
"""Tag of a turn that ends with a question."""
CALLS = "calls "
"""Prefix of the tag of turns that address a person by a name, which is folded."""
_SHORT = 96
LENGTH_TAGS: Sequence[str] = ("length 1", "length 2", "length 4")
"""Tags of the binary digits of the length level of a turn's message; see `length_level`."""
PLACE_TAGS: Sequence[str] = ("place 1", "place 2")
"""Tags of the binary digits of the place level of a piece of a message: 0 for the first piece, 1 for the second and
third, 2 for the fourth to the seventh, 3 for later ones."""
_QUESTION = re.compile("[?\uff1f\u061f][\\s\"'\u201d\u2019\u00bb)\\]*_]*\\Z")
_NAME = r"[^\W\d_]+(?:['\u2019-][^\W\d_]+)*"
# A vocative, set off by punctuation: "Thanks, Ann!", "Hey Ann!", "Ann, that was kind."
_CALL = re.compile(rf"(?:(?:^|[.!?\u2026\n]\s*)(?:[^\W\d_]+\s)?|,\s)({_NAME})(?=\s*[,!.?\u2026]|\s*$)")


class Text(Protocol):
    """The fields of a memory that `render` and `search_text` read: of a node, or of its record in a store."""

    @property
    def content(self) -> str: ...
    @property
    def title(self) -> str | None: ...
    @property
    def speaker(self) -> str | None: ...
    @property
    def found(self) -> Found: ...


class Described(Text, Protocol):
    """A text with the fields that a store indexes; see `MemoryNode`."""

    @property
    def tags(self) -> Sequence[str]: ...
    @property
    def timestamp(self) -> datetime | None: ...
    @property
    def role(self) -> str | None: ...
    @property
    def position(self) -> int | None: ...


def turn_tags(node: Described) -> list[str]:
    """Return the tags of a turn of a session; an empty list for any other text."""
    if node.position is None:
        return []
    # The position of a piece in its message, and the number of words of the message.
    place, words = node.found.part or (0, number_of_words(node.content))
    length, later = length_level(words), (place + 1).bit_length() - 1
    tags = [role_tag(node.role)] if node.role else []
    tags += [ASKS_TAG] * asks(node.content)
    tags += _digits(length, LENGTH_TAGS) + _digits(later, PLACE_TAGS) if length or later else []
    return tags + [CALLS + name for name in called(node.content, node.found.entities)]


def length_level(words: int) -> int:
    """Return how often a length doubles from 48 words; 0 up to 95 words."""
    return (2 * words // _SHORT).bit_length() - 1 if words >= _SHORT else 0


def _digits(number: int, tags: Sequence[str]) -> list[str]:
    """Return the tags of the binary digits of a number; larger numbers get those of the largest possible."""
    number = min(number, 2 ** len(tags) - 1)
    return [tag for digit, tag in enumerate(tags) if number >> digit & 1]


def asks(text: str) -> bool:
    """Return whether a text ends with a question."""
    return _QUESTION.search(text) is not None


def called(text: str, names: Sequence[str]) -> frozenset[str]:
    """Return those of the `names` in a text by which it addresses a person, in folded words."""
    if not names:
        return frozenset()
    found = {fold(match[1]) for match in _CALL.finditer(text)}
    return frozenset([words[0] for name in names if found and len(words := split_words(fold(name))) == 1]) & found


@cache
def role_tag(role: str) -> str:
    """Return the tag of messages of a role."""
    return f"role {fold(role)}"


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
    """Return the caller's `location`, else the first of the names in a text that follows a word of place."""
    given = metadata.get(_LOCATION)
    if isinstance(given, str) and given.strip():
        return given.strip()
    begins = ((text.find(name), name) for name in names)
    return next((n for at, n in begins if at > 0 and _BEFORE.search(text[max(0, at - _REACH) : at])), None)

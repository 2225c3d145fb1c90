"""Properties of a turn of a conversation: its role, its length, whether it asks, and whom it addresses."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime
from functools import cache
from typing import Protocol

from neurogated.core.found import Found
from neurogated.text.keywords import fold, number_of_words, split_words

ASKS_TAG = "turn asks"
"""Tag of a turn that ends with a question."""
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
    return tags + [call_tag(name) for name in called(node.content, node.found.entities)]


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


def call_tag(name: str) -> str:
    """Return the tag of turns that address a person by `name`, folded."""
    return f"calls {name}"

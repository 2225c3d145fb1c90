"""Reads our own texts in ordinary speech: pairs, and sentences with the facts that they say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from neurogated.core.facts import Fact

__all__ = ["Expected", "facts_of", "matches", "rows"]

_FOLDER = Path(__file__).parent / "data"
_ARTICLES = frozenset(
    ("a", "an", "the", "my", "our", "der", "die", "das", "ein", "eine", "einen", "el", "la", "un", "una", "mi")
)
_EXTRA_WORDS = 2
_EXTRA_SIGNS = 3


@dataclass(frozen=True, slots=True)
class Expected:
    """A fact that a sentence says, with other ways to split it."""

    ways: tuple[tuple[frozenset[str], str, frozenset[str]], ...]
    """Subjects, family of attributes, and values."""
    is_required: bool
    """False for facts that a reader may leave out."""
    first: tuple[str, str, str]
    """The first way, as it is written."""


def rows(name: str) -> list[list[str]]:
    """Return the rows of a table without its header and its notes, which begin with `#`."""
    lines = (_FOLDER / f"{name}.tsv").read_text(encoding="utf-8").splitlines()
    return [line.split("\t") for line in lines[1:] if not line.startswith("#")]


def facts_of(told: str) -> list[Expected]:
    """Return the facts of a cell such as `user|pet|Max or dog|name|Max; ?user|pet|dog`."""
    found = []
    for one in filter(None, told.split("; ")):
        ways = [way.split("|") for way in one.removeprefix("?").split(" or ")]
        split = tuple((_any(subject), family, _any(value)) for subject, family, value in ways)
        subject, family, value = (part.partition("/")[0] for part in ways[0])
        found.append(Expected(split, not one.startswith("?"), (subject, family, value)))
    return found


def matches(fact: Fact, expected: Expected) -> bool:
    """Return whether a fact is an expected one, whatever its attribute is called, and without articles and case."""
    subject, words = _plain(fact.subject), set(re.findall(r"\w+", fact.attribute.casefold().replace("_", " ")))
    return any(
        subject in subjects and words & _families()[family] and any(_is_value(fact.value, value) for value in values)
        for subjects, family, values in expected.ways
    )


def _is_value(found: str, expected: str) -> bool:
    plain = _plain(found)
    if expected.isascii():
        words, wanted = plain.split(), expected.split()
        return f" {expected} " in f" {plain} " and len(words) <= len(wanted) + _EXTRA_WORDS
    return expected in plain and len(plain) <= len(expected) + _EXTRA_SIGNS


@cache
def _families() -> dict[str, frozenset[str]]:
    return {family: frozenset(words.split("|")) for family, words in rows("families")}


def _any(text: str) -> frozenset[str]:
    return frozenset(_plain(one) for one in text.split("/"))


def _plain(text: str) -> str:
    words = re.findall(r"[\w@$'+-]+(?:[.,:][\w]+)*", text.casefold())
    return " ".join(word for word in words if word not in _ARTICLES) or text.casefold()

"""Tells texts apart by the spelling of the words that they share."""

from __future__ import annotations

import re
from collections import defaultdict

from neurogated.core.keywords import fold

__all__ = ["same_spelling"]

_WORD = re.compile(r"[^\W\d_]+")
_BREAK = re.compile(r"[.!?…。！？\n]")


def same_spelling(one: str, other: str) -> bool:
    """Return whether two texts agree in the spelling of the words that they share.

    A word may differ in case and accents only where a sentence begins with it.
    """
    ours, theirs = _spellings(one), _spellings(other)
    return all(ours[word] == theirs[word] for word in ours.keys() & theirs.keys())


def _spellings(text: str) -> dict[str, set[str]]:
    """Return the spellings of each word, without those that only the beginning of a sentence may explain."""
    found, end = defaultdict[str, set[str]](set), 0
    for match in _WORD.finditer(text):
        word, begins = match[0], not end or _BREAK.search(text, end, match.start())
        if not begins or word != word.capitalize():
            found[fold(word)].add(word)
        end = match.end()
    return found

"""Tells texts apart by the signs, numbers and spellings that a reading of their words passes over."""

from __future__ import annotations

import re
from collections import defaultdict

from neurogated.core.keywords import fold

__all__ = ["same_writing"]

_TOKEN = re.compile("[\u3400-\u9fff]+|[^\\s\u3400-\u9fff，。！？；：、\uff08\uff09《》]+")
_QUOTES = "\"'\u2018\u2019“”„«»"
_END = r")\].,;:!?…"
_NUMBER = r"[$€£]?(?:0|[1-9][0-9]*)(?:,[0-9]{3})*(?:[.,][0-9]*[1-9])?[%$€£°]?"
_PLAIN = re.compile(
    rf"[{_QUOTES}(\[¿¡]*(?:"
    rf"[^\W\d_]+(?:['\u2019\u2013-][^\W\d_]+)*[{_QUOTES}{_END}]*"
    rf"|(?:[0-9]{{4}}-[0-9]{{2}}-[0-9]{{2}}|[0-9]{{1,2}}:[0-9]{{2}}|{_NUMBER})[{_END}]*"
    rf"|[\u2013—-]?[{_QUOTES}{_END}]*)"
)
"""A word, a date, a time of day, or a number without a sign, a leading zero or a zero at its end."""
_WORD = re.compile(r"[^\W\d_]+")
_BREAK = re.compile(r"[.!?…。！？\n]")


def same_writing(one: str, other: str) -> bool:
    """Return whether two texts agree in all that is no plain word or number, and in the spelling of shared words.

    Codes, versions, addresses, signs and symbols must be equal and in the same order. A word may differ in case and
    accents only where a sentence begins with it.
    """
    if _literals(one) != _literals(other):
        return False
    ours, theirs = _spellings(one), _spellings(other)
    return all(ours[word] == theirs[word] for word in ours.keys() & theirs.keys())


def _literals(text: str) -> list[str]:
    return [token.rstrip(".,;:") for token in _TOKEN.findall(text) if not _PLAIN.fullmatch(token)]


def _spellings(text: str) -> dict[str, set[str]]:
    """Return the spellings of each word, without those that only the beginning of a sentence may explain."""
    found, end = defaultdict[str, set[str]](set), 0
    for match in _WORD.finditer(text):
        word, begins = match[0], not end or _BREAK.search(text, end, match.start())
        if not begins or word != word.capitalize():
            found[fold(word)].add(word)
        end = match.end()
    return found

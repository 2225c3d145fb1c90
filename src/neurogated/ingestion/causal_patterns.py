"""Cues of cause and effect: their patterns, their weights, and hints for a fast pre-check."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

__all__ = ["FIRM", "STRONG", "WEAK", "Link", "Opener", "cue", "either", "heads"]

# Weight of a family of cues without word overlap.
STRONG = 0.8
FIRM = 0.7
WEAK = 0.6


_HEAD = re.compile("(?<![a-z])[a-z]{1,4}")


@cache
def _in_small_letters(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return a cue's pattern for lower-case text only."""
    return re.compile(pattern.pattern, pattern.flags & ~re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opener:
    """A cue at the beginning of a text that points to the previous text, or at its end that points to the next text."""

    pattern: re.Pattern[str]
    """A reason quotes its group `cue`."""
    strength: float
    """0–1: the weight of the link without overlap."""


@dataclass(frozen=True, slots=True)
class Link:
    """A cue in a sentence with both a cause and an effect."""

    pattern: re.Pattern[str]
    """Its group `cause` or `by`, if present, is the cause; else cause and effect are before and after the match."""
    cause_follows: bool
    """Whether the cause is after the cue and the effect before it."""
    is_clause: bool
    """Whether the cause is a clause. A common word in a clause is weaker evidence than one in a noun phrase."""
    strength: float
    """0–1: the weight of the link before the gain by overlap."""
    hints: frozenset[str]
    """Heads of words; every match has a word with one of these heads. Empty: every match has a Chinese character."""

    def matches(self, text: str, small: str) -> Iterator[re.Match[str]]:
        """Yield the matches in a text. `small` is the text in lower case, whose search takes half the time."""
        if len(small) != len(text):
            yield from self.pattern.finditer(text)
            return
        for found in _in_small_letters(self.pattern).finditer(small):
            if match := self.pattern.match(text, found.start()):
                yield match


def heads(text: str) -> frozenset[str]:
    """Return the first letters of each word of a lower-case text, to exclude links that cannot match.

    The number of letters is the length of the shortest verb stem in a cue, so a head covers all forms of a verb.
    """
    return frozenset(_HEAD.findall(text))


def either(lines: str) -> str:
    """Return a pattern for any of the lines."""
    return "(?:" + "|".join(line.strip() for line in lines.strip().splitlines()) + ")"


def cue(lines: str, before: str = "") -> re.Pattern[str]:
    """Compile a cue that matches any of the lines. Texts must have single spaces and straight apostrophes."""
    return re.compile(f"{before}(?P<cue>{either(lines)})", re.IGNORECASE)

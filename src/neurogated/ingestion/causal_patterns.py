"""How a cue of cause and effect is described: its pattern, how far it is trusted, and the words that announce it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

__all__ = ["FIRM", "STRONG", "WEAK", "Link", "Opener", "cue", "either", "heads"]

# How far each family of cues can be trusted alone.
STRONG = 0.8
FIRM = 0.7
WEAK = 0.6


_HEAD = re.compile("(?<![a-z])[a-z]{1,4}")


@cache
def _in_small_letters(pattern: re.Pattern[str]) -> re.Pattern[str]:
    """Return a pattern, one of the cues of this package, for small letters alone."""
    return re.compile(pattern.pattern, pattern.flags & ~re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Opener:
    """A cue near the beginning of a text that points back to the text before, or at the end of one that points on."""

    pattern: re.Pattern[str]
    """Its group `cue` is what a reason quotes."""
    strength: float
    """0–1: the weight of the link it makes."""


@dataclass(frozen=True, slots=True)
class Link:
    """A cue between a cause and an effect that are named in one sentence."""

    pattern: re.Pattern[str]
    """Its group `cause` or `by`, where there is one, is the cause; else cause and effect stand beside the match."""
    cause_follows: bool
    """Whether the cause stands after the cue and the effect before it."""
    is_clause: bool
    """Whether the cause is told as a clause, where a word in common says less than in a noun phrase."""
    strength: float
    """0–1: the weight of the link where the overlap is least."""
    hints: frozenset[str]
    """Heads of words; every match holds a word with one of them. Empty: every match holds a Chinese character."""

    def matches(self, text: str, small: str) -> Iterator[re.Match[str]]:
        """Yield the matches in a text, which is also given in small letters: these are read in half the time."""
        if len(small) != len(text):
            yield from self.pattern.finditer(text)
            return
        for found in _in_small_letters(self.pattern).finditer(small):
            if match := self.pattern.match(text, found.start()):
                yield match


def heads(text: str) -> frozenset[str]:
    """Return the first letters of each word of a text in small letters, by which it is quickly told what cannot match.

    They are as many as the shortest stem of a verb in a cue has, so that they stand for all its forms.
    """
    return frozenset(_HEAD.findall(text))


def either(lines: str) -> str:
    """Return a pattern for any of the lines."""
    return "(?:" + "|".join(line.strip() for line in lines.strip().splitlines()) + ")"


def cue(lines: str, before: str = "") -> re.Pattern[str]:
    """Compile a cue that is any of the lines; texts come with single spaces and straight apostrophes."""
    return re.compile(f"{before}(?P<cue>{either(lines)})", re.IGNORECASE)

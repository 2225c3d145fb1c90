"""Replaces phrases by shorter ones with the same meaning, before a text is read."""

from __future__ import annotations

import functools
import re

from neurogated.core.packaged import packaged_json

__all__ = ["plainer"]

_HOURS = ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"]
_HALF_PAST = re.compile(rf"\bhalf past (?P<hour>\d{{1,2}}|{'|'.join(_HOURS)})\b", re.IGNORECASE)


@functools.cache
def _phrases() -> tuple[tuple[re.Pattern[str], str], ...]:
    data = packaged_json(__package__, "small_words.json")
    every = [pair for pairs in data["phrases"].values() for pair in pairs]
    return tuple((re.compile(phrase, re.IGNORECASE), plain) for phrase, plain in every)


def plainer(text: str) -> str:
    """Return a text with plainer phrases, such as `want to` for `would like to`."""
    text = _HALF_PAST.sub(_clock_time, text)
    for phrase, plain in _phrases():
        text = phrase.sub(plain, text)
    return text


def _clock_time(match: re.Match[str]) -> str:
    hour = match["hour"].lower()
    return f"{_HOURS.index(hour) + 1 if hour in _HOURS else hour}:30"

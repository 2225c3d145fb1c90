"""When two texts are the same text."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable

from neurogated.text.language import FUNCTION_WORDS

_GAP = re.compile(r"(?<=\S)[^\S\n]+")
_LINE_END = re.compile(r"[^\S\n]+$", re.MULTILINE)
_FIRST_WORD = re.compile(r"[^\W\d_]+")
_YEAR = re.compile(r"\d{4}")
_SMALL = frozenset().union(*FUNCTION_WORDS.values())


def equal_key(text: str) -> str:
    """Return a text that is equal for equal texts: those that differ only where this cannot change the meaning.

    These are the form of Unicode, blanks around a text and at the ends of its lines, the width of gaps within a line,
    and the case of the first letter, if the first word is a function word such as "the". Line breaks and the
    indentation of lines count.
    """
    text = _GAP.sub(" ", _LINE_END.sub("", unicodedata.normalize("NFC", text).strip()))
    first = _FIRST_WORD.match(text)
    is_small = first is not None and first[0].lower() in _SMALL and not first[0][1:].isupper()
    return text[:1].lower() + text[1:] if is_small else text


def depends_on_day(times: Iterable[str]) -> bool:
    """Return whether a text with these time expressions says something else on another day, as with "yesterday"."""
    return not all(map(_YEAR.search, times))

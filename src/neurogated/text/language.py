"""The language of a text by its function words, and its words that negate."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from typing import Literal

from neurogated.text.keywords import words_of
from neurogated.text.strings import table_of

Language = Literal["en", "de", "fr", "es"]
"""A language in Latin letters that has rules here; any other text counts as English."""


FUNCTION_WORDS: Mapping[Language, frozenset[str]] = {
    name: words_of(words) for name, words in table_of(__package__, "language")["function_words"].items()
}
NEGATIONS: Mapping[Language, frozenset[str]] = {
    name: words_of(words) for name, words in table_of(__package__, "language")["negations"].items()
}
"""Words that deny the statement they stand in."""
_OWNERS: dict[str, tuple[Language, ...]] = {
    word: tuple(language for language, own in FUNCTION_WORDS.items() if word in own)
    for word in frozenset[str]().union(*FUNCTION_WORDS.values())
}
_WORD = re.compile(r"[^\W\d_]+")
_LETTERS: Mapping[Language, re.Pattern[str]] = {
    "de": re.compile("[äöüß]"),
    "fr": re.compile("[àâçèêëîïôùûœ]"),
    "es": re.compile("[áíóúñ¿¡]"),
}
"""Letters that hardly occur in the other languages."""
_ENOUGH = 2_000
"""Number of characters that suffice to detect a language."""


@functools.lru_cache(128)
def language_of(text: str) -> Language:
    """Return the language with the most matching function words and letters; English in a tie."""
    begin = text[:_ENOUGH].lower()
    counts: dict[Language, int] = {"en": 0, "de": 0, "fr": 0, "es": 0}
    for languages in filter(None, map(_OWNERS.get, _WORD.findall(begin))):
        for language in languages:
            counts[language] += 1
    if not begin.isascii():
        counts |= {
            language: counts[language] + len(letters.findall(begin))
            for language, letters in _LETTERS.items()
            if counts[language]
        }
    # `max` returns the first of equal counts.
    return max(counts, key=counts.__getitem__)

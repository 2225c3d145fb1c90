"""Splits a text into words without a model, in scripts with and without spaces."""

import re
from collections.abc import Sequence

from neurogated.text.strings import composed, matches

# Each kana or Han character is a word; any other run of letters and digits is a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list of words, as they are written."""
    return frozenset(text.split())


def split_words(text: str) -> list[str]:
    """Return the words of `text` in lower case; each Han or kana character is one word."""
    if text.isascii():
        return _WORD.findall(text.lower())
    # NFC composes accents with letters; a separate accent would end the word.
    return [word.lower() for word in _WORD.findall(composed(text))]


def without_final_s(words: Sequence[str]) -> list[str]:
    """Return words without an "s" at their end, since people leave the apostrophe of "Ana's" out."""
    return [word.removesuffix("s") for word in words]


def count_words(texts: Sequence[str]) -> list[int]:
    """Return the number of words of each text, the token count for embedders without a tokenizer."""
    return [sum(1 for _ in matches(_WORD, composed(text))) for text in texts]

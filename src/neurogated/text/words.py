"""Splits a text into words without a model, in scripts with and without spaces."""

import re
import unicodedata
from collections.abc import Sequence

from neurogated.text.strings import composed, matches

UNSPACED = r"\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0ebd\u0ec0-\u0ece\u1000-\u103f\u1050-\u109f\u1780-\u17d3"
"""Characters of Thai, Lao, Burmese and Khmer, which put no spaces between words."""
# The vowels of many scripts are marks, which `\w` leaves out (Python 3.11, `re`).
MARKS = "".join(
    chr(code) for code in (*range(0x300, 0x1E00), *range(0xA600, 0xAC00)) if unicodedata.category(chr(code))[0] == "M"
)
_ALONE = rf"\u3040-\u30ff\u3400-\u9fff{UNSPACED}"
# A character of a script without spaces is a word with its marks; any other run of letters, marks and digits is a word.
_WORD = re.compile(rf"[{_ALONE}][{MARKS}]*|[^\W{_ALONE}]+(?:[{MARKS}]+[^\W{_ALONE}]*)*")


def words_of(text: str) -> frozenset[str]:
    """Return the words of a list of words, as they are written."""
    return frozenset(text.split())


def split_words(text: str) -> list[str]:
    """Return the words of `text` in lower case; each character of a script without spaces is one word."""
    if text.isascii():
        return _WORD.findall(text.lower())
    # NFC composes accents with letters, so that both forms give one word.
    return [word.lower() for word in _WORD.findall(composed(text))]


def without_final_s(words: Sequence[str]) -> list[str]:
    """Return words without an "s" at their end, since people leave the apostrophe of "Ana's" out."""
    return [word.removesuffix("s") for word in words]


def count_words(texts: Sequence[str]) -> list[int]:
    """Return the number of words of each text, the token count for embedders without a tokenizer."""
    found = [matches(_WORD, composed(text)) for text in texts]
    return [len(words) if isinstance(words, list) else sum(1 for _ in words) for words in found]

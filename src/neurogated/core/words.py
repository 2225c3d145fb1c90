"""Words of a text without a model, in scripts with and without spaces."""

import re
import unicodedata
from collections.abc import Sequence

__all__ = ["count_words", "split_words"]

# Kana and Han characters stand alone; any other run of letters and digits is a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\W\u3040-\u30ff\u3400-\u9fff]+")


def split_words(text: str) -> list[str]:
    """Return the words of `text` in lower case; each Han or kana character counts as one."""
    if text.isascii():
        return _WORD.findall(text.lower())
    return [word.lower() for word in _words(text)]


def count_words(texts: Sequence[str]) -> list[int]:
    """Return the number of words of each text: the token count of embedders that have no tokenizer at hand."""
    return [len(_words(text)) for text in texts]


def _words(text: str) -> list[str]:
    # An accent that is a character of its own would end the word.
    return _WORD.findall(unicodedata.normalize("NFC", text))

"""The WordPiece tokenizer of BERT models in pure Python. The tokenizers library would add a dozen dependencies."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from pathlib import Path

from neurogated.core.contexts import remembered

_FIRST, _LAST, _UNKNOWN = "[CLS]", "[SEP]", "[UNK]"
# The name of a special token in a text becomes that token.
_SPECIAL = re.compile(r"(\[(?:PAD|UNK|CLS|SEP|MASK)\])")
_CONTINUED = "##"
_LONGEST_WORD = 100
_REMEMBERED = 2**16
_ASCII_PUNCTUATION = frozenset("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~")
_REMOVED = frozenset({"Cc", "Cf", "Co", "Cs", "Mn"})
_SPACES = frozenset("\t\n\r")
# Each character of these blocks is a word. The reference implementation starts one block at 2B920; Unicode has 2B820.
_HAN = tuple(
    range(first, last + 1)
    for first, last in (
        (0x4E00, 0x9FFF),
        (0x3400, 0x4DBF),
        (0x20000, 0x2A6DF),
        (0x2A700, 0x2B73F),
        (0x2B740, 0x2B81F),
        (0x2B920, 0x2CEAF),
        (0xF900, 0xFAFF),
        (0x2F800, 0x2FA1F),
    )
)


class WordPieceTokenizer:
    """The tokenizer of an uncased BERT model (Devlin et al., 2019).

    It lowers case and removes accents. It splits at spaces, around punctuation and around Han characters. It cuts each
    word from the left into the longest pieces of the vocabulary. The tokenizers library returns the same tokens, except
    for characters that Unicode has changed since the release of that library's tables.
    """

    def __init__(self, vocabulary: Path) -> None:
        """Read a vocabulary with one piece on each line. Raises OSError."""
        pieces = vocabulary.read_text(encoding="utf-8").rstrip("\n").split("\n")
        self._ids = {piece: number for number, piece in enumerate(pieces)}
        self._word = remembered(_REMEMBERED)(self._cut)

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Return at most `max_tokens` tokens of each text, including the special tokens at both ends."""
        first, last = self._ids[_FIRST], self._ids[_LAST]
        return [[first, *self._tokens(text)[: max_tokens - 2], last] for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each whole text, without special tokens."""
        return [len(self._tokens(text)) for text in texts]

    def _tokens(self, text: str) -> list[int]:
        tokens: list[int] = []
        for part in _SPECIAL.split(text):
            if _SPECIAL.fullmatch(part):
                tokens.append(self._ids[part])
                continue
            for word in unicodedata.normalize("NFD", part).translate(_CHARACTERS).split():
                tokens += self._word(word)
        return tokens

    def _cut(self, word: str) -> list[int]:
        """Return the pieces of a word, or the unknown token if the word is too long or has no pieces."""
        pieces: list[int] = []
        begin = 0 if len(word) <= _LONGEST_WORD else len(word)
        while begin < len(word):
            prefix = _CONTINUED if begin else ""
            for end in range(len(word), begin, -1):
                piece = self._ids.get(prefix + word[begin:end])
                if piece is not None:
                    pieces.append(piece)
                    begin = end
                    break
            else:
                return [self._ids[_UNKNOWN]]
        return pieces or [self._ids[_UNKNOWN]]


class _Characters(dict[int, str]):
    """The replacement of each decomposed character for `str.translate`, computed at its first lookup."""

    def __missing__(self, code: int) -> str:
        self[code] = _replacement(chr(code))
        return self[code]


def _replacement(character: str) -> str:
    category = unicodedata.category(character)
    if character in _SPACES or category.startswith("Z"):
        return " "
    if category in _REMOVED or character == "\N{REPLACEMENT CHARACTER}":
        return ""
    alone = character in _ASCII_PUNCTUATION or category.startswith("P") or any(ord(character) in han for han in _HAN)
    return f" {character} " if alone else character.lower()


_CHARACTERS = _Characters()

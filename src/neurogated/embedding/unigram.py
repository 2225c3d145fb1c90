"""The unigram tokenizer of multilingual models in pure Python."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from neurogated.core.contexts import remembered
from neurogated.text.strings import composed

_FIRST, _LAST, _UNKNOWN = 0, 2, 3
_SPACE = "\u2581"
"""Stands for a space in the pieces; a piece contains it at its beginning only."""
_WORD = re.compile(f"{_SPACE}[^{_SPACE}]*")
_SPACES = re.compile(" +")
_UNKNOWN_COST = 10.0
_REMEMBERED = 2**16
_SHORTEST = 3


class UnigramTokenizer:
    """Cuts each word into the most probable pieces of a vocabulary (Kudo, "Subword Regularization", 2018)."""

    def __init__(self, pieces: Mapping[str, tuple[int, float]], characters: Mapping[int, str]) -> None:
        """Take a vocabulary.

        Args:
            pieces: each piece with its number and its log probability.
            characters: the text that replaces a character before the cut.
        """
        self._pieces = pieces
        self._characters = characters
        self._longest = max(map(len, pieces))
        self._unknown = min(score for _, score in pieces.values()) - _UNKNOWN_COST
        self.words = [piece[1:] for piece in pieces if piece.startswith(_SPACE) and len(piece) > _SHORTEST]
        """The pieces that begin a word and have several letters."""
        self._word = remembered(_REMEMBERED)(self._cut)

    def encode(self, texts: Sequence[str], max_tokens: int) -> list[list[int]]:
        """Return at most `max_tokens` tokens of each text, including the special tokens at both ends."""
        return [[_FIRST, *self._tokens(text)[: max_tokens - 2], _LAST] for text in texts]

    def count(self, texts: Sequence[str]) -> list[int]:
        """Return the number of tokens of each whole text, without special tokens."""
        return [len(self._tokens(text)) for text in texts]

    def _tokens(self, text: str) -> list[int]:
        plain = _SPACES.sub(" ", composed(text).translate(self._characters)).removeprefix(" ")
        return [token for word in _WORD.findall(_SPACE + plain.replace(" ", _SPACE)) for token in self._word(word)]

    def _cut(self, word: str) -> list[int]:
        """Return the numbers of the pieces whose probabilities have the largest product, by the Viterbi algorithm."""
        best = [(0.0, 0, 0)] + [(-float("inf"), 0, 0)] * len(word)
        for begin in range(len(word)):
            score = best[begin][0]
            best[begin + 1] = max(best[begin + 1], (score + self._unknown, begin, _UNKNOWN))
            for end in range(begin + 1, min(begin + self._longest, len(word)) + 1):
                piece = self._pieces.get(word[begin:end])
                if piece is not None and score + piece[1] > best[end][0]:
                    best[end] = (score + piece[1], begin, piece[0])
        tokens: list[int] = []
        place = len(word)
        while place:
            _, place, token = best[place]
            tokens.append(token)
        return tokens[::-1]

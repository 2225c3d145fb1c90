"""The matrix of vectors, one row per slot, in memory or mapped from files, at full or reduced precision."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.checkpoint.array_files import load_bytes

__all__ = ["Block", "Encoded", "Floats", "KeptBlock", "VectorMatrix"]

Floats = NDArray[np.float32]

_TYPES: dict[str, type[np.generic]] = {"float32": np.float32, "float16": np.float16, "int8": np.int8}
# The largest stored number. Each vector is scaled to it, so that its numbers fit the range of the type.
_LARGEST = {"float16": 1, "int8": 127}
# In int8 this many numbers share a scale: the fewer they are, the smaller their maximum and the finer the steps.
_BLOCK = 32
# A shorter vector counts as zero: smaller numbers have lost digits, and their reciprocals may be infinite.
_SMALLEST = float(np.finfo(np.float32).tiny)
# How many vectors are decoded in one batch; a few MB.
_AT_ONCE = 4096
_LEAST_ROOM = 1024


class Encoded(NamedTuple):
    """Vectors in their stored form."""

    rows: NDArray[Any]
    """(n, dimension) numbers."""
    scales: Floats
    """(n, blocks) factors that turn the stored numbers of each block into those of the vector."""
    inverse_norms: Floats
    """(n,) reciprocal of the length of each row of `decoded`; 0 for a row of zeros or nearly zeros."""

    @classmethod
    def of(cls, vectors: Floats, precision: str) -> Encoded:
        """Encode `vectors` (n, dimension)."""
        dimension = vectors.shape[1]
        begins = np.arange(_blocks(dimension, precision)) * _BLOCK
        # A block of nearly zeros has scale 0 among other blocks, and scale 1 if it is the only one.
        scales = np.full((len(vectors), begins.size), float(begins.size == 1), dtype=np.float32)
        rows: NDArray[Any] = vectors
        if largest := _LARGEST.get(precision):
            peaks = np.maximum.reduceat(np.abs(vectors), begins, axis=1)
            large = peaks >= _SMALLEST * largest
            scales[large] = peaks[large] / largest
            rows = vectors / _spread(np.where(scales > 0, scales, 1), dimension)
            rows = (np.rint(rows) if precision == "int8" else rows).astype(_TYPES[precision])
        norms = np.linalg.norm(_decoded(rows, scales).astype(np.float64), axis=1)
        inverse = np.divide(1, norms, out=np.zeros_like(norms), where=norms >= _SMALLEST).astype(np.float32)
        return cls(rows, scales, inverse)

    @classmethod
    def room(cls, count: int, dimension: int, precision: str) -> Encoded:
        """Allocate space for `count` vectors."""
        scales = np.empty((count, _blocks(dimension, precision)), dtype=np.float32)
        return cls(np.empty((count, dimension), dtype=_TYPES[precision]), scales, np.empty(count, dtype=np.float32))

    @classmethod
    def mapped(cls, path: Path, count: int, dimension: int, precision: str) -> Encoded:
        """Memory-map the vectors in a file.

        Raises:
            OSError: the file cannot be read.
            ValueError: it has another size.
        """
        kind = np.dtype(_TYPES[precision])
        blocks = _blocks(dimension, precision)
        begin = count * (blocks + 1) * np.dtype(np.float32).itemsize
        expected = begin + count * dimension * kind.itemsize
        if path.stat().st_size != expected:
            raise ValueError(f"{path} has {path.stat().st_size} bytes, but {count} vectors take {expected}")
        content = load_bytes(path)
        columns = content[:begin].view(np.float32)
        rows = content[begin:].view(kind).reshape(count, dimension)
        return cls(rows, columns[: count * blocks].reshape(count, blocks), columns[count * blocks :])

    def decoded(self) -> Floats:
        """Return (n, dimension) numbers, each row proportional to its vector."""
        return _decoded(self.rows, self.scales)

    def part(self, begin: int, end: int) -> Encoded:
        """Return a range of the vectors, without a copy."""
        return Encoded(*(column[begin:end] for column in self))

    def fill(self, begin: int, source: Encoded) -> None:
        """Write `source` into this one from row `begin` on."""
        for column, values in zip(self, source, strict=True):
            column[begin : begin + len(values)] = values


class Block(NamedTuple):
    """The vectors of consecutive slots."""

    begin: int
    """The first slot."""
    content: Encoded
    """Their vectors; the last block may have spare capacity."""
    name: str | None
    """Name of the file from which they are mapped; None for a block in memory."""


class KeptBlock(NamedTuple):
    """A file of vectors."""

    name: str
    """The name without the folder."""
    vectors: int
    """How many vectors it holds."""


class VectorMatrix(NamedTuple):
    """One state of the vectors of all slots. Vectors are only appended, and all states share their memory."""

    dimension: int
    precision: str
    size: int = 0
    blocks: tuple[Block, ...] = ()

    def appended(self, vectors: Floats) -> VectorMatrix:
        """Return the state with `vectors` (n, dimension) in the next slots; call it only on the newest state."""
        new, size, blocks = Encoded.of(vectors, self.precision), self.size, self.blocks
        if blocks and blocks[-1].name is None:
            last = blocks[-1]
            fitting = min(len(vectors), last.begin + len(last.content.rows) - size)
            last.content.fill(size - last.begin, new.part(0, fitting))
            new, size = new.part(fitting, len(vectors)), size + fitting
        if count := len(new.rows):
            # The capacity doubles, so that there are few blocks; untouched capacity takes no physical memory.
            content = Encoded.room(max(count, size, _LEAST_ROOM), self.dimension, self.precision)
            content.fill(0, new)
            blocks = (*blocks, Block(size, content, None))
        return self._replace(size=size + count, blocks=blocks)

    def parts(self, begin: int, end: int) -> Iterator[tuple[int, Encoded]]:
        """Yield the vectors of the slots from `begin` to `end` in pieces with their first slots, without copies."""
        end = min(end, self.size)
        for block in self.blocks:
            first, last = max(begin, block.begin), min(end, block.begin + len(block.content.rows))
            if first < last:
                yield first, block.content.part(first - block.begin, last - block.begin)

    def numbers(self, slots: Rows) -> Floats:
        """Return (n, dimension) numbers, each row proportional to the vector of its slot."""
        if len(self.blocks) == 1 and self.precision == "float32":
            numbers: Floats = self.blocks[0].content.rows.take(slots, axis=0)
            return numbers
        return self.rows(slots).decoded()

    def rows(self, slots: Rows) -> Encoded:
        """Return the vectors of `slots`."""
        if len(self.blocks) == 1:
            return Encoded(*(column.take(slots, axis=0) for column in self.blocks[0].content))
        found = Encoded.room(slots.size, self.dimension, self.precision)
        places = np.searchsorted([block.begin for block in self.blocks], slots, side="right") - 1
        for place, block in enumerate(self.blocks):
            (here,) = (places == place).nonzero()
            if here.size == slots.size:
                return Encoded(*(column.take(slots - block.begin, axis=0) for column in block.content))
            for column, source in zip(found, block.content, strict=True):
                column[here] = source.take(slots[here] - block.begin, axis=0)
        return found

    def vectors(self, slots: Rows) -> Floats:
        """Return the vectors of `slots` (n, dimension), dequantised."""
        found = self.rows(slots)
        vectors: Floats = found.rows.astype(np.float32) * _spread(found.scales, self.dimension)
        return vectors

    def unit_vectors(self, slots: Rows) -> Floats:
        """Return the vectors of `slots`, scaled to length one."""
        found = self.rows(slots)
        unit: Floats = found.decoded() * found.inverse_norms[:, None]
        return unit

    def scan(self, queries: Floats, begin: int, end: int) -> Floats:
        """Return the cosines (q, end - begin) of queries (q, dimension) of unit length with consecutive slots."""
        scores = np.empty((len(queries), max(end - begin, 0)), dtype=np.float32)
        for first, content in self.parts(begin, end):
            scores[:, first - begin : first - begin + len(content.rows)] = _cosines(queries, content)
        return scores

    def cosines(self, query: Floats, slots: Rows) -> Floats:
        """Return the cosine of a query (dimension,) of unit length with each of `slots`, up to rounding errors."""
        scores = np.empty(slots.size, dtype=np.float32)
        for begin in range(0, slots.size, _AT_ONCE):
            chosen = slots[begin : begin + _AT_ONCE]
            scores[begin : begin + _AT_ONCE] = _cosines(query[None], self.rows(chosen))[0]
        return scores

    def gathered(self, slots: Rows) -> VectorMatrix:
        """Return a new matrix with copies of the vectors of `slots`, in this order."""
        content = Encoded.room(slots.size, self.dimension, self.precision)
        for begin in range(0, slots.size, _AT_ONCE):
            content.fill(begin, self.rows(slots[begin : begin + _AT_ONCE]))
        return self._replace(size=slots.size, blocks=(Block(0, content, None),))

    def files(self) -> list[KeptBlock]:
        """Return the files for this matrix. Vectors without a file go to a new one, with smaller files before it.

        So each vector is written only a few times, no matter how often the matrix is saved.
        """
        kept = [KeptBlock(block.name, len(block.content.rows)) for block in self.blocks if block.name is not None]
        new = self.size - sum(block.vectors for block in kept)
        if new:
            while kept and kept[-1].vectors <= 2 * new:
                new += kept.pop().vectors
            kept.append(KeptBlock(f"{uuid4().hex}.vectors", new))
        return kept

    def write(self, path: Path, begin: int, end: int) -> None:
        """Write the vectors of consecutive slots to a new file; raises OSError."""
        with path.open("xb") as file:
            for column in ("scales", "inverse_norms", "rows"):
                for _, content in self.parts(begin, end):
                    file.write(getattr(content, column).data)  # `tofile` does not report a full disk

    @classmethod
    def mapped(cls, folder: Path, dimension: int, precision: str, kept: list[KeptBlock]) -> VectorMatrix:
        """Memory-map the matrix in the files of `folder`.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file has another size.
        """
        matrix = cls(dimension, precision)
        for name, count in kept:
            block = Block(matrix.size, Encoded.mapped(folder / name, count, dimension, precision), name)
            matrix = matrix._replace(size=matrix.size + count, blocks=(*matrix.blocks, block))
        return matrix

    def with_kept(self, kept: VectorMatrix) -> VectorMatrix:
        """Return the same vectors, the first of them from `kept`, an earlier state mapped from files."""
        later = self._replace(size=kept.size, blocks=kept.blocks)
        rest = [content for _, content in self.parts(kept.size, self.size)]
        if not rest:
            return later
        whole = Encoded(*map(np.concatenate, zip(*rest, strict=True)))
        room = Encoded.room(max(len(whole.rows), _LEAST_ROOM), self.dimension, self.precision)
        room.fill(0, whole)
        return later._replace(size=self.size, blocks=(*kept.blocks, Block(kept.size, room, None)))


def _blocks(dimension: int, precision: str) -> int:
    """Return how many scales a vector has."""
    return -(-dimension // _BLOCK) if precision == "int8" and dimension else 1


def _spread(scales: Floats, dimension: int) -> Floats:
    """Return the scale of every number: (n, dimension), or (n, 1) if a vector has one scale."""
    return scales if scales.shape[1] == 1 else scales.repeat(_BLOCK, axis=1)[:, :dimension]


def _decoded(rows: NDArray[Any], scales: Floats) -> Floats:
    if scales.shape[1] == 1:
        return rows.astype(np.float32, copy=False)
    # Divide by the largest scale, so that no product underflows.
    largest = np.maximum(scales.max(axis=1, keepdims=True), _SMALLEST)
    decoded: Floats = rows * _spread(scales / largest, rows.shape[1])
    return decoded


def _cosines(queries: Floats, content: Encoded) -> Floats:
    if content.rows.dtype == np.float32:
        scores = _products(queries, content.rows)
    else:
        scores = np.empty((len(queries), len(content.rows)), dtype=np.float32)
        for begin in range(0, len(content.rows), _AT_ONCE):
            chunk = content.part(begin, begin + _AT_ONCE).decoded()
            scores[:, begin : begin + _AT_ONCE] = _products(queries, chunk)
    scores *= content.inverse_norms
    clipped: Floats = np.clip(scores, -1, 1, out=scores)
    return clipped


def _products(queries: Floats, rows: Floats) -> Floats:
    # For one query memory bandwidth is the limit, so one core is as fast as all and needs no synchronisation.
    return np.vecdot(rows, queries[0])[None] if len(queries) == 1 else queries @ rows.T

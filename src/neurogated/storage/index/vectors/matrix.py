"""The matrix of vectors, one row per slot, in memory or mapped from files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from neurogated.core.files import private
from neurogated.core.view import Rows
from neurogated.storage.files import load_bytes

Floats = NDArray[np.float32]

# A shorter vector counts as zero: smaller numbers have lost digits, and their reciprocals may be infinite.
_SMALLEST = float(np.finfo(np.float32).tiny)
# How many vectors are gathered in one batch; a few MB.
_AT_ONCE = 4096
# Up to this many queries are compared one by one; a product of matrices waits for threads of the BLAS library.
_FEW_QUERIES = 8
_LEAST_ROOM = 1024


class Vectors(NamedTuple):
    """Vectors with their lengths."""

    rows: Floats
    """(n, dimension) numbers."""
    inverse_norms: Floats
    """(n,) reciprocal of the length of each row; 0 for a row of zeros or nearly zeros."""

    @classmethod
    def of(cls, rows: Floats) -> Vectors:
        """Return `rows` (n, dimension) with their lengths."""
        wide = rows.astype(np.float64)
        norms = np.sqrt(np.add.reduce(wide * wide, axis=1))
        return cls(rows, np.divide(1, norms, out=np.zeros(norms.size), where=norms >= _SMALLEST).astype(np.float32))

    @classmethod
    def room(cls, count: int, dimension: int) -> Vectors:
        """Allocate space for `count` vectors."""
        return cls(np.empty((count, dimension), dtype=np.float32), np.empty(count, dtype=np.float32))

    @classmethod
    def mapped(cls, path: Path, count: int, dimension: int) -> Vectors:
        """Memory-map the vectors in a file.

        Raises:
            OSError: the file cannot be read.
            ValueError: it has another size.
        """
        expected = count * (dimension + 1) * np.dtype(np.float32).itemsize
        if path.stat().st_size != expected:
            raise ValueError(f"{path} has {path.stat().st_size} bytes, but {count} vectors take {expected}")
        numbers = load_bytes(path).view(np.float32)
        return cls(numbers[count:].reshape(count, dimension), numbers[:count])

    def part(self, begin: int, end: int) -> Vectors:
        """Return a range of the vectors, without a copy."""
        return Vectors(self.rows[begin:end], self.inverse_norms[begin:end])

    def take(self, places: Rows) -> Vectors:
        """Return copies of the vectors at `places`."""
        return Vectors(self.rows.take(places, axis=0), self.inverse_norms.take(places))

    def fill(self, begin: int, source: Vectors) -> None:
        """Write `source` into this one from row `begin` on."""
        for column, values in zip(self, source, strict=True):
            column[begin : begin + len(values)] = values

    def cosines(self, queries: Floats) -> Floats:
        """Return the cosines (q, n) of queries (q, dimension) of unit length, up to rounding errors."""
        # For few queries memory bandwidth is the limit, so one core is as fast as all, and each row is read once.
        few = len(queries) <= _FEW_QUERIES
        scores: Floats = np.vecdot(self.rows[:, None], queries).T if few else queries @ self.rows.T
        scores *= self.inverse_norms
        np.minimum(scores, 1, out=scores)
        return np.maximum(scores, -1, out=scores)


class VectorBlock(NamedTuple):
    """The vectors of consecutive slots."""

    begin: int
    """The first slot."""
    content: Vectors
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
    size: int = 0
    blocks: tuple[VectorBlock, ...] = ()

    def appended(self, vectors: Floats) -> VectorMatrix:
        """Return the state with `vectors` (n, dimension) in the next slots; call it only on the newest state."""
        new, size, blocks = Vectors.of(vectors), self.size, self.blocks
        if blocks and blocks[-1].name is None:
            last = blocks[-1]
            fitting = min(len(vectors), last.begin + len(last.content.rows) - size)
            last.content.fill(size - last.begin, new.part(0, fitting))
            new, size = new.part(fitting, len(vectors)), size + fitting
        if count := len(new.rows):
            # The capacity doubles, so that there are few blocks; untouched capacity takes no physical memory.
            content = Vectors.room(max(count, size, _LEAST_ROOM), self.dimension)
            content.fill(0, new)
            blocks = (*blocks, VectorBlock(size, content, None))
        return VectorMatrix(self.dimension, size + count, blocks)

    def sealed(self) -> VectorMatrix:
        """Return the state without spare capacity, so that new vectors go to memory of their own."""
        blocks = [block._replace(content=block.content.part(0, self.size - block.begin)) for block in self.blocks[-1:]]
        return self._replace(blocks=(*self.blocks[:-1], *blocks))

    def parts(self, begin: int, end: int) -> Iterator[tuple[int, Vectors]]:
        """Yield the vectors of the slots from `begin` to `end` in pieces with their first slots, without copies."""
        end = min(end, self.size)
        for block in self.blocks:
            first, last = max(begin, block.begin), min(end, block.begin + len(block.content.rows))
            if first < last:
                yield first, block.content.part(first - block.begin, last - block.begin)

    def vectors(self, slots: Rows) -> Vectors:
        """Return copies of the vectors of `slots`."""
        if len(self.blocks) == 1 or np.maximum.reduce(slots, initial=0) < self.blocks[1].begin:
            return self.blocks[0].content.take(slots)
        found = Vectors.room(slots.size, self.dimension)
        places = np.array([block.begin for block in self.blocks]).searchsorted(slots, side="right") - 1
        for place, block in enumerate(self.blocks):
            (here,) = (places == place).nonzero()
            if here.size == slots.size:
                return block.content.take(slots - block.begin)
            for column, values in zip(found, block.content.take(slots[here] - block.begin), strict=True):
                column[here] = values
        return found

    def unit_vectors(self, slots: Rows) -> Floats:
        """Return the vectors of `slots`, scaled to length one."""
        found = self.vectors(slots)
        unit: Floats = found.rows * found.inverse_norms[:, None]
        return unit

    def scan(self, queries: Floats, begin: int, end: int) -> Floats:
        """Return the cosines (q, end - begin) of queries (q, dimension) of unit length with consecutive slots."""
        scores = np.empty((len(queries), max(end - begin, 0)), dtype=np.float32)
        for first, content in self.parts(begin, end):
            scores[:, first - begin : first - begin + len(content.rows)] = content.cosines(queries)
        return scores

    def cosines(self, queries: Floats, slots: Rows) -> Floats:
        """Return the cosines (q, n) of queries (q, dimension) of unit length with `slots`, up to rounding errors."""
        if slots.size <= _AT_ONCE:
            return self.vectors(slots).cosines(queries)
        chunks = [slots[begin : begin + _AT_ONCE] for begin in range(0, slots.size, _AT_ONCE)]
        return np.concatenate([self.vectors(chunk).cosines(queries) for chunk in chunks], axis=1)

    def gathered(self, slots: Rows) -> VectorMatrix:
        """Return a new matrix with copies of the vectors of `slots`, in this order."""
        content = Vectors.room(slots.size, self.dimension)
        for begin in range(0, slots.size, _AT_ONCE):
            content.fill(begin, self.vectors(slots[begin : begin + _AT_ONCE]))
        return self._replace(size=slots.size, blocks=(VectorBlock(0, content, None),))

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
        with open(path, "xb", opener=private) as file:
            for column in ("inverse_norms", "rows"):
                file.writelines(
                    getattr(content, column).data for _, content in self.parts(begin, end)
                )  # `tofile` does not report a full disk

    @classmethod
    def mapped(cls, folder: Path, dimension: int, kept: list[KeptBlock]) -> VectorMatrix:
        """Memory-map the matrix in the files of `folder`.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file has another size.
        """
        matrix = cls(dimension)
        for name, count in kept:
            block = VectorBlock(matrix.size, Vectors.mapped(folder / name, count, dimension), name)
            matrix = matrix._replace(size=matrix.size + count, blocks=(*matrix.blocks, block))
        return matrix

    def with_kept(self, kept: VectorMatrix) -> VectorMatrix:
        """Return the same vectors, the first of them from `kept`, an earlier state mapped from files."""
        later = self._replace(size=kept.size, blocks=kept.blocks)
        rest = [content.rows for _, content in self.parts(kept.size, self.size)]
        return later.appended(np.concatenate(rest)) if rest else later

"""An approximate vector index: one bit for each number, compared by FAISS's fast scan."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.vectors.matrix import Floats

Source = Iterable[tuple[Rows, Floats]]
"""Batches of slots with their unit vectors."""


class Codes(NamedTuple):
    """A short code of each vector; a search compares all codes and proposes the vectors of the best.

    A code has the signs of a vector's numbers after a random rotation (RaBitQ: Gao and Long, 2024); codes are compared
    in registers (André et al., 2015). Codes never change, so that adding vectors does not disturb readers.
    """

    trained_on: int
    """Number of vectors when their mean was computed."""
    end: int
    """One after the last indexed slot."""
    index: Any
    """FAISS's IndexPreTransform: a rotation, and an IndexIVFRaBitQFastScan with one list."""
    name: str
    """Name of its file, also before it is written."""

    @classmethod
    def trained(cls, sample: Floats, trained_on: int) -> Codes:
        """Return codes of no vectors yet, for vectors whose mean is that of `sample` (m, dimension)."""
        faiss = load_faiss()
        rotation, mean = (made(sample.shape[1]) for made in (_rotation, faiss.IndexFlatIP))
        # Of the fast scans, only those with lists can skip vectors.
        codes = faiss.IndexIVFRaBitQFastScan(mean, sample.shape[1], 1, faiss.METRIC_INNER_PRODUCT)
        index = faiss.IndexPreTransform(rotation, codes)
        for part in (rotation, mean, codes):
            part.this.disown()
        codes.own_fields = index.own_fields = True
        codes.cp.min_points_per_centroid = 1
        index.train(sample)
        return cls(trained_on, 0, index, "")

    def extended(self, source: Source, end: int) -> Codes:
        """Return a copy with the vectors of `source` added: all live vectors from the end to `end`."""
        index = load_faiss().clone_index(self.index)
        for slots, vectors in source:
            index.add_with_ids(vectors, slots)
        return self._replace(end=end, index=index, name=f"{uuid4().hex}.codes")

    def search(self, unit: Floats, count: int, eligible: NDArray[np.uint8] | None) -> tuple[Rows, Floats]:
        """Return slots, likely the nearest neighbours of a query, and their estimated cosines, best first.

        Args:
            unit: (dimension,) of unit length.
            count: how many at most.
            eligible: one bit per slot, set if the slot counts, lowest bit of a byte first; None if all count.
        """
        faiss = load_faiss()
        parameters = None
        if eligible is not None:
            within = faiss.SearchParametersIVF(sel=faiss.IDSelectorBitmap(eligible), nprobe=1)
            parameters = faiss.SearchParametersPreTransform(index_params=within)
        (scores,), (slots,) = self.index.search(unit[None], count, params=parameters)
        return slots[slots >= 0], scores[slots >= 0]

    def write(self, path: Path) -> None:
        """Write the file for `read`.

        Raises:
            OSError: it cannot be written.
        """
        try:
            load_faiss().write_index(self.index, str(path))
            # FAISS reports no error if the disk is full when it closes the file, so read the file back.
            self.read(path, self.index.d)
        except (RuntimeError, ValueError) as error:  # FAISS raises RuntimeError for all its errors
            raise OSError(f"{path} cannot be written ({error})") from error

    def read(self, path: Path, dimension: int) -> Codes:
        """Return these codes with the index in a file, for vectors of `dimension` numbers.

        Raises:
            ValueError: it cannot be read, or has another format.
        """
        faiss = load_faiss()
        try:
            index = faiss.read_index(str(path))
        except RuntimeError as error:  # FAISS raises it for all its errors
            raise ValueError(f"{path} cannot be read ({error})") from error
        if not isinstance(index, faiss.IndexPreTransform) or index.d != dimension:
            raise ValueError(f"{path} holds another index")
        return self._replace(index=index, name=path.name)


def _rotation(dimension: int) -> Any:  # noqa: ANN401 - FAISS has no types
    rotation = load_faiss().RandomRotationMatrix(dimension, dimension)
    rotation.init(0)
    return rotation


@functools.cache
def load_faiss() -> Any:  # noqa: ANN401 - its type hints are incomplete and partly wrong
    """Return the package. Importing takes a while, and small memories never need it."""
    import faiss  # noqa: PLC0415

    if hasattr(os, "register_at_fork"):
        # In the child, the forking thread would deadlock on the parent's OpenMP threads.
        os.register_at_fork(after_in_child=functools.partial(faiss.omp_set_num_threads, 1))
    return faiss

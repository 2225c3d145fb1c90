"""An approximate vector index: FAISS's inverted lists with one byte per dimension (IVF-SQ8)."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.vectors.faiss_library import load_faiss
from neurogated.storage.index.vectors.matrix import Floats

Source = Iterable[tuple[Rows, Floats]]
"""Batches of slots with their unit vectors."""

# How much wider than the vectors a new range of coordinates is, so that it is seldom exceeded again.
_HEADROOM = 1.25


class InvertedLists(NamedTuple):
    """One list of vectors per centroid; a search scans the lists of the centroids nearest to the query.

    Sivic and Zisserman, 2003; Jégou et al., 2011. Lists never change, so that adding vectors does not disturb readers.
    """

    trained_on: int
    """Number of vectors when the centroids were computed."""
    end: int
    """One after the last indexed slot."""
    index: Any
    """FAISS's IndexIVFScalarQuantizer."""
    name: str
    """Name of its file, also before it is written."""

    @classmethod
    def trained(cls, centroids: Floats, sample: Floats, trained_on: int) -> InvertedLists:
        """Return empty lists around `centroids`, for vectors distributed like `sample`."""
        index = _empty(centroids)
        index.train(sample)
        return cls(trained_on, 0, index, "")

    def holding(self, low: float, high: float) -> InvertedLists:
        """Return lists for vectors with coordinates from `low` to `high`, which are clamped to the range of the bytes.

        They are these lists if the range includes them, else empty ones around the same centroids with a wider range.
        """
        faiss = load_faiss()
        begin, width = faiss.vector_to_array(self.index.sq.trained).tolist()
        if begin <= low and high <= begin + width:
            return self
        begin, end = min(begin, max(-1.0, _HEADROOM * low)), max(begin + width, min(1.0, _HEADROOM * high))
        index = _empty(self._centroids, np.array([begin, end - begin], dtype=np.float32))
        return InvertedLists(self.trained_on, 0, index, "")

    @property
    def _centroids(self) -> Floats:
        centroids: Floats = self.index.quantizer.reconstruct_n(0, self.index.nlist)
        return centroids

    def extended(self, source: Source, end: int) -> InvertedLists:
        """Return a copy of the lists with the vectors of `source` added: all live vectors from the end to `end`."""
        faiss = load_faiss()
        # The quantizer of the old index is freed with it.
        index = _empty(self._centroids, faiss.vector_to_array(self.index.sq.trained))
        self.index.copy_subset_to(index, faiss.InvertedLists.SUBSET_TYPE_ID_RANGE, 0, np.iinfo(np.int64).max)
        for slots, vectors in source:
            index.add_with_ids(vectors, slots)
        return InvertedLists(self.trained_on, end, index, f"{uuid4().hex}.lists")

    def search(self, queries: Floats, k: int, probes: int, eligible: NDArray[np.uint8] | None) -> Rows:
        """Return slots (q, k), likely the nearest neighbours of each query; -1 fills up missing ones.

        Args:
            queries: (q, dimension) of unit length.
            k: how many.
            probes: how many lists to scan.
            eligible: one bit per slot, set if the slot counts, lowest bit of a byte first; None if all count.
        """
        faiss = load_faiss()
        chosen = None if eligible is None else faiss.IDSelectorBitmap(eligible)
        found: Rows = self.index.search(queries, k, params=faiss.SearchParametersIVF(sel=chosen, nprobe=probes))[1]
        return found

    def write(self, path: Path) -> None:
        """Write the file for `load`.

        Raises:
            OSError: it cannot be written.
        """
        faiss = load_faiss()
        try:
            # FAISS writes only the table of contents of mapped lists, so they are copied.
            in_memory = isinstance(faiss.downcast_InvertedLists(self.index.invlists), faiss.ArrayInvertedLists)
            faiss.write_index(self.index if in_memory else self.extended((), self.end).index, str(path))
            # FAISS reports no error if the disk is full when it closes the file, so read the file back.
            self.load(path, self.trained_on, self.end, self.index.d)
        except (RuntimeError, ValueError) as error:  # FAISS raises RuntimeError for all its errors
            raise OSError(f"{path} cannot be written ({error})") from error

    @classmethod
    def load(cls, path: Path, trained_on: int, end: int, dimension: int) -> InvertedLists:
        """Memory-map the lists in a file.

        Raises:
            ValueError: it cannot be read, or has another format.
        """
        faiss = load_faiss()
        try:
            index = faiss.read_index(str(path), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY)
        except RuntimeError as error:  # FAISS raises it for all its errors
            raise ValueError(f"{path} cannot be read ({error})") from error
        if not isinstance(index, faiss.IndexIVFScalarQuantizer) or index.d != dimension:
            raise ValueError(f"{path} holds another index")
        return cls(trained_on, end, index, path.name)


def _empty(centroids: Floats, trained: Floats | None = None) -> Any:  # noqa: ANN401 - FAISS has no types
    """Return an index with an empty list for each of the centroids (lists, dimension).

    `trained` has the least coordinate of a byte, and the width of the range of all.
    """
    faiss = load_faiss()
    count, dimension = centroids.shape
    quantizer = faiss.IndexFlatIP(dimension)
    quantizer.add(centroids)
    kind, measure = faiss.ScalarQuantizer.QT_8bit_uniform, faiss.METRIC_INNER_PRODUCT
    index = faiss.IndexIVFScalarQuantizer(quantizer, dimension, count, kind, measure, False)
    if trained is not None:
        faiss.copy_array_to_vector(trained, index.sq.trained)
        index.is_trained = True
    return index

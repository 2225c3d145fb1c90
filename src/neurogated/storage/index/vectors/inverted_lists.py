"""An approximate vector index: inverted lists with one byte per dimension (FAISS's IVF-SQ8)."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.checkpoint.array_files import save_array
from neurogated.storage.index.vectors.centroids import nearest_centroids
from neurogated.storage.index.vectors.faiss_library import load_faiss
from neurogated.storage.index.vectors.matrix import Floats

__all__ = ["InvertedLists", "Segment", "Source"]

_CENTROIDS = "centroids.npy"
_BOUNDS = "bounds.npy"
# FAISS's number for parallel queries; the default searches all queries in one thread.
_BY_QUERY = 3
# Bytes of a slot number.
_ID_SIZE = 8

Source = Iterable[tuple[Rows, Floats]]
"""Batches of slots with their unit vectors."""


class Segment(NamedTuple):
    """Inverted lists of the vectors of consecutive slots; immutable."""

    begin: int
    """The first slot."""
    end: int
    """One after the last."""
    index: Any
    """FAISS's IndexIVFScalarQuantizer."""
    name: str
    """Name of its file, also before it is written."""


class InvertedLists(NamedTuple):
    """One list of vectors per centroid; a search scans the lists of the centroids nearest to the query.

    Sivic and Zisserman, 2003; Jégou et al., 2011. The lists are split into segments, so that adding vectors does not
    disturb readers.
    """

    trained_on: int
    """Number of vectors when the centroids were computed."""
    centroids: Floats
    """(lists, dimension) of unit length."""
    bounds: Floats
    """(2 * dimension,) minimum and range of each dimension, quantised uniformly to a byte."""
    quantizer: Any
    """FAISS's index of the centroids."""
    segments: tuple[Segment, ...] = ()

    @classmethod
    def trained(cls, centroids: Floats, sample: Floats, trained_on: int) -> InvertedLists:
        """Return empty lists around `centroids`, for vectors distributed like `sample`."""
        low, high = sample.min(axis=0), sample.max(axis=0)
        return cls._of(trained_on, centroids, np.concatenate((low, high - low)))

    @classmethod
    def _of(cls, trained_on: int, centroids: Floats, bounds: Floats) -> InvertedLists:
        faiss = load_faiss()
        quantizer = faiss.IndexFlatIP(centroids.shape[1])
        quantizer.add(centroids)
        return cls(trained_on, centroids, bounds, quantizer)

    @property
    def end(self) -> int:
        """One after the last indexed slot."""
        return self.segments[-1].end if self.segments else 0

    @property
    def _ranges(self) -> Floats:
        ranges: Floats = self.bounds[self.bounds.size // 2 :]
        return ranges

    def _shares(self, vectors: Floats) -> Floats:
        """Return each number as a share of its range; 0–1 within the bounds."""
        low = self.bounds[: self.bounds.size // 2]
        shares: Floats = np.zeros(vectors.shape, dtype=np.float32)
        np.divide(vectors - low, self._ranges, out=shares, where=self._ranges > 0)
        return shares

    def extended(self, source: Source, end: int, stop: Callable[[], bool]) -> InvertedLists:
        """Return the lists with the vectors of `source` added: all live vectors of the slots from the end to `end`.

        Raises:
            Stopped: `stop` became true.
        """
        faiss = load_faiss()
        index, kept, begin = self._empty_index(), list(self.segments), self.end
        for slots, vectors in source:
            lists, shares = nearest_centroids(vectors, self.centroids, stop), self._shares(vectors)
            index.add_core(slots.size, faiss.swig_ptr(shares), faiss.swig_ptr(slots), faiss.swig_ptr(lists))
        # Smaller segments before it are merged in, so that there are few. Each vector is copied only a few times.
        while kept and kept[-1].end - kept[-1].begin <= 2 * (end - begin):
            smaller = kept.pop()
            smaller.index.copy_subset_to(index, faiss.InvertedLists.SUBSET_TYPE_ID_RANGE, smaller.begin, smaller.end)
            begin = smaller.begin
        return self._replace(segments=(*kept, Segment(begin, end, index, f"{uuid4().hex}.lists")))

    def renumbered(self, slots: Rows, count: int) -> InvertedLists:
        """Return the lists with slot i renumbered to `slots[i]`, or removed for -1; `count` slots remain."""
        faiss = load_faiss()
        index = self._empty_index()
        for segment in self.segments:
            lists = segment.index.invlists
            for number in range(lists.nlist):
                if size := lists.list_size(number):
                    renamed = slots[faiss.rev_swig_ptr(lists.get_ids(number), size)]
                    codes = faiss.rev_swig_ptr(lists.get_codes(number), size * lists.code_size).reshape(size, -1)
                    stay = np.ascontiguousarray(renamed >= 0)
                    ids, left = np.ascontiguousarray(renamed[stay]), np.ascontiguousarray(codes[stay])
                    if ids.size:
                        index.invlists.add_entries(number, ids.size, faiss.swig_ptr(ids), faiss.swig_ptr(left))
        index.ntotal = index.invlists.compute_ntotal()
        return self._replace(segments=(Segment(0, count, index, f"{uuid4().hex}.lists"),))

    def search(self, queries: Floats, k: int, probes: int, eligible: NDArray[np.uint8] | None) -> Rows:
        """Return slots (q, n ≥ k), likely the nearest neighbours of each query; -1 fills up missing ones.

        Args:
            queries: (q, dimension) of unit length.
            k: how many.
            probes: how many lists to scan.
            eligible: one bit per slot, set if the slot counts, lowest bit of a byte first; None if all count.
        """
        faiss = load_faiss()
        probes = min(probes, len(self.centroids))
        nearness, lists = self.quantizer.search(queries, probes)
        # The minima add the same constant to the scores of all vectors, so they are left out.
        weights = np.ascontiguousarray(queries * self._ranges)
        chosen = None if eligible is None else faiss.IDSelectorBitmap(eligible)
        parameters = faiss.SearchParametersIVF(sel=chosen, nprobe=probes)
        found = []
        for segment in self.segments:
            scores, slots = np.empty((len(queries), k), np.float32), np.empty((len(queries), k), np.int64)
            given = (faiss.swig_ptr(array) for array in (lists, nearness, scores, slots))
            lists_at, nearness_at, scores_at, slots_at = given
            segment.index.search_preassigned_c(
                len(queries), faiss.swig_ptr(weights), k, lists_at, nearness_at, scores_at, slots_at, False, parameters
            )
            found.append((scores, slots))
        if len(found) == 1:
            return found[0][1]
        scores, slots = (np.concatenate(columns, axis=1) for columns in zip(*found, strict=True))
        best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
        return np.take_along_axis(slots, best, axis=1)

    def write(self, folder: Path, keep: Callable[[str, Callable[[Path], None]], None]) -> dict[str, Any]:
        """Write the files for `load` into `folder`; `keep` gets the name of each larger file and its writer.

        Raises:
            OSError: a file cannot be written.
        """
        save_array(folder / _CENTROIDS, self.centroids)
        save_array(folder / _BOUNDS, self.bounds)
        for segment in self.segments:
            keep(segment.name, functools.partial(self._write, segment))
        return {
            "trained_on": self.trained_on,
            "segments": [[segment.begin, segment.end, segment.name] for segment in self.segments],
        }

    def _write(self, segment: Segment, path: Path) -> None:
        faiss = load_faiss()
        try:
            faiss.write_InvertedLists(_in_memory(segment.index.invlists), faiss.FileIOWriter(str(path)))
            # FAISS reports no error if the disk is full when it closes the file, so read the file back.
            self.mapped(path.parent, segment.begin, segment.end, path.name)
        except (RuntimeError, ValueError) as error:  # FAISS raises RuntimeError for all its errors
            raise OSError(f"{path} cannot be written ({error})") from error

    @classmethod
    def load(cls, folder: Path, about: Mapping[str, Any]) -> InvertedLists:
        """Memory-map the lists in `folder`; `about` is the result of `write`.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file has another format.
        """
        lists = cls._of(int(about["trained_on"]), np.load(folder / _CENTROIDS), np.load(folder / _BOUNDS))
        return lists._replace(segments=tuple(lists.mapped(folder, *segment) for segment in about["segments"]))

    def with_kept(self, kept: InvertedLists) -> InvertedLists:
        """Return the same lists, with the segments that `kept` has mapped from files."""
        mapped = {segment.name: segment for segment in kept.segments}
        return self._replace(segments=tuple(mapped.get(segment.name, segment) for segment in self.segments))

    def _empty_index(self) -> Any:  # noqa: ANN401 - FAISS has no types
        faiss = load_faiss()
        count, dimension = self.centroids.shape
        index = faiss.IndexIVFScalarQuantizer(
            self.quantizer, dimension, count, faiss.ScalarQuantizer.QT_8bit_uniform, faiss.METRIC_INNER_PRODUCT
        )
        index.by_residual = False
        # The bounds are applied here once to each vector and each query, not in every comparison.
        faiss.copy_array_to_vector(np.array([0, 1], dtype=np.float32), index.sq.trained)
        index.is_trained = True
        # FAISS distributes several queries over the cores; one thread answers a single query.
        index.parallel_mode = _BY_QUERY
        return index

    def mapped(self, folder: Path, begin: int, end: int, name: str) -> Segment:
        """Memory-map a segment of these lists from its file; raises ValueError."""
        faiss = load_faiss()
        path = folder / name
        try:
            lists = faiss.read_InvertedLists(
                faiss.FileIOReader(str(path)), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY
            )
        except RuntimeError as error:  # FAISS raises it for all its errors
            raise ValueError(f"{path} cannot be read ({error})") from error
        last, shape = lists.lists.at(lists.nlist - 1), (lists.nlist, lists.code_size)
        if shape != self.centroids.shape or path.stat().st_size < last.offset + last.size * (
            lists.code_size + _ID_SIZE
        ):
            raise ValueError(f"{path} is truncated or holds lists of the shape {shape}, not {self.centroids.shape}")
        index = self._empty_index()
        index.replace_invlists(lists, True)
        lists.this.disown()
        index.ntotal = lists.compute_ntotal()
        return Segment(begin, end, index, name)


def _in_memory(lists: Any) -> Any:  # noqa: ANN401 - FAISS has no types
    """Return inverted lists in memory: FAISS writes only the table of contents of mapped ones."""
    faiss = load_faiss()
    if isinstance(faiss.downcast_InvertedLists(lists), faiss.ArrayInvertedLists):
        return lists
    copy = faiss.ArrayInvertedLists(lists.nlist, lists.code_size)
    lists.copy_subset_to(copy, faiss.InvertedLists.SUBSET_TYPE_ID_RANGE, 0, np.iinfo(np.int64).max)
    return copy

"""An approximate index of vectors: inverted lists of neighbours, a byte a number (FAISS's IVF-SQ8)."""

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
# FAISS's number for it; the default is one thread for all.
_BY_QUERY = 3
# Bytes of the number of a slot.
_ID_SIZE = 8

Source = Iterable[tuple[Rows, Floats]]
"""Slots with their vectors, scaled to length one, some at a time."""


class Segment(NamedTuple):
    """Lists of the vectors of consecutive slots; never changed once they are made."""

    begin: int
    """The first slot."""
    end: int
    """One after the last."""
    index: Any
    """FAISS's IndexIVFScalarQuantizer."""
    name: str
    """Of the file they are in or will be."""


class InvertedLists(NamedTuple):
    """Vectors in lists by the nearest of some centroids; a search looks into the lists nearest to the question.

    Sivic and Zisserman, 2003; Jégou et al., 2011. They are made of segments, so that adding to them disturbs no reader.
    """

    trained_on: int
    """How many vectors there were when the centroids were chosen."""
    centroids: Floats
    """(lists, dimension) of unit length."""
    bounds: Floats
    """(2 * dimension,) least value and range of each number; a byte divides it evenly."""
    quantizer: Any
    """FAISS's index of the centroids."""
    segments: tuple[Segment, ...] = ()

    @classmethod
    def trained(cls, centroids: Floats, sample: Floats, trained_on: int) -> InvertedLists:
        """Return empty lists around `centroids`, for vectors like those of `sample`."""
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
        """One after the last slot that is indexed."""
        return self.segments[-1].end if self.segments else 0

    @property
    def _ranges(self) -> Floats:
        ranges: Floats = self.bounds[self.bounds.size // 2 :]
        return ranges

    def _shares(self, vectors: Floats) -> Floats:
        """Return each number as a share of its range, 0–1 within the bounds."""
        low = self.bounds[: self.bounds.size // 2]
        shares: Floats = np.zeros(vectors.shape, dtype=np.float32)
        np.divide(vectors - low, self._ranges, out=shares, where=self._ranges > 0)
        return shares

    def extended(self, source: Source, end: int, stop: Callable[[], bool]) -> InvertedLists:
        """Return the lists with the vectors of `source`, which are all that count of the slots up to `end`.

        Raises:
            Stopped: `stop` became true.
        """
        faiss = load_faiss()
        index, kept, begin = self._empty_index(), list(self.segments), self.end
        for slots, vectors in source:
            lists, shares = nearest_centroids(vectors, self.centroids, stop), self._shares(vectors)
            index.add_core(slots.size, faiss.swig_ptr(shares), faiss.swig_ptr(slots), faiss.swig_ptr(lists))
        # Small segments before it are taken in, so that there are few; each vector is copied a few times at most.
        while kept and kept[-1].end - kept[-1].begin <= 2 * (end - begin):
            smaller = kept.pop()
            smaller.index.copy_subset_to(index, faiss.InvertedLists.SUBSET_TYPE_ID_RANGE, smaller.begin, smaller.end)
            begin = smaller.begin
        return self._replace(segments=(*kept, Segment(begin, end, index, f"{uuid4().hex}.lists")))

    def renumbered(self, slots: Rows, count: int) -> InvertedLists:
        """Return the lists with slot i called `slots[i]`, or left out for -1; `count` are left."""
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
        """Return the slots (q, n ≥ k) that are likely the most similar to each query, -1 where too few were found.

        Args:
            queries: (q, dimension) of unit length.
            k: how many are wanted.
            probes: how many lists are looked into.
            eligible: a bit for each slot that counts, the lowest of a byte first; None if all do.
        """
        faiss = load_faiss()
        probes = min(probes, len(self.centroids))
        nearness, lists = self.quantizer.search(queries, probes)
        # What the least values add is the same for all vectors.
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
        """Write what `load` needs into `folder`; `keep` is given the name of each larger file and what writes it.

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
            # FAISS says nothing when the disk has no room for the last bytes, which are written as the file is closed.
            self.mapped(path.parent, segment.begin, segment.end, path.name)
        except (RuntimeError, ValueError) as error:  # RuntimeError is FAISS's for whatever goes wrong
            raise OSError(f"{path} cannot be written ({error})") from error

    @classmethod
    def load(cls, folder: Path, about: Mapping[str, Any]) -> InvertedLists:
        """Return the lists in `folder`, mapped into memory; `about` is what `write` returned.

        Raises:
            OSError: a file cannot be read.
            ValueError: a file is not what it should be.
        """
        lists = cls._of(int(about["trained_on"]), np.load(folder / _CENTROIDS), np.load(folder / _BOUNDS))
        return lists._replace(segments=tuple(lists.mapped(folder, *segment) for segment in about["segments"]))

    def with_kept(self, kept: InvertedLists) -> InvertedLists:
        """Return the same lists, with the segments that `kept` has mapped from files in the place of these."""
        mapped = {segment.name: segment for segment in kept.segments}
        return self._replace(segments=tuple(mapped.get(segment.name, segment) for segment in self.segments))

    def _empty_index(self) -> Any:  # noqa: ANN401 - FAISS has no types
        faiss = load_faiss()
        count, dimension = self.centroids.shape
        index = faiss.IndexIVFScalarQuantizer(
            self.quantizer, dimension, count, faiss.ScalarQuantizer.QT_8bit_uniform, faiss.METRIC_INNER_PRODUCT
        )
        index.by_residual = False
        # The bounds are applied here: to each vector and each query once, not to every number that is compared.
        faiss.copy_array_to_vector(np.array([0, 1], dtype=np.float32), index.sq.trained)
        index.is_trained = True
        # Several queries at once are shared out among the cores; one is answered by one thread.
        index.parallel_mode = _BY_QUERY
        return index

    def mapped(self, folder: Path, begin: int, end: int, name: str) -> Segment:
        """Return a segment of these lists from its file; raises ValueError."""
        faiss = load_faiss()
        path = folder / name
        try:
            lists = faiss.read_InvertedLists(
                faiss.FileIOReader(str(path)), faiss.IO_FLAG_MMAP | faiss.IO_FLAG_READ_ONLY
            )
        except RuntimeError as error:  # FAISS's for whatever goes wrong
            raise ValueError(f"{path} cannot be read ({error})") from error
        last, shape = lists.lists.at(lists.nlist - 1), (lists.nlist, lists.code_size)
        if shape != self.centroids.shape or path.stat().st_size < last.offset + last.size * (
            lists.code_size + _ID_SIZE
        ):
            raise ValueError(f"{path} is cut short or holds lists of the shape {shape}, not {self.centroids.shape}")
        index = self._empty_index()
        index.replace_invlists(lists, True)
        lists.this.disown()
        index.ntotal = lists.compute_ntotal()
        return Segment(begin, end, index, name)


def _in_memory(lists: Any) -> Any:  # noqa: ANN401 - FAISS has no types
    """Return inverted lists that are not mapped: of mapped ones FAISS writes the table of contents alone."""
    faiss = load_faiss()
    if isinstance(faiss.downcast_InvertedLists(lists), faiss.ArrayInvertedLists):
        return lists
    copy = faiss.ArrayInvertedLists(lists.nlist, lists.code_size)
    lists.copy_subset_to(copy, faiss.InvertedLists.SUBSET_TYPE_ID_RANGE, 0, np.iinfo(np.int64).max)
    return copy

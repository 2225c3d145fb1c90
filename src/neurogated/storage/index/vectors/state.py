"""One state of a vector index: readers use it while a writer creates the next."""

from __future__ import annotations

import dataclasses
import functools
import os
from collections.abc import Callable, Iterable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.vectors.matrix import Floats, VectorMatrix
from neurogated.utils.background import Stopped

_NONE = -1
# The four values with the least squared error for normally distributed numbers (Max, 1960).
_LEVELS = -1.510, -0.4528, 0.4528, 1.510
# Shorter vectors get more numbers by the rotation: the errors of fewer would not average out.
_LEAST_ROTATED = 256

Flags = NDArray[np.bool_]


@dataclass(slots=True)
class _Columns:
    """The arrays that all states share. A writer only appends entries, or replaces an array by a longer copy."""

    # For each slot: its key.
    keys: NDArray[np.int32]
    # For each slot: the previous slot of its key.
    earlier: NDArray[np.int32]
    # For each key: its newest slot in any state.
    latest: NDArray[np.int32]


class Slots(NamedTuple):
    """One state of the slots of vectors.

    Slots are assigned consecutively and never reused; a replaced vector gets a new slot. Only one thread may change the
    newest state; older states stay unchanged for their readers.
    """

    size: int
    """Number of assigned slots."""
    living: int
    """Number of slots with a live vector."""
    alive: Flags
    """Whether the vector of each slot is live."""
    columns: _Columns

    @classmethod
    def empty(cls) -> Slots:
        """Return the state without slots."""
        nothing = (np.empty(0, dtype=np.int32) for _ in dataclasses.fields(_Columns))
        return cls(0, 0, np.empty(0, dtype=np.bool_), _Columns(*nothing))

    @classmethod
    def of_columns(cls, keys: NDArray[np.int32], alive: Flags) -> Slots:
        """Return the state with these keys; `alive` marks the live slots."""
        living = np.flatnonzero(alive)
        latest = np.full(int(keys.max(initial=_NONE)) + 1, _NONE, dtype=np.int32)
        latest[keys[living]] = living
        earlier = np.full(keys.size, _NONE, dtype=np.int32)
        return cls(keys.size, living.size, alive, _Columns(keys, earlier, latest))

    def of(self, keys: Rows) -> Rows:
        """Return the slot of each key, -1 for a key without a vector."""
        slots = self._last(keys)
        if self.living == self.size:
            return slots
        slots[~self.alive[slots]] = _NONE
        return slots

    def _last(self, keys: Rows) -> Rows:
        """Return the newest slot of each key in this state, live or not."""
        latest = self.columns.latest
        if np.maximum.reduce(keys, initial=_NONE) < latest.size:
            slots = latest[keys].astype(np.int64)
        else:
            slots = np.full(keys.size, _NONE, dtype=np.int64)
            known = keys < latest.size
            slots[known] = latest[keys[known]]
        while np.count_nonzero(later := slots >= self.size):
            slots[later] = self.columns.earlier[slots[later]]
        return slots

    def keys_of(self, slots: Rows) -> Rows:
        """Return the key of each slot."""
        return self.columns.keys[slots].astype(np.int64)

    def added(self, keys: Rows) -> Slots:
        """Return the state with a new slot for each key; the keys' previous slots are no longer live."""
        columns, size = self.columns, self.size + keys.size
        before = self._last(keys)
        columns.keys = _grown(columns.keys, size)
        columns.earlier = _grown(columns.earlier, size)
        columns.latest = _grown(columns.latest, int(np.maximum.reduce(keys)) + 1)
        columns.keys[self.size : size] = keys
        columns.earlier[self.size : size] = before
        # Last, after the arrays have grown: from now on readers of older states may see the new slots.
        columns.latest[keys] = np.arange(self.size, size)
        alive = np.concatenate((self.alive, np.array([True]).repeat(keys.size)))
        dying = before[before != _NONE]
        dying = dying[self.alive[dying]]
        alive[dying] = False
        return Slots(size, self.living + keys.size - dying.size, alive, columns)

    def removed(self, keys: Rows) -> Slots:
        """Return the state in which the vectors of `keys` are not live."""
        slots = np.unique(self.of(keys))
        slots = slots[slots != _NONE]
        if not slots.size:
            return self
        alive = self.alive.copy()
        alive[slots] = False
        return Slots(self.size, self.living - slots.size, alive, self.columns)


def _grown(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Return `array`, or a copy of at least twice its length with the same beginning."""
    if size <= array.size:
        return array
    grown = np.full(max(size, 2 * array.size), _NONE, dtype=np.int32)
    grown[: array.size] = array
    return grown


Source = Iterable[tuple[Rows, Floats]]
"""Batches of slots with their unit vectors."""


class Codes(NamedTuple):
    """A short code of each vector; a search compares all codes and proposes the vectors of the best.

    A code has two bits for each number of a vector, after the mean is subtracted and a random rotation has made the
    numbers about normally distributed. Codes are compared in registers (André et al., 2015). They never change, so that
    adding vectors does not disturb readers.
    """

    trained_on: int
    """Number of vectors when their mean and spread were computed."""
    end: int
    """One after the last indexed slot."""
    index: Any
    """FAISS's IndexPreTransform: a rotation, and an IndexIVFPQFastScan with one list."""
    rotation: Floats
    """(at least dimension, dimension) the matrix of the rotation."""
    name: str
    """Name of its file, also before it is written."""

    @classmethod
    def trained(cls, sample: Floats, trained_on: int) -> Codes:
        """Return codes of no vectors yet, for vectors of the mean and spread of `sample` (m, dimension)."""
        faiss = load_faiss()
        size = max(_LEAST_ROTATED, sample.shape[1] + sample.shape[1] % 2)
        rotation = faiss.RandomRotationMatrix(sample.shape[1], size)
        rotation.init(0)
        rotated = rotation.apply(sample)
        mean = faiss.IndexFlatIP(size)
        mean.add(rotated.mean(axis=0, keepdims=True))
        # Of the fast scans, only those with lists can skip vectors. Four bits are a choice of levels for two numbers.
        codes = faiss.IndexIVFPQFastScan(mean, size, 1, size // 2, 4, faiss.METRIC_INNER_PRODUCT)
        levels = np.array(_LEVELS, dtype=np.float32) * (rotated - rotated.mean(axis=0)).std()
        faiss.copy_array_to_vector(
            np.tile(np.stack(np.meshgrid(levels, levels), 2).ravel(), size // 2), codes.pq.centroids
        )
        index = faiss.IndexPreTransform(rotation, codes)
        for part in (rotation, mean, codes):
            part.this.disown()
        codes.own_fields = index.own_fields = codes.by_residual = codes.is_trained = index.is_trained = True
        return cls(trained_on, 0, index, _rotation(index), "")

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
            parameters = faiss.SearchParametersIVF(sel=faiss.IDSelectorBitmap(eligible), nprobe=1)
        # FAISS would rotate by a product of matrices, whose threads take longer than the scan.
        rotated, codes = np.vecdot(self.rotation, unit), faiss.downcast_index(self.index.index)
        (scores,), (slots,) = codes.search(rotated[None], count, params=parameters)
        return slots[slots >= 0], scores[slots >= 0]

    def write(self, path: Path) -> None:
        """Write the file for `read`.

        Raises:
            OSError: it cannot be written.
        """
        try:
            load_faiss().write_index(self.index, str(path))
            # FAISS reports no error if the disk is full when it closes the file, so read the file back.
            Codes.read(path, self.index.d, self.trained_on, self.end)
        except (RuntimeError, ValueError) as error:  # FAISS raises RuntimeError for all its errors
            raise OSError(f"{path} cannot be written ({error})") from error

    @classmethod
    def read(cls, path: Path, dimension: int, trained_on: int, end: int) -> Codes:
        """Return the codes in a file, for vectors of `dimension` numbers.

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
        return cls(trained_on, end, index, _rotation(index), path.name)


def _rotation(index: Any) -> Floats:  # noqa: ANN401 - an IndexPreTransform
    rotation = load_faiss().downcast_VectorTransform(index.chain.at(0))
    matrix: Floats = load_faiss().vector_to_array(rotation.A).reshape(rotation.d_out, rotation.d_in)
    return matrix


@functools.cache
def load_faiss() -> Any:  # noqa: ANN401 - its type hints are incomplete and partly wrong
    """Return the package. Importing takes a while, and small memories never need it."""
    import faiss  # noqa: PLC0415

    if hasattr(os, "register_at_fork"):
        # In the child, the forking thread would deadlock on the parent's OpenMP threads.
        os.register_at_fork(after_in_child=functools.partial(faiss.omp_set_num_threads, 1))
    return faiss


# The mean and spread of how many vectors are those of all.
_SAMPLE = 4096
# How many vectors go to the index in one batch; some MB.
_AT_ONCE = 16_384


class VectorState(NamedTuple):
    """Vectors, their slots, and the approximate index of some of them."""

    slots: Slots
    matrix: VectorMatrix
    codes: Codes | None
    """The index of the slots before its `end`; None while there are few vectors."""
    epoch: str
    """Identifies the numbering of slots; a job from another epoch must not be used."""

    @classmethod
    def empty(cls, dimension: int) -> VectorState:
        """Return the state without vectors."""
        return cls(Slots.empty(), VectorMatrix(dimension), None, uuid4().hex)

    def added(self, keys: Rows, vectors: Floats) -> VectorState:
        """Return the state with vectors under distinct `keys`."""
        matrix = self.matrix.appended(vectors)
        return VectorState(self.slots.added(keys), matrix, self.codes, self.epoch)

    def removed(self, keys: Rows) -> VectorState:
        """Return the state without vectors under `keys`."""
        return self._replace(slots=self.slots.removed(keys))

    def rewritten(self) -> VectorState:
        """Return the state with the live vectors only, compacted into new slots; its index is to be rebuilt."""
        living = np.flatnonzero(self.slots.alive)
        slots = Slots.empty()
        if living.size:
            slots = slots.added(self.slots.keys_of(living))
        return VectorState(slots, self.matrix.gathered(living), None, uuid4().hex)

    def forked(self) -> VectorState:
        """Return the same state for a writer of its own; this must be the newest one."""
        slots = self.slots._replace(columns=deepcopy(self.slots.columns))
        return VectorState(slots, self.matrix.sealed(), self.codes, uuid4().hex)

    def with_kept(self, kept: VectorState) -> VectorState:
        """Return the same state, using the mapped files of `kept`, an earlier state, for the vectors they hold."""
        is_kept = self.codes is not None and kept.codes is not None and self.codes.name == kept.codes.name
        return self._replace(matrix=self.matrix.with_kept(kept.matrix), codes=kept.codes if is_kept else self.codes)


class IndexingJob(NamedTuple):
    """Brings the approximate index of a state up to date."""

    state: VectorState

    def __call__(self, stop: Callable[[], bool]) -> tuple[str, Codes]:
        """Return the epoch and the index; raises Stopped."""
        # This limit holds for this thread only; the other cores stay free for searches.
        load_faiss().omp_set_num_threads(1)
        codes, end = self.state.codes or self._trained(), self.state.slots.size
        return self.state.epoch, codes.extended(self._unit_vectors(codes.end, end, stop), end)

    def _trained(self) -> Codes:
        living = np.flatnonzero(self.state.slots.alive)
        drawn = np.random.default_rng(0).choice(living, min(living.size, _SAMPLE), replace=False)
        return Codes.trained(self.state.matrix.unit_vectors(np.sort(drawn)), living.size)

    def _unit_vectors(self, begin: int, end: int, stop: Callable[[], bool]) -> Iterator[tuple[Rows, Floats]]:
        for first in range(begin, end, _AT_ONCE):
            if stop():
                raise Stopped
            last = min(first + _AT_ONCE, end)
            slots = first + np.flatnonzero(self.state.slots.alive[first:last])
            if slots.size:
                yield slots, self.state.matrix.unit_vectors(slots)

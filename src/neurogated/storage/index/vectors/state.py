"""One state of a vector index: readers use it while a writer creates the next."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable, Iterator
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
    keys: NDArray[np.int32]
    """The key of each slot. Later states share the array, and only append to it."""
    latest: NDArray[np.int32]
    """The live slot of each key."""

    @classmethod
    def of_columns(cls, keys: NDArray[np.int32], alive: Flags) -> Slots:
        """Return the state with these keys; `alive` marks the live slots."""
        living = np.flatnonzero(alive)
        latest = np.full(int(keys.max(initial=_NONE)) + 1, _NONE, dtype=np.int32)
        latest[keys[living]] = living
        return cls(keys.size, living.size, alive, keys, latest)

    def of(self, keys: Rows) -> Rows:
        """Return the slot of each key, -1 for a key without a vector."""
        if np.maximum.reduce(keys, initial=_NONE) < self.latest.size:
            return self.latest[keys].astype(np.int64)
        slots = np.full(keys.size, _NONE, dtype=np.int64)
        known = keys < self.latest.size
        slots[known] = self.latest[keys[known]]
        return slots

    def keys_of(self, slots: Rows) -> Rows:
        """Return the key of each slot."""
        return self.keys[slots].astype(np.int64)

    def added(self, keys: Rows) -> Slots:
        """Return the state with a new slot for each key; the keys' previous slots are no longer live."""
        size, before, held = self.size + keys.size, self.of(keys), self.keys
        if size > held.size:
            held = np.empty(max(size, 2 * held.size), dtype=np.int32)
            held[: self.size] = self.keys[: self.size]
        held[self.size : size] = keys
        beyond = max(int(np.maximum.reduce(keys)) + 1 - self.latest.size, 0)
        latest = np.concatenate((self.latest, np.array([_NONE], dtype=np.int32).repeat(beyond)))
        latest[keys] = np.arange(self.size, size)
        alive = np.concatenate((self.alive, np.array([True]).repeat(keys.size)))
        dying = before[before != _NONE]
        alive[dying] = False
        return Slots(size, self.living + keys.size - dying.size, alive, held, latest)

    def removed(self, keys: Rows) -> Slots:
        """Return the state in which the vectors of `keys` are not live."""
        slots = np.unique(self.of(keys))
        slots = slots[slots != _NONE]
        if not slots.size:
            return self
        alive, latest = self.alive.copy(), self.latest.copy()
        alive[slots], latest[self.keys[slots]] = False, _NONE
        return self._replace(living=self.living - slots.size, alive=alive, latest=latest)


_NO_SLOTS = Slots.of_columns(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.bool_))


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
        return cls(_NO_SLOTS, VectorMatrix(dimension), None, uuid4().hex)

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
        slots = _NO_SLOTS
        if living.size:
            slots = slots.added(self.slots.keys_of(living))
        return VectorState(slots, self.matrix.gathered(living), None, uuid4().hex)

    def forked(self) -> VectorState:
        """Return the same state for a writer of its own; this must be the newest one."""
        slots = self.slots._replace(keys=self.slots.keys.copy())
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

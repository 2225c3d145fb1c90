"""One state of a vector index: readers use it while a writer creates the next."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple
from uuid import uuid4

import numpy as np

from neurogated.core.view import Rows
from neurogated.storage.index.vectors.codes import Codes, load_faiss
from neurogated.storage.index.vectors.matrix import Floats, VectorMatrix
from neurogated.storage.index.vectors.slots import Slots
from neurogated.utils.background import Stopped

# The mean of how many vectors is the mean of all.
_SAMPLE = 4096
# How many vectors go to the index in one batch; some MB.
_AT_ONCE = 16_384
# When the vectors are this many times as many as when their mean was computed, it is computed again.
_GROWTH = 4


class SearchOptions(NamedTuple):
    """How vectors are searched; see `EmbeddingStore`."""

    exact_below: int
    tail: int


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
        return VectorState(self.slots.forked(), self.matrix.sealed(), self.codes, uuid4().hex)

    def with_kept(self, kept: VectorState) -> VectorState:
        """Return the same state, using the mapped files of `kept`, an earlier state, for the vectors they hold."""
        is_kept = self.codes is not None and kept.codes is not None and self.codes.name == kept.codes.name
        return self._replace(matrix=self.matrix.with_kept(kept.matrix), codes=kept.codes if is_kept else self.codes)

    def next_job(self, options: SearchOptions) -> IndexingJob | None:
        """Return the job that brings the approximate index up to date; None if it is."""
        living = self.slots.living
        if living <= options.exact_below:
            return None
        if self.codes is None or living >= _GROWTH * self.codes.trained_on:
            return IndexingJob(self._replace(codes=None), options)
        if self.slots.size - self.codes.end > max(options.tail, self.slots.size // 100):
            return IndexingJob(self, options)
        return None


class VectorChange:
    """A change of vectors, built step by step.

    Attributes:
        state: the vectors after the steps so far; None before the first vector.
    """

    def __init__(self, state: VectorState | None) -> None:
        self.state = state

    def put(self, keys: Rows, vectors: Floats) -> None:
        """Upsert vectors (n, dimension) by their distinct keys (n,)."""
        if keys.size:
            state = self.state or VectorState.empty(vectors.shape[1])
            self.state = state.added(keys, vectors)

    def remove(self, keys: Rows) -> None:
        """Remove the vectors of `keys`; keys without a vector are skipped."""
        if self.state is not None and keys.size:
            self.state = self.state.removed(keys)


class IndexingJob(NamedTuple):
    """Brings the approximate index of a state up to date."""

    state: VectorState
    options: SearchOptions

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

"""Vectors of nodes and search among them: exact while they are few, approximate where they are many."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Self, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.model import Vector, as_vector
from neurogated.core.view import Rows
from neurogated.errors import InputError
from neurogated.storage.background import BackgroundWorker
from neurogated.storage.index.vectors.files import VectorSnapshot, load_vectors
from neurogated.storage.index.vectors.inverted_lists import InvertedLists
from neurogated.storage.index.vectors.matrix import Encoded
from neurogated.storage.index.vectors.search import Found, cosines, nearest
from neurogated.storage.index.vectors.state import IndexingJob, SearchOptions, VectorChange, VectorState

__all__ = ["EmbeddingStore", "OverlaidEmbeddingStore", "VectorSettings"]

_log = logging.getLogger(__name__)
_DEFAULTS = MemoryConfig()
_NOTHING = np.empty(0, dtype=np.int64)


class VectorSettings(TypedDict, total=False):
    """The settings `VECTOR_…` of an index."""

    exact_below: int
    precision: str
    tail: int
    lists: float
    probes: int


class EmbeddingStore:
    """Vectors under integer keys, searched by cosine; the first vector fixes the dimension.

    Up to `exact_below` vectors the search is exact. Above that a thread in the background files them in an approximate
    index; those it has not come to are searched exactly, so that a vector is found as soon as `put` returns. Cosines
    are exact whichever way a vector was found.

    Any number of threads may read while one writes: a search sees the vectors as they were when it began.
    """

    def __init__(
        self,
        *,
        exact_below: int = _DEFAULTS.vectors.exact_below,
        precision: str = _DEFAULTS.vectors.precision,
        tail: int = _DEFAULTS.vectors.max_unlisted,
        lists: float = _DEFAULTS.vectors.lists,
        probes: int = _DEFAULTS.vectors.probes,
    ) -> None:
        """Make an empty index; the arguments are the settings `VECTOR_…` of the same names."""
        self._options = SearchOptions(exact_below, tail, lists, probes)
        self._precision = precision
        # Replaced whole by every change, so that who reads takes it once and then needs no lock.
        self._state: VectorState | None = None
        self._writing = threading.Lock()
        self._worker = BackgroundWorker(self)
        self._failed_at = 0

    @classmethod
    def load(cls, folder: Path, **settings: Unpack[VectorSettings]) -> Self:
        """Return the index that was kept in `folder`, mapped into memory; whether the files are whole is not checked.

        Raises:
            OSError: a file is missing or cannot be read.
            ValueError: the files hold another precision, or are not what they should be.
        """
        index = cls(**settings)
        index._state = load_vectors(folder, index._precision)
        index._worker.wake()
        return index

    @property
    def size(self) -> int:
        """Number of vectors."""
        return 0 if self._state is None else self._state.slots.living

    @property
    def dimension(self) -> int | None:
        """Length of every vector, None while there has been none."""
        return None if self._state is None else self._state.matrix.dimension

    @property
    def indexed(self) -> int:
        """How many places of vectors the approximate index covers; 0 while the search is exact."""
        return 0 if self._state is None or self._state.lists is None else self._state.lists.end

    @property
    def trained_on(self) -> int:
        """How many vectors the approximate index was laid out for; 0 while there is none."""
        return 0 if self._state is None or self._state.lists is None else self._state.lists.trained_on

    def check(self, vector: Vector, owner: str) -> None:
        """Refuse a vector of another dimension.

        Raises:
            InputError: names `owner` and both dimensions.
        """
        if self.dimension is not None and len(vector) != self.dimension:
            raise InputError(
                f"the embedding of {owner} has dimension {len(vector)}, but this memory holds dimension "
                f"{self.dimension}; use the embedder the memory was built with"
            )

    def put(self, keys: Rows, vectors: NDArray[np.float32]) -> None:
        """Add vectors, or put them in the place of those with the same keys.

        Args:
            keys: (n,) keys, 0 or larger, each once.
            vectors: (n, dimension) float32.
        """
        with self.changing() as change:
            change.put(keys, vectors)

    def remove(self, keys: Rows) -> None:
        """Forget the vectors of `keys`; keys without one are passed over."""
        with self.changing() as change:
            change.remove(keys)

    @contextmanager
    def changing(self) -> Iterator[VectorChange]:
        """Give a change to fill, which a search sees whole or not at all, since it is made when the block ends."""
        with self._writing:
            change = VectorChange(self._state, self._precision)
            yield change
            if change.state is not self._state and change.state is not None:
                self._state = self._tidied(change.state)
        self._worker.wake()

    def isolated(self) -> EmbeddingStore:
        """Return an index of the same vectors, for reading, which later changes here do not reach."""
        isolated = EmbeddingStore(precision=self._precision, **self._options._asdict())
        isolated._state = self._state
        return isolated

    def get(self, key: int) -> NDArray[np.float32] | None:
        """Return the vector of `key`, None if it has none; at a reduced precision it is not quite what was put."""
        state = self._state
        slot = -1 if state is None else int(state.slots.of(np.array([key]))[0])
        if state is None or slot < 0:
            return None
        vector = state.matrix.vector(slot)
        vector.setflags(write=False)
        return vector

    def mean(self, keys: Rows) -> NDArray[np.float32]:
        """Return the mean of the vectors of `keys`, each scaled to length 1; empty if none of them has one."""
        found = [vector for vector in map(self.get, keys.tolist()) if vector is not None]
        units = [vector / (np.linalg.norm(vector) or 1.0) for vector in found]
        return np.mean(units, axis=0, dtype=np.float32) if units else np.empty(0, dtype=np.float32)

    def matches(self, key: int, vector: Vector) -> bool:
        """Return whether putting `vector` under `key` would change nothing."""
        state = self._state
        slot = -1 if state is None else int(state.slots.of(np.array([key]))[0])
        if state is None or slot < 0 or len(vector) != state.matrix.dimension:
            return False
        new, old = Encoded.of(as_vector(vector)[None], self._precision), state.matrix.rows(np.array([slot]))
        return np.array_equal(new.rows, old.rows) and np.array_equal(new.scales, old.scales)

    def search(self, query: Vector, k: int, without: Rows = _NOTHING, among: Rows | None = None) -> Found:
        """Return keys and cosines of at least the `k` most similar vectors, best first.

        All that tie with the k-th are returned too, for the caller to break the tie; of an approximate search, those
        that were found.

        Args:
            query: a vector.
            k: how many.
            without: keys that do not count.
            among: the keys that count; all when left out.
        """
        return self._nearest([query], k, without, among)[0]

    def search_batch(
        self, queries: Sequence[Vector], k: int, without: Rows = _NOTHING, among: Rows | None = None
    ) -> list[Found]:
        """Return what `search` returns for each query; together they take less time than one after the other."""
        return self._nearest(queries, k, without, among)

    def similarities(self, query: Vector, keys: Rows) -> NDArray[np.float64]:
        """Return the cosine of `query` with the vector of each key, as `search` gives it; 0 for a key without one."""
        state = self._state
        return np.zeros(keys.size) if state is None else cosines(state, self._checked_query(query), keys)

    def freeze(self) -> VectorSnapshot:
        """Return the present state, to be written while this index goes on changing."""
        return VectorSnapshot(self._state)

    def remap(self, folder: Path) -> None:
        """Map the files that a frozen state of this index was written to, in the place of the memory they hold.

        Raises:
            OSError: a file cannot be read.
            ValueError: the files are not what they should be.
        """
        kept = load_vectors(folder, self._precision)
        with self._writing:
            if kept is not None and self._state is not None and kept.epoch == self._state.epoch:
                self._state = self._state.with_kept(kept)

    @property
    def busy(self) -> bool:
        """Whether a thread in the background is indexing."""
        return self._worker.busy

    def wait(self) -> None:
        """Wait until the approximate index holds what it should."""
        self._worker.wait()

    def close(self) -> None:
        """Stop the work in the background; what is not indexed yet stays searched exactly."""
        self._worker.stop()

    def next_job(self) -> IndexingJob | None:
        """Return what the worker in the background is to do."""
        state = self._state
        # After a failure it is tried again when there is much more, not at every change.
        if state is None or state.slots.size < 2 * self._failed_at:
            return None
        return state.next_job(self._options)

    def finish_job(self, result: tuple[str, InvertedLists]) -> None:
        """Take up an approximate index that was made in the background."""
        epoch, lists = result
        with self._writing:
            if self._state is not None and self._state.epoch == epoch:
                # The work may have begun before `remap`, of which it would undo a part.
                kept = lists if self._state.lists is None else lists.with_kept(self._state.lists)
                self._state = self._state._replace(lists=kept)

    def fail_job(self, error: BaseException) -> None:
        """Search on without what could not be made."""
        self._failed_at = 0 if self._state is None else self._state.slots.size
        _log.warning("vectors are searched without an approximate index, which could not be made: %r", error)

    def _tidied(self, state: VectorState) -> VectorState:
        """Return the state, written anew when most of its room is taken by what was replaced or removed."""
        gone = state.slots.size - state.slots.living
        return state.rewritten() if gone > max(state.slots.living, self._options.tail) else state

    def _nearest(self, queries: Sequence[Vector], k: int, without: Rows, among: Rows | None) -> list[Found]:
        state = self._state
        if state is None or k < 1 or not len(queries):
            return [(np.empty(0, dtype=np.int64), np.empty(0)) for _ in queries]
        vectors = np.stack([self._checked_query(query) for query in queries])
        return nearest(state, vectors, k, self._options, without=without, among=among)

    def _checked_query(self, query: Vector) -> NDArray[np.float32]:
        vector = as_vector(query)
        self.check(vector, "the query")
        return vector


class OverlaidEmbeddingStore(EmbeddingStore):
    """Vectors of some keys in the place of those they have in another store: what the vectors once were."""

    def __init__(self, base: EmbeddingStore, changed: Rows) -> None:
        super().__init__()
        self._base = base
        self._changed = changed
        self._is_changed = frozenset(changed.tolist())

    def isolated(self) -> OverlaidEmbeddingStore:
        """Return an index of the same vectors, for reading, which later changes here and below do not reach."""
        isolated = OverlaidEmbeddingStore(self._base.isolated(), self._changed)
        isolated._state = self._state
        return isolated

    def hide(self, keys: Rows) -> None:
        """Let vectors of the other store no longer count, because they change there."""
        self._changed = np.union1d(self._changed, keys)
        self._is_changed |= frozenset(keys.tolist())

    @property
    def size(self) -> int:
        """Number of vectors."""
        hidden = sum(self._base.get(key) is not None for key in self._changed.tolist())
        return self._base.size - hidden + super().size

    @property
    def dimension(self) -> int | None:
        """Length of every vector, None while there has been none."""
        return self._base.dimension or super().dimension

    def get(self, key: int) -> NDArray[np.float32] | None:
        """Return the vector of `key`, None if it has none."""
        return super().get(key) if key in self._is_changed else self._base.get(key)

    def matches(self, key: int, vector: Vector) -> bool:
        """Return whether `vector` would be kept as what `key` has."""
        return super().matches(key, vector) if key in self._is_changed else self._base.matches(key, vector)

    def search(self, query: Vector, k: int, without: Rows = _NOTHING, among: Rows | None = None) -> Found:
        """Return keys and cosines of at least the `k` most similar vectors, best first; see EmbeddingStore."""
        return self.search_batch([query], k, without, among)[0]

    def search_batch(
        self, queries: Sequence[Vector], k: int, without: Rows = _NOTHING, among: Rows | None = None
    ) -> list[Found]:
        """Return what `search` returns for each query."""
        below = self._base.search_batch(queries, k, np.union1d(self._changed, without), among)
        found = []
        for layers in zip(below, super().search_batch(queries, k, without, among), strict=True):
            keys, scores = (np.concatenate(columns) for columns in zip(*layers, strict=True))
            order = np.argsort(-scores, kind="stable")
            found.append((keys[order], scores[order]))
        return found

    def similarities(self, query: Vector, keys: Rows) -> NDArray[np.float64]:
        """Return the cosine of `query` with the vector of each key, 0 for a key without one."""
        own = np.isin(keys, self._changed)
        scores: NDArray[np.float64] = np.where(
            own, super().similarities(query, keys), self._base.similarities(query, keys)
        )
        return scores

"""Search among the vectors of nodes: exact if they are few, approximate if they are many."""

from __future__ import annotations

import functools
import json
import logging
import math
import threading
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import partitioned
from neurogated.core.files import write_text
from neurogated.core.model import Vector, as_vector
from neurogated.core.view import Hits, Rows
from neurogated.errors import InputError
from neurogated.storage.files import linked, save_array
from neurogated.storage.index.vectors.matrix import Floats, KeptBlock, VectorMatrix
from neurogated.storage.index.vectors.state import Codes, IndexingJob, Slots, VectorState
from neurogated.utils.background import BackgroundWorker
from neurogated.utils.vector_utils import exact_cosines

_ABOUT = "vectors.json"
_KEYS = "keys.npy"
_ALIVE = "alive.npy"


def write_vectors(state: VectorState | None, folder: Path, previous: Path | None) -> None:
    """Write a state, None before the first vector, into the empty `folder`; raises OSError.

    Unchanged files are links to those in `previous`.
    """
    if state is None:
        write_text(folder / _ABOUT, json.dumps(None))
        return

    def keep(name: str, write: Callable[[Path], None]) -> None:
        if previous is None or not linked(previous / name, folder / name):
            write(folder / name)

    save_array(folder / _KEYS, state.slots.keys[: state.slots.size])
    save_array(folder / _ALIVE, state.slots.alive)
    matrix, blocks, begin = state.matrix, state.matrix.files(), 0
    for name, count in blocks:
        keep(name, functools.partial(matrix.write, begin=begin, end=begin + count))
        begin += count
    if (codes := state.codes) is not None:
        keep(codes.name, codes.write)
    about = {
        "dimension": matrix.dimension,
        "epoch": state.epoch,
        "blocks": blocks,
        "two_bits": None if codes is None else (codes.name, codes.trained_on, codes.end),
    }
    write_text(folder / _ABOUT, json.dumps(about, indent=1))


def load_vectors(folder: Path) -> VectorState | None:
    """Load the state in `folder`; None if the index never held a vector.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: the files have another format.
    """
    about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    if about is None:
        return None
    try:
        kept = [KeptBlock(name, count) for name, count in about["blocks"]]
        matrix = VectorMatrix.mapped(folder, about["dimension"], kept)
        codes = None
        if about.get("two_bits") is not None:  # earlier versions kept other codes under another name
            name, trained_on, end = about["two_bits"]
            codes = Codes.read(folder / name, matrix.dimension, trained_on, end)
        slots = Slots.of_columns(np.load(folder / _KEYS), np.load(folder / _ALIVE))
        epoch = about["epoch"]
    except (EOFError, KeyError, TypeError) as error:
        raise ValueError(f"{folder} holds another format than this version writes ({error!r}); rebuild it") from error
    if slots.size != matrix.size:
        raise ValueError(f"{folder} holds {slots.size} keys of {matrix.size} vectors; rebuild it")
    return VectorState(slots, matrix, codes, epoch)


# Bound on the rounding error of a single-precision cosine of some thousand dimensions.
_ROUNDING_ERROR = 1e-5
# Codes propose this many vectors, and five for each wanted one. These suffice if the k-th best is this many standard
# errors of the codes above the last proposal; else codes propose so many times as many.
_PROPOSED, _ERRORS, _MORE = 200, 1.5, 8
# Gathering a vector takes as long as comparing this many consecutive ones.
_GATHERING = 8
# How many cosines are computed in one batch, 4 bytes each.
_SEARCHED_AT_ONCE = 2**24
# How many vectors are gathered in one batch; some MB.
_GATHERED = 4096
# If less than one vector in this many is admitted, all admitted vectors are compared exactly.
_SCATTERED = 16
# Up to this many vectors for each wanted one, exact cosines of all are quicker than a choice by approximate ones.
_FEW = 4


def nearest(state: VectorState, queries: Floats, k: int, *, without: Rows, among: Rows | None = None) -> list[Hits]:
    """Return keys and cosines of at least the `k` most similar vectors to each query (q, dimension), best first.

    The result includes all vectors found that tie with the k-th. With `among`, it has only vectors of these keys.
    """
    slots = state.slots
    if among is None:
        hidden = np.unique(slots.of(without)) if without.size else without
        hidden = hidden[hidden >= 0]
        eligible = slots.alive
        if hidden.size:
            eligible = eligible.copy()
            eligible[hidden] = False
        count = slots.living - hidden.size
    else:
        admitted = slots.of(np.setdiff1d(among, without) if without.size else among)
        admitted = np.sort(admitted[admitted >= 0])
        count = admitted.size
        if 0 < _SCATTERED * count < slots.size:
            return _best_of(state, queries, min(k, count), admitted)
        eligible = np.zeros_like(slots.alive)
        eligible[admitted] = True
    k = min(k, count)
    if k < 1:
        return [(np.empty(0, dtype=np.int64), np.empty(0))] * len(queries)
    at_once = max(1, _SEARCHED_AT_ONCE // slots.size)
    found: list[Hits] = []
    for begin in range(0, len(queries), at_once):
        chunk = queries[begin : begin + at_once]
        if state.codes is None or count <= EXACT_BELOW:
            found += _exact(state, chunk, k, eligible, count)
        else:
            found += [_approximate(state, query, k, eligible) for query in chunk]
    return found


def cosines(state: VectorState, query: Floats, keys: Rows, missing: float) -> NDArray[np.float64]:
    """Return the cosine of `query` (dimension,) with the vector of each key; `missing` for a key without a vector."""
    slots = state.slots.of(keys)
    known = slots >= 0
    if np.logical_and.reduce(known):
        return _exact_cosines(state, query, slots)
    scores = np.full(keys.size, missing)
    scores[known] = _exact_cosines(state, query, slots[known])
    return scores


def _exact_cosines(state: VectorState, query: Floats, slots: Rows) -> NDArray[np.float64]:
    if slots.size <= _GATHERED:
        return exact_cosines(state.matrix.vectors(slots).rows, query)
    chunks = [slots[begin : begin + _GATHERED] for begin in range(0, slots.size, _GATHERED)]
    scores = [exact_cosines(state.matrix.vectors(chunk).rows, query) for chunk in chunks]
    return np.concatenate(scores)


def _exact(state: VectorState, queries: Floats, k: int, eligible: NDArray[np.bool_], count: int) -> list[Hits]:
    size = state.slots.size
    if 2 * count < size:
        return _best_of(state, queries, k, eligible.nonzero()[0])
    scores = state.matrix.scan(_units(queries), 0, size)
    if count < size:
        scores[:, ~eligible] = -np.inf
    return [_best(state, query, k, _promising(row, k).nonzero()[0]) for query, row in zip(queries, scores, strict=True)]


def _approximate(state: VectorState, query: Floats, k: int, eligible: NDArray[np.bool_]) -> Hits:
    """Return the `k` best and all ties that were found, by as many proposals as their errors demand."""
    codes, size, unit = state.codes, state.slots.size, _units(query[None])
    assert codes is not None  # noqa: S101 - the caller checked it
    # The index omits vectors removed before it was built. If all slots count, searching without a selector is quicker.
    whole = state.slots.living == size and eligible is state.slots.alive
    chosen = None if whole else np.packbits(eligible, bitorder="little")
    newest = codes.end + eligible[codes.end :].nonzero()[0]
    few = _PROPOSED + 5 * k
    for count in (few, _MORE * few):
        if _GATHERING * count >= size:
            break
        slots, rough = codes.search(unit[0], count, chosen)
        scores = state.matrix.cosines(unit, slots)[0]
        errors = scores - rough
        least = rough[-1] + _ERRORS * math.sqrt(np.vecdot(errors, errors) / count) if slots.size == count else -np.inf
        if newest.size:
            slots = np.concatenate((slots, newest))
            scores = np.concatenate((scores, state.matrix.scan(unit, codes.end, size)[0, newest - codes.end]))
        if count > few or np.count_nonzero(scores >= least) >= k:
            return _best(state, query, k, np.sort(slots[_promising(scores, k)]))
    return _exact(state, query[None], k, eligible, int(np.count_nonzero(eligible)))[0]


def _best_of(state: VectorState, queries: Floats, k: int, slots: Rows) -> list[Hits]:
    """Return for each query the `k` best of `slots` and all ties; `slots` has at least `k`."""
    if slots.size <= _FEW * k:
        return [_best(state, query, k, slots) for query in queries]
    scores = state.matrix.cosines(_units(queries), slots)
    return [_best(state, query, k, slots[_promising(row, k)]) for query, row in zip(queries, scores, strict=True)]


def _promising(rough: Floats, k: int) -> NDArray[np.bool_]:
    """Return which approximate cosines may be among the `k` highest exact ones."""
    promising: NDArray[np.bool_] = rough >= partitioned(rough, rough.size - k)[rough.size - k] - _ROUNDING_ERROR
    return promising


def _best(state: VectorState, query: Floats, k: int, slots: Rows) -> Hits:
    """Return the `k` best of `slots` by exact cosine, and all ties."""
    scores = _exact_cosines(state, query, slots)
    order = (-scores).argsort(kind="stable")
    slots, scores = slots[order], scores[order]
    wanted = scores >= scores[k - 1]
    return state.slots.keys_of(slots[wanted]), scores[wanted]


def _units(queries: Floats) -> Floats:
    """Return queries (q, dimension) of unit length; those of zeros stay."""
    wide = queries.astype(np.float64)
    norms = np.sqrt(np.vecdot(wide, wide))
    norms[norms == 0] = 1
    units: Floats = queries / norms.astype(np.float32)[:, None]
    return units


_log = logging.getLogger(__name__)
EXACT_BELOW = 8000  # up to this many vectors, a search compares all; ADR 52 has the figures
_TAIL = 2000  # at most this many of the newest vectors are left without codes
# When the vectors are this many times as many as when their mean was computed, it is computed again.
_GROWTH = 4
_NOTHING = np.empty(0, dtype=np.int64)


class EmbeddingStore:
    """Vectors under integer keys, searched by cosine; the first vector fixes the dimension.

    Up to `EXACT_BELOW` vectors the search is exact. With more, a background thread makes short codes of the vectors.
    Vectors without a code are searched exactly, so a search finds a vector as soon as `put` returns.
    Cosines are always exact.

    Any number of threads may read while one writes: each search sees the vectors as they were when it began.
    """

    def __init__(self) -> None:
        # Each change replaces the state; readers take it once and need no lock.
        self._state: VectorState | None = None
        self._writing = threading.Lock()
        self._worker = BackgroundWorker(self)
        self._failed_at = 0

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Memory-map the index in `folder`; it does not verify the contents of the files.

        Raises:
            OSError: a file is missing or cannot be read.
            ValueError: the files have another format.
        """
        index = cls()
        index._state = load_vectors(folder)
        index._worker.wake()
        return index

    @property
    def size(self) -> int:
        """Number of vectors."""
        return 0 if self._state is None else self._state.slots.living

    @property
    def dimension(self) -> int | None:
        """Length of every vector; None before the first vector."""
        return None if self._state is None else self._state.matrix.dimension

    @property
    def indexed(self) -> int:
        """How many slots the approximate index covers; 0 while the search is exact."""
        return 0 if self._state is None or self._state.codes is None else self._state.codes.end

    def check(self, vector: Vector, owner: str) -> None:
        """Check the dimension of a vector.

        Raises:
            InputError: it is another; the message names `owner` and both dimensions.
        """
        if self.dimension is not None and len(vector) != self.dimension:
            raise InputError(
                f"the embedding of {owner} has dimension {len(vector)}, but this memory holds dimension "
                f"{self.dimension}; use the embedder the memory was built with"
            )

    def put(self, keys: Rows, vectors: NDArray[np.float32]) -> None:
        """Upsert vectors (n, dimension) by their distinct keys (n,), 0 or larger."""
        self.change(_NOTHING, [(keys, vectors)])

    def remove(self, keys: Rows) -> None:
        """Remove the vectors of `keys`; keys without a vector are skipped."""
        self.change(keys)

    def change(self, removed: Rows, put: Iterable[tuple[Rows, NDArray[np.float32]]] = ()) -> None:
        """Remove the vectors of some keys, and upsert batches of others, all at once; see `put` and `remove`."""
        with self._writing:
            state = self._state
            if state is not None and removed.size:
                state = state.removed(removed)
            for keys, vectors in put:
                if keys.size:
                    state = (state or VectorState.empty(vectors.shape[1])).added(keys, vectors)
            if state is not None and state is not self._state:
                # Most slots may hold replaced or removed vectors.
                is_sparse = state.slots.size - state.slots.living > max(state.slots.living, _TAIL)
                self._state = state.rewritten() if is_sparse else state
        self._worker.wake()

    def isolated(self) -> EmbeddingStore:
        """Return a read-only index of the same vectors, isolated from later changes."""
        isolated = EmbeddingStore()
        isolated._state = self._state
        return isolated

    def forked(self) -> EmbeddingStore:
        """Return an index of the same vectors that changes by itself; no other thread may change this one meanwhile."""
        fork = EmbeddingStore()
        fork._state = None if self._state is None else self._state.forked()
        return fork

    def get(self, key: int) -> NDArray[np.float32] | None:
        """Return the vector of `key`, None if it has none."""
        return self.get_all(np.array([key]))[0]

    def get_all(self, keys: Rows) -> list[NDArray[np.float32] | None]:
        """Return the vector of each key, None for a key without one; see `get`."""
        found: list[NDArray[np.float32] | None] = [None] * keys.size
        state = self._state
        if state is None:
            return found
        slots = state.slots.of(keys)
        (there,) = (slots >= 0).nonzero()
        # Copies, so that whoever keeps one vector does not keep all; bytes are read-only.
        copies = map(np.ndarray.tobytes, state.matrix.vectors(slots[there]).rows)
        for place, copy in zip(there.tolist(), copies, strict=True):
            found[place] = np.frombuffer(copy, dtype=np.float32)
        return found

    def mean(self, keys: Rows) -> NDArray[np.float32]:
        """Return the mean of the vectors of `keys`, each scaled to length 1; empty if none of them has one."""
        state = self._state
        slots = _NOTHING if state is None else state.slots.of(keys)
        slots = slots[slots >= 0]
        if state is None or not slots.size:
            return np.empty(0, dtype=np.float32)
        mean: NDArray[np.float32] = np.add.reduce(state.matrix.unit_vectors(slots)) / np.float32(slots.size)
        return mean

    def matches(self, key: int, vector: Vector) -> bool:
        """Return whether `put` of `vector` under `key` would change nothing."""
        state = self._state
        slot = -1 if state is None else int(state.slots.of(np.array([key]))[0])
        if state is None or slot < 0 or len(vector) != state.matrix.dimension:
            return False
        return np.array_equal(as_vector(vector), state.matrix.vectors(np.array([slot])).rows[0])

    def search(self, query: Vector, k: int, without: Rows = _NOTHING, among: Rows | None = None) -> Hits:
        """Return keys and cosines of at least the `k` most similar vectors, best first.

        The result includes all vectors found that tie with the k-th, so that the caller can break the tie.

        Args:
            query: a vector.
            k: how many.
            without: keys to exclude.
            among: keys to search; all if omitted.
        """
        return self.search_batch([query], k, without, among)[0]

    def search_batch(
        self, queries: Sequence[Vector], k: int, without: Rows = _NOTHING, among: Rows | None = None
    ) -> list[Hits]:
        """Return the result of `search` for each query; one batch takes less time than single searches."""
        state = self._state
        if state is None or k < 1 or not len(queries):
            return [(np.empty(0, dtype=np.int64), np.empty(0)) for _ in queries]
        vectors = np.array([self._checked_query(query) for query in queries])
        return nearest(state, vectors, k, without=without, among=among)

    def similarities(self, query: Vector, keys: Rows, missing: float = 0.0) -> NDArray[np.float64]:
        """Return the cosine of `query` with the vector of each key as in `search`; `missing` without a vector."""
        state = self._state
        if state is None:
            return np.full(keys.size, missing)
        return cosines(state, self._checked_query(query), keys, missing)

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write the present state; see `write_vectors`."""
        write_vectors(self._state, folder, previous)

    def remap(self, folder: Path) -> None:
        """Memory-map the files of a frozen state of this index and release the memory of those vectors.

        Raises:
            OSError: a file cannot be read.
            ValueError: the files have another format.
        """
        kept = load_vectors(folder)
        with self._writing:
            if kept is not None and self._state is not None and kept.epoch == self._state.epoch:
                self._state = self._state.with_kept(kept)

    @property
    def busy(self) -> bool:
        """Whether the background thread is indexing."""
        return self._worker.busy

    def wait(self) -> None:
        """Wait until the approximate index is up to date."""
        self._worker.wait()

    def close(self) -> None:
        """Stop the background work; vectors that are not indexed yet are still searched exactly."""
        self._worker.stop()

    def next_job(self) -> IndexingJob | None:
        """Return the next job of the background worker; None if the index is up to date."""
        state = self._state
        # After a failure, retry only when the number of slots has doubled.
        if state is None or state.slots.size < 2 * self._failed_at or state.slots.living <= EXACT_BELOW:
            return None
        size, codes = state.slots.size, state.codes
        if codes is None or state.slots.living >= _GROWTH * codes.trained_on:
            return IndexingJob(state._replace(codes=None))
        return IndexingJob(state) if size - codes.end > max(_TAIL, size // 100) else None

    def finish_job(self, result: tuple[str, Codes]) -> None:
        """Use an approximate index that the background worker built."""
        epoch, codes = result
        with self._writing:
            if self._state is not None and self._state.epoch == epoch:
                self._state = self._state._replace(codes=codes)

    def fail_job(self, error: BaseException) -> None:
        """Continue without the approximate index, because the job failed."""
        self._failed_at = 0 if self._state is None else self._state.slots.size
        _log.warning("building the approximate vector index failed; vectors outside it are searched exactly: %r", error)

    def _checked_query(self, query: Vector) -> NDArray[np.float32]:
        vector, state = as_vector(query), self._state
        if state is not None and vector.size != state.matrix.dimension:
            self.check(vector, "the query")
        return vector

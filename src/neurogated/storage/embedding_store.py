"""Vectors of nodes and exact search among them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.model import Vector, as_vector
from neurogated.core.ports import VectorIndex
from neurogated.core.view import Rows
from neurogated.errors import InputError
from neurogated.utils.vector_utils import exact_cosines

__all__ = ["EmbeddingStore", "OverlaidEmbeddingStore"]

_NO_SLOT = -1
_NOTHING = np.empty(0, dtype=np.int64)
# Bound on the rounding error of a single precision cosine of some thousand dimensions.
_ROUNDING_ERROR = 1e-5


class EmbeddingStore:
    """Vectors under integer keys, searched exactly by cosine; the first vector fixes the dimension."""

    def __init__(self) -> None:
        self._vectors = np.empty((0, 0), dtype=np.float32)
        self._inverse_norms = np.empty(0, dtype=np.float32)
        self._keys = np.empty(0, dtype=np.int64)
        self._slots = np.empty(0, dtype=np.int64)
        self._size = 0

    @property
    def size(self) -> int:
        """Number of vectors."""
        return self._size

    @property
    def dimension(self) -> int | None:
        """Length of every vector, None while there has been none."""
        return self._vectors.shape[1] or None

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
        if not keys.size:
            return
        self._reserve(int(keys.max()) + 1, self._size + keys.size, vectors.shape[1])
        slots = self._slots[keys]
        new = slots == _NO_SLOT
        slots[new] = self._size + np.arange(int(new.sum()))
        self._size += int(new.sum())
        norms = np.linalg.norm(vectors.astype(np.float64), axis=1)
        self._vectors[slots] = vectors
        self._inverse_norms[slots] = np.divide(1, norms, out=np.zeros_like(norms), where=norms > 0)
        self._keys[slots] = keys
        self._slots[keys] = slots

    def remove(self, keys: Rows) -> None:
        """Forget the vectors of `keys`; keys without one are passed over."""
        for key in keys.tolist():
            if key >= self._slots.size or self._slots[key] == _NO_SLOT:
                continue
            # The last vector moves into the gap, so that the search runs over a block without holes.
            slot, last = int(self._slots[key]), self._size - 1
            self._vectors[slot] = self._vectors[last]
            self._inverse_norms[slot] = self._inverse_norms[last]
            self._keys[slot] = self._keys[last]
            self._slots[self._keys[slot]] = slot
            self._slots[key] = _NO_SLOT
            self._size = last

    def get(self, key: int) -> NDArray[np.float32] | None:
        """Return the vector of `key`, None if it has none."""
        if key >= self._slots.size or self._slots[key] == _NO_SLOT:
            return None
        vector: NDArray[np.float32] = self._vectors[self._slots[key]].copy()
        vector.setflags(write=False)
        return vector

    def search(self, query: Vector, k: int, without: Rows = _NOTHING) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and cosines of at least the `k` most similar vectors, best first.

        All that tie with the k-th are returned too, for the caller to break the tie.

        Args:
            query: a vector.
            k: how many.
            without: keys that do not count.
        """
        hidden = self._slots[without[self._holds(without)]]
        k = min(k, self._size - hidden.size)
        if k < 1:
            return np.empty(0, dtype=np.int64), np.empty(0)
        vector = self._checked_query(query)
        rough = self._cosines(vector, slice(0, self._size))
        rough[hidden] = -np.inf
        kth_best = np.partition(rough, self._size - k)[self._size - k]
        # The product is exact to its rounding error only; within it the order is settled in double precision.
        candidates = np.flatnonzero(rough >= kth_best - _ROUNDING_ERROR)
        scores = exact_cosines(self._vectors[candidates], vector)
        best = candidates[order := np.argsort(-scores, kind="stable")]
        scores = scores[order]
        wanted = scores >= scores[k - 1]
        return self._keys[best[wanted]], scores[wanted]

    def search_batch(
        self, queries: Sequence[Vector], k: int, without: Rows = _NOTHING
    ) -> list[tuple[Rows, NDArray[np.float64]]]:
        """Return what `search` returns for each query."""
        return [self.search(query, k, without) for query in queries]

    def similarities(self, query: Vector, keys: Rows) -> NDArray[np.float32]:
        """Return the cosine of `query` with the vector of each key, 0 for a key without one."""
        known = self._holds(keys)
        scores = np.zeros(keys.size, dtype=np.float32)
        if known.any():
            scores[known] = self._cosines(self._checked_query(query), self._slots[keys[known]])
        return scores

    def _holds(self, keys: Rows) -> NDArray[np.bool_]:
        """Return which keys have a vector."""
        known = np.zeros(keys.size, dtype=np.bool_)
        within = keys < self._slots.size
        known[within] = self._slots[keys[within]] != _NO_SLOT
        return known

    def _checked_query(self, query: Vector) -> NDArray[np.float32]:
        vector = as_vector(query)
        self.check(vector, "the query")
        return vector

    def _cosines(self, query: NDArray[np.float32], slots: slice | Rows) -> NDArray[np.float32]:
        norm = float(np.linalg.norm(query.astype(np.float64)))
        scores = self._vectors[slots] @ (query / norm if norm else query)
        return np.clip(scores * self._inverse_norms[slots], -1, 1)

    def _reserve(self, keys: int, slots: int, dimension: int) -> None:
        if keys > self._slots.size:
            grown = np.full(max(keys, 2 * self._slots.size), _NO_SLOT, dtype=np.int64)
            grown[: self._slots.size] = self._slots
            self._slots = grown
        if slots > len(self._vectors):
            capacity = max(slots, 2 * len(self._vectors))
            self._vectors = _grown(self._vectors, self._size, (capacity, dimension))
            self._inverse_norms = _grown(self._inverse_norms, self._size, (capacity,))
            self._keys = _grown(self._keys, self._size, (capacity,))


class OverlaidEmbeddingStore(EmbeddingStore):
    """Vectors of some keys in the place of those they have in another store: what the vectors once were."""

    def __init__(self, base: VectorIndex, changed: Rows) -> None:
        super().__init__()
        self._base = base
        self._changed = changed
        self._is_changed = frozenset(changed.tolist())

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

    def search(self, query: Vector, k: int, without: Rows = _NOTHING) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and cosines of at least the `k` most similar vectors, best first; see EmbeddingStore."""
        found = self._base.search(query, k, np.union1d(self._changed, without)), super().search(query, k, without)
        keys, scores = (np.concatenate(columns) for columns in zip(*found, strict=True))
        order = np.argsort(-scores, kind="stable")
        return keys[order], scores[order]

    def similarities(self, query: Vector, keys: Rows) -> NDArray[np.float32]:
        """Return the cosine of `query` with the vector of each key, 0 for a key without one."""
        own = np.isin(keys, self._changed)
        scores: NDArray[np.float32] = np.where(
            own, super().similarities(query, keys), self._base.similarities(query, keys)
        )
        return scores


def _grown(array: NDArray[Any], size: int, shape: tuple[int, ...]) -> NDArray[Any]:
    """Return an array of `shape` that begins with the first `size` entries of `array`."""
    grown = np.zeros(shape, dtype=array.dtype)
    if size:
        grown[:size] = array[:size]
    return grown

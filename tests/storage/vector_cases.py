"""Vectors for tests, and a slow search."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore
from neurogated.utils.vector_utils import cosine_similarity

Floats = NDArray[np.float32]
DIGITS = 12


def small_store(exact_below: int = 16) -> EmbeddingStore:
    """Return a store that makes codes for few vectors."""
    return EmbeddingStore(exact_below=exact_below, tail=2)


def clusters(count: int, dimension: int = 32, seed: int = 0) -> Floats:
    """Return vectors around centres, twenty for each."""
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((max(1, count // 20), dimension))
    vectors = centres[rng.integers(len(centres), size=count)] + 0.5 * rng.standard_normal((count, dimension))
    return vectors.astype(np.float32)


def rows(keys: object) -> Rows:
    return np.array(sorted(keys), dtype=np.int64)  # type: ignore[call-overload]


def brute_force(entries: Mapping[int, Floats], query: Floats, k: int) -> list[tuple[float, int]]:
    """Return the k best as (cosine, key), best first, ties in order of key."""
    if not entries:
        return []
    # The order of a sum changes its last digits.
    cosines = cosine_similarity(query, np.stack(list(entries.values()))).round(DIGITS).tolist()
    return sorted(zip(cosines, entries, strict=True), key=lambda pair: (-pair[0], pair[1]))[:k]


def found(store: EmbeddingStore, query: Floats, k: int, without: object = ()) -> list[tuple[float, int]]:
    """Return the results of a search in the form of `brute_force`."""
    keys, scores = store.search(query, k, rows(without))
    return sorted(zip(scores.round(DIGITS).tolist(), keys.tolist(), strict=True), key=lambda pair: (-pair[0], pair[1]))[
        :k
    ]

"""Centroids of clusters of vectors, for an index that searches only the clusters nearest to a query."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from neurogated.storage.index.vectors.faiss_library import load_faiss
from neurogated.utils.background import Stopped

Floats = NDArray[np.float32]

# Rounds of Lloyd's algorithm; more rounds do not improve recall measurably.
_ROUNDS = 5
# How many vectors are compared with all centroids between two checks of `stop`.
_AT_ONCE = 8192


def spherical_kmeans(sample: Floats, count: int, rng: np.random.Generator, stop: Callable[[], bool]) -> Floats:
    """Return about `count` unit centroids (n, d) of clusters of `sample` (m, d), whose rows are unit vectors.

    The clustering has two levels of about the square root of `count` clusters each, which is far quicker than one
    level. A final round over all centroids corrects the result (k-means by cosine: Dhillon and Modha, 2001).

    Raises:
        Stopped: `stop` became true.
    """
    count = min(count, len(sample))
    groups = _lloyd(sample, _drawn(sample, round(math.sqrt(count)), rng), _ROUNDS, stop)
    members = nearest_centroids(sample, groups, stop)
    centres = []
    for group in np.unique(members).tolist():
        own = sample[members == group]
        share = max(1, round(count * len(own) / len(sample)))
        centres.append(_lloyd(own, _drawn(own, share, rng), _ROUNDS, stop))
    return _lloyd(sample, np.concatenate(centres), 1, stop)


def nearest_centroids(vectors: Floats, centroids: Floats, stop: Callable[[], bool]) -> NDArray[np.int64]:
    """Return the number of the centroid (n, d) with the largest inner product with each vector (m, d)."""
    return np.concatenate([nearest for _, nearest in _assigned(vectors, centroids, stop)])


def _assigned(
    vectors: Floats, centroids: Floats, stop: Callable[[], bool]
) -> Iterator[tuple[Floats, NDArray[np.int64]]]:
    faiss = load_faiss()
    index = faiss.IndexFlatIP(centroids.shape[1])
    index.add(centroids)
    for begin in range(0, len(vectors), _AT_ONCE):
        if stop():
            raise Stopped
        chunk = vectors[begin : begin + _AT_ONCE]
        yield chunk, index.search(chunk, 1)[1][:, 0]


def _drawn(sample: Floats, count: int, rng: np.random.Generator) -> Floats:
    return sample[rng.choice(len(sample), min(count, len(sample)), replace=False)]


def _lloyd(sample: Floats, centroids: Floats, rounds: int, stop: Callable[[], bool]) -> Floats:
    """Move each centroid to the mean direction of its nearest vectors; a centroid without any stays."""
    for _ in range(rounds):
        sums = np.zeros_like(centroids)
        for chunk, nearest in _assigned(sample, centroids, stop):
            order = np.argsort(nearest, kind="stable")
            used, begins = np.unique(nearest[order], return_index=True)
            sums[used] += np.add.reduceat(chunk[order], begins, axis=0)
        lengths = np.linalg.norm(sums, axis=1, keepdims=True)
        centroids = np.where(lengths > 0, sums / np.where(lengths > 0, lengths, 1), centroids)
    return centroids

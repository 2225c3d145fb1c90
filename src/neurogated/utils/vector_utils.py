"""Cosine similarity, alone and for the k nearest of many."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.errors import InputError


def _unit_rows(vectors: ArrayLike) -> NDArray[np.float64]:
    matrix = np.atleast_2d(np.asarray(vectors, dtype=np.float64))
    norms = np.linalg.norm(matrix, axis=1, keepdims=True)
    unit: NDArray[np.float64] = np.divide(matrix, norms, out=np.zeros_like(matrix), where=norms > 0)
    return unit


def cosine_similarity(left: ArrayLike, right: ArrayLike) -> NDArray[np.float64]:
    """Return the cosine of every row of `left` with every row of `right`.

    Args:
        left: (n, d) or (d,) numbers.
        right: (m, d) or (d,) numbers; an empty list means no vectors.

    Returns:
        (n, m) float64 between -1 and 1; 0 for a row of zeros. As in numpy's matrix product, a (d,) argument adds no
        axis: a vector and m rows give (m,), two vectors give one number.

    Raises:
        InputError: the dimensions differ.
    """
    rows, columns = _unit_rows(left), _unit_rows(right)
    is_one = np.ndim(left) == 1, np.ndim(right) == 1 and columns.size > 0
    if not columns.size:
        columns = columns.reshape(0, rows.shape[1])
    if rows.shape[1] != columns.shape[1]:
        raise InputError(f"vectors of dimension {rows.shape[1]} and {columns.shape[1]} cannot be compared")
    cosines = np.clip(rows @ columns.T, -1.0, 1.0)
    chosen: NDArray[np.float64] = cosines[tuple(0 if one else slice(None) for one in is_one)]
    return chosen


def exact_cosines(vectors: NDArray[Any], query: NDArray[Any]) -> NDArray[np.float64]:
    """Return the cosine of each row of `vectors` (n, d) with `query` (d,), in double precision.

    Each row is summed by itself, so its cosine does not depend on the other rows, to the last bit. A matrix product
    does not guarantee that.
    """
    rows, target = vectors.astype(np.float64, copy=False), query.astype(np.float64, copy=False)
    # vecdot computes row by row; unlike a matrix product, it starts no threads for a few rows.
    norms = np.sqrt(np.vecdot(rows, rows) * np.vecdot(target, target))
    norms[norms == 0] = np.inf
    cosines: NDArray[np.float64] = np.vecdot(rows, target) / norms
    return np.minimum(np.maximum(cosines, -1.0), 1.0)


def top_k(scores: NDArray[np.floating], k: int) -> NDArray[np.intp]:
    """Return the positions of the `k` largest `scores`, best first, equal scores in order of position."""
    k = min(k, len(scores))
    if k <= 0:
        return np.empty(0, dtype=np.intp)
    # argpartition breaks ties arbitrarily, so all scores that tie with the k-th best are candidates.
    kth_best = np.partition(scores, len(scores) - k)[len(scores) - k]
    candidates = np.flatnonzero(scores >= kth_best)
    return candidates[np.argsort(-scores[candidates], kind="stable")][:k]


def retrieve_knn(queries: ArrayLike, keys: ArrayLike, k: int) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Return the `k` rows of `keys` most similar to each query by cosine.

    Returns:
        Positions (q, min(k, n)) and their cosines, best first, equal cosines in order of position.
    """
    cosines = cosine_similarity(np.atleast_2d(queries), np.atleast_2d(keys))
    if not cosines.size:
        shape = len(cosines), min(k, cosines.shape[1])
        return np.empty(shape, dtype=np.intp), np.empty(shape)
    positions = np.stack([top_k(row, k) for row in cosines])
    return positions, np.take_along_axis(cosines, positions, axis=1)

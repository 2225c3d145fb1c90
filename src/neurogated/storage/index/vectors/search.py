"""Search in one state of the vectors: among all, or among candidates of the approximate index and the newest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.vectors.matrix import Floats
from neurogated.storage.index.vectors.state import SearchOptions, VectorState
from neurogated.utils.vector_utils import exact_cosines

Found = tuple[Rows, NDArray[np.float64]]
"""Keys and cosines, best first."""

# Bound on the rounding error of a single-precision cosine of some thousand dimensions.
_ROUNDING_ERROR = 1e-5
# The index compares quantised vectors, so this many more candidates are fetched to order those near the k-th right.
_SPARE = 16
# How many cosines are computed in one batch, 4 bytes each.
_AT_ONCE = 2**24
# How many vectors are gathered in one batch; some MB.
_GATHERED = 4096
# If less than one vector in this many is admitted, all admitted vectors are compared exactly.
_SCATTERED = 16
# Up to this many vectors for each wanted one, exact cosines of all are quicker than a choice by approximate ones.
_FEW = 4
# The factor by which the number of scanned lists grows when too few eligible vectors were found.
_WIDENING = 4


def nearest(
    state: VectorState, queries: Floats, k: int, options: SearchOptions, *, without: Rows, among: Rows | None = None
) -> list[Found]:
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
        if _SCATTERED * count < slots.size:
            return [_best_of(state, query, min(k, count), admitted) for query in queries]
        eligible = np.zeros_like(slots.alive)
        eligible[admitted] = True
    k = min(k, count)
    if k < 1:
        return [(np.empty(0, dtype=np.int64), np.empty(0))] * len(queries)
    at_once = max(1, _AT_ONCE // slots.size)
    found: list[Found] = []
    for begin in range(0, len(queries), at_once):
        chunk = queries[begin : begin + at_once]
        if state.lists is None or count <= options.exact_below:
            found += _exact(state, chunk, k, eligible, count)
        else:
            found += _approximate(state, chunk, k, eligible, options)
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


def _exact(state: VectorState, queries: Floats, k: int, eligible: NDArray[np.bool_], count: int) -> list[Found]:
    size = state.slots.size
    if 2 * count < size:
        slots = np.flatnonzero(eligible)
        return [_best_of(state, query, k, slots) for query in queries]
    scores = state.matrix.scan(_units(queries), 0, size)
    if count < size:
        scores[:, ~eligible] = -np.inf
    return [_best(state, query, k, _promising(row, k).nonzero()[0]) for query, row in zip(queries, scores, strict=True)]


def _approximate(
    state: VectorState, queries: Floats, k: int, eligible: NDArray[np.bool_], options: SearchOptions
) -> list[Found]:
    lists, size, units = state.lists, state.slots.size, _units(queries)
    assert lists is not None  # noqa: S101 - the caller checked it
    # The index omits vectors removed before it was built. If all slots count, searching without a selector is quicker.
    whole = state.slots.living == size and eligible is state.slots.alive
    chosen = None if whole else np.packbits(eligible, bitorder="little")
    tail = lists.end + np.flatnonzero(eligible[lists.end :])
    tail_scores = state.matrix.scan(units, lists.end, size)[:, tail - lists.end]
    probes = options.probes
    while True:
        proposed = lists.search(units, k + k // 2 + _SPARE, probes, chosen)
        least = (proposed >= 0).sum(axis=1).min() + tail.size
        if least >= k or probes >= lists.index.nlist:
            break
        probes *= _WIDENING
    found = []
    for query, row, scores in zip(queries, proposed, tail_scores, strict=True):
        # Of the unindexed tail, only its own best are candidates.
        newest = tail[_promising(scores, k)] if tail.size > k else tail
        slots = np.concatenate((np.sort(row[row >= 0]), newest))
        found.append(_best(state, query, k, slots))
    return found


def _best_of(state: VectorState, query: Floats, k: int, slots: Rows) -> Found:
    """Return the `k` best of `slots` and all ties; `slots` has at least `k`."""
    if k < 1:
        return np.empty(0, dtype=np.int64), np.empty(0)
    if slots.size > _FEW * k:
        slots = slots[_promising(state.matrix.cosines(_unit(query), slots), k)]
    return _best(state, query, k, slots)


def _promising(rough: Floats, k: int) -> NDArray[np.bool_]:
    """Return which approximate cosines may be among the `k` highest exact ones."""
    promising: NDArray[np.bool_] = rough >= np.partition(rough, rough.size - k)[rough.size - k] - _ROUNDING_ERROR
    return promising


def _best(state: VectorState, query: Floats, k: int, slots: Rows) -> Found:
    """Return the `k` best of `slots` by exact cosine, and all ties."""
    scores = _exact_cosines(state, query, slots)
    order = np.argsort(-scores, kind="stable")
    slots, scores = slots[order], scores[order]
    wanted = scores >= scores[k - 1]
    return state.slots.keys_of(slots[wanted]), scores[wanted]


def _unit(query: Floats) -> Floats:
    norm = float(np.linalg.norm(query.astype(np.float64)))
    return query / np.float32(norm) if norm else query


def _units(queries: Floats) -> Floats:
    return np.stack([_unit(query) for query in queries])

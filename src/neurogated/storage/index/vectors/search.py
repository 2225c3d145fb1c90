"""Search in one state of the vectors: among all, or among candidates of the approximate index and the newest."""

from __future__ import annotations

import math

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
# How many vectors codes propose at first. They suffice if the k-th best is this many standard errors of the codes above
# the last proposal; else codes propose so many times as many.
_PROPOSED, _ERRORS, _MORE = 200, 1.5, 8
# Gathering a vector takes as long as comparing this many consecutive ones.
_GATHERING = 8
# How many cosines are computed in one batch, 4 bytes each.
_AT_ONCE = 2**24
# How many vectors are gathered in one batch; some MB.
_GATHERED = 4096
# If less than one vector in this many is admitted, all admitted vectors are compared exactly.
_SCATTERED = 16
# Up to this many vectors for each wanted one, exact cosines of all are quicker than a choice by approximate ones.
_FEW = 4


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
        if state.codes is None or count <= options.exact_below:
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


def _exact(state: VectorState, queries: Floats, k: int, eligible: NDArray[np.bool_], count: int) -> list[Found]:
    size = state.slots.size
    if 2 * count < size:
        slots = np.flatnonzero(eligible)
        return [_best_of(state, query, k, slots) for query in queries]
    scores = state.matrix.scan(_units(queries), 0, size)
    if count < size:
        scores[:, ~eligible] = -np.inf
    return [_best(state, query, k, _promising(row, k).nonzero()[0]) for query, row in zip(queries, scores, strict=True)]


def _approximate(state: VectorState, query: Floats, k: int, eligible: NDArray[np.bool_]) -> Found:
    """Return the `k` best and all ties that were found, by as many proposals as their errors demand."""
    codes, size, unit = state.codes, state.slots.size, _unit(query)
    assert codes is not None  # noqa: S101 - the caller checked it
    # The index omits vectors removed before it was built. If all slots count, searching without a selector is quicker.
    whole = state.slots.living == size and eligible is state.slots.alive
    chosen = None if whole else np.packbits(eligible, bitorder="little")
    newest = codes.end + np.flatnonzero(eligible[codes.end :])
    newest_scores = state.matrix.scan(unit[None], codes.end, size)[0, newest - codes.end]
    few = _PROPOSED + 2 * k
    for count in (few, _MORE * few):
        if _GATHERING * count >= size:
            break
        slots, rough = codes.search(unit, count, chosen)
        scores = state.matrix.cosines(unit, slots)
        error = math.sqrt(float(np.mean(np.square(scores - rough)))) if slots.size else 0.0
        slots, scores = np.concatenate((slots, newest)), np.concatenate((scores, newest_scores))
        is_sure = rough.size < count or np.partition(scores, scores.size - k)[-k] >= rough[-1] + _ERRORS * error
        if is_sure or count > few:
            return _best(state, query, k, np.sort(slots[_promising(scores, k)]))
    return _exact(state, query[None], k, eligible, int(np.count_nonzero(eligible)))[0]


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

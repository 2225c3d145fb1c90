"""How far a measured figure can be trusted: paired bootstrap of a difference, spread over parts of a data set."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.errors import InputError

__all__ = ["FOLDS", "LEVEL", "ROUNDS", "Interval", "Spread", "paired_bootstrap", "spread_over"]

ROUNDS = 10_000
"""Resamples of a bootstrap."""
LEVEL = 0.95
"""Confidence of an interval."""
FOLDS = 5
"""Random parts of a data set that has a single collection."""

_DRAWS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean difference and the interval it lies in, in the units of what was compared; low ≤ mean ≤ high."""

    mean: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether 0 lies outside, so that chance alone hardly explains the difference."""
        return self.low > 0 or self.high < 0

    def __neg__(self) -> Interval:
        return Interval(-self.mean, -self.high, -self.low)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and sample standard deviation of a figure over parts of a data set."""

    over: str
    """What the parts are, such as `5 collections`."""
    mean: NDArray[np.float64]
    """(columns,) mean of the parts' means."""
    deviation: NDArray[np.float64]
    """(columns,) standard deviation of the parts' means, with n - 1."""


def paired_bootstrap(
    a: ArrayLike, b: ArrayLike, *, rounds: int = ROUNDS, seed: int = 0, level: float = LEVEL
) -> Interval:
    """Return the mean of `a` - `b` and its percentile interval over resampled pairs.

    The same resamples are drawn for the same number of pairs, so exchanging `a` and `b` turns the interval over.
    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.

    Args:
        a: (n,) a figure a question.
        b: (n,) the same questions measured otherwise, in the same order.
        rounds: how many resamples.
        seed: of the random generator.
        level: share of the resampled means inside the interval, above 0 and below 1.

    Raises:
        InputError: the two are not lists of the same length ≥ 1, or `rounds` or `level` is out of range.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not first.size:
        raise InputError(
            f"figures of shapes {first.shape} and {second.shape} do not pair; give two lists of one length"
        )
    if rounds < 1 or not 0 < level < 1:
        raise InputError(f"rounds is {rounds} and level {level}; there must be a round, and a level between 0 and 1")
    differences = first - second
    if not differences.any():
        return Interval(0.0, 0.0, 0.0)
    generator, count = np.random.default_rng(seed), differences.size
    step = max(1, _DRAWS_AT_ONCE // count)
    sizes = [min(step, rounds - begin) for begin in range(0, rounds, step)]
    means = np.concatenate([differences[generator.integers(count, size=(size, count))].mean(axis=1) for size in sizes])
    tail = (1 - level) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    mean = float(differences.mean())
    # Sums in another order may miss the mean of equal differences by a rounding error.
    return Interval(mean, min(float(low), mean), max(float(high), mean))


def spread_over(figures: NDArray[np.float64], collections: Sequence[Hashable], *, seed: int = 0) -> Spread | None:
    """Return how the columns' means vary from part to part, None where there is but one question.

    The parts are the collections where there are several, else `FOLDS` random folds of nearly equal size.

    Args:
        figures: (questions, columns).
        collections: (questions,) which collection each question belongs to.
        seed: of the random folds.
    """
    names = list(dict.fromkeys(collections))
    if len(names) > 1:
        owner = np.array([names.index(name) for name in collections])
        parts = [np.flatnonzero(owner == place) for place in range(len(names))]
        over = f"{len(parts)} collections"
    else:
        shuffled = np.random.default_rng(seed).permutation(len(figures))
        parts = np.array_split(shuffled, min(FOLDS, len(figures))) if len(figures) else []
        over = f"{len(parts)} random folds"
    if len(parts) <= 1:
        return None
    means = np.array([figures[part].mean(axis=0) for part in parts])
    return Spread(over, means.mean(axis=0), means.std(axis=0, ddof=1))

"""Uncertainty of a measured figure: paired bootstrap of a difference, and spread over parts of a data set."""

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
"""Confidence level of an interval."""
FOLDS = 5
"""Random parts of a data set with a single collection."""

_DRAWS_AT_ONCE = 1_000_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A mean difference and its confidence interval, in the units of the compared figures; low ≤ mean ≤ high."""

    mean: float
    low: float
    high: float

    @property
    def certain(self) -> bool:
        """Whether the interval excludes 0, so that chance hardly explains the difference."""
        return self.low > 0 or self.high < 0

    def __neg__(self) -> Interval:
        return Interval(-self.mean, -self.high, -self.low)


@dataclass(frozen=True, slots=True)
class Spread:
    """Mean and sample standard deviation of a figure over parts of a data set."""

    over: str
    """Name of the parts, such as `5 collections`."""
    mean: NDArray[np.float64]
    """(columns,) mean of the parts' means."""
    deviation: NDArray[np.float64]
    """(columns,) standard deviation of the parts' means, with n - 1."""


def paired_bootstrap(
    a: ArrayLike, b: ArrayLike, *, rounds: int = ROUNDS, seed: int = 0, level: float = LEVEL
) -> Interval:
    """Return the mean of `a` - `b` and its percentile interval over resampled pairs.

    Equal numbers of pairs give equal resamples, so exchanging `a` and `b` mirrors the interval.
    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.

    Args:
        a: (n,) one figure per question.
        b: (n,) the same questions in another configuration, in the same order.
        rounds: the number of resamples.
        seed: of the random generator.
        level: confidence level, above 0 and below 1.

    Raises:
        InputError: the two are not lists of the same length ≥ 1, or `rounds` or `level` is out of range.
    """
    first, second = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if first.ndim != 1 or first.shape != second.shape or not first.size:
        raise InputError(
            f"figures of shapes {first.shape} and {second.shape} do not pair; give two lists of one length"
        )
    if rounds < 1 or not 0 < level < 1:
        raise InputError(f"rounds is {rounds} and level {level}; rounds must be at least 1, and level between 0 and 1")
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
    # Rounding may push the mean of equal differences just outside their percentiles.
    return Interval(mean, min(float(low), mean), max(float(high), mean))


def spread_over(figures: NDArray[np.float64], collections: Sequence[Hashable], *, seed: int = 0) -> Spread | None:
    """Return how the columns' means vary over parts of the data set; None for fewer than two questions.

    The parts are the collections if there are several, else `FOLDS` random folds of nearly equal size.

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

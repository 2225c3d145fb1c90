"""The paired bootstrap of a difference, shared by the benchmarks."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

ROUNDS = 10_000
LEVEL = 0.95
_DRAWS_AT_ONCE = 1_000_000


class Interval(NamedTuple):
    """A mean difference and its 95 % interval, in the units of the compared figures."""

    mean: float
    low: float
    high: float

    def __str__(self) -> str:
        text = f"{self.mean:+.1f} [{self.low:+.1f}, {self.high:+.1f}]"
        return f"**{text}**" if self.low > 0 or self.high < 0 else text


def paired_bootstrap(a: ArrayLike, b: ArrayLike) -> Interval:
    """Return the mean of `a` - `b`, two lists of one figure per question, and its percentile interval.

    Source: Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13.
    """
    differences = np.asarray(a, dtype=np.float64) - np.asarray(b, dtype=np.float64)
    generator, count = np.random.default_rng(0), differences.size
    step = max(1, _DRAWS_AT_ONCE // count)
    sizes = [min(step, ROUNDS - begin) for begin in range(0, ROUNDS, step)]
    means = np.concatenate([differences[generator.integers(count, size=(size, count))].mean(axis=1) for size in sizes])
    tail = (1 - LEVEL) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(differences.mean()), float(low), float(high))

"""Plain searches of the same memory, and whether a difference from them is more than chance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.core.filters import Filter
from neurogated.memory import NeuroGraphMemory

BASELINES = ("dense", "bm25", "hybrid")
"""The cosine of the vectors; BM25 over the keywords of the memory; half of each, both scaled to 0–1."""
_ROUNDS = 10_000
_LEVEL = 0.95
_DRAWS_AT_ONCE = 1_000_000


def searched(
    memory: NeuroGraphMemory, query: str, baseline: str, filters: Filter | None = None, most: int | None = None
) -> list[str]:
    """Return the ids of the nodes that a filter admits, best first by one of `BASELINES`, at most so many.

    The vectors and keywords are those of the memory, so that only the ranking differs.
    """
    seen = memory.store.reader(filters=filters)
    rows = seen.view.live_nodes()
    rows = rows[seen.view.admitted(rows)]
    score = np.zeros(rows.size)
    if baseline != "bm25" and rows.size:
        score += _scaled(seen.similarities(memory.session.parts.embedder.embed_queries([query])[0], rows))
    if baseline != "dense" and rows.size:
        score += _scaled(seen.keyword_scores(query, rows))
    return [seen.view.ids[row] for row in rows[np.argsort(-score, kind="stable")[:most]].tolist()]


def _scaled(values: NDArray[np.float64]) -> NDArray[np.float64]:
    span = float(np.ptp(values))
    return (values - values.min()) / span if span else np.zeros(values.size)


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
    sizes: Sequence[int] = [min(step, _ROUNDS - begin) for begin in range(0, _ROUNDS, step)]
    means = np.concatenate([differences[generator.integers(count, size=(size, count))].mean(axis=1) for size in sizes])
    tail = (1 - _LEVEL) / 2
    low, high = np.quantile(means, (tail, 1 - tail))
    return Interval(float(differences.mean()), float(low), float(high))

"""Functions shared by the measurements."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Any

from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.memories import GivenVectors
from benchmarks.synthetic import Asked, Synthetic

__all__ = ["measured", "quantile", "questions", "seconds_of"]


def measured(
    benchmark: BenchmarkFixture, act: Callable[..., Any], each: Iterable[tuple[Any, ...]], rounds: int
) -> list:
    """Measure `act` on `rounds` arguments of `each`, after a tenth as many to warm up; return its results."""
    arguments, returned = iter(each), []

    def run(*values: Any) -> None:  # noqa: ANN401
        returned.append(act(*values))

    warm_up = max(1, rounds // 10)
    for values in islice(arguments, warm_up):
        act(*values)
    benchmark.pedantic(run, setup=lambda: (next(arguments), {}), rounds=rounds)
    benchmark.extra_info["least"] = min(benchmark.stats.stats.data)
    benchmark.extra_info["p95"] = quantile(benchmark.stats.stats.data, 0.95)
    return returned


def seconds_of(act: Callable[..., Any], each: Iterable[tuple[Any, ...]], rounds: int) -> float:
    """Return the median of the seconds that `act` takes on `rounds` arguments, after one to warm up."""
    seconds = []
    for values in islice(each, rounds + 1):
        begin = time.perf_counter()
        act(*values)
        seconds.append(time.perf_counter() - begin)
    return statistics.median(seconds[1:])


def quantile(values: Iterable[float], share: float) -> float:
    """Return the quantile `share` of the values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def questions(synthetic: Synthetic, embedder: GivenVectors, seed: int) -> Iterable[Asked]:
    """Yield questions whose vectors the embedder knows."""
    for asked in synthetic.ask(seed):
        embedder.give(asked.text, asked.vector)
        yield asked

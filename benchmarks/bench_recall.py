"""Whole recalls without the embedding of the question: single, batched, and concurrent."""

from __future__ import annotations

import asyncio
import json
import shutil
import statistics
import subprocess
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pytest_benchmark.fixture import BenchmarkFixture
from threadpoolctl import threadpool_limits

from benchmarks.baselines import hops, keyword_search, terms_in, vector_search
from benchmarks.measuring import measured, questions
from benchmarks.memories import GivenVectors
from benchmarks.synthetic import Asked, Synthetic
from neurogated import NeuroGraphMemory

RECALLS = 300
WANTED, ANCHORS = 10, 5
TOGETHER = 32
AT_ONCE = 8
TICK = 0.001
"""Seconds between checks that the event loop runs."""
REPEATS = 5


def test_recall(
    benchmark: BenchmarkFixture, memory: NeuroGraphMemory, synthetic: Synthetic, embedder: GivenVectors
) -> None:
    asked = questions(synthetic, embedder, 3)
    answered = measured(benchmark, lambda one: (one.node, memory.recall(one.text)), ((one,) for one in asked), RECALLS)
    recalls = [recall for _, recall in answered]
    found = [f"n{node}" in recall.ids for node, recall in answered]
    benchmark.extra_info["found"] = float(np.mean(found))
    assert benchmark.extra_info["found"] > 0.9
    for stage in recalls[0].seconds:
        benchmark.extra_info[stage] = statistics.median(recall.seconds[stage] for recall in recalls)


def test_recall_and_its_essential_parts(
    benchmark: BenchmarkFixture, memory: NeuroGraphMemory, synthetic: Synthetic, embedder: GivenVectors
) -> None:
    """A recall and what no recall can do without, in turn and on one thread, in processor time of the thread.

    The essential parts are exact vector search by numpy, BM25 over a matrix, and two hops over compressed sparse rows.
    """
    nearest, keywords, spread = vector_search(synthetic, WANTED), keyword_search(synthetic), hops(synthetic)
    seconds = defaultdict[str, list[float]](list)

    def timed(what: str, act: Callable[..., Any], *values: object) -> Any:  # noqa: ANN401
        begin = time.thread_time()
        found = act(*values)
        seconds[what].append(time.thread_time() - begin)
        return found

    def both(one: Asked) -> None:
        timed("recall", memory.recall, one.text)
        best = timed("numpy", nearest, one.vector)
        timed("matrix", keywords, terms_in(one.text), WANTED)
        timed("hops", spread, best[:ANCHORS])

    with threadpool_limits(1):
        measured(benchmark, both, ((one,) for one in questions(synthetic, embedder, 3)), RECALLS)
    medians = {what: statistics.median(some) for what, some in seconds.items()}
    benchmark.extra_info |= medians | {"ratio": medians["recall"] / (sum(medians.values()) - medians["recall"])}


def test_retrieve_batch(
    benchmark: BenchmarkFixture, memory: NeuroGraphMemory, synthetic: Synthetic, embedder: GivenVectors
) -> None:
    """32 questions in one batch; `one by one` is the time of 32 recalls."""
    batches = _batches(synthetic, embedder, TOGETHER)
    together = measured(benchmark, memory.retrieve_batch, ((batch,) for batch in batches), REPEATS)
    assert all(len(found) == TOGETHER for found in together)
    alone = [_seconds(memory.retrieve, batch) for batch in islice(batches, REPEATS)]
    benchmark.extra_info["one by one"] = statistics.median(alone)


def test_arecall(
    benchmark: BenchmarkFixture, memory: NeuroGraphMemory, synthetic: Synthetic, embedder: GivenVectors
) -> None:
    """Eight `arecall`s at once; `one by one`: the same in sequence; `lag`: the longest stall of the event loop."""
    batches = _batches(synthetic, embedder, AT_ONCE)

    async def at_once(batch: list[str]) -> float:
        recalls = asyncio.gather(*(memory.aio.recall(text) for text in batch))
        lag, begin = 0.0, time.perf_counter()
        while not recalls.done():
            # A loop that never slept would itself block the recalls.
            await asyncio.sleep(TICK)
            begin, before = time.perf_counter(), begin
            lag = max(lag, begin - before - TICK)
        assert [recall.query for recall in recalls.result()] == batch
        return lag

    lags = measured(benchmark, lambda batch: asyncio.run(at_once(batch)), ((batch,) for batch in batches), REPEATS)
    alone = [_seconds(memory.recall, batch) for batch in islice(batches, REPEATS)]
    benchmark.extra_info |= {"one by one": statistics.median(alone), "lag": statistics.median(lags)}


def _batches(synthetic: Synthetic, embedder: GivenVectors, size: int) -> Iterator[list[str]]:
    asked = questions(synthetic, embedder, 4)
    while True:
        yield [one.text for one in islice(asked, size)]


def _seconds(ask: Callable[[str], object], batch: list[str]) -> float:
    begin = time.perf_counter()
    for text in batch:
        ask(text)
    return time.perf_counter() - begin


def test_chroma(benchmark: BenchmarkFixture, pytestconfig: pytest.Config, cache: Path, synthetic: Synthetic) -> None:
    """Chroma on the same vectors, in its own process; the figures are in the extra information."""
    python = pytestconfig.getoption("chroma")
    if python is None:
        pytest.skip("no Python with chromadb was given as --chroma")
    script, vectors = Path(__file__).with_name("chroma.py"), cache / "data" / f"{synthetic.nodes}" / "vectors.npy"
    folder = cache / "chroma"
    shutil.rmtree(folder, ignore_errors=True)
    words = [python, script, vectors, folder]
    done = benchmark.pedantic(subprocess.run, (words,), {"check": True, "capture_output": True, "text": True})
    benchmark.extra_info |= json.loads(done.stdout.splitlines()[-1])
    shutil.rmtree(folder)

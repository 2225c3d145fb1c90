"""Writes: a text added and found, the cost of a text in a small and a large memory, feedback, decay."""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterator
from datetime import timedelta
from itertools import islice
from pathlib import Path

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import measured, questions
from benchmarks.memories import GivenVectors, built, bytes_in, copied, open_memory
from benchmarks.synthetic import Synthetic
from neurogated import NeuroGraphMemory
from neurogated.core.clock import utc_now

SMALL = 1000
"""Size of the small memory."""
FEEDBACKS = 50
TIMED_ROUNDS = 5
IDLE = timedelta(days=30)


def _added(synthetic: Synthetic, embedder: GivenVectors, seed: int) -> Iterator[tuple[str, str]]:
    """Yield new texts, each with a question that it answers; the embedder knows their vectors."""
    for text, vector, asked in synthetic.new_texts(seed):
        embedder.give(text, vector)
        embedder.give(asked.text, asked.vector)
        yield text, asked.text


def test_cost_of_a_text(
    benchmark: BenchmarkFixture,
    pytestconfig: pytest.Config,
    cache: Path,
    folder: Path,
    synthetic: Synthetic,
    embedder: GivenVectors,
) -> None:
    """Texts in one batch, in the memory of all nodes and, `small`, in one of a thousand; seconds per text.

    Both are fresh copies. This benchmark comes first, so that no earlier additions are still being indexed.
    """
    count = pytestconfig.getoption("documents")
    texts = _added(synthetic, embedder, 6)
    batches = iter(lambda: [text for text, _ in islice(texts, count)], [])
    with copied(folder, cache / "large") as copy, open_memory(copy, embedder) as large:
        benchmark.pedantic(large.add_documents, setup=lambda: ((next(batches),), {}), rounds=3)
    benchmark.extra_info["a text"] = benchmark.stats.stats.median / count
    few = Synthetic(synthetic.edges[:0], *(column[:SMALL] for column in synthetic[1:]))
    with copied(built(cache, few), cache / "small") as copy, open_memory(copy, embedder) as small:
        benchmark.extra_info["small"] = statistics.median(_seconds(small, next(batches)) for _ in range(3)) / count


def test_pairs_of_add_and_recall(
    benchmark: BenchmarkFixture,
    pytestconfig: pytest.Config,
    changed: NeuroGraphMemory,
    synthetic: Synthetic,
    embedder: GivenVectors,
) -> None:
    """Each recall finds the text that was added before it."""

    def add_and_recall(text: str, question: str) -> bool:
        (node,) = changed.add_document(text)
        return node in changed.recall(question).ids

    found = measured(benchmark, add_and_recall, _added(synthetic, embedder, 5), pytestconfig.getoption("pairs"))
    benchmark.extra_info["found"] = sum(found) / len(found)
    assert all(found)


def test_feedback(
    benchmark: BenchmarkFixture, changed: NeuroGraphMemory, synthetic: Synthetic, embedder: GivenVectors
) -> None:
    found = ((changed.recall(one.text, top_n=5).ids,) for one in questions(synthetic, embedder, 8))
    strengthened = measured(benchmark, changed.feedback, found, FEEDBACKS)
    assert all(strengthened)


def test_maintenance(
    benchmark: BenchmarkFixture, pytestconfig: pytest.Config, cache: Path, folder: Path, embedder: GivenVectors
) -> None:
    """Rounds of decay, a day apart; the first few are timed; `growth` of the files."""
    rounds, moment = pytestconfig.getoption("rounds"), utc_now() + IDLE
    moments = iter([moment + timedelta(days=number) for number in range(rounds + 1)])
    with copied(folder, cache / "forgetting") as copy:
        before = bytes_in(copy)
        with open_memory(copy, embedder) as memory:
            edges = memory.store.view().live_edges().size
            faded = measured(benchmark, memory.maintenance, ((now,) for now in moments), min(TIMED_ROUNDS, rounds))
            faded += [memory.maintenance(now) for now in moments]
            assert 0 < sum(faded) <= edges
        benchmark.extra_info["growth"] = bytes_in(copy) / before - 1


def _seconds(memory: NeuroGraphMemory, texts: list[str]) -> float:
    begin = time.perf_counter()
    memory.add_documents(texts)
    return time.perf_counter() - begin

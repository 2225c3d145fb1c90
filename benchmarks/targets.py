"""The rows of the report: the targets with their limits by size, and further figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

__all__ = ["FIGURES", "TARGETS", "Figure", "Run", "Target"]

MILLI, KIBI, GIBI, PERCENT = 1e3, 2**10, 2**30, 100
SMALL, MIDDLE, LARGE = 10_000, 100_000, 1_000_000
EVERY = (SMALL, MIDDLE, LARGE)

Value = Callable[["Run"], float | None]


class Run:
    """The measurements at one size, as pytest-benchmark wrote them."""

    def __init__(self, written: Mapping[str, Any]) -> None:
        self.machine = written["machine_info"]
        self.nodes = int(self.machine["nodes"])
        self.when = str(written["datetime"])
        self._found = {one["name"]: one for one in written["benchmarks"]}

    def get(self, name: str, key: str | None = None) -> float | None:
        """Return the median seconds of a measurement, or a figure recorded with it; None if it was not run."""
        found = self._found.get(f"test_{name}")
        if found is None:
            return None
        return float(found["stats"]["median"]) if key is None else found["extra_info"].get(key)


class Figure(NamedTuple):
    """A figure in the report."""

    what: str
    unit: str
    value: Value


class Target(NamedTuple):
    """A figure with an upper or a lower limit."""

    figure: Figure
    limits: Mapping[int, float]
    """By size; at other sizes there is no limit."""
    at_least: bool = False

    def holds(self, run: Run) -> bool | None:
        """Return whether the target is met; None if there is no limit at this size or no measurement."""
        value, limit = self.figure.value(run), self.limits.get(run.nodes)
        if value is None or limit is None:
            return None
        return value >= limit if self.at_least else value <= limit


def _of(name: str, key: str | None = None, scale: float = 1.0) -> Value:
    def value(run: Run) -> float | None:
        found = run.get(name, key)
        return None if found is None else scale * found

    return value


def _ratio(over: Value, under: Value) -> Value:
    def value(run: Run) -> float | None:
        upper, lower = over(run), under(run)
        return None if upper is None or not lower else upper / lower

    return value


def _most(*values: Value) -> Value:
    """Return the largest of the measured values."""

    def value(run: Run) -> float | None:
        found = [measured for one in values if (measured := one(run)) is not None]
        return max(found, default=None)

    return value


def _a_node(run: Run) -> float | None:
    size = run.get("opening", "disk")
    return None if size is None else size / KIBI / run.nodes


def _growth(name: str) -> Value:
    return _ratio(_of(name, "a chunk"), _of(name, "a chunk of a tenth"))


def _everywhere(limit: float) -> dict[int, float]:
    return dict.fromkeys(EVERY, limit)


LONG = ("prose", "markdown")
RANDOM, HUBS = "two_hops_from_random_anchors", "three_hops_from_the_largest_hubs"

TARGETS = (
    Target(
        Figure("recall without embedding the question", "ms", _of("recall", None, MILLI)),
        {SMALL: 2, MIDDLE: 5, LARGE: 15},
    ),
    Target(Figure("recall ÷ its essential parts", "", _of("recall_and_its_essential_parts", "ratio")), {SMALL: 1.8}),
    Target(
        Figure("two-hop expansion from 5 random anchors", "ms", _of(RANDOM, None, MILLI)),
        {SMALL: 0.3, MIDDLE: 0.35, LARGE: 0.5},
    ),
    Target(Figure("opening until the first answer", "s", _of("opening", "answer")), {SMALL: 0.5, MIDDLE: 3, LARGE: 15}),
    Target(
        Figure("the same after `kill -9` of a writer", "s", _of("opening_after_a_kill", "answer")),
        {SMALL: 0.5, MIDDLE: 3, LARGE: 15},
    ),
    Target(
        Figure("two hops, speedup over a loop over dicts", "×", _ratio(_of(RANDOM, "dict loop"), _of(RANDOM))),
        _everywhere(1),
        at_least=True,
    ),
    Target(
        Figure("three hops from the 5 largest hubs, the same", "×", _ratio(_of(HUBS, "dict loop"), _of(HUBS))),
        {SMALL: 1, MIDDLE: 8, LARGE: 1},
        at_least=True,
    ),
    Target(Figure("mean displacement of their ten best by the cap", "", _of(HUBS, "displacement")), {MIDDLE: 1}),
    Target(
        Figure(
            "two hops, speedup over igraph's personalised PageRank",
            "×",
            _ratio(_of("igraph_personalised_pagerank"), _of(RANDOM)),
        ),
        {MIDDLE: 200},
        at_least=True,
    ),
    Target(
        Figure("vector search, recall@10 of exact", "", _of("vectors_ours", "recall@10")), {MIDDLE: 0.97}, at_least=True
    ),
    Target(
        Figure("a text added and found, 95th percentile", "ms", _of("pairs_of_add_and_recall", "p95", MILLI)),
        {LARGE: 60},
    ),
    Target(
        Figure("texts that the next recall found", "%", _of("pairs_of_add_and_recall", "found", PERCENT)),
        _everywhere(100),
        at_least=True,
    ),
    Target(
        Figure(
            "a chunk of a long document without embedding",
            "ms",
            _most(*(_of(f"long_document[{kind}]", "a chunk", MILLI) for kind in LONG)),
        ),
        _everywhere(4),
    ),
    Target(
        Figure("indexing a passage, without the model", "ms", _of("indexing_without_the_model", "a passage", MILLI)),
        _everywhere(10),
    ),
    Target(
        Figure(
            "cost of a text, relative to a memory of 1,000",
            "×",
            _ratio(_of("cost_of_a_text", "a text"), _of("cost_of_a_text", "small")),
        ),
        {MIDDLE: 1.5},
    ),
    Target(
        Figure(
            "indexing with the model, speedup over embedding by torch alone",
            "×",
            _ratio(_of("indexing", "torch alone"), _of("indexing")),
        ),
        _everywhere(2.5),
        at_least=True,
    ),
    Target(Figure("resident memory", "GiB", _of("opening", "rss", 1 / GIBI)), {LARGE: 3.5}),
    Target(Figure("disk space per node", "KiB", _a_node), {LARGE: 6}),
    Target(Figure("growth on disk by maintenance", "%", _of("maintenance", "growth", PERCENT)), {LARGE: 1}),
    Target(Figure("`maintenance()`", "s", _of("maintenance")), {LARGE: 10}),
    Target(Figure("`feedback`", "ms", _of("feedback", None, MILLI)), _everywhere(5)),
)

FIGURES = (
    *(
        Figure(f"recall: {stage}", "ms", _of("recall", stage, MILLI))
        for stage in ("kernel", "search", "activate", "rank")
    ),
    Figure("recall: minimum", "ms", _of("recall", "least", MILLI)),
    Figure("recall: 95th percentile", "ms", _of("recall", "p95", MILLI)),
    Figure("`retrieve_batch` of 32", "ms", _of("retrieve_batch", None, MILLI)),
    Figure("32 times `retrieve`", "ms", _of("retrieve_batch", "one by one", MILLI)),
    Figure("8 times `aio.recall` at once", "ms", _of("arecall", None, MILLI)),
    Figure("8 times `recall`", "ms", _of("arecall", "one by one", MILLI)),
    Figure("longest stall of the event loop meanwhile", "ms", _of("arecall", "lag", MILLI)),
    Figure("Chroma: search for 10 by vector alone", "ms", _of("chroma", "search", MILLI)),
    Figure("Chroma: a text added and found", "ms", _of("chroma", "pair", MILLI)),
    Figure("a text added and found", "ms", _of("pairs_of_add_and_recall", None, MILLI)),
    Figure("two hops, minimum", "ms", _of(RANDOM, "least", MILLI)),
    Figure("two hops, loop over dicts", "ms", _of(RANDOM, "dict loop", MILLI)),
    Figure("two hops, networkx", "ms", _of("networkx_two_hops_from_random_anchors", None, MILLI)),
    Figure("personalised PageRank, igraph", "ms", _of("igraph_personalised_pagerank", None, MILLI)),
    Figure("three hops from hubs", "ms", _of(HUBS, None, MILLI)),
    Figure("three hops from hubs, loop over dicts", "ms", _of(HUBS, "dict loop", MILLI)),
    Figure("the same displacement without the anchors' own activation", "", _of(HUBS, "displacement of spread")),
    Figure("vector search", "ms", _of("vectors_ours", None, MILLI)),
    Figure("vector search, numpy, exact", "ms", _of("vectors_numpy", None, MILLI)),
    Figure("vector search, FAISS flat, exact", "ms", _of("vectors_faiss[flat]", None, MILLI)),
    Figure("vector search, FAISS HNSW", "ms", _of("vectors_faiss[hnsw]", None, MILLI)),
    Figure("its recall@10", "", _of("vectors_faiss[hnsw]", "recall@10")),
    Figure("its building", "s", _of("vectors_faiss[hnsw]", "build seconds")),
    Figure("vector search, usearch", "ms", _of("vectors_usearch", None, MILLI)),
    Figure("its recall@10", "", _of("vectors_usearch", "recall@10")),
    Figure("its building", "s", _of("vectors_usearch", "build seconds")),
    Figure("keyword search", "ms", _of("keywords_ours", None, MILLI)),
    Figure("keyword search, a matrix of BM25 scores", "ms", _of("keywords_matrix", None, MILLI)),
    Figure("opening until it is ready", "s", _of("opening", "open")),
    Figure("whole process with 201 recalls", "s", _of("opening")),
    Figure("proportional memory (Pss)", "GiB", _of("opening", "pss", 1 / GIBI)),
    Figure("building it by deltas of 2,000 nodes", "s", _of("opening", "build seconds")),
    Figure("Chroma: building", "s", _of("chroma", "build")),
    Figure("indexing a text without embedding", "ms", _of("cost_of_a_text", "a text", MILLI)),
    Figure("the same in a memory of 1,000", "ms", _of("cost_of_a_text", "small", MILLI)),
    *(
        Figure(
            f"a chunk of a long document, relative to one a tenth as long: {kind}",
            "×",
            _growth(f"long_document[{kind}]"),
        )
        for kind in LONG
    ),
    Figure("indexing passages with the model", "s", _of("indexing")),
    Figure("embedding them by torch alone", "s", _of("indexing", "torch alone")),
)

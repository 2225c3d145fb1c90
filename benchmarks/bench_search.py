"""Vector and keyword search for ten results, compared with numpy, FAISS, usearch and a matrix of BM25 scores."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.baselines import keyword_search, terms_in, vector_search
from benchmarks.measuring import measured
from benchmarks.synthetic import Asked, Synthetic
from neurogated import NeuroGraphMemory

WANTED = 10
QUESTIONS = 100
SMALL = 100_000
"""Other approximate indexes are measured up to this many nodes; beyond, they take many minutes to build."""
LINKS, BREADTH = 16, 64
"""Parameters of the other HNSW indexes: links per node, and search width."""

Search = Callable[[NDArray[np.float32]], NDArray[np.int64]]


@pytest.fixture(scope="module")
def asked(synthetic: Synthetic) -> list[Asked]:
    """Return the questions for every search; the first ones warm up."""
    return list(islice(synthetic.ask(2), QUESTIONS + QUESTIONS // 10))


@pytest.fixture(scope="module")
def wanted(synthetic: Synthetic) -> int:
    """Return the number of results."""
    return min(WANTED, synthetic.nodes)


@pytest.fixture(scope="module")
def exact(synthetic: Synthetic, wanted: int) -> Search:
    """Return exact search by numpy."""
    return vector_search(synthetic, wanted)


def _ours(memory: NeuroGraphMemory, wanted: int) -> Search:
    view = memory.store.view()

    def search(vector: NDArray[np.float32]) -> NDArray[np.int64]:
        ((rows, _),) = memory.store.snapshot(view).nearest([vector], wanted)
        return np.array([int(name[1:]) for name in view.names(rows)])

    return search


def _compare(benchmark: BenchmarkFixture, search: Search, asked: list[Asked], exact: Search) -> None:
    found = measured(benchmark, search, ((one.vector,) for one in asked), QUESTIONS)
    truth = [set(exact(one.vector).tolist()) for one in asked[-QUESTIONS:]]
    shares = [len(set(map(int, some)) & best) / len(best) for some, best in zip(found, truth, strict=True)]
    benchmark.extra_info["recall@10"] = float(np.mean(shares))


def test_vectors_ours(
    benchmark: BenchmarkFixture, memory: NeuroGraphMemory, asked: list[Asked], exact: Search, wanted: int
) -> None:
    _compare(benchmark, _ours(memory, wanted), asked, exact)


def test_vectors_numpy(benchmark: BenchmarkFixture, asked: list[Asked], exact: Search) -> None:
    _compare(benchmark, exact, asked, exact)


@pytest.mark.parametrize("kind", ["flat", "hnsw"])
def test_vectors_faiss(
    benchmark: BenchmarkFixture, synthetic: Synthetic, asked: list[Asked], exact: Search, wanted: int, kind: str
) -> None:
    faiss: Any = pytest.importorskip("faiss")
    size = synthetic.vectors.shape[1]
    if kind == "flat":
        index = faiss.IndexFlatIP(size)
    else:
        _skip_large(synthetic)
        index = faiss.IndexHNSWFlat(size, LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efSearch = BREADTH
    begin = time.perf_counter()
    index.add(np.array(synthetic.vectors))
    benchmark.extra_info["build seconds"] = time.perf_counter() - begin
    _compare(benchmark, lambda vector: index.search(vector[None], wanted)[1][0], asked, exact)


def test_vectors_usearch(
    benchmark: BenchmarkFixture, synthetic: Synthetic, asked: list[Asked], exact: Search, wanted: int
) -> None:
    pytest.importorskip("usearch")
    _skip_large(synthetic)
    index = importlib.import_module("usearch.index").Index(
        ndim=synthetic.vectors.shape[1], metric="ip", connectivity=LINKS, expansion_search=BREADTH
    )
    begin = time.perf_counter()
    index.add(np.arange(synthetic.nodes), np.array(synthetic.vectors))
    benchmark.extra_info["build seconds"] = time.perf_counter() - begin
    _compare(benchmark, lambda vector: index.search(vector, wanted).keys, asked, exact)


def test_keywords_ours(benchmark: BenchmarkFixture, memory: NeuroGraphMemory, asked: list[Asked]) -> None:
    view = memory.store.view()
    texts = ((one.text,) for one in asked)

    def search(text: str) -> NDArray[np.int64]:
        return memory.store.snapshot(view).keyword_search(text, WANTED)[0]

    found = measured(benchmark, search, texts, QUESTIONS)
    _note_found(benchmark, [[int(name[1:]) for name in view.names(rows)] for rows in found], asked)


def test_keywords_matrix(benchmark: BenchmarkFixture, synthetic: Synthetic, asked: list[Asked], wanted: int) -> None:
    search = keyword_search(synthetic)
    words = ((terms_in(one.text),) for one in asked)
    found = measured(benchmark, lambda question: search(question, wanted), words, QUESTIONS)
    _note_found(benchmark, [one.tolist() for one in found], asked)


def _note_found(benchmark: BenchmarkFixture, found: list[list[int]], asked: list[Asked]) -> None:
    hits = [one.node in some for some, one in zip(found, asked[-QUESTIONS:], strict=True)]
    benchmark.extra_info["found"] = float(np.mean(hits))


def _skip_large(synthetic: Synthetic) -> None:
    if synthetic.nodes > SMALL:
        pytest.skip(f"indexes of others are built up to {SMALL} nodes")

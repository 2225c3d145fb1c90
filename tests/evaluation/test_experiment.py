"""Experiments do not change the memories that they ask, and compute no vector twice."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.evaluation.datasets import Dataset
from neurogated.evaluation.experiment import (
    KnownVectors,
    RememberingEmbedder,
    frozen_memories,
    index,
    questions_with_gold,
    rank_all,
)
from neurogated.evaluation.runner import config_for, run

GraphOf = Callable[..., list[tuple[Any, ...]]]


class _Counting(HashEmbedder):
    """Records every text that it embeds."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.closed = False

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return super().embed_documents(texts)

    def close(self) -> None:
        self.closed = True


def test_a_text_is_embedded_once_in_each_role_over_all_wrappers_of_one_dictionary() -> None:
    known: KnownVectors = {}
    plain = HashEmbedder()
    texts = ["a kayak", "a hive", "a kayak"]
    counting = [_Counting(), _Counting()]
    for embedder in counting:
        wrapped = RememberingEmbedder(embedder, known)
        np.testing.assert_array_equal(wrapped.embed_queries(texts), plain.embed_queries(texts))
        np.testing.assert_array_equal(wrapped.embed_documents(texts[:2]), plain.embed_documents(texts[:2]))
    assert counting[0].seen == ["a kayak", "a hive"] * 2
    assert counting[1].seen == []


def test_the_rest_is_the_wrapped_embedders() -> None:
    inner = _Counting()
    wrapped = RememberingEmbedder(inner, {})
    assert (wrapped.name, wrapped.dimension, wrapped.count_tokens(["a b c"])) == (inner.name, inner.dimension, [3])
    assert wrapped.embed_queries([]).shape == (0, inner.dimension)
    wrapped.close()
    assert inner.closed


def test_asking_a_frozen_memory_leaves_no_trace(talks: Dataset, config: MemoryConfig, graph_of: GraphOf) -> None:
    own = config_for(talks, config).replace(learning={"access_flush_seconds": 0.0})
    with NeuroGraphMemory(own) as memory:
        for part in talks.collections:
            assert part.namespace is not None
            memory.in_namespace(part.namespace).add_documents(part.documents)
    before = graph_of(own, "default", "one", "two")
    for reindex in (False, True):
        with frozen_memories(talks, own, {}, indexed=True, reindex=reindex) as (_, memories):
            assert all(rank_all(memories, questions_with_gold(talks)))
            assert memories[0].feedback([node.id for node in memories[0].store.all_nodes()]) == 0
    assert graph_of(own, "default", "one", "two") == before


def test_rankings_are_those_of_a_run(sample: Dataset, config: MemoryConfig) -> None:
    folder = run(sample, config).folder
    lines = (folder / "rankings.jsonl").read_text(encoding="utf-8").splitlines()
    with frozen_memories(sample, config_for(sample, config), {}, indexed=True) as (_, memories):
        assert rank_all(memories, questions_with_gold(sample)) == [json.loads(line)["ranked"] for line in lines]


@pytest.mark.parametrize("storage", ["sqlite", "memory"])
def test_reindexed_texts_are_not_added_to_the_durable_memory(
    talks: Dataset, config: MemoryConfig, storage: str, graph_of: GraphOf
) -> None:
    own = config_for(talks, config).replace(storage=storage)
    with frozen_memories(talks, own, {}, indexed=True, reindex=True) as (_, memories):
        assert [len(list(memory.store.all_nodes())) for memory in memories] == [5, 5]
    database = Path(own.save_dir) / "memory" / "memory.db"
    assert database.exists() == (storage == "sqlite")
    if database.exists():
        assert graph_of(own, "default", "one", "two") == [([], [], [], 0)] * 3


def test_questions_without_gold_are_left_out(talks: Dataset) -> None:
    asked = questions_with_gold(talks)
    assert [one.collection for one in asked] == [0, 0, 0, 0, 1, 1]
    assert all(one.question.gold for one in asked)


def test_a_conversation_is_indexed_once_also_after_an_interruption(talks: Dataset, config: MemoryConfig) -> None:
    with NeuroGraphMemory(config) as memory:
        memories = index(talks, memory)
        before = [sorted((node.content, node.position) for node in one.store.all_nodes()) for one in memories]
        assert all(position is not None for turns in before for _, position in turns)
        index(talks, memory)
        first = memories[0]
        first.delete(next(iter(first.store.all_nodes())).id)
        index(talks, memory)
        after = [sorted((node.content, node.position) for node in one.store.all_nodes()) for one in memories]
    assert [[text for text, _ in turns] for turns in after] == [[text for text, _ in turns] for turns in before]

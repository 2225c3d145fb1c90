"""The first phase of a recall runs while the question is embedded."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from neurogated import GraphStore, MemoryConfig, NeuroGraphMemory
from neurogated.embedding.hash_embedder import HashEmbedder
from neurogated.retrieval.kernel_generator import UniformKernelSource
from neurogated.retrieval.neuro_retriever import NeuroRetriever

CONFIG = MemoryConfig(storage="memory", embedding_name="hash")
PATIENCE = 30.0  # seconds after which a test gives up


class Waiting(HashEmbedder):
    """Embeds a question only once the first phase has searched."""

    def __init__(self) -> None:
        super().__init__()
        self.searched = threading.Event()
        self.waited = False

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.waited = self.searched.wait(PATIENCE)
        return super().embed_queries(texts)


@pytest.fixture
def store() -> Iterator[GraphStore]:
    """A graph of one memory."""
    with NeuroGraphMemory(CONFIG) as memory:
        memory.add("The pump failed on Monday.")
        assert isinstance(memory.store, GraphStore)
        yield memory.store


def ask(store: GraphStore, embedder: HashEmbedder) -> list[str]:
    retriever = NeuroRetriever(store, CONFIG, embedder=embedder, kernel_source=UniformKernelSource())
    return [node.content for node in retriever.retrieve("What failed on Monday?")]


def test_keywords_are_searched_while_the_question_is_embedded(
    store: GraphStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    embedder, search = Waiting(), store.keyword_rows

    def report(*args: object) -> object:
        embedder.searched.set()
        return search(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(store, "keyword_rows", report)
    assert ask(store, embedder) == ["The pump failed on Monday."]
    assert embedder.waited

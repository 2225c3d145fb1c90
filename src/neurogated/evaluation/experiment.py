"""Shared by the experiments: the questions, memories that do not change, and vectors computed once."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated import compose
from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.ports import Embedder
from neurogated.core.trace import Recall
from neurogated.errors import DatasetError
from neurogated.evaluation.model import SOURCES_KEY, Collection, Dataset, Question
from neurogated.memory import NeuroGraphMemory
from neurogated.storage.registry import open_store

__all__ = [
    "Asked",
    "KnownVectors",
    "RememberingEmbedder",
    "frozen_memories",
    "index",
    "memories_of",
    "questions_with_gold",
    "rank",
    "rank_all",
]

KnownVectors = dict[tuple[str, str, str], NDArray[np.float32]]
"""Vectors by the embedder's name, the role of the text, and the text."""


class Asked(NamedTuple):
    """A question and its collection."""

    collection: int
    """Position in the data set."""
    question: Question


class RememberingEmbedder:
    """Wraps an embedder and remembers every vector in a dictionary that outlives it.

    Experiments ask the same questions under many configurations. If all vectors are known, no model is loaded.
    """

    def __init__(self, embedder: Embedder, known: KnownVectors) -> None:
        self._embedder = embedder
        self._known = known

    @property
    def name(self) -> str:
        """The wrapped embedder's name."""
        return self._embedder.name

    @property
    def dimension(self) -> int:
        """The wrapped embedder's dimension."""
        return self._embedder.dimension

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the wrapped embedder's vectors."""
        return self._remembered("document", texts, self._embedder.embed_documents)

    def embed_queries(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Return the wrapped embedder's vectors."""
        return self._remembered("query", texts, self._embedder.embed_queries)

    def count_tokens(self, texts: Sequence[str]) -> list[int]:
        """Return the wrapped embedder's counts."""
        return self._embedder.count_tokens(texts)

    def close(self) -> None:
        """Close the wrapped embedder."""
        self._embedder.close()

    def _remembered(
        self, role: str, texts: Sequence[str], embed: Callable[[Sequence[str]], NDArray[np.float32]]
    ) -> NDArray[np.float32]:
        if not texts:
            return embed(texts)
        keys = [(self.name, role, text) for text in texts]
        missing = [key for key in dict.fromkeys(keys) if key not in self._known]
        if missing:
            self._known.update(zip(missing, embed([text for _, _, text in missing]), strict=True))
        return np.stack([self._known[key] for key in keys])


def questions_with_gold(dataset: Dataset) -> list[Asked]:
    """Return the questions that can be scored, in the data set's order."""
    return [
        Asked(place, question)
        for place, part in enumerate(dataset.collections)
        for question in part.questions
        if question.gold
    ]


def memories_of(dataset: Dataset, memory: NeuroGraphMemory) -> list[NeuroGraphMemory]:
    """Return the memory of each collection: the namespace of its name, or `memory` itself if it has none."""
    return [memory if part.namespace is None else memory.in_namespace(part.namespace) for part in dataset.collections]


def index(dataset: Dataset, memory: NeuroGraphMemory, *, progress: bool | None = None) -> list[NeuroGraphMemory]:
    """Add every collection of `dataset` to its namespace, and return the memories; no document is indexed twice.

    Raises:
        DatasetError: a memory holds passages of an earlier version of the data set; nothing is indexed.
    """
    memories = memories_of(dataset, memory)
    for part, one in zip(dataset.collections, memories, strict=True):
        _refuse_former_passages(part, one)
    for part, one in zip(dataset.collections, memories, strict=True):
        one.add_documents(part.documents, progress=progress)
    return memories


def _refuse_former_passages(part: Collection, memory: NeuroGraphMemory) -> None:
    # The name of a former passage may now belong to another passage, so a recall of it would be scored wrong.
    present = {document.id or document.document_id for document in part.documents}
    nodes = [node for node in memory.store.all_nodes() if SOURCES_KEY in node.metadata]
    former = [node for node in nodes if (node.found.document_id or node.id.partition("#")[0]) not in present]
    if former:
        raise DatasetError(
            f"the memory in {memory.config.save_dir} holds {len(former)} passages that the data set no longer has; "
            "their passages may bear the names of others, so index from scratch (--force_index_from_scratch) or choose "
            "another --save_dir"
        )


@contextlib.contextmanager
def frozen_memories(
    dataset: Dataset,
    config: MemoryConfig,
    known: KnownVectors,
    *,
    indexed: bool,
    reindex: bool = False,
    progress: bool | None = None,
) -> Iterator[tuple[Parts, list[NeuroGraphMemory]]]:
    """Open a frozen memory for each collection; yield the shared parts and the memories.

    Args:
        dataset: documents and questions.
        config: settings; `save_dir` is the memory's own folder.
        known: known vectors; new ones are added.
        indexed: the memory on disk holds the data set already, so nothing is written to it.
        reindex: build a separate graph in memory.
        progress: show progress bars; None shows them if the output is a terminal.
    """
    parts = compose.build(config)
    if reindex:
        # The other parts keep the caches in `save_dir`, so that only differences are computed again.
        parts.store.close()
        parts = dataclasses.replace(parts, store=open_store(config.replace(storage="memory"), parts.clock))
    parts = dataclasses.replace(parts, embedder=RememberingEmbedder(parts.embedder, known))
    with NeuroGraphMemory(config, parts=parts) as memory:
        if indexed and not reindex and config.storage != "memory":
            memories = memories_of(dataset, memory)
        else:
            memories = index(dataset, memory, progress=progress)
        for one in memories:
            one.freeze(lasting=False)
        yield parts, memories


def rank(memory: NeuroGraphMemory, query: str) -> tuple[list[Hashable], Recall]:
    """Return the data set's names of the passages that `query` recalls, best first, and the recall.

    Several chunks of one passage count once, at the best of their ranks. So it asks for more nodes until there are
    enough passages, or no more nodes.
    """
    depth = max(memory.config.retrieval.ranking_depth, memory.config.TOP_N_RETRIEVAL)
    wanted = depth
    while True:
        recall = memory.recall(query, top_n=wanted)
        ranked: list[Hashable] = list(
            dict.fromkeys(source for recalled in recall for source in recalled.metadata.get(SOURCES_KEY, ()))
        )
        if len(ranked) >= depth or len(recall) < wanted:
            return ranked, recall
        wanted *= 2


def rank_all(memories: Sequence[NeuroGraphMemory], asked: Sequence[Asked]) -> list[list[Hashable]]:
    """Return the ranking of each question in the memory of its collection."""
    return [rank(memories[one.collection], one.question.text)[0] for one in asked]

"""The analysis of new nodes: vectors, causes, names and importance."""

from __future__ import annotations

import contextvars
from collections.abc import Collection, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, pairwise
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, Vector, as_vector
from neurogated.core.ports import CausalJudge, Embedder, EntityFinder
from neurogated.core.rendering import search_text
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.drafts import Analysed, Batch
from neurogated.ingestion.edge_builder import sequence_edges
from neurogated.ingestion.importance import Encoder, Focus
from neurogated.text.names import names_in
from neurogated.text.strings import checked_names, give_way

ALONE = 2
"""Up to this many texts are embedded when they are taken, since the background thread would cost more than it saves."""


class EmbeddingAhead:
    """Embeds texts in a background thread until `take` returns their vectors. Use it in a `with` block of one thread.

    Texts are embedded in the order of the calls of `begin`. Leaving the block cancels the waiting calls and ends the
    background thread. `take` embeds one or two texts that are begun alone, such as a question and its answer.
    """

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._thread: ThreadPoolExecutor | None = None
        # For each text, the call that embeds it and its row in the result.
        self._coming: dict[str, tuple[Future[NDArray[np.float32]], int]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._thread is not None:
            self._thread.shutdown(cancel_futures=True)

    def begin(self, texts: Iterable[str]) -> None:
        """Start to embed the texts that are not yet being embedded, each once. Does not wait."""
        new = [text for text in dict.fromkeys(texts) if text not in self._coming]
        if len(new) > ALONE:
            self._thread = self._thread or ThreadPoolExecutor(1, thread_name_prefix="embedding")
            call = self._thread.submit(contextvars.copy_context().run, self._embedder.embed_documents, new)
            self._coming.update((text, (call, row)) for row, text in enumerate(new))

    def take(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vector of each text, and forget the vectors. Raises the errors of the embedder."""
        self.begin(texts)
        coming = {text: self._coming.pop(text, None) for text in dict.fromkeys(texts)}
        vectors: dict[str, Vector] = {
            text: place[0].result()[place[1]] for text, place in coming.items() if place is not None
        }
        alone = [text for text in coming if text not in vectors]
        vectors |= zip(alone, self._embedder.embed_documents(alone), strict=True) if alone else ()
        return [vectors[text] for text in texts]

    def means(self, texts: Collection[Sequence[str]]) -> Iterator[NDArray[np.float32]]:
        """Yield a vector for each list of texts: the vector of a single text, or the normalised mean of several."""
        vectors = iter(self.take(list(chain.from_iterable(texts))) if texts else ())
        for several in texts:
            own = [np.asarray(next(vectors)) for _ in several]
            if len(own) > 1:
                mean = np.mean(own, axis=0)
                own = [mean / (np.linalg.norm(mean) or 1.0)]
            yield as_vector(own[0])


class OfflineEntityFinder:
    """Finds names by capital letters and quotation marks; see `text/names.py`."""

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names as written, each once, in order of appearance."""
        return names_in(text)


@dataclass(frozen=True, slots=True)
class Analysis:
    """Embeds the texts of a batch, and finds names, causes and importance; nothing is written.

    What one of the judges raises ends the write.
    """

    causal_judge: CausalJudge
    entity_finder: EntityFinder
    encoder: Encoder = field(default_factory=Encoder)

    def read(self, node: MemoryNode) -> MemoryNode:
        """Return a node with the names, the sentiment and the place in its text."""
        names = self._names(node)
        return self.encoder.read(node.changed(found=node.found.changed(entities=names)) if names else node)

    def analysed(
        self, batch: Batch, embedding: EmbeddingAhead, chunker: Chunker, focus: Focus, at: datetime
    ) -> Analysed:
        """Run the models on the texts of a batch, without a lock, and return the results."""
        old, nodes = batch.old, batch.nodes(at)
        texts = texts_to_embed(batch, nodes, chunker)
        embedding.begin(chain.from_iterable(texts.values()))
        # Names and causes need no vectors, so they are judged while the texts are embedded.
        new_ids = {node.id for node in nodes if node.id not in old}
        retold = {node.id for node in nodes if node.id in old and node.content != old[node.id].content}
        read = new_ids | retold
        names = {node.id: found for node in nodes if node.id in read and (found := self._names(node))}
        there = {name: node for name, node in old.items() if name not in batch.gone}
        there |= {node.id: node for node in nodes}
        # A batch may contain the same document twice, so a pair of neighbours may repeat.
        pairs = dict.fromkeys(chain.from_iterable(map(pairwise, batch.chains)))
        causes = [
            edge
            for pair in pairs
            if there.keys() >= set(pair) and not read.isdisjoint(pair)
            for edge in self._causes(there[pair[0]], there[pair[1]], at)
        ]
        sequences = {
            edge.key: edge
            for chained in batch.chains
            for edge in sequence_edges(chained, new_ids, at=at)
            if there.keys() >= {edge.source_id, edge.target_id}
        }
        sequences |= {key: MemoryEdge(*key, created_at=at) for key in batch.joined}
        vectors = dict(zip(texts, embedding.means(texts.values()), strict=True))
        ready = []
        for node in nodes:
            told = node.found.changed(entities=names[node.id]) if node.id in names else node.found
            ready.append(node.changed(found=told, embedding=vectors.get(node.id, node.embedding)))
        unjudged = {
            draft.id: draft.message or draft.content for draft in batch.to_write if "importance" not in draft.fields
        }
        new, known = ([node for node in ready if (node.id in new_ids) is is_new] for is_new in (True, False))
        return Analysed(
            new=self.encoder.encode(new, unjudged, batch.view, focus),
            known=[self.encoder.read(node) if node.id in retold else node for node in known],
            moved=vectors.keys() - new_ids,
            retold=retold,
            gone=batch.gone,
            sequences=tuple(sequences.values()),
            parted=batch.parted,
            causes=tuple(causes),
            at=at,
        )

    def _names(self, node: MemoryNode) -> tuple[str, ...]:
        give_way()
        return checked_names("found entities", self.entity_finder.find(node.content) or ())

    def _causes(self, first: MemoryNode, second: MemoryNode, at: datetime) -> list[MemoryEdge]:
        """Return the CAUSE edges of two texts: none, or one in each direction, with equal weights."""
        give_way()
        judgement = self.causal_judge.judge(first.content, second.content)
        if not judgement.is_causal:
            return []
        pairs = (first.id, second.id), (second.id, first.id)
        return [MemoryEdge(*pair, EdgeType.CAUSE, judgement.weight, created_at=at) for pair in pairs]


def texts_to_embed(batch: Batch, nodes: Iterable[MemoryNode], chunker: Chunker) -> dict[str, list[str]]:
    """Return the texts to embed by the ids of the nodes that need a new vector: several for a long text."""
    texts = {}
    for node in nodes:
        stored = batch.old.get(node.id)
        if stored is None:
            texts[node.id] = [search_text(node)]
        elif stored.embedding is None or search_text(stored) != search_text(node):
            chunks = chunker.split(node.content, search_text(replace(node, content="")))
            texts[node.id] = [search_text(replace(node, content=chunk)) for chunk in chunks]
    return texts

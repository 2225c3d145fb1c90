"""The analysis of new nodes: vectors, causes and names, and the failed judgements that are retried later."""

from __future__ import annotations

import contextvars
import logging
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain, pairwise
from types import TracebackType
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import Clock
from neurogated.core.delta import PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, Vector, as_vector
from neurogated.core.ports import CausalJudge, Embedder, EntityFinder
from neurogated.core.rendering import search_text
from neurogated.errors import LLMError
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
            call = self._thread.submit(contextvars.copy_context().run, self._embed, new)
            self._coming.update((text, (call, row)) for row, text in enumerate(new))

    def take(self, texts: Sequence[str]) -> list[Vector]:
        """Return the vector of each text, and forget the vectors. Raises the errors of the embedder."""
        self.begin(texts)
        coming = {text: self._coming.pop(text, None) for text in dict.fromkeys(texts)}
        vectors: dict[str, Vector] = {
            text: place[0].result()[place[1]] for text, place in coming.items() if place is not None
        }
        alone = [text for text in coming if text not in vectors]
        vectors |= zip(alone, self._embed(alone), strict=True) if alone else ()
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

    def _embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return self._embedder.embed_documents(texts)


class OfflineEntityFinder:
    """Finds names by capital letters and quotation marks; see `text/names.py`."""

    def find(self, text: str) -> tuple[str, ...]:
        """Return the names as written, each once, in order of appearance."""
        return names_in(text)


CAUSE, ENTITIES = "cause", "entities"

T = TypeVar("T")

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Findings:
    """CAUSE edges, nodes with their names, and failed judgements."""

    edges: list[MemoryEdge] = field(default_factory=list)
    nodes: list[MemoryNode] = field(default_factory=list)
    failed: list[PendingTask] = field(default_factory=list)


class Analysis:
    """Runs judgements and collects the failed ones. A node is stored even if its judgements fail.

    Attributes:
        encoder: sets the importance and the energy of new nodes.
    """

    def __init__(self, causal_judge: CausalJudge, entity_finder: EntityFinder, encoder: Encoder | None = None) -> None:
        self._causal_judge = causal_judge
        self._entity_finder = entity_finder
        self.encoder = encoder or Encoder()

    def find_entities(self, nodes: Sequence[MemoryNode]) -> Findings:
        """Return the nodes in order, with the names in their texts."""
        findings = Findings()
        by_id = {node.id: node for node in nodes}
        ids = [(node.id,) for node in nodes]
        names = self._run(ENTITIES, ids, lambda one: self._entity_finder.find(by_id[one[0]].content), findings)
        for node, found in zip(nodes, names, strict=True):
            entities = checked_names("found entities", found or ())
            findings.nodes.append(node.changed(found=node.found.changed(entities=entities)) if entities else node)
        return findings

    def find_causes(self, pairs: Sequence[tuple[str, ...]], nodes: Mapping[str, MemoryNode], at: datetime) -> Findings:
        """Return CAUSE edges for the causally linked pairs: one in each direction, with equal weights."""
        findings = Findings()
        texts = {pair: (nodes[pair[0]].content, nodes[pair[1]].content) for pair in pairs}
        judgements = self._run(CAUSE, list(texts), lambda pair: self._causal_judge.judge(*texts[pair]), findings)
        for pair, judgement in zip(texts, judgements, strict=True):
            if judgement is not None and judgement.is_causal:
                findings.edges += (
                    MemoryEdge(source, target, EdgeType.CAUSE, judgement.weight, created_at=at)
                    for source, target in (pair, pair[::-1])
                )
        return findings

    def _run(
        self, kind: str, groups: Sequence[tuple[str, ...]], judge: Callable[[tuple[str, ...]], T], findings: Findings
    ) -> list[T | None]:
        """Return the result of each judgement about some nodes; None for one that failed and stays pending."""
        results, errors = list[T | None](), list[LLMError]()
        for ids in groups:
            give_way()
            try:
                results.append(judge(ids))
            except LLMError as error:
                results.append(None)
                errors.append(error)
                findings.failed.append(PendingTask(kind, ids))
        if errors:
            _log.warning("%d of %d judgements are queued for a retry: %s", len(errors), len(groups), errors[0])
        return results


class BatchAnalysis:
    """Embeds the texts of a batch, and finds names, causes and importance; nothing is written."""

    def __init__(self, analysis: Analysis, chunker: Chunker, clock: Clock, focus: Focus) -> None:
        self._analysis = analysis
        self._chunker = chunker
        self._clock = clock
        self._focus = focus

    def texts(self, batch: Batch, nodes: Iterable[MemoryNode]) -> dict[str, list[str]]:
        """Return the texts to embed by the ids of the nodes that need a new vector: several for a long text."""
        texts = {}
        for node in nodes:
            stored = batch.old.get(node.id)
            if stored is None:
                texts[node.id] = [search_text(node)]
            elif stored.embedding is None or search_text(stored) != search_text(node):
                chunks = self._chunker.split(node.content, search_text(replace(node, content="")))
                texts[node.id] = [search_text(replace(node, content=chunk)) for chunk in chunks]
        return texts

    def analysed(self, batch: Batch, embedding: EmbeddingAhead) -> Analysed:
        """Run the models on the texts of a batch, without a lock, and return the results."""
        at, old = self._clock(), batch.old
        nodes = batch.nodes(at)
        texts = self.texts(batch, nodes)
        embedding.begin(chain.from_iterable(texts.values()))
        # Names and causes need no vectors, so they are judged while the texts are embedded.
        new_ids = {node.id for node in nodes if node.id not in old}
        retold = {node.id for node in nodes if node.id in old and node.content != old[node.id].content}
        named = self._analysis.find_entities([node for node in nodes if node.id in new_ids | retold])
        there = {name: node for name, node in old.items() if name not in batch.gone}
        there |= {node.id: node for node in (*nodes, *named.nodes)}
        # A batch may contain the same document twice, so a pair of neighbours may repeat.
        pairs = [
            pair
            for pair in dict.fromkeys(chain.from_iterable(map(pairwise, batch.chains)))
            if there.keys() >= set(pair) and not (new_ids | retold).isdisjoint(pair)
        ]
        causes = self._analysis.find_causes(pairs, there, at)
        vectors = dict(zip(texts, embedding.means(texts.values()), strict=True))
        ready = [there[node.id].changed(embedding=vectors.get(node.id, there[node.id].embedding)) for node in nodes]
        sequences = {
            edge.key: edge
            for chained in batch.chains
            for edge in sequence_edges(chained, new_ids, at=at)
            if there.keys() >= {edge.source_id, edge.target_id}
        }
        sequences |= {key: MemoryEdge(*key, created_at=at) for key in batch.joined}
        encoder = self._analysis.encoder
        new = [node for node in ready if node.id in new_ids]
        unjudged = {
            draft.id: draft.message or draft.content for draft in batch.to_write if "importance" not in draft.fields
        }
        return Analysed(
            new=encoder.encode(new, unjudged, batch.view, self._focus),
            known=[encoder.read(node) if node.id in retold else node for node in ready if node.id in old],
            moved=vectors.keys() - new_ids,
            retold=retold,
            gone=batch.gone,
            sequences=tuple(sequences.values()),
            parted=batch.parted,
            causes=tuple(causes.edges),
            failed=(*named.failed, *causes.failed),
            at=at,
        )

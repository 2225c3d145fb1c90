"""`BatchAnalysis`: the models run over the texts of a batch."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from itertools import chain

from neurogated.core.clock import Clock
from neurogated.core.delta import PendingTask
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import search_text
from neurogated.ingestion.analysers import CAUSE, Analysis, causal_pairs
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.drafts import Analysed, Batch
from neurogated.ingestion.edge_builder import sequence_edges
from neurogated.ingestion.embedding_ahead import EmbeddingAhead
from neurogated.ingestion.encoder import Focus


class BatchAnalysis:
    """Embeds the texts of a batch, and finds names, causes and importance; nothing is written."""

    def __init__(
        self, store: GraphStorePort, analysis: Analysis, chunker: Chunker, clock: Clock, *, window: int, focus: Focus
    ) -> None:
        """Take the parts; `window` is how many texts before a text may have caused it."""
        self._store = store
        self._analysis = analysis
        self._chunker = chunker
        self._clock = clock
        self._window = window
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
        causes = self._analysis.find_causes(self._pairs(batch, new_ids | retold, there), there, at)
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
        unjudged = {draft.id: draft.message or draft.content for draft in batch.to_write if draft.is_unjudged}
        return Analysed(
            new=encoder.encode(new, unjudged, self._store, self._focus),
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

    def _pairs(self, batch: Batch, new_ids: Collection[str], there: Collection[str]) -> list[PendingTask]:
        """Return the pairs to judge for causes: at least one node is new, and both are in `there`."""
        window = self._window
        # A batch may contain the same document twice, so a pair may repeat.
        pairs = dict.fromkeys(chain.from_iterable(causal_pairs(chained, new_ids, window) for chained in batch.chains))
        return [PendingTask(CAUSE, pair) for pair in pairs if pair[0] in there and pair[1] in there]

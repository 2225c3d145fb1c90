"""The one path by which texts come into a graph, change and go: analyse, link, check, commit."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from itertools import chain, count

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsExclusion
from neurogated.core.clock import Clock
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.filters import Filter
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import Embedder, GraphStorePort
from neurogated.core.rendering import document_tag, render
from neurogated.core.watchdog import stage
from neurogated.errors import UnknownIdError
from neurogated.ingestion.analysers import CAUSE, ENTITIES, Analysis, causal_pairs
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import Document
from neurogated.ingestion.drafts import Analysed, Batch, Draft, Part
from neurogated.ingestion.edge_builder import (
    fitted,
    nearest_in,
    reweighed_similarities,
    sequence_edges,
    similarity_edges,
)
from neurogated.ingestion.embedding_ahead import EmbeddingAhead
from neurogated.ingestion.mentions import text_edges
from neurogated.ingestion.planner import Planner, stored
from neurogated.ingestion.revision import Reviser, Revision, with_lifetime

__all__ = ["Writer"]

_log = logging.getLogger(__name__)

_ATTEMPTS = 3
"""How often a text is judged at the most; the last time other writers wait."""


class Writer:
    """Cuts documents into chunks, embeds those that are new, and writes nodes and edges through `store.apply`."""

    def __init__(
        self, store: GraphStorePort, embedder: Embedder, analysis: Analysis, config: MemoryConfig, clock: Clock
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._analysis = analysis
        self._config = config
        self._clock = clock
        # For a store that has no lock to offer; see `exclusively`.
        self._lock = threading.RLock()
        chunker = Chunker(config.indexing.chunk_size, config.indexing.chunk_overlap, embedder.count_tokens)
        self._planner = Planner(store, chunker, config, clock)
        self._reviser = Reviser(store, embedder, chunker, analysis, config)

    def add(self, documents: Iterable[Document]) -> Iterator[list[str]]:
        """Store documents and yield the node ids of each, in order, once it is stored.

        Chunks are embedded and written `INDEX_BATCH` at a time; one batch is read ahead, and embedded while the one
        before it is analysed and written. A document of more chunks is stored in parts: an interruption keeps the parts
        before it, and adding the document again stores the rest. A document that is there already changes nothing,
        except that metadata and times given now replace the old ones. A turn of a session is always new. Judgements
        that fail are queued; see `resume`.
        """
        with EmbeddingAhead(self._embedder) as embedding:
            batches = self._begun(documents, embedding)
            batch = next(batches, None)
            while batch is not None:
                try:
                    following = next(batches, None)
                except Exception:
                    # What came before a document that cannot be read is stored.
                    yield from self._store_batch(batch, embedding)
                    raise
                yield from self._store_batch(batch, embedding)
                batch = following

    def _begun(self, documents: Iterable[Document], embedding: EmbeddingAhead) -> Iterator[Batch]:
        """Yield documents in batches whose embedding has begun."""
        waiting: list[Part] = []
        chunks = 0
        for document in documents:
            for part in self._planner.parts(document):
                waiting.append(part)
                chunks += len(part.drafts)
                if chunks >= self._config.indexing.batch_size:
                    yield self._begin(waiting, embedding)
                    waiting, chunks = [], 0
            stage("reading documents")
        if waiting:
            yield self._begin(waiting, embedding)

    def _begin(self, parts: Sequence[Part], embedding: EmbeddingAhead) -> Batch:
        batch = self._planner.plan(parts)
        embedding.begin(map(render, batch.nodes(self._clock())))
        return batch

    def resume(self) -> Iterator[int]:
        """Make up the judgements that wait, and yield how many of each batch were made; those that fail wait on."""
        waiting = self._store.pending()
        for begin in range(0, len(waiting), self._config.indexing.batch_size):
            yield self._make_up(waiting[begin : begin + self._config.indexing.batch_size])

    def delete(self, node_ids: Iterable[str]) -> int:
        """Remove nodes, and what follows from their texts in others, in one delta.

        Returns:
            How many nodes were removed; those that are gone already are passed over.

        Raises:
            UnknownIdError: a node never existed; nothing was changed.
        """
        with self.exclusively():
            return self._delete(list(dict.fromkeys(node_ids)), "delete")

    def delete_all(self, filters: Filter) -> list[str]:
        """Remove the nodes that a filter admits; return their ids."""
        with self.exclusively():
            ids = [node.id for node in self._store.find(filters)]
            if ids:
                self._delete(ids, "delete")
            return ids

    def delete_document(self, document_id: str) -> int:
        """Remove all nodes of a document; see `delete`.

        Raises:
            UnknownIdError: there is no node of such a document.
        """
        with self.exclusively():
            ids = self._store.nodes_with([document_tag(document_id)])
            if not ids:
                raise UnknownIdError(f"no document {document_id!r} in the memory; see found.document_id of a memory")
            return self._delete(ids, "delete_document")

    def update(self, node_id: str, change: Revision) -> MemoryNode:
        """Put a new version of a node in its place, and make right what follows from its text, in one delta.

        Returns:
            The new version.

        Raises:
            UnknownIdError: the node does not exist.
            InputError: the new version cannot be stored; nothing was changed.
        """
        self.expire(self._clock())
        return self._revise(node_id, lambda node: change.applied(node, self._clock()), "update")

    def writes_to(self, store: GraphStorePort) -> bool:
        """Return whether `store` is the graph that it writes to."""
        return self._store is store

    def exclusively(self) -> AbstractContextManager[object]:
        """Run a block that reads the graph and acts on it while nobody else changes its texts.

        Where the store can keep others from writing, its lock is the only one, so that a thread in a transaction of
        the store does not wait for one that waits for the store.
        """
        return self._store.exclusively() if isinstance(self._store, SupportsExclusion) else self._lock

    def expire(self, now: datetime) -> int:
        """Remove the nodes that have expired by `now`; return how many they were."""
        with self.exclusively():
            return self._expire(now)

    def _delete(self, ids: Sequence[str], reason: str) -> int:
        at = self._clock()
        expired = set(self._store.expired(at))
        wanted = [node_id for node_id in ids if node_id not in expired]
        # An unknown id is found before anything is removed.
        staying = self._store.view().present(wanted)
        gone = set(wanted).difference(staying)
        if gone:
            _log.info("%s passes over %d memories that are gone: %s", reason, len(gone), ", ".join(sorted(gone)))
        self._expire(at)
        if staying:
            self._commit(self._reviser.deletion(staying, reason=reason, at=at))
        return len(ids) - len(gone)

    def _expire(self, now: datetime) -> int:
        """Remove what has expired; no write sees it any more."""
        ids = self._store.expired(now)
        if ids:
            self._commit(self._reviser.deletion(ids, reason="expired", at=self._clock()))
            _log.info("%d expired memories were removed", len(ids))
        return len(ids)

    def _make_up(self, tasks: Sequence[PendingTask]) -> int:
        nodes = stored(self._store, (node_id for task in tasks for node_id in task.nodes))
        # What was asked about nodes that are gone need not be answered.
        possible = [task for task in tasks if nodes.keys() >= set(task.nodes)]
        at = self._clock()
        causes = self._analysis.find_causes([task for task in possible if task.kind == CAUSE], nodes, at)
        named = self._analysis.find_entities([nodes[task.nodes[0]] for task in possible if task.kind == ENTITIES])
        failed = {*causes.failed, *named.failed}
        settled = tuple(task for task in tasks if task not in failed)
        with self.exclusively():
            self._expire(at)
            # Judging took its time: nodes may have changed or gone meanwhile, and only the names are ours to add.
            current = stored(self._store, nodes)
            changed = tuple(
                replace(now, found=replace(now.found, entities=node.found.entities))
                for node in named.nodes
                if (now := current.get(node.id)) is not None and now.content == node.content and node.found.entities
            )
            edges = tuple(edge for edge in causes.edges if {edge.source_id, edge.target_id} <= current.keys())
            if settled:
                mentions = text_edges(self._store, self._config, changed, at)
                self._commit(
                    GraphDelta(
                        removed_edges=tuple(mentions.removed),
                        nodes=changed,
                        edges=(*edges, *mentions.put),
                        weights=tuple(mentions.reweighted),
                        settled=settled,
                        reason="resume",
                        at=at,
                    )
                )
        return len(settled)

    def _store_batch(self, batch: Batch, embedding: EmbeddingAhead) -> Iterator[list[str]]:
        self._put_batch(batch, embedding)
        self._remove_rests(batch.parts)
        for part in batch.parts:
            if part.is_last:
                yield [draft.id for draft in part.document]

    def _put_batch(self, batch: Batch, embedding: EmbeddingAhead) -> None:
        # The batch before may have stored some of it.
        batch = self._current(batch)
        for attempt in range(1, _ATTEMPTS + 1):
            analysed = self._analysed(batch, embedding)
            with self.exclusively():
                self._expire(self._clock())
                # Analysing took its time: another writer may have stored or removed some of it.
                current = self._current(batch)
                is_same = current is batch or current.basis == batch.basis
                batch = current
                if not is_same and attempt < _ATTEMPTS:
                    continue
                if batch.to_write:
                    self._write(analysed if is_same else self._analysed(batch, embedding))
                break
        for draft in batch.to_revise:
            try:
                self._revise(draft.id, draft.replacing, "add")
            except UnknownIdError:
                # Another writer removed it meanwhile, so it is new.
                self._put_batch(self._planner.plan(batch.parts), embedding)
                return

    def _current(self, batch: Batch) -> Batch:
        """Return the batch as the store is now."""
        return batch if self._store.view().sequence == batch.sequence else self._planner.plan(batch.parts)

    def _revise(self, node_id: str, change: Callable[[MemoryNode], MemoryNode], reason: str) -> MemoryNode:
        """Put a new version of a node in its place and return it; nothing is locked while a model judges its text.

        Where others write meanwhile, it is worked out again, the last time while they wait.
        """
        for _ in range(_ATTEMPTS - 1):
            sequence = self._store.view().sequence
            delta = self._reviser.update(node_id, change, reason=reason, at=self._clock())
            with self.exclusively():
                if self._store.view().sequence == sequence:
                    self._commit(delta)
                    return delta.nodes[0]
        with self.exclusively():
            delta = self._reviser.update(node_id, change, reason=reason, at=self._clock())
            self._commit(delta)
            return delta.nodes[0]

    def _remove_rests(self, parts: Iterable[Part]) -> None:
        """Remove the chunks by which the last version of a named text was longer than this one."""
        # Of several texts with one id the last counts.
        for part in {part.document[0].id: part for part in parts if part.document[0].named}.values():
            if part.is_last and (rests := list(self._rests(part.document))):
                self.delete(rests)

    def _rests(self, document: Sequence[Draft]) -> Iterator[str]:
        """Yield the ids of the stored chunks that follow those of a named text."""
        first = document[0]
        for place in count(len(document)):
            rest = stored(self._store, [f"{first.id}#{place}"])
            # Another user's text may have had this id before it was deleted.
            if any(node.scope.user_id == first.scope.user_id for node in rest.values()):
                yield from rest
            else:
                return

    def _pairs(self, batch: Batch, new_ids: Collection[str], there: Collection[str]) -> list[PendingTask]:
        """Return the pairs to be judged for causes: one of the two is new, and both are among `there`."""
        window = self._config.indexing.cause_window
        pairs = (causal_pairs(chained, new_ids, window) for chained in batch.chains)
        # The end of a document and its beginning, given once more, may be in one batch.
        return list(
            dict.fromkeys(pair for pair in chain.from_iterable(pairs) if all(node in there for node in pair.nodes))
        )

    def _analysed(self, batch: Batch, embedding: EmbeddingAhead) -> Analysed:
        """Return what follows from the texts of a batch alone, which takes models and so its time."""
        at, old = self._clock(), batch.old
        nodes = [
            with_lifetime(node, draft.lifetime) for node, draft in zip(batch.nodes(at), batch.to_write, strict=True)
        ]
        texts = list(map(render, nodes))
        embedding.begin(texts)
        # What needs no vectors is found out meanwhile.
        new_ids = {node.id for node in nodes if node.id not in old}
        named = self._analysis.find_entities([node for node in nodes if node.id in new_ids])
        there = {**old, **{node.id: node for node in nodes}}
        causes = self._analysis.find_causes(self._pairs(batch, new_ids, there), there, at)
        stage("waiting for vectors")
        embedded = dict(zip((node.id for node in nodes), embedding.take(texts), strict=True)) if nodes else {}
        sequences = {
            edge.key: edge
            for chained in batch.chains
            for edge in sequence_edges(chained, new_ids, weight=self._config.indexing.seq_weight, at=at)
            if there.keys() >= {edge.source_id, edge.target_id}
        }
        sequences |= {key: MemoryEdge(*key, self._config.indexing.seq_weight, created_at=at) for key in batch.joined}
        return Analysed(
            new=[replace(node, embedding=embedded[node.id]) for node in named.nodes],
            known=[replace(node, embedding=embedded[node.id]) for node in nodes if node.id in old],
            sequences=tuple(sequences.values()),
            parted=batch.parted,
            causes=tuple(causes.edges),
            failed=(*named.failed, *causes.failed),
            at=at,
        )

    def _write(self, analysed: Analysed) -> None:
        """Link the nodes of one batch with those there are, and write all of it."""
        begin, at, new, known = time.perf_counter(), analysed.at, analysed.new, analysed.known
        stage("finding mentions")
        mentions = text_edges(self._store, self._config, analysed.nodes, at)
        stage("finding similar memories")
        self._store.bind_embedder(self._embedder.name, self._embedder.dimension)
        similar = similarity_edges(new, nearest_in(self._store), neighbors=self._config.MAX_SIM_NEIGHBORS, at=at)
        # Known nodes may have new embeddings, which the store does not have yet.
        similarities = tuple(fitted(similar, analysed.nodes) if known else similar)
        stage("writing")
        self._commit(
            GraphDelta(
                removed_edges=(*analysed.parted, *mentions.removed),
                nodes=tuple(analysed.nodes),
                edges=(*analysed.sequences, *similarities, *mentions.put, *analysed.causes),
                weights=(*mentions.reweighted, *reweighed_similarities(known, self._store)),
                queued=analysed.failed,
                reason="add",
                at=at,
            )
        )
        took = time.perf_counter() - begin
        _log.info("stored %d chunks, %d of them new, in %.2f s", len(analysed.nodes), len(new), took)

    def _commit(self, delta: GraphDelta) -> None:
        """Write a delta: the one place where this class does."""
        self._store.apply(delta)

"""From documents to nodes and edges, one delta a batch."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from itertools import chain

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsExclusion
from neurogated.core.clock import Clock, to_utc
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.model import MemoryNode, json_metadata
from neurogated.core.ports import Embedder, GraphStorePort
from neurogated.core.rendering import document_tag, quoted, render
from neurogated.core.times import find_times
from neurogated.core.watchdog import stage
from neurogated.errors import InputError, UnknownIdError
from neurogated.ingestion.analysis import CAUSE, ENTITIES, Analysis, causal_pairs
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import Document, checked_ttl
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
from neurogated.ingestion.revision import Reviser, Revision, expiry, with_lifetime
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["IngestionEngine"]

_log = logging.getLogger(__name__)


class IngestionEngine:
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
        self._chunker = Chunker(config.CHUNK_SIZE, config.CHUNK_OVERLAP, embedder.count_tokens)
        self._reviser = Reviser(store, embedder, analysis, config)

    def add(self, documents: Iterable[Document]) -> Iterator[list[str]]:
        """Store documents and yield the node ids of each, in order, once it is stored.

        Chunks are embedded and written `INDEX_BATCH` at a time; one batch is read ahead, and embedded while the one
        before it is analysed and written. A document of more chunks is stored in parts: an interruption keeps the parts
        before it, and adding the document again stores the rest. A document that is there already changes nothing,
        except that metadata and times given anew take the place of the old. Judgements that fail are queued; see
        `resume`.
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
        size = self._config.INDEX_BATCH
        for document in documents:
            drafts = self._drafts(document)
            for begin in range(0, len(drafts), size):
                waiting.append(Part(drafts, begin, min(begin + size, len(drafts))))
                chunks += len(waiting[-1].drafts)
                if chunks >= size:
                    yield self._begin(waiting, embedding)
                    waiting, chunks = [], 0
            stage("reading documents")
        if waiting:
            yield self._begin(waiting, embedding)

    def _begin(self, parts: Sequence[Part], embedding: EmbeddingAhead) -> Batch:
        batch = self._planned(parts)
        embedding.begin(draft.rendered(batch.old.get(draft.id)) for draft in batch.to_write)
        return batch

    def resume(self) -> Iterator[int]:
        """Make up the judgements that wait, and yield how many of each batch were made; those that fail wait on."""
        waiting = self._store.pending()
        for begin in range(0, len(waiting), self._config.INDEX_BATCH):
            yield self._make_up(waiting[begin : begin + self._config.INDEX_BATCH])

    def delete(self, node_ids: Iterable[str]) -> int:
        """Remove nodes, and what follows from their texts in others, in one delta.

        Returns:
            How many nodes were removed; those that are gone already are passed over.

        Raises:
            UnknownIdError: a node never existed; nothing was changed.
        """
        with self.exclusively():
            return self._delete(list(dict.fromkeys(node_ids)), "delete")

    def delete_document(self, document_id: str) -> int:
        """Remove all nodes of a document; see `delete`.

        Raises:
            UnknownIdError: there is no node of such a document.
        """
        with self.exclusively():
            ids = self._store.nodes_with([document_tag(document_id)])
            if not ids:
                raise UnknownIdError(f"no document {document_id!r} in the memory; see document_id in the metadata")
            return self._delete(ids, "delete_document")

    def update(self, node_id: str, change: Revision) -> MemoryNode:
        """Put a new version of a node in its place, and make right what follows from its text, in one delta.

        Returns:
            The new version.

        Raises:
            UnknownIdError: the node does not exist.
            InputError: the new version cannot be stored; nothing was changed.
        """
        with self.exclusively():
            at = self._clock()
            self._expire(at)
            delta = self._reviser.update(node_id, change, at=at)
            self._store.apply(delta)
            return self._store.get_node(node_id)

    def writes_to(self, store: GraphStorePort) -> bool:
        """Return whether `store` is the graph that this engine writes to."""
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
            self._store.apply(self._reviser.deletion(staying, reason=reason, at=at))
        return len(ids) - len(gone)

    def _expire(self, now: datetime) -> int:
        """Remove what has expired; no write sees it any more."""
        ids = self._store.expired(now)
        if ids:
            self._store.apply(self._reviser.deletion(ids, reason="expired", at=self._clock()))
            _log.info("%d expired memories were removed", len(ids))
        return len(ids)

    def _make_up(self, tasks: Sequence[PendingTask]) -> int:
        nodes = self._stored(node_id for task in tasks for node_id in task.nodes)
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
            current = self._stored(nodes)
            found = {node.id: node.metadata[ENTITIES] for node in named.nodes if ENTITIES in node.metadata}
            changed = tuple(
                replace(current[name], metadata={ENTITIES: entities, **current[name].metadata})
                for name, entities in found.items()
                if name in current and ENTITIES not in current[name].metadata
            )
            edges = tuple(edge for edge in causes.edges if {edge.source_id, edge.target_id} <= current.keys())
            if settled:
                mentions = text_edges(self._store, self._config, changed, at)
                self._store.apply(
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

    def _stored(self, node_ids: Iterable[str]) -> dict[str, MemoryNode]:
        """Return those of the nodes that exist, by id."""
        return {node.id: node for node in self._store.get_nodes(list(dict.fromkeys(node_ids)), missing_ok=True)}

    def _drafts(self, document: Document) -> list[Draft]:
        length = sum(len(passage.text) for passage in document.passages)
        if length > self._config.MAX_DOCUMENT_CHARS:
            raise InputError(
                f"a document has {length} characters, more than the {self._config.MAX_DOCUMENT_CHARS} of "
                "MAX_DOCUMENT_CHARS; split it or raise the setting"
            )
        drafts: list[Draft] = []
        lifetime = self._lifetime(document)
        # A hash of the whole text, so it is computed once.
        document_id = document.id
        fields = document.node_fields
        for passage in document.passages:
            for chunk in self._chunker.split(passage.text):
                metadata = {**document.metadata, **passage.metadata, "document_id": document_id}
                if document.title is not None:
                    metadata["title"] = document.title
                # The position takes part, so that a sentence said twice is remembered twice.
                node_id = compute_mdhash_id(f"{document_id}\n{len(drafts)}\n{chunk}", prefix="chunk-")
                drafts.append(
                    Draft(node_id, chunk, json_metadata(metadata), lifetime, find_times(chunk), document.scope, fields)
                )
        return drafts

    def _lifetime(self, document: Document) -> dict[str, datetime | None]:
        times = {"valid_from": document.valid_from, "valid_to": document.valid_to}
        given: dict[str, datetime | None] = {name: to_utc(time) for name, time in times.items() if time is not None}
        return (
            given if (ttl := checked_ttl(document.ttl)) is None else {**given, "expires_at": expiry(self._clock(), ttl)}
        )

    def _told(self, part: Part, old: Mapping[str, MemoryNode]) -> Iterator[Draft]:
        """Yield the drafts of a part with what the text itself tells: words that tell when, and its context.

        The context of a turn of a dialogue is what was said just before, the last first, as it stands now; other texts
        need none. What was given as metadata stays.
        """

        def stands(draft: Draft) -> tuple[str, dict[str, object]]:
            node = old.get(draft.id)
            if node is None:
                return draft.content, dict(draft.metadata)
            return node.content, {**node.metadata, **draft.metadata}

        before = [quoted(*stands(draft)) for draft in part.before(self._config.CONTEXT_TURNS)]
        for draft in part.drafts:
            content, metadata = stands(draft)
            turns = before[max(0, len(before) - self._config.CONTEXT_TURNS) :][::-1]
            # The words of a memory that was updated since are no longer those of the document.
            times = draft.times if content == draft.content else ()
            found = {"times": list(times), "context": turns if metadata.get("speaker") else []}
            told = {name: values for name, values in found.items() if values}
            before.append(quoted(content, metadata))
            yield replace(draft, metadata={**told, **draft.metadata})

    def _planned(self, parts: Sequence[Part]) -> Batch:
        """Return the batch of some parts as the store is now."""
        reach = max(1, self._config.CAUSE_WINDOW, self._config.CONTEXT_TURNS)
        old = self._stored(chain.from_iterable(part.with_neighbours(reach) for part in parts))
        drafts: dict[str, Draft] = {}
        for draft in chain.from_iterable(self._told(part, old) for part in parts):
            drafts[draft.id] = draft.merged_over(drafts.get(draft.id))
        to_write = [draft for draft in drafts.values() if draft.id not in old or draft.changes(old[draft.id])]
        return Batch(parts, old, to_write)

    def _store_batch(self, batch: Batch, embedding: EmbeddingAhead) -> Iterator[list[str]]:
        # The batch before may have stored some of it.
        batch = self._planned(batch.parts)
        analysed = self._analysed(batch, embedding)
        with self.exclusively():
            self._expire(self._clock())
            # Analysing took its time: somebody else may have stored or removed some of it.
            current = self._planned(batch.parts)
            if current.basis != batch.basis:
                analysed = self._analysed(current, embedding)
            if current.to_write:
                self._write(analysed)
        for part in batch.parts:
            if part.is_last:
                yield [draft.id for draft in part.document]

    def _nodes(self, drafts: Sequence[Draft], old: Mapping[str, MemoryNode], at: datetime) -> list[MemoryNode]:
        """Return a node a draft, not embedded anew yet; an old node keeps its energy and its times."""
        nodes = [
            replace(old[draft.id], metadata={**old[draft.id].metadata, **draft.metadata}, **draft.fields)
            if draft.id in old
            else MemoryNode(
                draft.id,
                draft.content,
                metadata=draft.metadata,
                last_accessed=at,
                created_at=at,
                scope=draft.scope,
                **draft.fields,
            )
            for draft in drafts
        ]
        return [with_lifetime(node, draft.lifetime) for node, draft in zip(nodes, drafts, strict=True)]

    def _pairs(self, batch: Batch, new_ids: Collection[str], there: Collection[str]) -> list[PendingTask]:
        """Return the pairs to be judged for causes: one of the two is new, and both are among `there`."""
        window = self._config.CAUSE_WINDOW
        pairs = (causal_pairs(part.with_neighbours(window), new_ids, window) for part in batch.parts)
        # The end of a document and its beginning, given once more, may be in one batch.
        return list(
            dict.fromkeys(pair for pair in chain.from_iterable(pairs) if all(node in there for node in pair.nodes))
        )

    def _analysed(self, batch: Batch, embedding: EmbeddingAhead) -> Analysed:
        """Return what follows from the texts of a batch alone, which takes models and so its time."""
        at, old = self._clock(), batch.old
        nodes = self._nodes(batch.to_write, old, at)
        texts = [render(node.content, node.metadata) for node in nodes]
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
            for part in batch.parts
            for edge in sequence_edges(part.with_neighbours(1), new_ids, weight=self._config.SEQ_WEIGHT, at=at)
            if there.keys() >= {edge.source_id, edge.target_id}
        }
        return Analysed(
            new=[replace(node, embedding=embedded[node.id]) for node in named.nodes],
            known=[replace(node, embedding=embedded[node.id]) for node in nodes if node.id in old],
            sequences=tuple(sequences.values()),
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
        self._store.apply(
            GraphDelta(
                removed_edges=tuple(mentions.removed),
                nodes=tuple(analysed.nodes),
                edges=(*analysed.sequences, *similarities, *mentions.put, *analysed.causes),
                weights=(*mentions.reweighted, *reweighed_similarities(known, self._store)),
                queued=analysed.failed,
                reason="add_documents",
                at=at,
            )
        )
        took = time.perf_counter() - begin
        _log.info("stored %d chunks, %d of them new, in %.2f s", len(analysed.nodes), len(new), took)

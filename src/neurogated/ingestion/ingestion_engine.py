"""From documents to nodes and edges, one delta a batch."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.model import MemoryNode, json_metadata
from neurogated.core.ports import Embedder, GraphStorePort
from neurogated.core.rendering import quoted, render
from neurogated.core.times import find_times
from neurogated.errors import InputError, NeurogatedError
from neurogated.ingestion.analysis import CAUSE, ENTITIES, Analysis, causal_pairs
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import Document
from neurogated.ingestion.edge_builder import sequence_edges, similarity_edges
from neurogated.ingestion.mentions import MentionIndex
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["IngestionEngine"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Draft:
    """A chunk that may become a node."""

    id: str
    content: str
    metadata: Mapping[str, object]

    def changes(self, node: MemoryNode) -> bool:
        """Return whether the draft brings metadata that `node` does not have."""
        return {**node.metadata, **self.metadata} != node.metadata


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
        # Which nodes are new is found out and acted on by one thread at a time.
        self._lock = threading.Lock()
        self._chunker = Chunker(config.CHUNK_SIZE, config.CHUNK_OVERLAP, embedder.count_tokens)
        self._mentions = MentionIndex(store, config)

    def add(self, documents: Iterable[Document]) -> Iterator[list[str]]:
        """Store documents and yield the node ids of each, in order, once it is stored.

        Chunks are embedded and written `INDEX_BATCH` at a time. A document that is there already changes nothing,
        except that metadata given anew is merged over the old. Judgements that fail are queued; see `resume`.
        """
        batch: list[list[_Draft]] = []
        waiting = 0
        for document in documents:
            drafts = self._drafts(document)
            batch.append(drafts)
            waiting += len(drafts)
            if waiting >= self._config.INDEX_BATCH:
                yield from self._store_batch(batch)
                batch, waiting = [], 0
        yield from self._store_batch(batch)

    def resume(self) -> Iterator[int]:
        """Make up the judgements that wait, and yield how many of each batch were made; those that fail wait on."""
        waiting = self._store.pending()
        for begin in range(0, len(waiting), self._config.INDEX_BATCH):
            yield self._make_up(waiting[begin : begin + self._config.INDEX_BATCH])

    def _make_up(self, tasks: Sequence[PendingTask]) -> int:
        nodes = self._stored(node_id for task in tasks for node_id in task.nodes)
        # What was asked about nodes that are gone need not be answered.
        possible = [task for task in tasks if nodes.keys() >= set(task.nodes)]
        at = self._clock()
        causes = self._analysis.find_causes([task for task in possible if task.kind == CAUSE], nodes, at)
        named = self._analysis.find_entities([nodes[task.nodes[0]] for task in possible if task.kind == ENTITIES])
        failed = {*causes.failed, *named.failed}
        settled = tuple(task for task in tasks if task not in failed)
        with self._lock:
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
                self._store.apply(GraphDelta(nodes=changed, edges=edges, settled=settled, reason="resume", at=at))
        return len(settled)

    def _stored(self, node_ids: Iterable[str]) -> dict[str, MemoryNode]:
        """Return those of the nodes that exist, by id."""
        return {node.id: node for node in self._store.get_nodes(list(dict.fromkeys(node_ids)), missing_ok=True)}

    def _drafts(self, document: Document) -> list[_Draft]:
        length = sum(len(passage.text) for passage in document.passages)
        if length > self._config.MAX_DOCUMENT_CHARS:
            raise InputError(
                f"a document has {length} characters, more than the {self._config.MAX_DOCUMENT_CHARS} of "
                "MAX_DOCUMENT_CHARS; split it or raise the setting"
            )
        drafts: list[_Draft] = []
        for passage in document.passages:
            for chunk in self._chunker.split(passage.text):
                metadata = {**document.metadata, **passage.metadata, "document_id": document.id}
                if document.title is not None:
                    metadata["title"] = document.title
                # The position takes part, so that a sentence said twice is remembered twice.
                node_id = compute_mdhash_id(f"{document.id}\n{len(drafts)}\n{chunk}", prefix="chunk-")
                found = {"times": find_times(chunk), "context": self._context(metadata, drafts)}
                told = {name: list(values) for name, values in found.items() if values}
                drafts.append(_Draft(node_id, chunk, json_metadata({**told, **metadata})))
        return drafts

    def _context(self, metadata: Mapping[str, object], before: Sequence[_Draft]) -> Sequence[str]:
        """Return what was said just before a turn of a dialogue, the last first; other texts need no context."""
        turns = before[max(0, len(before) - self._config.CONTEXT_TURNS) :]
        return [quoted(turn.content, turn.metadata) for turn in reversed(turns)] if metadata.get("speaker") else ()

    def _store_batch(self, batch: Sequence[Sequence[_Draft]]) -> Iterator[list[str]]:
        ids = [[draft.id for draft in drafts] for drafts in batch]
        drafts: dict[str, _Draft] = {}
        for draft in chain.from_iterable(batch):
            twin = drafts.get(draft.id)
            drafts[draft.id] = draft if twin is None else replace(draft, metadata={**twin.metadata, **draft.metadata})
        with self._lock:
            old = self._stored(drafts)
            to_write = [draft for draft in drafts.values() if draft.id not in old or draft.changes(old[draft.id])]
            if to_write:
                self._write(to_write, old, dict.fromkeys(map(tuple, ids)))
        yield from ids

    def _nodes(self, drafts: Sequence[_Draft], old: Mapping[str, MemoryNode], at: datetime) -> list[MemoryNode]:
        """Return a node a draft; an old node keeps its energy and its times."""
        nodes = [
            replace(old[draft.id], metadata={**old[draft.id].metadata, **draft.metadata})
            if draft.id in old
            else MemoryNode(draft.id, draft.content, metadata=draft.metadata, last_accessed=at, created_at=at)
            for draft in drafts
        ]
        vectors = self._embedder.embed_documents([render(node.content, node.metadata) for node in nodes])
        return [replace(node, embedding=vector) for node, vector in zip(nodes, vectors, strict=True)]

    def _write(
        self, to_write: Sequence[_Draft], old: Mapping[str, MemoryNode], documents: Collection[Sequence[str]]
    ) -> None:
        """Write nodes and edges of one batch; `documents` are the ids of each document's nodes, each document once."""
        at, begin = self._clock(), time.perf_counter()
        nodes = self._nodes(to_write, old, at)
        self._store.bind_embedder(self._embedder.name, self._embedder.dimension)
        new = [node for node in nodes if node.id not in old]
        new_ids = {node.id for node in new}
        named = self._analysis.find_entities(new)
        pairs = [pair for node_ids in documents for pair in causal_pairs(node_ids, new_ids, self._config.CAUSE_WINDOW)]
        causes = self._analysis.find_causes(pairs, {**old, **{node.id: node for node in nodes}}, at)
        sequences = (
            edge
            for node_ids in documents
            for edge in sequence_edges(node_ids, new_ids, weight=self._config.SEQ_WEIGHT, at=at)
        )
        similarities = similarity_edges(new, self._store, neighbors=self._config.MAX_SIM_NEIGHBORS, at=at)
        mentions, outdated = self._mentions.edges(named.nodes, at)
        try:
            self._store.apply(
                GraphDelta(
                    removed_edges=tuple(outdated),
                    nodes=(*named.nodes, *(node for node in nodes if node.id in old)),
                    edges=(*sequences, *similarities, *mentions, *causes.edges),
                    queued=(*named.failed, *causes.failed),
                    reason="add_documents",
                    at=at,
                )
            )
        except NeurogatedError:
            self._mentions.forget()
            raise
        _log.info("stored %d chunks, %d of them new, in %.2f s", len(nodes), len(new), time.perf_counter() - begin)

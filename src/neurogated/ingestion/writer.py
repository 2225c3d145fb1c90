"""The single path for adding, changing and deleting texts: analyse, link, check, commit."""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from copy import copy
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from types import MappingProxyType

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.commit import EXPIRED, READ, Committer
from neurogated.core.conflicts import Conflict, conflicts_about, conflicts_made, orphaned_conflicts
from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.derivation import common_metadata, derivations, derived_from, is_derived, same_source
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode, same_vector
from neurogated.core.ports import Embedder, GraphStorePort, Snapshot
from neurogated.core.view import GraphView
from neurogated.errors import UnknownIdError
from neurogated.ingestion.analysers import ALONE, Analysis, EmbeddingAhead, Focus, texts_to_embed
from neurogated.ingestion.chunker import Chunker
from neurogated.ingestion.document import Document
from neurogated.ingestion.drafts import Analysed, Batch, DocumentPart, Revision
from neurogated.ingestion.duplicates import Deduplicator
from neurogated.ingestion.edge_builder import (
    RecentNodes,
    UserGraphs,
    fitted,
    similarity_edges,
    temporal_edges,
    text_edges,
)
from neurogated.ingestion.planner import Planner, document_of, parts_of, stored, stored_with
from neurogated.ingestion.sessions import followers_without

BATCH = 256
"""Chunks that are embedded together and written in one transaction; see ADR 13."""

_log = logging.getLogger(__name__)

Check = Callable[[GraphDelta, Sequence[MemoryNode], GraphView], GraphDelta]
"""The last stage of a write, which may add conflicts and links.

It returns a delta with additions, given the delta, the memories whose texts or times are new, and the present graph."""


def unchecked(delta: GraphDelta, _fresh: Sequence[MemoryNode], _view: GraphView) -> GraphDelta:
    """Return the delta."""
    return delta


class Linker:
    """Links nodes with the stored nodes. It computes deltas and does not apply them."""

    def __init__(self, store: GraphStorePort, config: MemoryConfig, duplicates: Deduplicator) -> None:
        self._store = store
        self._config = config
        self._duplicates = duplicates

    def writing(self, analysed: Analysed, snapshot: Snapshot, *, reason: str) -> GraphDelta:
        """Return the delta that writes analysed nodes to the graph of `snapshot`, and removes those that they replace.

        It also removes the memories that were derived from removed nodes, or from old versions of changed nodes.
        """
        at, view, graphs = analysed.at, snapshot.view, UserGraphs(snapshot)
        gone = self._with_derived(view, analysed.gone, analysed.known)
        mentions = text_edges(self._store, analysed.nodes, at, gone, graphs=graphs)
        known = [node for node in analysed.known if node.id in analysed.moved]
        moved = [*analysed.new, *(one for one in known if not is_derived(view, view.known_rows([one.id])).any())]
        leaving, most = set(gone), self._config.MAX_SIM_NEIGHBORS
        similar = similarity_edges(moved, graphs.nearest, neighbors=most, at=at, without=leaving)
        # Stored nodes may have new vectors that are not stored yet.
        similarities = list(fitted(similar, analysed.nodes) if analysed.known else similar)
        parted, same = self._duplicates.among(view, analysed.nodes, similarities, gone, at)
        temporal = temporal_edges(self._store, analysed.new, self._config.metabolism, at, gone)
        put = (*analysed.sequences, *similarities, *mentions.put, *analysed.causes, *temporal, *same)
        outdated = [key for kind in (EdgeType.CAUSE, EdgeType.ECHO) for key in self._edges_of(analysed.retold, kind)]
        outdated += self._edges_of(analysed.moved, EdgeType.SIM)
        # The edges of removed nodes go with them.
        outdated += [key for key in parted if leaving.isdisjoint((key.source_id, key.target_id))]
        removed = dict.fromkeys((*analysed.parted, *mentions.removed, *outdated))
        for edge in put if removed else ():
            removed.pop(edge.key, None)
        judged = leaving.union(analysed.retold)
        waiting = self._store.pending() if judged else ()
        return GraphDelta(
            removed_edges=tuple(removed),
            removed_nodes=tuple(gone),
            nodes=(*analysed.nodes, *self._following(analysed.known, gone)),
            edges=put,
            weights=tuple(mentions.reweighted),
            settled=tuple(one for one in waiting if not judged.isdisjoint(one.nodes)),
            reason=reason,
            at=at,
            owner=Owner.MEMORY,
        )

    def deletion(self, node_ids: Iterable[str], *, reason: str, at: datetime) -> GraphDelta:
        """Return the delta that removes nodes, and joins the turns before and after a removed turn of a session.

        It also removes the memories that were derived from the nodes.

        Raises:
            UnknownIdError: a node does not exist.
        """
        given, snapshot = list(dict.fromkeys(node_ids)), self._store.snapshot()
        followers = followers_without(snapshot.view, self._store.get_nodes(given))
        joined = [MemoryEdge(*pair, EdgeType.SEQ, created_at=at) for pair in followers]
        return self.writing(Analysed([], [], (), (), given, at, sequences=joined), snapshot, reason=reason)

    def _with_derived(self, view: GraphView, gone: Iterable[str], changed: Sequence[MemoryNode] = ()) -> list[str]:
        """Return the ids of nodes to remove, and of the nodes that were derived from them or from changed nodes.

        Conflicts of removed nodes, and of nodes with a new text, are removed too.
        """
        given = list(dict.fromkeys(gone))
        if not given and not changed:
            return []
        stored = {node.id: node for node in self._store.get_nodes([node.id for node in changed], missing_ok=True)}
        outdated = [node.id for node in changed if node.id in stored and not same_source(stored[node.id], node)]
        retold = [node.id for node in changed if node.id in stored and stored[node.id].content != node.content]
        removed = (*given, *derived_from(view, [*given, *outdated]))
        return list(dict.fromkeys((*removed, *conflicts_about(view, [*removed, *retold]))))

    def _following(self, changed: Sequence[MemoryNode], gone: Collection[str]) -> list[MemoryNode]:
        """Return the derived memories whose metadata changes with that of their sources."""
        if not changed:
            return []
        view, found = self._store.view(), {node.id: node for node in changed}
        names = [name for name in derived_from(view, found) if name not in gone]
        for fact in self._store.get_nodes(names, missing_ok=True):
            arcs = view.arcs(view.rows([fact.id]), EdgeType.DERIVED_FROM)
            sources = self._store.get_nodes(view.names(arcs.target))
            before, now = common_metadata(sources), common_metadata([found.get(one.id, one) for one in sources])
            own = {key: value for key, value in fact.metadata.items() if before.get(key) != value}
            if before != now:
                found[fact.id] = replace(fact, metadata={**now, **own})
        return [found[name] for name in names if name in found]

    def _edges_of(self, node_ids: Collection[str], edge_type: EdgeType) -> Iterator[EdgeKey]:
        if node_ids:
            view = self._store.view()
            rows = view.known_rows(node_ids)
            yield from map(view.edge_key, view.arcs(rows, edge_type, both_ways=True).edge.tolist())


class Writer:
    """Cuts documents into chunks, embeds new chunks, and writes nodes and edges through `store.apply`."""

    def __init__(
        self,
        store: GraphStorePort,
        embedder: Embedder,
        analysis: Analysis,
        config: MemoryConfig,
        clock: Clock,
        *,
        check: Check = unchecked,
        committer: Committer | None = None,
        batch: int = BATCH,
    ) -> None:
        """Take the parts; `check` adds conflicts to each delta, given the memories whose texts or times are new."""
        self._store = store
        self._batch = batch
        self._check = check
        self._embedder = embedder
        self._analysis = analysis
        self._config = config
        self._clock = clock
        self.found_conflicts: deque[Conflict] = deque()
        """Conflicts that no callback was told of yet."""
        self._committer = Committer(store) if committer is None else committer
        self._chunker = Chunker.of(config.indexing, embedder)
        self.focus = Focus()
        self._recent = RecentNodes(store)
        self._planner = Planner(self._recent, self._chunker, config, clock, batch)
        self.check_document = self._planner.check
        self.duplicates = Deduplicator(self._recent, config, batch)
        self._linker = Linker(store, config, self.duplicates)

    def add(self, documents: Iterable[Document]) -> Iterator[list[str]]:
        """Store documents that `check_document` was given, and yield the node ids of each after it is stored.

        Chunks are embedded and written in batches of `BATCH`. The next batch is read and embedded while
        the current batch is analysed and written. A longer document without an id is stored in parts. After an
        interruption, the stored parts remain, and adding the document again stores the rest. A text with an id of the
        caller is stored and replaced in one delta. Adding is idempotent for documents, except that new metadata and
        times replace the old ones. A turn of a session without an id is always new.
        """
        with EmbeddingAhead(self._embedder) as embedding:
            batches = self._begun(documents, embedding)
            batch = next(batches, None)
            while batch is not None:
                try:
                    following = next(batches, None)
                except Exception:
                    # Store the documents before one that cannot be read.
                    yield from self._store_batch(batch, embedding)
                    raise
                yield from self._store_batch(batch, embedding)
                batch = following

    def _begun(self, documents: Iterable[Document], embedding: EmbeddingAhead) -> Iterator[Batch]:
        """Yield documents in batches, and start to embed each batch."""
        waiting: list[DocumentPart] = []
        chunks, is_first = 0, True
        for document in documents:
            for part in self._planner.parts(document):
                waiting.append(part)
                chunks += len(part.drafts)
                if chunks >= self._batch:
                    yield self._begin(waiting, embedding)
                    waiting, chunks, is_first = [], 0, False
        if waiting:
            # A single batch is analysed at once, which begins with the vectors.
            yield self._planner.plan(waiting) if is_first else self._begin(waiting, embedding)

    def _begin(self, parts: Sequence[DocumentPart], embedding: EmbeddingAhead) -> Batch:
        batch = self._planner.plan(parts)
        if len(batch.to_write) > ALONE:
            texts = texts_to_embed(batch, batch.nodes(self._clock()), self._chunker)
            embedding.begin(chain.from_iterable(texts.values()))
        return batch

    def joining(self, join: Check) -> Writer:
        """Return this writer with a further check, which adds to each delta."""
        other, check = copy(self), self._check
        other._check = lambda delta, fresh, view: join(check(delta, fresh, view), fresh, view)  # noqa: SLF001 - a copy
        return other

    def linked(
        self, names: Mapping[str, Sequence[str]], causes: Iterable[tuple[str, str, float]], at: datetime
    ) -> GraphDelta:
        """Return the delta of names and causes that a model found in stored texts; the write lock is held.

        Args:
            names: the names in texts, by id.
            causes: pairs of ids, the cause first, with the weights of their CAUSE edges, 0–1. A pair that has such an
                edge keeps it, because use may have changed its weight.
            at: the time of the edges.
        """
        pairs = list(causes)
        sides = chain.from_iterable((first, second) for first, second, _ in pairs)
        view, current = self._store.view(), stored(self._store, {*names, *sides})
        changed = tuple(
            replace(node, found=replace(node.found, entities=tuple(found)))
            for name, found in names.items()
            if found and (node := current.get(name)) is not None and node.found.entities != tuple(found)
        )
        present = [pair for pair in pairs if pair[0] in current and pair[1] in current]
        firsts, seconds = view.rows([pair[0] for pair in present]), view.rows([pair[1] for pair in present])
        known = view.edge_rows(firsts, seconds, EdgeType.CAUSE).tolist()
        edges = tuple(
            MemoryEdge(source, target, EdgeType.CAUSE, weight, created_at=at)
            for (first, second, weight), row in zip(present, known, strict=True)
            if row < 0
            for source, target in ((first, second), (second, first))
        )
        mentions = text_edges(self._store, changed, at, graphs=UserGraphs(self._store.snapshot()))
        return GraphDelta(
            removed_edges=tuple(mentions.removed),
            nodes=changed,
            edges=(*edges, *mentions.put),
            weights=tuple(mentions.reweighted),
            reason=READ,
            at=at,
        )

    def delete(self, node_ids: Iterable[str]) -> list[str]:
        """Remove nodes, and the edges that follow from their texts, in one delta. An id of a text names all its chunks.

        Returns:
            The ids of the removed nodes, without those that were gone already.

        Raises:
            UnknownIdError: a node never existed; nothing has changed.
        """
        with self.exclusively():
            view = self._store.view()
            ids = chain.from_iterable(stored_with(view, node_id) for node_id in node_ids)
            return self._delete(list(dict.fromkeys(ids)), "delete")

    def delete_all(self, filters: Filter, reason: str = "delete") -> list[str]:
        """Remove the nodes that pass a filter; return the ids of the memories among them."""
        with self.exclusively():
            self.expire(self._clock())
            nodes = self._store.snapshot(filters=filters).find()
            if nodes:
                self._delete([node.id for node in nodes], reason)
            return [node.id for node in nodes if node.kind not in NO_MEMORIES]

    def delete_document(self, document_id: str) -> list[str]:
        """Remove all nodes of a document, and return their ids; see `delete`.

        `document_id` is the caller's own id of a text, `found.document_id` of its memories, or the id of one of them.

        Raises:
            UnknownIdError: no node ever belonged to such a document.
        """
        with self.exclusively():
            ids = document_of(self._store, document_id)
            if not ids and document_id not in self._store.view().rows_by_id:
                raise UnknownIdError(
                    f"no document {document_id!r} in the memory; give your own id of a text, or found.document_id of a "
                    "memory"
                )
            return self._delete(ids or [document_id], "delete_document")

    def update(self, node_id: str, change: Revision) -> MemoryNode:
        """Replace a node by a new version, and update the edges that follow from its text, in one delta.

        For a text with an id of the caller, a new content replaces all its chunks; other changes apply to each chunk.

        Returns:
            The new version.

        Raises:
            UnknownIdError: the node does not exist.
            InputError: the new version cannot be stored; nothing has changed.
        """
        at = self._clock()
        self.expire(at)
        with EmbeddingAhead(self._embedder) as embedding:
            put = self._put(
                lambda: self._planner.plan(self._planner.revision(node_id, change, at)), embedding, "update"
            )
            return put[node_id]

    def move(self, removed: Sequence[str], documents: Iterable[Document]) -> list[str]:
        """Store checked documents, and remove texts by their ids, in one delta; return the ids of the stored nodes."""
        parts = list(chain.from_iterable(map(self._planner.parts, documents)))
        with EmbeddingAhead(self._embedder) as embedding:
            self._put(lambda: self._planner.plan(parts, removed), embedding, "move")
        return [draft.id for part in parts for draft in part.drafts]

    def read(self, nodes: Sequence[MemoryNode]) -> list[MemoryNode]:
        """Return nodes with the names, the sentiments and the places in their texts."""
        return list(map(self._analysis.read, nodes))

    def put(
        self,
        nodes: Sequence[MemoryNode],
        removed: Sequence[str],
        snapshot: Snapshot,
        *,
        reason: str,
        derived: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> None:
        """Write whole nodes with their vectors, and remove others, in one delta with the edges that follow from texts.

        No text is cut, judged or read for claims, and stored nodes keep the edges that do not follow from their texts.
        The write lock is held.

        Args:
            nodes: the nodes to write.
            removed: the ids of the nodes to remove.
            snapshot: of the present graph; see `present`.
            reason: why.
            derived: the ids of the nodes from which some of the nodes were derived, by their ids.

        Raises:
            UnknownIdError: a node to remove does not exist; nothing has changed.
        """
        at, view = self._clock(), snapshot.view
        old = self._recent.read([node.id for node in nodes if node.id in view.rows_by_id], view)
        new, known = [node for node in nodes if node.id not in old], [node for node in nodes if node.id in old]
        moved = {node.id for node in known if not same_vector(node.embedding, old[node.id].embedding)}
        retold = {node.id for node in known if node.content != old[node.id].content}
        put, parted = derivations(view, derived, at) if derived else ((), ())
        analysed = Analysed(new, known, moved, retold, removed, at, sequences=put, parted=parted)
        self._write(analysed, snapshot, reason, ())

    def deduplicate(self) -> int:
        """Link the stored memories that say the same, in batches; return how many edges were added."""
        deltas = (self._committer.commit(partial(batch, self._clock())) for batch in self.duplicates.batches())
        return sum(len(delta.edges) for delta in deltas)

    def exclusively(self) -> AbstractContextManager[object]:
        """Lock the graph for a block that reads it and then writes."""
        return self._committer.exclusively()

    def expire(self, now: datetime) -> int:
        """Remove the nodes that have expired by `now`; return their number."""
        with self.exclusively():
            ids = self._store.snapshot().expired(now)
            if ids:
                self._commit(self._linker.deletion(ids, reason=EXPIRED, at=self._clock()))
                _log.info("removed %d expired memories", len(ids))
            return len(ids)

    def sweep(self, now: datetime) -> None:
        """Remove the nodes that have expired by `now`, and conflicts that have lost a side."""
        with self.exclusively():
            self.expire(now)
            if orphans := orphaned_conflicts(self._store, self._store.view()):
                self._commit(self._linker.deletion(orphans, reason=EXPIRED, at=self._clock()))

    def _delete(self, ids: Sequence[str], reason: str) -> list[str]:
        at, present = self._clock(), self._store.snapshot()
        expired = set(present.expired(at))
        wanted = [node_id for node_id in ids if node_id not in expired]
        # This raises for an unknown id before anything is removed.
        staying = present.view.present(wanted)
        gone = set(wanted).difference(staying)
        if gone:
            _log.info("%s skips %d memories that are gone: %s", reason, len(gone), ", ".join(sorted(gone)))
        self.expire(at)
        if staying:
            self._commit(self._linker.deletion(staying, reason=reason, at=at))
        return [node_id for node_id in ids if node_id not in gone]

    def _store_batch(self, batch: Batch, embedding: EmbeddingAhead) -> Iterator[list[str]]:
        self._put(lambda: self._planner.plan(batch.parts), embedding, "add", batch)
        view: GraphView | None = None
        for part in batch.parts:
            if part.end == len(part.document):
                is_old = part.document[0].named and not part.replaces
                view = self._store.view() if is_old and view is None else view
                yield parts_of(view, part.name) if is_old and view else [draft.id for draft in part.document]

    def _put(
        self, plan: Callable[[], Batch], embedding: EmbeddingAhead, reason: str, batch: Batch | None = None
    ) -> Mapping[str, MemoryNode]:
        """Write a plan in one delta, and return the stored and the written nodes of the plan by id.

        No lock is held while texts are analysed. If another writer changes the plan meanwhile, the texts are analysed
        again. Each such attempt means that another write succeeded, and vectors come from the cache.
        """
        if batch is None or batch.view.sequence < self._committer.sequence:
            # The previous batch may have stored some of these nodes.
            batch = plan()
        while True:
            analysed = self._analysis.analysed(batch, embedding, self._chunker, self.focus, self._clock())
            with self.exclusively():
                snapshot = self.present()
                before, batch = batch, batch if batch.view.sequence == snapshot.view.sequence else plan()
                if batch is not before and batch.basis != before.basis:
                    continue
                if batch.to_write or batch.gone:
                    begin, nodes = time.perf_counter(), (accessed := analysed.accessed_as(batch.old)).nodes
                    self._write(accessed, snapshot, reason, nodes)
                    took = time.perf_counter() - begin
                    _log.info("stored %d chunks, %d of them new, in %.2f s", len(nodes), len(accessed.new), took)
                return {**batch.old, **{node.id: node for node in analysed.nodes}}

    def present(self) -> Snapshot:
        """Return the present graph, without nodes that have expired; the lock is held."""
        snapshot = self._store.snapshot()
        if snapshot.view.hidden.size and self.expire(self._clock()):
            snapshot = self._store.snapshot()
        return snapshot

    def _write(self, analysed: Analysed, snapshot: Snapshot, reason: str, fresh: Sequence[MemoryNode]) -> None:
        """Link nodes with the stored nodes, and write them in one delta; see `Check` for `fresh`."""
        # To ask the embedder for the length of its vectors could load a model, while the lock is held.
        sizes = [len(node.embedding) for node in analysed.nodes if node.embedding is not None]
        if sizes:
            self._store.bind_embedder(self._embedder.name, sizes[0])
        written = self._commit(self._linker.writing(analysed, snapshot, reason=reason), fresh, snapshot.view)
        self._recent.note(snapshot.view, analysed.new, written, self._committer.sequence)

    def _commit(self, delta: GraphDelta, fresh: Sequence[MemoryNode] = (), view: GraphView | None = None) -> GraphDelta:
        """Check a delta for conflicts, write it, and return it. No other method of this class writes."""
        checked = self._check(delta, fresh, self._store.view() if view is None else view)
        found = conflicts_made(self._store, checked)
        self._committer.write(checked)
        self.found_conflicts.extend(found)
        return checked

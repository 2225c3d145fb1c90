"""`GraphStore`: one graph in memory, and the base of the store that keeps it on disk."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, from_micros, to_utc, utc_now
from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.core.view import GraphView, Rows
from neurogated.errors import (
    AmbiguousEdgeError,
    EmbedderMismatchError,
    InputError,
    MemoryClosedError,
    NeurogatedError,
    UnknownIdError,
)
from neurogated.storage.base_store import BaseStore
from neurogated.storage.embedding_store import EmbeddingStore
from neurogated.storage.planning import Plan, make_plan
from neurogated.storage.records import EdgeRecord, NodeRecord
from neurogated.storage.text_index import TextIndex
from neurogated.storage.topology import Topology

__all__ = ["GraphStore"]

# How many texts are read at once when the keyword index is made.
_INDEX_CHUNK = 1000


class GraphStore(BaseStore):
    """One graph, in memory; safe to share between threads.

    A durable store derives from it and replaces the methods under "What a durable store replaces".
    """

    def __init__(
        self,
        *,
        namespace: str = MemoryConfig().namespace,
        overlay_edges: int = MemoryConfig().OVERLAY_EDGES,
        clock: Clock = utc_now,
    ) -> None:
        super().__init__(clock)
        self._lock = threading.RLock()
        self._overlay_edges = overlay_edges
        self._family: dict[str, Any] = {namespace: self}
        self._topology = Topology(overlay_edges)
        self._vectors = EmbeddingStore()
        # Made on first use, so that a memory that is only counted or written to does not read all its texts.
        self._text_index: TextIndex | None = None
        self._closed = False
        self._interrupted = False
        self._embedder: tuple[str, int] | None = None
        self._pending: dict[PendingTask, None] = {}
        self._applied: list[GraphDelta] = []
        self._node_payloads: dict[int, NodeRecord] = {}
        self._edge_payloads: dict[int, EdgeRecord] = {}

    # The primitives

    def apply(self, delta: GraphDelta) -> int:
        """Make the change whole or not at all.

        Returns:
            The sequence number of the delta, counted from 1.

        Raises:
            InputError: something in the delta cannot be stored; nothing was changed.
            UnknownIdError: something to be changed or removed does not exist; nothing was changed.
        """
        with self._lock:
            self._require_open()
            self._check_vectors(delta)
            plan = make_plan(self._topology.view(), delta)
            # What is persisted must reach the working form whole. An interrupt in between makes the store useless
            # but for closing; opening it again reads the truth.
            self._interrupted = True
            try:
                sequence = self._persist(plan)
            except NeurogatedError:
                # The transaction was rolled back whole.
                self._interrupted = False
                raise
            self._topology.commit(plan, sequence)
            self._commit_vectors(plan)
            self._commit_texts(plan)
            self._pending = self._pending_after(delta)
            self._interrupted = False
            return sequence

    def view(self, *, valid_at: datetime | None = None) -> GraphView:  # noqa: ARG002
        """Return a snapshot of the graph; later writes do not show in it."""
        with self._lock:
            self._require_open()
            return self._topology.view()

    def get_nodes(self, node_ids: Sequence[str], *, missing_ok: bool = False) -> list[MemoryNode]:
        """Return the nodes in the order of their ids.

        Raises:
            UnknownIdError: an id is not in the memory, and `missing_ok` is not set.
        """
        with self._lock:
            view = self.view()
            if missing_ok:
                node_ids = [node_id for node_id in node_ids if view.find(node_id) is not None]
            rows = view.rows(node_ids)
            energies, accessed = view.base_energy.take(rows).tolist(), view.last_accessed.take(rows).tolist()
            return [
                MemoryNode.restored(
                    id=view.ids[row],
                    content=record.content,
                    embedding=self._vectors.get(row),
                    base_energy=energy,
                    last_accessed=from_micros(moment),
                    metadata=record.metadata,
                    created_at=record.created_at,
                    valid_from=record.valid_from,
                    valid_to=record.valid_to,
                    expires_at=record.expires_at,
                )
                for row, record, energy, moment in zip(
                    rows.tolist(), self._node_records(rows), energies, accessed, strict=True
                )
            ]

    def expired(self, now: datetime) -> list[str]:
        """Return the ids of the nodes that are to be forgotten by `now`, in the order they were added."""
        view = self.view()
        nodes = self.get_nodes([view.ids[row] for row in view.live_nodes().tolist()])
        return [node.id for node in nodes if node.expires_at is not None and node.expires_at <= now]

    def nearest(self, query: Vector, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and cosines of the `k` most similar nodes, best first, ties in order of id."""
        with self._lock:
            ids = (view or self.view()).ids
            keys, scores = self._vectors.search(query, k)
            found = [(ids[key], score) for key, score in zip(keys.tolist(), scores.tolist(), strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]

    def similarities(
        self,
        query: Vector,
        view: GraphView,  # noqa: ARG002 - other stores need it; here a node keeps its row while the store is open
        rows: Rows,
    ) -> NDArray[np.float32]:
        """Return the cosine of the nodes at `rows` of `view`, a view of this store, with the query.

        A node without embedding, or removed meanwhile, has 0.
        """
        with self._lock:
            self._require_open()
            return self._vectors.similarities(query, rows)

    def keyword_search(self, query: str, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and keyword scores > 0 of the `k` nodes that fit best, best first, ties in order of id."""
        with self._lock:
            ids = (view or self.view()).ids
            keys, scores = self._texts().keywords.search(query, k)
            found = [(ids[key], score) for key, score in zip(keys.tolist(), scores.tolist(), strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]

    def keyword_scores(self, query: str, view: GraphView, rows: Rows) -> NDArray[np.float64]:  # noqa: ARG002 - as above
        """Return the keyword score of the nodes at `rows` of `view`, 0 for a node that shares no keyword."""
        with self._lock:
            self._require_open()
            return self._texts().keywords.scores(query, rows)

    def carriers(self, marks: Collection[str], view: GraphView, rows: Rows) -> NDArray[np.bool_]:  # noqa: ARG002
        """Return whether the nodes at `rows` of `view` carry one of `marks`; see `core.rendering`."""
        with self._lock:
            self._require_open()
            return self._texts().marks.carriers(marks, rows)

    def carried(self, marks: Iterable[str]) -> frozenset[str]:
        """Return those of `marks` that some node carries."""
        with self._lock:
            self._require_open()
            return self._texts().marks.carried(marks)

    def bind_embedder(self, name: str, dimension: int | None) -> None:
        """Record which embedder the vectors come from, or check that it is the recorded one.

        Args:
            name: the embedder's name.
            dimension: its dimension; None compares the names only, without loading a model, and records nothing.

        Raises:
            EmbedderMismatchError: the memory was built with another; both are named.
        """
        with self._lock:
            self._require_open()
            # One embedder serves all namespaces, whichever of them recorded it.
            if self._embedder is None:
                self._embedder = next((store._embedder for store in self._family.values() if store._embedder), None)
            known_name, known_dimension = self._embedder or (name, dimension)
            if name != known_name or dimension not in (None, known_dimension):
                raise EmbedderMismatchError(
                    f"this memory was built with embedder {known_name!r} (dimension {known_dimension}), but is opened "
                    f"with {name!r} (dimension {dimension or 'not loaded yet'}); set embedding_name to the first, "
                    "or index again with force_index_from_scratch"
                )
            if self._embedder is None and dimension is not None:
                self._record_embedder(name, dimension)
                self._embedder = (name, dimension)

    def pending(self) -> list[PendingTask]:
        """Return the judgements that wait to be made up, oldest first."""
        with self._lock:
            self._require_open()
            return list(self._pending)

    def history(self) -> list[HistoryEntry]:
        """Return every delta that changed the graph, oldest first; marks of use are left out."""
        return [
            HistoryEntry(number, delta.at, delta.reason, delta.changes, delta.operators)
            for number, delta in enumerate(self._applied, start=1)
            if delta.changes or delta.operators
        ]

    def journal(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield every delta numbered above `after`, oldest first."""
        return (JournalEntry(number, delta) for number, delta in enumerate(self._applied, start=1) if number > after)

    def as_of(self, moment: int | datetime) -> GraphStore:
        """Return the graph as it was known after a delta, given by its number or a time; 0 is the empty graph.

        Raises:
            InputError: there is no such delta yet.
        """
        with self._lock:
            sequence = self._sequence_at(moment)
            past = GraphStore(overlay_edges=self._overlay_edges, clock=self._clock)
            for delta in self._applied[:sequence]:
                past.apply(delta)
            return past

    def in_namespace(self, namespace: str) -> Self:
        """Return another graph of the same store, made if there is none; the graphs never see each other."""
        with self._lock:
            self._require_open()
            if namespace not in self._family:
                self._family[namespace] = self._open_namespace(namespace)
                self._family[namespace]._family = self._family
            sibling: Self = self._family[namespace]
            return sibling

    @property
    def closed(self) -> bool:
        """Whether the store can no longer be used."""
        return self._closed

    def close(self) -> None:
        """Release what the store and its namespaces hold; using them afterwards raises MemoryClosedError."""
        for store in self._family.values():
            store._closed = True

    def get_edge(self, source_id: str, target_id: str, edge_type: EdgeType | None = None) -> MemoryEdge:
        """Return the edge from one node to another.

        Raises:
            UnknownIdError: a node does not exist, or no such edge.
            AmbiguousEdgeError: edges of several types lead from the one to the other and `edge_type` is not given.
        """
        with self._lock:
            view = self.view()
            source, target = view.rows([source_id]), view.rows([target_id])
            types = view.edge_types if edge_type is None else (edge_type,)
            rows = np.concatenate([np.empty(0, np.int64), *(view.edge_rows(source, target, kind) for kind in types)])
            edges = self._edges(view, rows[rows >= 0])
        if not edges:
            kind = "" if edge_type is None else f"{edge_type.name} "
            raise UnknownIdError(f"no {kind}edge from {source_id!r} to {target_id!r} in the memory")
        if len(edges) > 1:
            names = " and ".join(edge.type.name for edge in edges)
            raise AmbiguousEdgeError(f"{names} edges lead from {source_id!r} to {target_id!r}; name the type")
        return edges[0]

    def get_neighbors(self, node_id: str) -> Iterator[tuple[str, MemoryEdge]]:
        """Yield the nodes that stored edges lead to from `node_id`, each with its edge, oldest edge first."""
        with self._lock:
            view = self.view()
            edges = self._edges(view, np.sort(view.arcs(view.rows([node_id])).edge))
        return iter([(edge.target_id, edge) for edge in edges])

    def all_nodes(self) -> Iterator[MemoryNode]:
        """Yield every node in the order they were added."""
        view = self.view()
        return iter(self.get_nodes([view.ids[row] for row in view.live_nodes().tolist()]))

    def all_edges(self) -> Iterator[MemoryEdge]:
        """Yield every edge in the order they were added."""
        with self._lock:
            view = self.view()
            return iter(self._edges(view, view.live_edges()))

    # What a durable store replaces

    def _open_namespace(self, namespace: str) -> Self:
        """Return the store of another namespace."""
        return type(self)(namespace=namespace, overlay_edges=self._overlay_edges, clock=self._clock)

    def _persist(self, plan: Plan) -> int:
        """Keep what the columns do not hold and return the delta's number; the change is made once this returns."""
        self._applied.append(plan.delta)
        for row in plan.removed_nodes.tolist():
            self._node_payloads.pop(row, None)
        for row, node in zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True):
            self._node_payloads[row] = NodeRecord(
                node.content, node.metadata, node.created_at, node.valid_from, node.valid_to, node.expires_at
            )
        for row, edge in zip(plan.edge_rows.tolist(), plan.delta.edges, strict=True):
            self._edge_payloads[row] = EdgeRecord(edge.created_at, edge.valid_from, edge.valid_to)
        for row in plan.removed_edges.tolist():
            self._edge_payloads.pop(row, None)
        return self._topology.sequence + 1

    def _record_embedder(self, name: str, dimension: int) -> None:
        """Keep the embedder's name and dimension beyond this process."""

    def _node_records(self, rows: Rows) -> list[NodeRecord]:
        # Metadata is handed out, and must not change in the store when it is changed there.
        records = [self._node_payloads[row] for row in rows.tolist()]
        return [replace(record, metadata=deepcopy(record.metadata)) for record in records]

    def _edge_records(self, rows: Rows) -> list[EdgeRecord]:
        return [self._edge_payloads[row] for row in rows.tolist()]

    # Parts of the primitives

    def _require_open(self) -> None:
        if self._closed:
            raise MemoryClosedError("the memory is closed; open it again to use it")
        if self._interrupted:
            raise MemoryClosedError(
                "a write was interrupted; close the memory and open it again, nothing stored is lost"
            )

    def _sequence_at(self, moment: int | datetime) -> int:
        """Return the number of the last delta that was made at a time or before, or a number after checking it."""
        self._require_open()
        if isinstance(moment, datetime):
            return self._last_before(to_utc(moment))
        sequence = moment
        if not 0 <= sequence <= self._topology.sequence:
            raise InputError(f"there is no delta {sequence}; the last one is {self._topology.sequence}, see history()")
        return sequence

    def _last_before(self, moment: datetime) -> int:
        made = [number for number, delta in enumerate(self._applied, start=1) if delta.at <= moment]
        return made[-1] if made else 0

    def _pending_after(self, delta: GraphDelta) -> dict[PendingTask, None]:
        waiting = {**self._pending, **dict.fromkeys(delta.queued)}
        return {task: None for task in waiting if task not in delta.settled}

    def _check_vectors(self, delta: GraphDelta) -> None:
        lengths: dict[int, str] = {}
        for node in delta.nodes:
            if node.embedding is not None:
                self._vectors.check(node.embedding, f"node {node.id!r}")
                lengths.setdefault(len(node.embedding), node.id)
        if len(lengths) > 1:
            raise InputError(f"the delta holds embeddings of different dimensions: {lengths}")

    def _commit_vectors(self, plan: Plan) -> None:
        nodes = list(zip(plan.node_rows.tolist(), plan.delta.nodes, strict=True))
        without = [row for row, node in nodes if node.embedding is None]
        self._vectors.remove(np.concatenate((plan.removed_nodes, np.array(without, dtype=np.int64))))
        given = [(row, node.embedding) for row, node in nodes if node.embedding is not None]
        if given:
            rows, vectors = zip(*given, strict=True)
            self._vectors.put(np.array(rows, dtype=np.int64), np.stack(vectors).astype(np.float32, copy=False))

    def _texts(self) -> TextIndex:
        if self._text_index is None:
            index, rows = TextIndex.empty(), self._topology.view().live_nodes()
            for begin in range(0, rows.size, _INDEX_CHUNK):
                chunk = rows[begin : begin + _INDEX_CHUNK]
                index.put(chunk, self._node_records(chunk))
            self._text_index = index
        return self._text_index

    def _commit_texts(self, plan: Plan) -> None:
        if self._text_index is not None:
            self._text_index.remove(plan.removed_nodes)
            self._text_index.put(plan.node_rows, plan.delta.nodes)

    def _edges(self, view: GraphView, rows: Rows) -> list[MemoryEdge]:
        weights, activated = view.weight.take(rows).tolist(), view.last_activated.take(rows).tolist()
        return [
            MemoryEdge(
                *view.edge_key(row),
                weight=weight,
                created_at=record.created_at,
                last_activated=from_micros(moment),
                valid_from=record.valid_from,
                valid_to=record.valid_to,
            )
            for row, record, weight, moment in zip(
                rows.tolist(), self._edge_records(rows), weights, activated, strict=True
            )
        ]

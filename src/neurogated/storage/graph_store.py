"""`GraphStore`: one graph in memory, and the base of the store that keeps it on disk."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from datetime import datetime
from typing import Any, Self

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, from_micros, to_micros, to_utc, utc_now
from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry, PendingTask
from neurogated.core.model import MemoryEdge, MemoryNode, checked_text
from neurogated.core.view import GraphView, Rows
from neurogated.errors import (
    EmbedderMismatchError,
    InputError,
    MemoryClosedError,
    NeurogatedError,
    UnknownIdError,
)
from neurogated.storage.lifetimes import micros_or_none
from neurogated.storage.planning import Plan, make_plan
from neurogated.storage.records import EdgeRecord, NodeRecord
from neurogated.storage.searchable_store import SearchableStore
from neurogated.storage.text_index import OverlaidTextIndex, TextIndex
from neurogated.storage.working_form import WorkingForm

__all__ = ["GraphStore"]


class GraphStore(SearchableStore):
    """One graph, in memory; safe to share between threads.

    A durable store derives from it and replaces the methods under "What a durable store replaces".
    """

    def __init__(
        self,
        *,
        namespace: str = MemoryConfig().namespace,
        config: MemoryConfig | None = None,
        clock: Clock = utc_now,
    ) -> None:
        """Begin an empty graph; of `config` the settings of storage count, the defaults when left out."""
        super().__init__(clock)
        self._config = MemoryConfig() if config is None else config
        self._family: MutableMapping[str, Any] = {namespace: self}
        self._form = WorkingForm(self._config)
        self._closed = False
        self._interrupted = False
        self._embedder: tuple[str, int] | None = None
        # The name of the embedder that this process works with; shared by all namespaces.
        self._bound: list[str] = []
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
            self._form.check_vectors(delta)
            plan = make_plan(self._form.topology.view(), delta)
            # What is persisted must reach the working form whole. An interrupt in between makes the store useless
            # but for closing; opening it again reads the truth.
            self._interrupted = True
            try:
                sequence = self._persist(plan)
            except NeurogatedError:
                # The transaction was rolled back whole.
                self._interrupted = False
                raise
            self._commit(plan, sequence)
            self._interrupted = False
            return sequence

    def view(self, *, valid_at: datetime | None = None) -> GraphView:
        """Return a snapshot of the graph without what has expired; later writes do not show in it.

        Args:
            valid_at: leave out nodes and edges that did not hold in the world at this time.

        Raises:
            EmbedderMismatchError: the memory has vectors of another embedder than the one it was opened with by now.
        """
        with self._lock:
            self._require_bound()
            return self._form.view(to_micros(self._clock()), micros_or_none(valid_at))

    def expired(self, now: datetime) -> list[str]:
        """Return the ids of the nodes that are to be forgotten by `now`."""
        with self._lock:
            self._require_open()
            ids = self._form.topology.view().ids
            return [ids[row] for row in self._form.lifetimes.expired(to_micros(now)).tolist()]

    def get_nodes(self, node_ids: Sequence[str], *, missing_ok: bool = False) -> list[MemoryNode]:
        """Return the nodes in the order of their ids, those that have expired too.

        Raises:
            UnknownIdError: an id is not in the memory, and `missing_ok` is not set.
        """
        with self._lock:
            view = self._whole()
            if missing_ok:
                node_ids = [node_id for node_id in node_ids if view.find(node_id) is not None]
            return self._nodes_at(view, view.rows(node_ids))

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
                raise _mismatch(known_name, known_dimension, name, dimension)
            if self._embedder is None and dimension is not None:
                self._record_embedder(name, dimension)
                self._embedder = (name, dimension)
            self._bound[:] = [name]

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder the vectors come from, None while there is none."""
        return self._embedder

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
            then = moment if isinstance(moment, datetime) else self._applied[sequence - 1].at if sequence else utc_now()
            past = GraphStore(config=self._config, clock=lambda: then)
            past._embedder = self._embedder
            for delta in self._applied[:sequence]:
                past.apply(delta)
            return past

    def in_namespace(self, namespace: str) -> Self:
        """Return another graph of the same store, made if there is none; the graphs never see each other."""
        with self._lock:
            self._require_open()
            checked_text("the name of a namespace", namespace)
            sibling: Self | None = self._family.get(namespace)
            if sibling is None:
                sibling = self._open_namespace(namespace)
                sibling._family = self._family
                # One lock for all: a change may span them, and two that wait for each other would wait for ever.
                sibling._lock = self._lock
                sibling._bound = self._bound
                self._family[namespace] = sibling
            return sibling

    def namespaces(self) -> list[str]:
        """Return the names of all graphs of the store, in the order they were made."""
        return list(self._family)

    def drop_namespace(self, namespace: str) -> None:
        """Remove another graph of the store with all its history; one that is open can no longer be used.

        Raises:
            UnknownIdError: there is no graph of that name.
            InputError: it is the graph that this store itself shows.
        """
        with self._lock:
            self._require_open()
            if namespace not in self.namespaces():
                raise UnknownIdError(f"there is no namespace {namespace!r}; there are {self.namespaces()}")
            if self._family.get(namespace) is self:
                raise InputError(f"namespace {namespace!r} is in use here; drop it from another one")
            self._erase_namespace(namespace)
            dropped = self._family.pop(namespace, None)
            if dropped is not None:
                dropped._closed = True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block of changes, in any namespace, as one: if it raises, none of them was ever made.

        A namespace that was made in the block can then no longer be used.
        """
        with self._lock:
            self._require_open()
            before = {name: (store._form.topology.sequence, store._embedder) for name, store in self._family.items()}
            try:
                yield
            except BaseException:
                for name, store in list(self._family.items()):
                    if name in before:
                        sequence, store._embedder = before[name]
                        store._roll_back(sequence)
                    else:
                        self._family.pop(name)._closed = True
                raise

    @property
    def closed(self) -> bool:
        """Whether the store can no longer be used."""
        return self._closed

    def close(self) -> None:
        """Release what the store and its namespaces hold; using them afterwards raises MemoryClosedError."""
        for store in self._family.values():
            store._closed = True

    # What a durable store replaces

    def _open_namespace(self, namespace: str) -> Self:
        """Return the store of another namespace."""
        return type(self)(namespace=namespace, config=self._config, clock=self._clock)

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
        return self._form.topology.sequence + 1

    def _erase_namespace(self, namespace: str) -> None:
        """Erase what is kept of another namespace beyond this process."""

    def _roll_back(self, sequence: int) -> None:
        """Make the working form that of the delta `sequence` again."""
        if sequence == self._form.topology.sequence:
            return
        kept, self._applied = self._applied[:sequence], []
        self._form, self._pending = WorkingForm(self._config), {}
        for delta in kept:
            self.apply(delta)

    def _record_embedder(self, name: str, dimension: int) -> None:
        """Keep the embedder's name and dimension beyond this process."""

    def _node_records(self, rows: Rows) -> list[NodeRecord]:
        # Metadata is handed out, and must not change in the store when it is changed there.
        records = [self._node_payloads[row] for row in rows.tolist()]
        return [replace(record, metadata=deepcopy(record.metadata)) for record in records]

    def _edge_records(self, rows: Rows) -> list[EdgeRecord]:
        return [self._edge_payloads[row] for row in rows.tolist()]

    # Parts of the primitives

    def _whole(self) -> GraphView:
        self._require_open()
        return self._form.topology.view()

    def _commit(self, plan: Plan, sequence: int) -> None:
        """Make a planned change in memory."""
        self._form.commit(plan, sequence)
        waiting = {**self._pending, **dict.fromkeys(plan.delta.queued)}
        self._pending = {task: None for task in waiting if task not in plan.delta.settled}

    def _require_open(self) -> None:
        if self._closed and not any(store is self for store in self._family.values()):
            raise MemoryClosedError("this namespace was dropped; ask in_namespace for a new one")
        if self._closed:
            raise MemoryClosedError("the memory is closed; open it again to use it")
        if self._interrupted:
            raise MemoryClosedError(
                "a write was interrupted; close the memory and open it again, nothing stored is lost"
            )

    def _require_bound(self) -> None:
        """Refuse to answer where the vectors have become those of another embedder since this process was given one."""
        self._require_open()
        if self._embedder and self._bound and self._embedder[0] not in self._bound:
            raise _mismatch(*self._embedder, self._bound[0], None)

    def _rows_now(self, view: GraphView, rows: Rows) -> Rows:
        # Every search comes by here, also with a view that is older than what was taken in since.
        self._require_bound()
        return super()._rows_now(view, rows)

    def _sequence_at(self, moment: int | datetime) -> int:
        """Return the number of the last delta that was made at a time or before, or a number after checking it."""
        self._require_open()
        if isinstance(moment, datetime):
            return self._last_before(to_utc(moment))
        sequence = moment
        if not 0 <= sequence <= self._form.topology.sequence:
            raise InputError(
                f"there is no delta {sequence}; the last one is {self._form.topology.sequence}, see history()"
            )
        return sequence

    def _last_before(self, moment: datetime) -> int:
        made = [number for number, delta in enumerate(self._applied, start=1) if delta.at <= moment]
        return made[-1] if made else 0

    def _texts(self) -> TextIndex | OverlaidTextIndex:
        return self._present_texts()

    def _present_texts(self) -> TextIndex:
        return self._form.texts(self._node_records)

    def _nodes_at(self, view: GraphView, rows: Rows) -> list[MemoryNode]:
        energies, accessed = view.base_energy.take(rows).tolist(), view.last_accessed.take(rows).tolist()
        return [
            MemoryNode.restored(
                id=view.ids[row],
                content=record.content,
                embedding=self._form.vectors.get(row),
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


def _mismatch(known: str, known_dimension: int | None, name: str, dimension: int | None) -> EmbedderMismatchError:
    return EmbedderMismatchError(
        f"this memory was built with embedder {known!r} (dimension {known_dimension}), but is opened "
        f"with {name!r} (dimension {dimension or 'not loaded yet'}); set embedding_name to the first, "
        f"or move the memory to the second with `python main.py migrate --embedding_name {name}`"
    )

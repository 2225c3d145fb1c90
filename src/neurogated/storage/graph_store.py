"""`GraphStore`: a log that is the truth and a graph index that follows it; the base of the store on disk."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from itertools import islice
from typing import Self

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, to_micros, to_utc, utc_now
from neurogated.core.column_view import ColumnView
from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry, PendingTask
from neurogated.core.filters import Filter
from neurogated.core.model import MemoryNode
from neurogated.core.text import checked_text
from neurogated.errors import InputError, NeurogatedError, UnknownIdError
from neurogated.storage.graph_state import GraphState, MemoryRecords, Records
from neurogated.storage.index.graph.neighbourhood import neighbourhood
from neurogated.storage.index.graph.validity import micros_or_none
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.isolated_store import IsolatedStore
from neurogated.storage.log.log import Log
from neurogated.storage.log.memory_log import MemoryLog
from neurogated.storage.log.purge import erase_removed
from neurogated.storage.mismatch import mismatch
from neurogated.storage.resolve import Plan, make_plan

__all__ = ["GraphStore"]


class GraphStore(IsolatedStore):
    """One graph, whose log is in memory where no other is given; safe to share between threads.

    The store catches up with the log, checks a delta against the index, appends it and takes it into the index. A new
    engine writes a `Log`. The store of memory files replaces the methods under "What a durable store replaces".
    """

    def __init__(
        self,
        *,
        namespace: str = MemoryConfig().namespace,
        config: MemoryConfig | None = None,
        clock: Clock = utc_now,
        log: Log | None = None,
    ) -> None:
        """Open the graph of a log.

        Args:
            namespace: the name of the graph.
            config: of which the settings of storage count; the defaults when left out.
            clock: tells the time.
            log: the truth; an empty one in memory when left out.
        """
        self._log: Log = MemoryLog(namespace) if log is None else log
        self._held = MemoryRecords({}, {})
        super().__init__(clock, namespace, MemoryConfig() if config is None else config)
        self._epoch = self._log.position().epoch
        if log is not None:
            with self._lock:
                self._catch_up()

    # The primitives

    def apply(self, delta: GraphDelta) -> int:
        """Make the change whole or not at all.

        Returns:
            The sequence number of the delta, counted from 1.

        Raises:
            InputError: something in the delta cannot be stored; nothing was changed.
            UnknownIdError: something to be changed or removed does not exist; nothing was changed.
        """
        with self.exclusively():
            self._check_vectors(delta)
            self._isolate()
            plan = make_plan(self._form.topology.view(), delta)
            # What is persisted must reach the graph index whole. An interrupt in between makes the store useless
            # but for closing; opening it again reads the truth.
            self._interrupted = True
            try:
                sequence = self._persist(plan)
            except NeurogatedError:
                # The transaction was rolled back whole.
                self._interrupted = False
                raise
            self._commit(plan, sequence)
            with self._committing:
                self._form.commit_lifetimes(plan)
                self._interrupted = False
                self._publish()
            return sequence

    def view(
        self,
        *,
        valid_at: datetime | None = None,
        filters: Filter | None = None,
        around: Iterable[str] | None = None,
        hops: int = 1,
    ) -> ColumnView:
        """Return a snapshot of the graph without what has expired; later writes do not show in it.

        Args:
            valid_at: leave out nodes and edges that did not hold in the world at this time.
            filters: which nodes searches may find.
            around: ids of nodes; only the part of the graph that `hops` edges from them reach.
            hops: how many edges, in either direction.

        Raises:
            UnknownIdError: a node of `around` is not in the memory.
            EmbedderMismatchError: the memory has vectors of another embedder than the one it was opened with by now.
        """
        now, moment = to_micros(self._clock()), micros_or_none(valid_at)
        with self._reading(latest=True) as state:
            self._require_bound(state)
            seen = state.visible(now, moment)
        if around is not None:
            seen = neighbourhood(seen, around, hops)
        return seen if filters is None else self._filtered(seen, filters)

    def expired(self, now: datetime) -> list[str]:
        """Return the ids of the nodes that are to be forgotten by `now`."""
        with self._reading(latest=True) as state:
            return [state.view.ids[row] for row in state.form.lifetimes.expired(to_micros(now)).tolist()]

    def get_nodes(self, node_ids: Sequence[str], *, missing_ok: bool = False) -> list[MemoryNode]:
        """Return the nodes in the order of their ids, those that have expired too.

        Raises:
            UnknownIdError: an id is not in the memory, and `missing_ok` is not set.
        """

        def read(state: GraphState) -> list[MemoryNode]:
            view = state.view
            wanted = [one for one in node_ids if view.find(one) is not None] if missing_ok else node_ids
            return state.nodes(view.rows(wanted))

        return self._read(read)

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
                self._embedder = self._known_embedder()
            if self._embedder is None and dimension is not None:
                with self.exclusively():
                    # Somebody else may have recorded one meanwhile.
                    self._embedder = self._known_embedder()
                    if self._embedder is None:
                        self._record_embedder(name, dimension)
                        self._embedder = (name, dimension)
                        self._publish()
            known_name, known_dimension = self._embedder or (name, dimension)
            if name != known_name or dimension not in (None, known_dimension):
                raise mismatch(known_name, known_dimension, name, dimension)
            self._bound[:] = [name]

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder the vectors come from, None while there is none."""
        return self._embedder

    def pending(self) -> list[PendingTask]:
        """Return the judgements that wait to be made up, oldest first."""
        return list(self._latest().pending)

    def history(self) -> list[HistoryEntry]:
        """Return every delta that changed the graph, oldest first; uses are left out."""
        self._latest()
        return [entry for entry in self._log.history() if entry.changes or entry.operators]

    def journal(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield every delta numbered above `after`, oldest first."""
        self._latest()
        return self._log.entries(after)

    def as_of(self, moment: int | datetime) -> GraphStore:
        """Return the graph as it was known after a delta, given by its number or a time; 0 is the empty graph.

        Raises:
            InputError: there is no such delta yet.
        """
        with self._lock:
            self._latest()
            sequence = self._sequence_at(moment)
            deltas = [entry.delta for entry in islice(self._log.entries(), sequence)]
            made = [delta.at for delta in deltas if not delta.tells_of_uses_only]
            then = moment if isinstance(moment, datetime) else made[-1] if made else utc_now()
            past = MemoryLog.of(deltas, self._log.history()[:sequence])
            if self._embedder is not None:
                past.record_embedder(*self._embedder)
            return GraphStore(config=self._config, clock=lambda: then, log=past)

    def in_namespace(self, namespace: str) -> Self:
        """Return another graph of the same store, made if there is none; the graphs never see each other."""
        with self._lock:
            self._require_open()
            checked_text("the name of a namespace", namespace)
            sibling: Self | None = self._family.get(namespace)
            if sibling is None:
                sibling = self._open_namespace(namespace)
                # One lock for all: a change may span them, and with several locks threads could deadlock.
                sibling._family, sibling._lock, sibling._bound = self._family, self._lock, self._bound
                sibling._transaction = self._transaction
                self._family[namespace] = sibling
            return sibling

    def namespaces(self) -> list[str]:
        """Return the names of all graphs of the store, in the order they were made."""
        return self._log.namespaces()

    def drop_namespace(self, namespace: str) -> None:
        """Remove another graph of the store with all its history; one that is open can no longer be used.

        Raises:
            UnknownIdError: there is no graph of that name.
            InputError: it is the graph that this store itself shows.
        """
        with self.exclusively():
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
        with self.exclusively():
            before = {name: store._embedder for name, store in self._family.items()}
            with self._apart():
                try:
                    with self._log.transaction():
                        yield
                except BaseException:
                    for name, store in list(self._family.items()):
                        if name in before:
                            store._embedder = before[name]
                            store._catch_up()
                        else:
                            self._family.pop(name)._closed = True
                    raise

    def compact(self, *, history: bool = False) -> int:
        """Erase removed nodes, of all namespaces, with all their history, and keep nothing of their texts.

        Afterwards `as_of` and `undo` show the past without them. A look at the past that was taken before is a copy.

        Args:
            history: erase also the past versions of the nodes that stay; then the past shows these as they are now,
                from when they were first put. Edges and the list of changes stay.

        Returns:
            How many nodes were erased.

        Raises:
            InputError: within a transaction, which could not be taken back.
        """
        with self.exclusively():
            if self._transaction.locked():
                raise InputError("compact cannot be taken back; call it after the transaction")
            return sum(self.in_namespace(name)._erase_removed(history=history) for name in self.namespaces())

    @property
    def closed(self) -> bool:
        """Whether the store can no longer be used."""
        return self._closed

    def close(self) -> None:
        """Release what the store and its namespaces hold; using them afterwards raises MemoryClosedError."""
        for store in self._family.values():
            store._closed = True
        self._log.close()

    # What a durable store replaces

    def _open_namespace(self, namespace: str) -> Self:
        """Return the store of another namespace."""
        log = self._log.in_namespace(namespace)
        return type(self)(namespace=namespace, config=self._config, clock=self._clock, log=log)

    def _check_vectors(self, delta: GraphDelta) -> None:
        """Refuse vectors that do not fit each other and those there are; raises InputError."""
        self._form.check_vectors(delta)

    def _persist(self, plan: Plan) -> int:
        """Keep what the columns do not hold and return the delta's number; the change is made once this returns."""
        return self._log.append(plan.delta)

    def _erase_namespace(self, namespace: str) -> None:
        """Erase what is kept of another namespace beyond this process."""
        self._log.drop_namespace(namespace)

    def _turn(self, patience: float | None) -> AbstractContextManager[object]:
        return self._log.writing(patience)

    def _follow_others(self) -> None:
        self._catch_up()

    def _catch_up(self) -> None:
        """Take in what the log has gained, or begin again where it was rewritten or taken back; the lock is held."""
        position = self._log.position()
        if position == (self._epoch, self._form.topology.sequence):
            return
        if position.epoch != self._epoch or position.sequence < self._form.topology.sequence:
            self._form, self._pending, self._held = GraphIndex(self._config), {}, MemoryRecords({}, {})
        with self._committing:
            for entry in self._log.entries(self._form.topology.sequence):
                plan = make_plan(self._form.topology.view(), entry.delta)
                self._commit(plan, entry.sequence)
                self._form.commit_lifetimes(plan)
            self._epoch, self._embedder = position.epoch, self._log.embedder
            self._publish()

    def _erase_removed(self, *, history: bool) -> int:
        """Erase the removed nodes of this graph; return how many there were."""
        view = self._form.topology.view()
        deltas = [entry.delta for entry in self._log.entries()]
        erased = {node.id for delta in deltas for node in delta.nodes if view.find(node.id) is None}
        if not erased and not history:
            return 0
        # What is yielded next depends on the graph that was made so far.
        fresh = GraphStore(config=self._config, clock=self._clock)
        made = []
        for delta in erase_removed(deltas, erased, fresh._form.topology.view, history=history):
            fresh.apply(delta)
            made.append(delta)
        self._log.rewrite(made)
        self._catch_up()
        return len(erased)

    def _known_embedder(self) -> tuple[str, int] | None:
        """Return the embedder that any of the namespaces has recorded."""
        return self._log.embedder

    def _record_embedder(self, name: str, dimension: int) -> None:
        """Keep the embedder's name and dimension beyond this process."""
        self._log.record_embedder(name, dimension)

    def _records(self) -> Records:
        """Return what the columns do not hold, as it is now."""
        return self._held

    def _keep_records(self, plan: Plan) -> None:
        """Keep in memory what the columns do not hold."""
        self._held.commit(plan)

    # Parts of the primitives

    def _commit(self, plan: Plan, sequence: int) -> None:
        """Make a planned change in memory."""
        self._keep_records(plan)
        self._form.commit(plan, sequence)
        waiting = {**self._pending, **dict.fromkeys(plan.delta.queued)}
        self._pending = {task: None for task in waiting if task not in plan.delta.settled}

    def _sequence_at(self, moment: int | datetime) -> int:
        """Return the number of the last change that was made at a time or before, or a number after checking it."""
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
        made = (entry for entry in self._log.entries() if entry.delta.at <= moment)
        return max((entry.sequence for entry in made if not entry.delta.tells_of_uses_only), default=0)

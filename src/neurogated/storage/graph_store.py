"""`GraphStore`: a log that is the truth and a graph index that follows it, composed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from itertools import islice
from typing import Self, cast, overload

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, to_utc, utc_now
from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.text import checked_text
from neurogated.errors import InputError, NeurogatedError, UnknownIdError
from neurogated.storage.family import Family
from neurogated.storage.log.log import Engine, SupportsEntriesOf, SupportsErasure, SupportsPast, SupportsRewriting
from neurogated.storage.log.memory_log import MemoryEngine, MemoryLog
from neurogated.storage.log.purge import erase_removed
from neurogated.storage.mismatch import mismatch
from neurogated.storage.resolve import make_plan
from neurogated.storage.searchable_store import SearchableStore

__all__ = ["GraphStore"]


class GraphStore(SearchableStore):
    """One graph of an engine, which is in memory where no other is given; safe to share between threads.

    The store catches up with the log, checks a delta against the index, appends it and takes it into the index. A new
    engine writes an `Engine` and a `Log`.
    """

    def __init__(
        self,
        *,
        namespace: str = MemoryConfig().namespace,
        config: MemoryConfig | None = None,
        clock: Clock = utc_now,
        engine: Engine | None = None,
        family: Family | None = None,
    ) -> None:
        """Open a graph of an engine.

        Args:
            namespace: the name of the graph.
            config: of which the settings of storage count; the defaults when left out.
            clock: tells the time.
            engine: keeps the log, which is the truth; one in memory when left out.
            family: what other stores over this engine share; the first one when left out.
        """
        checked_text("the name of a namespace", namespace)
        engine = MemoryEngine() if engine is None else engine
        super().__init__(engine, namespace, MemoryConfig() if config is None else config, clock, family)

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
            self._index.check_vectors(delta)
            self._isolate()
            plan = make_plan(self._index.topology.view(), delta)
            # What is appended must reach the index whole. After an interrupt in between, the index is loaded again.
            self._interrupted = True
            try:
                sequence = self._log.append(plan, self._index)
            except NeurogatedError:
                # Nothing was appended.
                self._interrupted = False
                raise
            self._index.commit(plan, sequence)
            with self._committing:
                self._index.commit_lifetimes(plan)
                self._interrupted = False
                self._publish()
            self._follower.note(plan, self._index)
            return sequence

    def add_node(self, node: MemoryNode) -> None:
        """Add a node, or put it in the place of the node with its id."""
        self.apply(GraphDelta(nodes=(node,), reason="add_node", at=self._clock()))

    @overload
    def add_edge(self, source: MemoryEdge) -> None: ...
    @overload
    def add_edge(self, source: str, target: str, type: EdgeType, weight: float = 1.0) -> None: ...

    def add_edge(
        self,
        source: MemoryEdge | str,
        target: str | None = None,
        type: EdgeType | None = None,  # noqa: A002 - the specification's name
        weight: float = 1.0,
    ) -> None:
        """Add an edge, or put it in the place of the edge with its ends and type.

        Raises:
            InputError: an end does not exist, the weight is not between 0 and 1, or `target` or `type` is missing.
        """
        now = self._clock()
        if not isinstance(source, MemoryEdge):
            if target is None or type is None:
                raise InputError("add_edge needs a MemoryEdge, or source, target and type")
            source = MemoryEdge(source, target, type, weight, created_at=now)
        self.apply(GraphDelta(edges=(source,), reason="add_edge", at=now))

    def remove_node(self, node_id: str) -> None:
        """Remove a node and its edges; raises UnknownIdError."""
        self.apply(GraphDelta(removed_nodes=(node_id,), reason="remove_node", at=self._clock()))

    def remove_edge(self, edge: MemoryEdge | EdgeKey) -> None:
        """Remove one edge; raises UnknownIdError."""
        key = edge.key if isinstance(edge, MemoryEdge) else EdgeKey(*edge)
        self.apply(GraphDelta(removed_edges=(key,), reason="remove_edge", at=self._clock()))

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
            known = self.embedder or self._engine.embedder
            if known is None and dimension is not None:
                with self.exclusively():
                    # Somebody else may have recorded one meanwhile.
                    known = self._engine.embedder
                    if known is None:
                        known = name, dimension
                        self._engine.record_embedder(*known)
            self._index.embedder = known
            self._publish()
            known_name, known_dimension = known or (name, dimension)
            if name != known_name or dimension not in (None, known_dimension):
                raise mismatch(known_name, known_dimension, name, dimension)
            self._family.bound[:] = [name]

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder the vectors come from, None while there is none."""
        return self._latest().embedder

    def is_frozen(self) -> bool:
        """Return whether the memory was told to learn nothing; see `SupportsFreezing`."""
        return self._engine.is_frozen()

    def record_frozen(self, *, frozen: bool) -> None:
        """Keep whether the memory learns nothing; see `SupportsFreezing`."""
        with self.exclusively():
            self._engine.record_frozen(frozen=frozen)

    def pending(self) -> list[PendingTask]:
        """Return the judgements that wait to be made up, oldest first."""
        return list(self._latest().pending)

    def history(self) -> list[HistoryEntry]:
        """Return every delta that changed the graph, oldest first; uses are left out."""
        with self._lock:
            last = self._latest().view.sequence
            told = self._log.history()
        return [entry for entry in told if entry.sequence <= last and (entry.changes or entry.operators)]

    def journal(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield every delta numbered above `after`, oldest first, as far as compaction left it."""
        self._latest()
        return self._log.entries(after)

    def journal_of(self, node_id: str) -> Iterator[JournalEntry]:
        """Yield the deltas that put or removed a node, oldest first; others may be among them."""
        self._latest()
        return self._log.entries_of(node_id) if isinstance(self._log, SupportsEntriesOf) else self._log.entries()

    def as_of(self, moment: int | datetime) -> GraphStore:
        """Return the graph as it was known after a delta, given by its number or a time, to be read only.

        0 is the empty graph; a time stands for the last delta that was made at it or before.

        Raises:
            InputError: there is no such delta yet.
        """
        with self._lock:
            self._latest()
            sequence, at = self._sequence_at(moment), moment if isinstance(moment, datetime) else None
            if isinstance(self._log, SupportsPast):
                engine, then = self._log.as_of(sequence, at, self._latest)
            else:
                engine, then = self._replayed_past(sequence, at)
            return GraphStore(namespace=self._name, config=self._config, clock=lambda: then, engine=engine)

    def in_namespace(self, namespace: str) -> Self:
        """Return another graph of the same store, made if there is none; the graphs never see each other."""
        with self._lock:
            if (known := self._family.stores.get(namespace)) is not None:
                # It may be one whose making was taken back.
                known._renew()
            self._require_open()
            sibling = self._family.stores.get(namespace)
            if sibling is None:
                sibling = type(self)(
                    namespace=namespace,
                    config=self._config,
                    clock=self._clock,
                    engine=self._engine,
                    family=self._family,
                )
            return cast("Self", sibling)

    def namespaces(self) -> list[str]:
        """Return the names of all graphs of the store, in the order they were made."""
        with self._lock:
            self._require_open()
            return self._engine.namespaces()

    def drop_namespace(self, namespace: str) -> None:
        """Remove another graph of the store with all its history; one that is open can no longer be used.

        Raises:
            UnknownIdError: there is no graph of that name.
            InputError: it is the graph that this store itself shows.
        """
        with self._erasing(), self.exclusively():
            if namespace not in self._engine.namespaces():
                raise UnknownIdError(f"there is no namespace {namespace!r}; there are {self.namespaces()}")
            if namespace == self._name:
                raise InputError(f"namespace {namespace!r} is in use here; drop it from another one")
            dropped = self._family.stores.get(namespace)
            if dropped is not None:
                dropped._follower.cancel()
                dropped._interrupted = True
                dropped._index.close()
                dropped._note_closed()
            self._engine.drop_namespace(namespace)
            self._family.stores.pop(namespace, None)
            if dropped is not None:
                dropped._closed = True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block of changes, in any namespace, as one: if it raises, none of them was ever made.

        A namespace that was made in the block can then no longer be used.
        """
        with self.exclusively():
            self._renew_all()
            for store in list(self._family.stores.values()):
                if not store.is_unloaded:
                    store._catch_up()
            with self._apart():
                try:
                    with self._family.blocks.begun(), self._engine.transaction():
                        for store in list(self._family.stores.values()):
                            store._block = self._family.blocks.innermost
                        yield
                except BaseException:
                    self._renew_all()
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
            StorageError: another process reads just now; the nodes are erased, but not yet from all of the disk.
        """
        with self._lock:
            self._require_open()
            if self._family.transaction.locked():
                raise InputError("compact cannot be taken back, and so be no part of a transaction; call it afterwards")
        with self._erasing(), self.exclusively():
            if not isinstance(self._engine, SupportsErasure):
                return sum(self.in_namespace(name)._erase_removed(history=history) for name in self.namespaces())
            for store in list(self._family.stores.values()):
                store._follower.cancel()
                # Whatever happens from here on, the index is loaded again before it is used.
                store._interrupted = True
            return self._engine.erase_removed(history=history)

    @property
    def closed(self) -> bool:
        """Whether the store can no longer be used."""
        return self._closed

    def close(self) -> None:
        """Release what the store and its namespaces hold; using them afterwards raises MemoryClosedError."""
        if self._closed:
            return
        with self._lock:
            # Within a transaction nothing can be kept, and who waits for it would wait for ever.
            in_transaction = self._family.transaction.locked()
        for store in list(self._family.stores.values()):
            store._follower.cancel() if in_transaction else store._follower.settle(store._index)
            store._index.close()
        for store in list(self._family.stores.values()):
            store._closed = True
        self._engine.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Parts of the primitives

    def _renew_all(self) -> None:
        """Load all indexes again that are not right; those that were let go of are loaded on their next use."""
        for store in list(self._family.stores.values()):
            if not store.is_unloaded:
                store._renew()

    def _erasing(self) -> AbstractContextManager[object]:
        """Let nobody keep indexes on disk within the block; to be entered before the lock is taken."""
        for store in list(self._family.stores.values()):
            store._follower.cancel()
        return self._engine.erasing() if isinstance(self._engine, SupportsErasure) else nullcontext()

    def _erase_removed(self, *, history: bool) -> int:
        """Erase the removed nodes of this graph by rewriting its log; return how many there were."""
        if not isinstance(self._log, SupportsRewriting):
            raise InputError("the engine of this memory cannot compact it; export it and import it elsewhere")
        view = self._index.topology.view()
        deltas = [entry.delta for entry in self._log.entries()]
        erased = {node.id for delta in deltas for node in delta.nodes if view.find(node.id) is None}
        if not erased and not history:
            return 0
        # What is yielded next depends on the graph that was made so far.
        fresh = GraphStore(config=self._config, clock=self._clock)
        made = []
        for delta in erase_removed(deltas, erased, fresh._index.topology.view, history=history):
            fresh.apply(delta)
            made.append(delta)
        self._log.rewrite(made)
        self._catch_up()
        return len(erased)

    def _replayed_past(self, sequence: int, moment: datetime | None) -> tuple[Engine, datetime]:
        """Return an engine in memory with the deltas up to one of them, and the time that it was then."""
        entries = list(islice(self._log.entries(), sequence))
        made = [entry.delta.at for entry in entries if not entry.delta.tells_of_uses_only]
        log = MemoryLog(entries, self._log.history()[:sequence])
        return MemoryEngine.of(self._name, log, self.embedder), moment or (made[-1] if made else utc_now())

    def _sequence_at(self, moment: int | datetime) -> int:
        """Return the number of the last change that was made at a time or before, or a number after checking it."""
        self._require_open()
        if isinstance(moment, datetime):
            return self._last_before(to_utc(moment))
        last = self._index.topology.sequence
        if moment not in range(last + 1):
            raise InputError(f"there is no delta {moment!r}; the last one is {last}, see history()")
        return moment

    def _last_before(self, moment: datetime) -> int:
        if isinstance(self._log, SupportsPast):
            return self._log.last_before(moment)
        made = (entry for entry in self._log.entries() if entry.delta.at <= moment)
        return max((entry.sequence for entry in made if not entry.delta.tells_of_uses_only), default=0)

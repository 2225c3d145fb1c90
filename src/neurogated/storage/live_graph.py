"""`LiveGraph`: the index of one graph, which follows its log while threads read and write; and their `Family`."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from datetime import datetime
from functools import partial
from typing import Any, TypeVar
from weakref import WeakValueDictionary, ref

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import to_utc
from neurogated.core.contexts import forget_texts
from neurogated.core.delta import GraphDelta
from neurogated.core.forking import bind_to_process
from neurogated.errors import (
    CorruptMemoryError,
    InputError,
    MemoryClosedError,
    MemoryLockedError,
    NeurogatedError,
)
from neurogated.storage.checkpoint import Follower
from neurogated.storage.index.graph.resolve import as_stored, make_plan, refuse_reserved
from neurogated.storage.index.graph_index import GraphIndex, RecordsErasedError, mismatch
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.log.log import Blocks, Engine, ReplayFollower, TransactionBlock, wanted
from neurogated.storage.log.memory_log import replayed_past
from neurogated.text.strings import giving_way
from neurogated.utils.background import is_free, take, while_alive

_Answer = TypeVar("_Answer")
_IN_TURN = nullcontext()
"""The block of a thread that is within `exclusively`."""
# Seconds for which a reader waits for the writes of other processes, and between two looks at them.
_PATIENCE, _LOOK_SECONDS = 2.0, 0.005


class LiveGraph:
    """Composes a log, a follower and an index; reading threads do not wait for a writing thread.

    One lock serialises writing threads. While a thread holds it, the others read the last committed state. A thread in
    a transaction reads its own changes; the others see them when the transaction ends.
    """

    def __init__(self, family: Family, name: str) -> None:
        self.name = name
        self.family = family
        self.log = family.engine.log(name)
        follower, self._most_open = self.log.follower(family.config, while_alive(self._current)), sys.maxsize
        if follower is not None:
            self._most_open = family.config.runtime.max_open_namespaces
            bind_to_process(self)
        self.follower: Follower = follower or ReplayFollower(family.engine, name, self.log, family.config)
        self.closed = False
        # Whether the index must be loaded before it is read.
        self._stale = True
        # The innermost transaction under way when the index was loaded or last checked.
        self.block: TransactionBlock | None = None
        self.index = GraphIndex(family.config)
        # The state that other threads read while one holds the lock; while it is None, they wait for the lock.
        self._committed: GraphState | None = None
        # The index has all writes that other processes acknowledged before this time, by `time.monotonic`.
        self._has_until = 0.0
        # Held for the moments in which views and validity are inconsistent.
        self._committing = threading.Lock()
        # Held while nobody else writes and the log needs no claim; released no matter where an interrupt strikes.
        self._in_turn = threading.Lock()
        with self.lock:
            self._load()
            # From now on, other threads may use this graph.
            family.graphs[name] = self

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the child cannot use the graph either way
        """Leave the graph to the parent process; a call in the child raises ForkedMemoryError."""
        self.closed = True

    @property
    def lock(self) -> threading.RLock:
        """Serialises the threads that write: one for all graphs of an engine, since a change may span graphs."""
        return self.family.engine.lock

    @contextmanager
    def exclusively(self, patience: float | None = None) -> Iterator[None]:
        """Run a block that reads the graph and acts on it while nobody else writes; see `SupportsNamespaces`."""
        if patience is not None and not is_free(self.lock, patience):
            raise MemoryLockedError("another thread of this process is writing; try again later")
        engine = self.family.engine
        with engine.lock:
            if self._in_turn.locked():
                # The outer block has caught up.
                self.require_open()
                yield
                return
            with giving_way(None), engine.writing(patience):
                self.require_open()
                if self.log.claims:
                    self.log.claim()
                elif self._has_until < self.follower.unchanged_since():
                    # Readers of the other graphs do not wait for this writer either.
                    self.family.catch_up()
                self.catch_up()
                # Inner blocks claim again: a server may have dropped the connection of the outer one.
                with nullcontext() if self.log.claims else self._in_turn:
                    yield

    def apply(self, delta: GraphDelta) -> int:
        """Check a delta against the index, append it to the log and apply it to the index; see `GraphStorePort`."""
        with self.family.engine.lock, _IN_TURN if self._in_turn.locked() else self.exclusively():
            self.require_open()
            refuse_reserved(delta, computed=self.index.computes_terms)
            self.index.check_vectors(delta)
            view = self.index.topology.view()
            self.isolate()
            plan = make_plan(view, as_stored(delta, view, self.index.pending, computed=self.index.computes_terms))
            outcomes = self.index.planned_outcomes(plan, self.follower.records(self.index))
            # An appended delta must reach the index whole. If an interrupt strikes in between, the index is reloaded.
            self._stale = True
            try:
                sequence = self.log.append(plan, self.index)
            except NeurogatedError:
                # Nothing was appended.
                self._stale = False
                raise
            self.index.commit(plan, sequence)
            with self._committing:
                self.index.commit_validity(plan, outcomes)
                self._stale = False
                self.publish()
            self.follower.note(plan, self.index)
            return sequence

    def bind_embedder(self, name: str, dimension: int | None) -> None:
        """Record the embedder, or check that it is the recorded one; see `GraphStorePort`."""
        engine = self.family.engine
        with engine.lock:
            self._require_unclosed()
            # One embedder serves all namespaces, no matter which of them recorded it.
            known = (self._in_turn.locked() and self.index.embedder) or engine.embedder or self.latest().embedder
            if known is None and dimension is not None:
                with self.exclusively():
                    # Another process may have recorded an embedder since the first read.
                    known = engine.embedder
                    if known is None:
                        known = name, dimension
                        engine.record({"embedder": name, "dimension": dimension})
            if self.index.embedder != known:
                self.index.embedder = known
                self.publish()
            known_name, known_dimension = known or (name, dimension)
            if name != known_name or dimension not in (None, known_dimension):
                raise mismatch(known_name, known_dimension, name, dimension)
            self.family.bound[:] = [name]

    def compute_terms(self) -> None:
        """Compute TERM edges as `Family.term_texts` says."""
        with self.lock:
            if self._is_right() and not self.closed:
                with self._committing:
                    self.index.compute_terms(self.family.term_texts, partial(_texts_of, ref(self)))
                self.publish()

    # Following the log

    def _load(self) -> None:
        """Reload the index from the log; a dropped graph is closed."""
        self._stale, self.block = True, self.family.blocks.innermost
        index = self.follower.load()
        if index is None:
            self.family.note_closed(self)
            if self.family.graphs.get(self.name) is self:
                del self.family.graphs[self.name]
            self.closed = True
            return
        with self._committing:
            self.index, self._stale = index, False
            index.compute_terms(self.family.term_texts, partial(_texts_of, ref(self)))
        self._note_open()
        self.publish()

    def renew(self) -> None:
        """Reload the index if it is stale."""
        if not self._is_right():
            with self.lock:
                # Another thread may have reloaded it first.
                if not self._is_right():
                    self._load()

    def invalidate(self) -> None:
        """Mark the index as stale, so that its next use reloads it, and cancel its checkpoint."""
        self.follower.cancel()
        self._stale = True

    def _is_right(self) -> bool:
        """Return whether the index agrees with the log, or the graph is closed.

        The index disagrees after an interrupted write and after a rollback of changes that it holds.
        """
        while (block := self.block) is not None and not block.under_way.locked():
            if not block.made:
                return self.closed
            self.block = block.outer
        return self.closed or not self._stale

    def _current(self) -> GraphIndex | None:
        """Return the index, or None if it must not be checkpointed."""
        return None if self.closed or not self._is_right() else self.index

    def catch_up(self) -> None:
        """Apply the writes of other processes; the lock is held."""
        begin = time.monotonic()
        if not self.follower.is_behind(self.index):
            self._has_until = begin
            return
        # Other threads wait, because indexes and views are inconsistent until the deltas are applied.
        with self._committing:
            self._stale, self._committed = True, None
            if self.follower.follow(self.index):
                self._stale = False
        if self._stale:
            self._load()
            # `_load` closes a dropped graph; the writer must get an error.
            self._require_unclosed()
        else:
            self.publish()
        if not self.family.changing.locked():
            self._has_until = begin

    def _note_open(self) -> None:
        graphs, most = self.family.open_graphs(), self._most_open
        if graphs is not None and (graphs.latest is not self or len(graphs) > most):
            graphs.use(self, sys.maxsize if self.family.changing.locked() else most)

    @property
    def is_unloaded(self) -> bool:
        """Whether the index was unloaded, so that the next use reloads it; see `unload`."""
        return self._stale and self._committed is None and not self.index.topology.ids

    def unload(self) -> bool:
        """Release the index; the next use reloads it.

        Returns:
            Whether the index was released. It stays while a checkpoint uses it, or if reloading it would take too long.
        """
        if not self.follower.may_unload(self.index):
            return False
        self.index.close()
        with self._committing:
            self.index, self._stale, self._committed = GraphIndex(self.family.config), True, None
        self.family.note_closed(self)
        return True

    # Reading

    def latest(self) -> GraphState:
        """Return the present state, including the writes of other processes."""
        return self.ask(lambda state: state)

    def past(self, moment: int | datetime) -> tuple[Engine, datetime]:
        """Return an engine that shows the graph after a past delta, by its number or a time, and the time of it.

        Raises:
            InputError: there is no such delta yet.
        """
        with self.lock:
            last = self.latest().view.sequence
            at = moment if isinstance(moment, datetime) else None
            sequence = self.log.last_before(to_utc(moment)) if isinstance(moment, datetime) else moment
            if sequence not in range(last + 1):
                raise InputError(f"there is no change {moment!r}; the last one is {last}, as the history says")
            found = self.log.as_of(sequence, at, self.latest)
            return found or replayed_past(self.name, self.log, sequence, at, self.latest())

    def read(self, question: Callable[[GraphState], _Answer]) -> _Answer:
        """Return the answer to a question that reads records.

        A compaction may erase records after a state is taken; then the question is asked again on the next state.

        Raises:
            CorruptMemoryError: records are missing from the present state.
        """
        asked: GraphState | None = None
        state = self.latest()
        while asked is None or state.view is not asked.view:
            try:
                return question(state)
            except RecordsErasedError:
                asked, state = state, self.latest()
        try:
            with self.lock, self.follower.steady():
                return question(self.latest())
        except RecordsErasedError as error:
            raise CorruptMemoryError("records of the memory are missing; restore a snapshot") from error

    def ask(self, question: Callable[[GraphState], _Answer], *, latest: bool = True) -> _Answer:
        """Return the answer to a question about a state that does not change meanwhile; writers may have to wait.

        With `latest`, the state includes the writes of other processes.
        """
        lock = self.family.engine.lock
        taken: list[bool] = []
        try:
            if not (take(lock, taken, 0) or self._take_busy(taken, latest=latest)):
                with self._committing:
                    if self._committed is not None:
                        self._require_unclosed()
                        return question(self._committed)
                take(lock, taken)
            # In turn, nobody else writes.
            if latest and not (self._in_turn.locked() or self._has_until >= wanted()):
                self.require_open()
                self.catch_up()
            self.require_open()
            if (state := self._now()) is not self._committed:
                # An interrupt may have prevented its publication, or the texts were not indexed yet.
                self.publish()
                state = self._now()
            return question(state)
        finally:
            if True in taken:
                lock.release()

    def _take_busy(self, taken: list[bool], *, latest: bool) -> bool:
        """Take the busy lock for a reader, and note it in `taken`; if False, the reader uses the published state."""
        begin = time.monotonic()
        needed = min(begin, wanted())
        # A holder that waits for its turn to write follows the writes of other processes.
        while latest and self._has_until < min(needed, self.follower.unchanged_since()):
            state = self._committed
            if state is not None and self.follower.is_end(state.view.sequence):
                break
            if take(self.lock, taken, _LOOK_SECONDS):
                return True
            if time.monotonic() - begin > _PATIENCE:
                break
        return take(self.lock, taken, 0 if self._committed else -1)

    def _now(self) -> GraphState:
        index, view, known = self.index, self.index.topology.view(), self._committed
        if known is not None and known.is_present(index, view):
            return known
        return GraphState.of(index, view, self.follower.records(index))

    def publish(self) -> None:
        """Let other threads read the present state, except within a transaction; the lock is held."""
        if self.follower.shares and self._is_right() and not (self.closed or self.family.changing.locked()):
            self._committed = self._now()

    def isolate(self) -> None:
        """Preserve for other threads the state that a transaction is about to change; the lock is held."""
        if (
            (committed := self._committed) is not None
            and committed.form is self.index
            and self.family.changing.locked()
        ):
            self._committed = committed.isolated()

    def _require_unclosed(self) -> None:
        if self.closed and self.family.graphs.get(self.name) is not self:
            raise MemoryClosedError("this namespace was dropped; ask in_namespace for a new one")
        if self.closed:
            raise MemoryClosedError("the memory is closed; open it again to use it")

    def require_open(self) -> None:
        """Reload a stale index, or raise MemoryClosedError."""
        if self._stale or self.block is not None:
            self.renew()
        if self.closed:
            self._require_unclosed()
        self._note_open()

    def require_bound(self, state: GraphState) -> None:
        """Raise EmbedderMismatchError if the vectors no longer come from the embedder of this process."""
        if state.embedder and (bound := self.family.bound) and state.embedder[0] not in bound:
            raise mismatch(*state.embedder, bound[0], None)

    def text_state(self) -> tuple[GraphState, LexicalStore]:
        """Return the state that a search may read, with the keyword and tag index, which the first search builds."""
        state = self.ask(lambda state: state, latest=self.follower.borrows)
        self.require_bound(state)
        while state.texts is None and state.form is self.index:
            taken: list[bool] = []
            try:
                if take(self.lock, taken, _LOOK_SECONDS):
                    with self.follower.steady():
                        state = self.latest()
                        return state, state.form.texts(state.view, state.records.nodes)
            finally:
                if True in taken:
                    self.lock.release()
            if not self.index.making_texts.locked():
                # The thread that has the lock may wait for another process, and does not write meanwhile. Readers have
                # the published state until the next write.
                with self._committing:
                    if self._committed is not None and self._committed.form is self.index:
                        self._committed = self._committed.isolated()
                    state = self._committed or state
        return state, state.texts or state.form.texts(state.view, state.records.nodes)


def _texts_of(graph: ref[LiveGraph]) -> LexicalStore:
    """Return the index of keywords and tags of the present; build it if needed."""
    if (live := graph()) is None:
        raise MemoryClosedError("the memory is closed; open it again to use it")
    if (texts := live.index.made_texts) is not None:
        return texts
    return live.text_state()[1]


class OpenGraphs(dict["LiveGraph", None]):
    """The graphs whose indexes are in memory, in the order of their last use. Callers hold the lock of the engine.

    The stores of a memory hold it, and it keeps the open graphs alive.
    """

    latest: LiveGraph | None = None
    """The graph that was used last."""

    def use(self, graph: LiveGraph, most: int) -> None:
        """Record the use of an open graph, and unload idle graphs while more than `most` are open."""
        self.discard(graph)
        excess = len(self) + 1 - most
        for other in list(self) if excess > 0 else ():
            if excess > 0 and other.unload():
                excess -= 1
        self[graph] = None
        self.latest = graph

    def discard(self, graph: LiveGraph) -> None:
        """Forget a closed graph."""
        self.latest = None
        self.pop(graph, None)


class Family:
    """The graphs over one engine, as weak references: a cycle would keep a file open until garbage collection."""

    def __init__(self, engine: Engine, config: MemoryConfig) -> None:
        self.engine = engine
        self.config = config
        self.graphs: WeakValueDictionary[str, LiveGraph] = WeakValueDictionary()
        """The open graphs, by namespace."""
        self.stores: WeakValueDictionary[str, Any] = WeakValueDictionary()
        """The stores of the open graphs, one store per graph."""
        self.bound: list[str] = []
        """The name of the embedder of this process; empty if there is none."""
        self.term_texts = 0
        """TERM edges are computed for keywords that at most so many texts have; 0: stored edges only."""
        self.changing = threading.Lock()
        """Held during a transaction. Only a `with` statement releases it no matter where an interrupt strikes."""
        self.blocks = Blocks()
        self.open_graphs: Callable[[], OpenGraphs | None] = lambda: None
        """Returns the graphs whose indexes are in memory; None after the last store is gone."""
        engine.while_waiting = while_alive(self.catch_up)

    def keep_open(self) -> OpenGraphs:
        """Return the shared `OpenGraphs`; every store holds it and so keeps the graphs open."""
        if (graphs := self.open_graphs()) is None:
            graphs = OpenGraphs()
            self.open_graphs = ref(graphs)
        return graphs

    def all(self) -> list[LiveGraph]:
        """Return the open graphs."""
        return list(self.graphs.values())

    def note_closed(self, graph: LiveGraph) -> None:
        """Record that the index of a graph is no longer in memory."""
        if (graphs := self.open_graphs()) is not None:
            graphs.discard(graph)

    def catch_up(self) -> None:
        """Take the writes of other processes into all indexes; the lock is held, but not within a transaction."""
        for graph in self.all():
            # It may have been dropped, which its next caller is told.
            with suppress(MemoryClosedError):
                if not (graph.is_unloaded or graph.closed or self.changing.locked()):
                    graph.catch_up()

    def renew(self) -> None:
        """Reload every index that is stale; an unloaded index is reloaded on its next use."""
        for graph in self.all():
            if not graph.is_unloaded:
                graph.renew()

    def invalidate(self) -> None:
        """Mark all indexes as stale, so that their next use reloads them."""
        for graph in self.all():
            graph.invalidate()

    def drop(self, namespace: str) -> None:
        """Erase an existing graph; an open graph is closed."""
        if (dropped := self.graphs.get(namespace)) is not None:
            dropped.invalidate()
            dropped.index.close()
            self.note_closed(dropped)
        self.engine.drop_namespace(namespace)
        self.graphs.pop(namespace, None)
        if dropped is not None:
            dropped.closed = True

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block of changes as one transaction; other threads see them when it ends, and nobody else writes."""
        self.renew()
        for graph in self.all():
            if not graph.is_unloaded:
                graph.catch_up()
        with self._apart():
            try:
                block = self.blocks.begin()
                with block.under_way, self.engine.transaction():
                    for graph in self.all():
                        graph.block = self.blocks.innermost
                    yield
                block.made = True
            except BaseException:
                self.renew()
                forget_texts()
                raise

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Hide the changes of the block from other threads."""
        if self.changing.locked():
            yield
            return
        for graph in self.all():
            graph.publish()
        try:
            with self.changing:
                for graph in self.all():
                    # A keyword index built later must not contain uncommitted changes.
                    if graph.index.made_texts is None:
                        graph.isolate()
                yield
        finally:
            for graph in self.all():
                graph.publish()

    def erasing(self) -> AbstractContextManager[object]:
        """Prevent checkpoint writes within the block; enter it before taking the lock of the engine."""
        for graph in self.all():
            graph.follower.cancel()
        return self.engine.erasing()

    def close(self) -> None:
        """Release the resources of the graphs and the engine."""
        with self.engine.lock:
            # No checkpoint can be written within a transaction, so waiting for one would deadlock.
            in_transaction = self.changing.locked()
        for graph in self.all():
            graph.follower.cancel() if in_transaction else graph.follower.wait(graph.index)
            graph.index.close()
        for graph in self.all():
            graph.closed = True
        self.engine.close()

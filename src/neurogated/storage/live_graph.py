"""`LiveGraph`: the index of one graph, which follows its log while threads read and write."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import TypeVar

from neurogated.core.clock import to_utc
from neurogated.core.delta import GraphDelta
from neurogated.core.forking import bind_to_process
from neurogated.errors import CorruptMemoryError, InputError, MemoryClosedError, MemoryLockedError, NeurogatedError
from neurogated.storage.background import while_alive
from neurogated.storage.family import Family
from neurogated.storage.follower import Follower, ReplayFollower
from neurogated.storage.graph_state import GraphState
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.text.lexical_store import LexicalStore, OverlaidLexicalStore
from neurogated.storage.log.block import Block
from neurogated.storage.log.log import Engine, SupportsFollowing, SupportsPast
from neurogated.storage.log.memory_log import last_before, replayed_past
from neurogated.storage.log.records import RecordsErasedError
from neurogated.storage.mismatch import mismatch
from neurogated.storage.resolve import make_plan

__all__ = ["LiveGraph"]

_Answer = TypeVar("_Answer")

# How often, and after which time again, a thread that waits for the lock looks whether its holder writes.
_LOOKS, _LOOK_SECONDS = 40, 0.005


class LiveGraph:
    """Composes a log, a follower and an index, and lets threads read without waiting for one that writes.

    Threads that write take turns by a lock. While one holds it, the others read what was committed last. A thread in a
    transaction reads its own changes; the others see them when the transaction has ended.
    """

    def __init__(self, family: Family, name: str) -> None:
        self.name = name
        self.family = family
        self.log = family.engine.log(name)
        self.follower: Follower
        if isinstance(self.log, SupportsFollowing):
            self.follower = self.log.follower(family.config, while_alive(self._current))
            self._most_open = family.config.runtime.max_open_namespaces
            bind_to_process(self)
        else:
            self.follower = ReplayFollower(family.engine, name, self.log, family.config)
            self._most_open = sys.maxsize
        self.closed = False
        # Whether the index has to be loaded before it is read.
        self._stale = True
        # The innermost transaction that was under way when the index was loaded or last found right.
        self._block: Block | None = None
        self.index = GraphIndex(family.config)
        # What other threads read while one holds the lock; while it is None, they wait for the lock.
        self._committed: GraphState | None = None
        # Held for moments, in which views and validity do not fit each other.
        self._committing = threading.Lock()
        with self.lock:
            self._load()
            # Others may be asked to follow it from now on.
            family.graphs[name] = self

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - what the child has is not used anyway
        """Leave the graph to the parent process: every call in the child says so."""
        self.closed = True

    @property
    def lock(self) -> threading.RLock:
        """Threads that write take turns by it."""
        # One for all graphs of an engine: a change may span them, and with several locks threads could deadlock.
        return self.family.engine.lock

    @property
    def searching(self) -> AbstractContextManager[object]:
        """Held while indexes are asked; a lock where they do not bear a write meanwhile."""
        return self.follower.searching

    # Writing

    @contextmanager
    def exclusively(self, patience: float | None = None) -> Iterator[None]:
        """Run a block that reads the graph and acts on it while nobody else writes; see `SupportsExclusion`."""
        # Only a `with` statement keeps a lock in order whenever an interrupt strikes.
        if patience is not None:
            if not self.lock.acquire(timeout=patience):
                raise MemoryLockedError("another thread of this process writes just now; try again later")
            self.lock.release()
        with self.lock, self.family.engine.writing(patience):
            self.require_open()
            self.catch_up()
            yield

    def apply(self, delta: GraphDelta) -> int:
        """Check a delta against the index, append it to the log and take it into the index; see `GraphStorePort`."""
        with self.exclusively():
            self.index.check_vectors(delta)
            self.isolate()
            plan = make_plan(self.index.topology.view(), delta)
            # What is appended must reach the index whole. After an interrupt in between, the index is loaded again.
            self._stale = True
            try:
                sequence = self.log.append(plan, self.index)
            except NeurogatedError:
                # Nothing was appended.
                self._stale = False
                raise
            self.index.commit(plan, sequence)
            with self._committing:
                self.index.commit_validity(plan)
                self._stale = False
                self.publish()
            self.follower.note(plan, self.index)
            return sequence

    def bind_embedder(self, name: str, dimension: int | None) -> None:
        """Record the embedder, or check that it is the recorded one; see `GraphStorePort`."""
        engine = self.family.engine
        with self.lock:
            self.require_open()
            # One embedder serves all namespaces, whichever of them recorded it.
            known = self.latest().embedder or engine.embedder
            if known is None and dimension is not None:
                with self.exclusively():
                    # Somebody else may have recorded one meanwhile.
                    known = engine.embedder
                    if known is None:
                        known = name, dimension
                        engine.record_embedder(*known)
            self.index.embedder = known
            self.publish()
            known_name, known_dimension = known or (name, dimension)
            if name != known_name or dimension not in (None, known_dimension):
                raise mismatch(known_name, known_dimension, name, dimension)
            self.family.bound[:] = [name]

    # Following the log

    def _load(self) -> None:
        """Make the index again of what the log holds; a graph that was dropped is closed."""
        self._stale, self._block = True, self.family.blocks.innermost
        index = self.follower.load()
        if index is None:
            self._note_closed()
            if self.family.graphs.get(self.name) is self:
                del self.family.graphs[self.name]
            self.closed = True
            return
        with self._committing:
            self.index, self._stale = index, False
        self._note_open()
        self.publish()

    def renew(self) -> None:
        """Load the index again where it is not right."""
        if not self._is_right():
            with self.lock:
                # Another thread may have been about to make it right.
                if not self._is_right():
                    self._load()

    def invalidate(self) -> None:
        """Let the index be loaded again before it is used, and stop keeping it on disk."""
        self.follower.cancel()
        self._stale = True

    def join(self, block: Block | None) -> None:
        """Note the transaction that changes the graph from now on; it may be taken back."""
        self._block = block

    def _is_right(self) -> bool:
        """Return whether the index shows what the log holds, or the graph is closed.

        It does not where a write was interrupted, or where changes that it shows were taken back.
        """
        while (block := self._block) is not None and not block.under_way.locked():
            if not block.made:
                return self.closed
            self._block = block.outer
        return self.closed or not self._stale

    def _current(self) -> GraphIndex | None:
        """Return the index, None where it is not to be kept on disk."""
        return None if self.closed or not self._is_right() else self.index

    def catch_up(self) -> None:
        """Take in what others have written; the lock is held."""
        if not self.follower.is_behind(self.index):
            return
        # Other threads wait, for indexes and views do not fit each other meanwhile.
        with self._committing:
            self._stale, self._committed = True, None
            if self.follower.follow(self.index):
                self._stale = False
        if self._stale:
            self._load()
            # A writer is told that its graph was dropped.
            self._require_unclosed()
        else:
            self.publish()

    def _note_open(self) -> None:
        """Let the graph count as used just now."""
        if (graphs := self.family.open_graphs()) is not None:
            graphs.use(self, sys.maxsize if self.family.changing.locked() else self._most_open)

    def _note_closed(self) -> None:
        if (graphs := self.family.open_graphs()) is not None:
            graphs.discard(self)

    @property
    def is_unloaded(self) -> bool:
        """Whether the index was let go of, so that it is loaded on the next use; see `unload`."""
        return self._stale and self._committed is None and not self.index.topology.ids

    def unload(self) -> bool:
        """Let go of the index, which is loaded again on the next use.

        Returns:
            Whether it was let go of: it is not while it is searched or kept on disk, or where that would take too long.
        """
        if not self.follower.may_unload(self.index):
            return False
        self.index.close()
        with self._committing:
            self.index, self._stale, self._committed = GraphIndex(self.family.config), True, None
        self._note_closed()
        return True

    def drop(self) -> None:
        """Let go of the graph, which is about to be erased; the lock is held."""
        self.invalidate()
        self.index.close()
        self._note_closed()

    # Reading

    def latest(self) -> GraphState:
        """Return the present, with what other processes have written."""
        with self.reading(latest=True) as state:
            return state

    def latest_isolated(self) -> GraphState:
        """Return the present as a state that no later change reaches."""
        with self.reading(latest=True) as state:
            return state.isolated()

    def past(self, moment: int | datetime) -> tuple[Engine, datetime]:
        """Return the graph as it was known after a delta, given by its number or a time, and the time that it was then.

        Raises:
            InputError: there is no such delta yet.
        """
        with self.lock:
            last = self.latest().view.sequence
            at = moment if isinstance(moment, datetime) else None
            sequence = last_before(self.log, to_utc(moment)) if isinstance(moment, datetime) else moment
            if sequence not in range(last + 1):
                raise InputError(f"there is no delta {moment!r}; the last one is {last}, see history()")
            if isinstance(self.log, SupportsPast):
                return self.log.as_of(sequence, at, self.latest)
            return replayed_past(self.name, self.log, sequence, at, self.latest())

    def read(self, question: Callable[[GraphState], _Answer]) -> _Answer:
        """Return the answer to a question that reads records.

        Compaction may erase records after a state is taken, so the question is asked again of the state that follows.

        Raises:
            CorruptMemoryError: records are missing from the present state.
        """
        with self.searching:
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

    def search_state(self) -> GraphState:
        """Return what a search may look at; it holds `searching` meanwhile."""
        with self.reading(latest=self.follower.borrows) as state:
            # Every search comes by here, also with a view that is older than what was taken in since.
            self.require_bound(state)
            return state

    def text_state(self) -> tuple[GraphState, LexicalStore | OverlaidLexicalStore]:
        """Return what `search_state` does, with keywords and tags."""
        state = self.search_state()
        if state.texts is not None:
            return state, state.texts
        if state.form is not self.index:
            # That of no thread that writes.
            return state, state.form.texts(state.view, state.records.nodes)
        with self.lock, self.follower.steady():
            state = self.latest()
            return state, state.form.texts(state.view, state.records.nodes)

    @contextmanager
    def reading(self, *, latest: bool = False) -> Iterator[GraphState]:
        """Give what this thread may read, which does not change within the block; writers may have to wait for it.

        With `latest` that takes in what other processes have written.
        """
        if not self._acquire(latest=latest):
            with self._committing:
                if self._committed is not None:
                    self._require_unclosed()
                    yield self._committed
                    return
            self.lock.acquire()
        try:
            self.require_open()
            if latest:
                self.catch_up()
            state = self._now()
            if self._committed is None or state.view is not self._committed.view:
                # An interrupt may have kept it from being published.
                self.publish()
            yield state
        finally:
            self.lock.release()

    def _acquire(self, *, latest: bool) -> bool:
        """Take the lock for a reader; return False where it is to read what was published last."""
        # What other processes wrote is to be seen, so this waits for a holder that does not write, but not for long.
        for _ in range(_LOOKS if latest else 0):
            if not self.follower.is_worth_waiting():
                break
            if self.lock.acquire(timeout=_LOOK_SECONDS):
                return True
        return self.lock.acquire(blocking=self._committed is None)

    def _now(self) -> GraphState:
        """Return the graph as it is now; the lock is held."""
        index = self.index
        records = self.follower.records(index)
        return GraphState(index, index.topology.view(), records, index.made_texts, index.pending, index.embedder)

    def publish(self) -> None:
        """Let other threads read the present, unless it is that of a transaction; the lock is held."""
        if self.follower.shares and self._is_right() and not (self.closed or self.family.changing.locked()):
            self._committed = self._now()

    def isolate(self) -> None:
        """Keep for other threads what a transaction is about to change; the lock is held."""
        committed = self._committed
        if committed is not None and committed.form is self.index and self.family.changing.locked():
            self._committed = committed.isolated()

    def _require_unclosed(self) -> None:
        if self.closed and self.family.graphs.get(self.name) is not self:
            raise MemoryClosedError("this namespace was dropped; ask in_namespace for a new one")
        if self.closed:
            raise MemoryClosedError("the memory is closed; open it again to use it")

    def require_open(self) -> None:
        """Load the index where it is not right, or raise MemoryClosedError."""
        self.renew()
        self._require_unclosed()
        self._note_open()

    def require_bound(self, state: GraphState) -> None:
        """Refuse to answer where the vectors have become those of another embedder since this process was given one."""
        bound = self.family.bound
        if state.embedder and bound and state.embedder[0] not in bound:
            raise mismatch(*state.embedder, bound[0], None)

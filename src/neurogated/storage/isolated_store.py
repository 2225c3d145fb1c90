"""What a thread reads while another one writes."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.errors import MemoryClosedError, MemoryLockedError
from neurogated.storage.background import while_alive
from neurogated.storage.family import Family
from neurogated.storage.follower import Follower, ReplayFollower
from neurogated.storage.graph_state import GraphState
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.text.lexical_store import LexicalStore, OverlaidLexicalStore
from neurogated.storage.log.block import Block
from neurogated.storage.log.log import Engine, SupportsFollowing
from neurogated.storage.mismatch import mismatch
from neurogated.storage.open_graphs import OpenGraphs

if TYPE_CHECKING:
    from neurogated.storage.graph_store import GraphStore

__all__ = ["IsolatedStore"]

# How often, and after which time again, a thread that waits for the lock looks whether its holder writes.
_LOOKS, _LOOK_SECONDS = 40, 0.005


class IsolatedStore:
    """Lets a thread read views, records and indexes without waiting for a thread that writes.

    Threads that write take turns by a lock. While one holds it, the others read what was committed last. A thread in a
    transaction reads its own changes; the others see them when the transaction has ended.
    """

    def __init__(
        self, engine: Engine, namespace: str, config: MemoryConfig, clock: Clock, family: Family | None = None
    ) -> None:
        self._clock = clock
        self._config = config
        self._engine = engine
        self._name = namespace
        self._log = engine.log(namespace)
        self._follower: Follower
        if isinstance(self._log, SupportsFollowing):
            self._follower, most = self._log.follower(config, while_alive(self._current)), config.MAX_OPEN_NAMESPACES
        else:
            self._follower, most = ReplayFollower(engine, namespace, self._log, config), sys.maxsize
        self._own_graphs = OpenGraphs(most) if family is None else None
        self._family = Family(cast("OpenGraphs", self._own_graphs)) if family is None else family
        self._closed = False
        # Whether the index has to be loaded before it is read.
        self._interrupted = True
        # The innermost transaction that was under way when the index was loaded or last found right.
        self._block: Block | None = None
        self._index = GraphIndex(config)
        # What other threads read while one holds the lock; while it is None, they wait for the lock.
        self._committed: GraphState | None = None
        # Held for moments, in which views and lifetimes do not fit each other.
        self._committing = threading.Lock()
        with self._lock:
            self._load()
            # Others may be asked to follow it from now on.
            self._family.stores[namespace] = cast("GraphStore", self)

    @property
    def _lock(self) -> threading.RLock:
        """Threads that write take turns by it."""
        # One for all graphs of an engine: a change may span them, and with several locks threads could deadlock.
        return self._engine.lock

    @property
    def _searching(self) -> AbstractContextManager[object]:
        """Held while indexes are asked; a lock where they do not bear a write meanwhile."""
        return self._follower.searching

    @contextmanager
    def exclusively(self, patience: float | None = None) -> Iterator[None]:
        """Run a block that reads the graph and acts on it while nobody else writes; it may be within another.

        Args:
            patience: how many seconds to wait for others; the settings when left out.

        Raises:
            MemoryLockedError: another thread or process has not ended its write.
        """
        # Only a `with` statement keeps a lock in order whenever an interrupt strikes.
        if patience is not None:
            self._require_free(patience)
        with self._lock, self._engine.writing(patience):
            self._require_open()
            self._catch_up()
            yield

    def _require_free(self, patience: float) -> None:
        """Raise MemoryLockedError where another thread of this process does not end its write in time."""
        if not self._lock.acquire(timeout=patience):
            raise MemoryLockedError("another thread of this process writes just now; try again later")
        self._lock.release()

    # Following the log

    def _load(self) -> None:
        """Make the index again of what the log holds; a graph that was dropped is closed."""
        self._interrupted, self._block = True, self._family.blocks.innermost
        index = self._follower.load()
        if index is None:
            self._note_closed()
            if self._family.stores.get(self._name) is self:
                del self._family.stores[self._name]
            self._closed = True
            return
        with self._committing:
            self._index, self._interrupted = index, False
        self._note_open()
        self._publish()

    def _renew(self) -> None:
        """Load the index again where it is not right."""
        if not self._is_right():
            with self._lock:
                # Another thread may have been about to make it right.
                if not self._is_right():
                    self._load()

    def _is_right(self) -> bool:
        """Return whether the index shows what the log holds, or the store is closed.

        It does not where a write was interrupted, or where changes that it shows were taken back.
        """
        while (block := self._block) is not None and not block.under_way.locked():
            if not block.made:
                return self._closed
            self._block = block.outer
        return self._closed or not self._interrupted

    def _current(self) -> GraphIndex | None:
        """Return the index, None where it is not to be kept on disk."""
        return None if self._closed or not self._is_right() else self._index

    def _catch_up(self) -> None:
        """Take in what others have written; the lock is held."""
        if not self._follower.is_behind(self._index):
            return
        # Other threads wait, for indexes and views do not fit each other meanwhile.
        with self._committing:
            self._interrupted, self._committed = True, None
            if self._follower.follow(self._index):
                self._interrupted = False
        if self._interrupted:
            self._load()
            # A writer is told that its graph was dropped.
            self._require_unclosed()
        else:
            self._publish()

    def _note_open(self) -> None:
        """Let the graph count as used just now."""
        if (graphs := self._family.open_graphs) is not None:
            is_first = graphs is self._own_graphs
            graphs.use(self, is_first=is_first, in_transaction=self._family.transaction.locked())

    def _note_closed(self) -> None:
        if (graphs := self._family.open_graphs) is not None:
            graphs.discard(self)

    @property
    def is_unloaded(self) -> bool:
        """Whether the index was let go of, so that it is loaded on the next use; see `unload`."""
        return self._interrupted and self._committed is None and not self._index.topology.ids

    def unload(self) -> bool:
        """Let go of the index, which is loaded again on the next use.

        Returns:
            Whether it was let go of: it is not while it is searched or kept on disk, or where that would take too long.
        """
        if not self._follower.may_unload(self._index):
            return False
        self._index.close()
        with self._committing:
            self._index, self._interrupted, self._committed = GraphIndex(self._config), True, None
        self._note_closed()
        return True

    # Reading

    def _steady(self) -> AbstractContextManager[object]:
        return self._follower.steady()

    def _latest(self) -> GraphState:
        with self._reading(latest=True) as state:
            return state

    def _latest_isolated(self) -> GraphState:
        with self._reading(latest=True) as state:
            return state.isolated()

    def _search_state(self) -> GraphState:
        with self._reading(latest=self._follower.borrows) as state:
            # Every search comes by here, also with a view that is older than what was taken in since.
            self._require_bound(state)
            return state

    def _text_state(self) -> tuple[GraphState, LexicalStore | OverlaidLexicalStore]:
        state = self._search_state()
        if state.texts is not None:
            return state, state.texts
        if state.form is not self._index:
            # That of no thread that writes.
            return state, state.form.texts(state.view, state.records.nodes)
        with self._lock, self._steady():
            state = self._latest()
            return state, state.form.texts(state.view, state.records.nodes)

    @contextmanager
    def _reading(self, *, latest: bool = False) -> Iterator[GraphState]:
        """Give what this thread may read, which does not change within the block; writers may have to wait for it.

        With `latest` that takes in what other processes have written.
        """
        if not self._acquire(latest=latest):
            with self._committing:
                if self._committed is not None:
                    self._require_unclosed()
                    yield self._committed
                    return
            self._lock.acquire()
        try:
            self._require_open()
            if latest:
                self._catch_up()
            state = self._now()
            if self._committed is None or state.view is not self._committed.view:
                # An interrupt may have kept it from being published.
                self._publish()
            yield state
        finally:
            self._lock.release()

    def _acquire(self, *, latest: bool) -> bool:
        """Take the lock for a reader; return False where it is to read what was published last."""
        # What other processes wrote is to be seen, so this waits for a holder that does not write, but not for long.
        for _ in range(_LOOKS if latest else 0):
            if not self._follower.is_worth_waiting():
                break
            if self._lock.acquire(timeout=_LOOK_SECONDS):
                return True
        return self._lock.acquire(blocking=self._committed is None)

    def _now(self) -> GraphState:
        """Return the graph as it is now; the lock is held."""
        index = self._index
        records = self._follower.records(index)
        return GraphState(index, index.topology.view(), records, index.made_texts, index.pending, index.embedder)

    def _publish(self) -> None:
        """Let other threads read the present, unless it is that of a transaction; the lock is held."""
        if self._follower.shares and self._is_right() and not (self._closed or self._family.transaction.locked()):
            self._committed = self._now()

    def _isolate(self) -> None:
        """Keep for other threads what a transaction is about to change; the lock is held."""
        committed = self._committed
        if committed is not None and committed.form is self._index and self._family.transaction.locked():
            self._committed = committed.isolated()

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Show other threads nothing of what is changed in the block, in any namespace; the lock is held."""
        if self._family.transaction.locked():
            yield
            return
        for store in list(self._family.stores.values()):
            store._publish()
        try:
            with self._family.transaction:
                for store in list(self._family.stores.values()):
                    # Keywords that are made later must not be made of what is being changed.
                    if store._index.made_texts is None:
                        store._isolate()
                yield
        finally:
            for store in list(self._family.stores.values()):
                store._publish()

    def _require_unclosed(self) -> None:
        if self._closed and self._family.stores.get(self._name) is not self:
            raise MemoryClosedError("this namespace was dropped; ask in_namespace for a new one")
        if self._closed:
            raise MemoryClosedError("the memory is closed; open it again to use it")

    def _require_open(self) -> None:
        self._renew()
        self._require_unclosed()
        self._note_open()

    def _require_bound(self, state: GraphState) -> None:
        """Refuse to answer where the vectors have become those of another embedder since this process was given one."""
        bound = self._family.bound
        if state.embedder and bound and state.embedder[0] not in bound:
            raise mismatch(*state.embedder, bound[0], None)

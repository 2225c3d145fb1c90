"""What a thread reads while another one writes."""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.delta import PendingTask
from neurogated.errors import MemoryClosedError, MemoryLockedError
from neurogated.storage.graph_state import GraphState, Records
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.text.lexical_store import LexicalStore, OverlaidLexicalStore
from neurogated.storage.mismatch import mismatch
from neurogated.storage.searchable_store import SearchableStore

__all__ = ["IsolatedStore"]


class IsolatedStore(SearchableStore):
    """Lets a thread read views, records and indexes without waiting for a thread that writes.

    Threads that write take turns by a lock. While one holds it, the others read what was committed last. A thread in a
    transaction reads its own changes; the others see them when the transaction has ended.
    """

    def __init__(self, clock: Clock, namespace: str, config: MemoryConfig) -> None:
        super().__init__(clock)
        self._config = config
        # All graphs of the store by their names.
        self._family: MutableMapping[str, Any] = {namespace: self}
        self._form = GraphIndex(config)
        self._pending: dict[PendingTask, None] = {}
        self._embedder: tuple[str, int] | None = None
        # The name of the embedder that this process works with; shared by all namespaces.
        self._bound: list[str] = []
        self._closed = False
        self._interrupted = False
        # Whether a thread that reads waits for its turn like one that writes.
        self._waits = False
        # Held while a thread is in a transaction: only a `with` statement ends in order whenever an interrupt strikes.
        self._transaction = threading.Lock()
        # What the other threads read meanwhile.
        self._committed = self._now()
        # Held for moments, in which views and lifetimes do not fit each other.
        self._committing = threading.Lock()

    @abstractmethod
    def _records(self) -> Records:
        """Return what the columns do not hold, as it is now."""

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
        with self._lock, self._turn(patience):
            self._require_open()
            self._follow_others()
            yield

    def _require_free(self, patience: float) -> None:
        """Raise MemoryLockedError where another thread of this process does not end its write in time."""
        if not self._lock.acquire(timeout=patience):
            raise MemoryLockedError("another thread of this process writes just now; try again later")
        self._lock.release()

    def _turn(self, patience: float | None) -> AbstractContextManager[object]:  # noqa: ARG002 - for durable stores
        """Keep other processes from writing within the block; the lock is held."""
        return nullcontext()

    def _follow_others(self) -> None:
        """Take in what other processes have written; the lock is held."""

    def _steady(self) -> AbstractContextManager[object]:
        return nullcontext()

    def _latest(self) -> GraphState:
        with self._reading(latest=True) as state:
            return state

    def _latest_isolated(self) -> GraphState:
        with self._reading(latest=True) as state:
            return state.isolated()

    def _search_state(self) -> GraphState:
        with self._reading() as state:
            # Every search comes by here, also with a view that is older than what was taken in since.
            self._require_bound(state)
            return state

    def _text_state(self) -> tuple[GraphState, LexicalStore | OverlaidLexicalStore]:
        state = self._search_state()
        if state.texts is not None:
            return state, state.texts
        if state.form is not self._form:
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
                if not self._waits:
                    self._require_unclosed()
                    yield self._committed
                    return
            self._lock.acquire()
        try:
            self._require_open()
            if latest:
                self._follow_others()
            state = self._now()
            if state.view is not self._committed.view:
                # An interrupt may have kept it from being published.
                self._publish()
            yield state
        finally:
            self._lock.release()

    def _acquire(self, *, latest: bool) -> bool:  # noqa: ARG002 - for stores that others write to
        """Take the lock for a reader; return False where it is to read what was published last."""
        return self._lock.acquire(blocking=self._waits)

    def _now(self) -> GraphState:
        """Return the graph as it is now; the lock is held."""
        view = self._form.topology.view()
        return GraphState(self._form, view, self._records(), self._form.made_texts, self._pending, self._embedder)

    def _publish(self) -> None:
        """Let other threads read the present, unless it is that of a transaction; the lock is held."""
        if not (self._transaction.locked() or self._interrupted or self._waits):
            self._committed = self._now()

    def _isolate(self) -> None:
        """Keep for other threads what a transaction is about to change; the lock is held."""
        if self._transaction.locked() and self._committed.form is self._form:
            self._committed = self._committed.isolated()

    @contextmanager
    def _apart(self) -> Iterator[None]:
        """Show other threads nothing of what is changed in the block, in any namespace; the lock is held."""
        if self._transaction.locked():
            yield
            return
        for store in list(self._family.values()):
            store._publish()
        try:
            with self._transaction:
                for store in list(self._family.values()):
                    # Keywords that are made later must not be made of what is being changed.
                    if store._form.made_texts is None:
                        store._isolate()
                yield
        finally:
            for store in list(self._family.values()):
                store._publish()

    def _require_unclosed(self) -> None:
        if self._closed and not any(store is self for store in self._family.values()):
            raise MemoryClosedError("this namespace was dropped; ask in_namespace for a new one")
        if self._closed:
            raise MemoryClosedError("the memory is closed; open it again to use it")

    def _require_open(self) -> None:
        self._require_unclosed()
        if self._interrupted:
            raise MemoryClosedError(
                "a write was interrupted; close the memory and open it again, nothing stored is lost"
            )

    def _require_bound(self, state: GraphState) -> None:
        """Refuse to answer where the vectors have become those of another embedder since this process was given one."""
        if state.embedder and self._bound and state.embedder[0] not in self._bound:
            raise mismatch(*state.embedder, self._bound[0], None)

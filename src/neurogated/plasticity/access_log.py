"""The access log collects the accesses of recalls in all namespaces and writes them in batches."""

from __future__ import annotations

import logging
import threading
from collections.abc import Sequence
from contextlib import nullcontext
from datetime import datetime, timedelta

from neurogated.core.abilities import SupportsExclusion
from neurogated.core.clock import Clock
from neurogated.core.delta import Access, GraphDelta
from neurogated.core.ports import GraphStorePort
from neurogated.errors import MemoryClosedError, MemoryLockedError, StorageError

__all__ = ["AccessLog"]

_log = logging.getLogger(__name__)


class AccessLog:
    """Collects the accesses of recalls and writes them as one delta for each graph. Thread-safe."""

    def __init__(self, clock: Clock, seconds: float, open_namespaces: int) -> None:
        """Describe when to write: at the first recall that finds the oldest access `seconds` old.

        A recall also writes the log when the log names more than half of `open_namespaces` graphs, while these graphs
        are still open.
        """
        self._clock = clock
        self._interval = timedelta(seconds=seconds)
        self._most_graphs = max(1, open_namespaces // 2)
        self._accesses: dict[GraphStorePort, list[Access]] = {}
        self._since = self._last = clock()
        self._lock = threading.Lock()

    def add(self, store: GraphStorePort, mark: Access) -> None:
        """Add the accesses of a recall; write the log if it is due."""
        with self._lock:
            self._accesses.setdefault(store, []).append(mark)
            # The time of an access is the time of the recall, not of the write.
            self._last = self._clock()
            due = self._last - self._since >= self._interval or len(self._accesses) > self._most_graphs
        if due:
            # A recall does not wait for the write lock; if another writer holds it, the accesses stay in the log.
            self._warn(self._write(patience=0))

    def flush(self) -> None:
        """Write the log.

        Raises:
            StorageError: a graph cannot be written; the accesses of the other graphs are written.
        """
        errors = self._write()
        if errors:
            raise errors[0]

    def flush_if_possible(self) -> None:
        """Write the log. The accesses of a graph that cannot be written are lost; a warning says so."""
        self._warn(self._write())

    def _warn(self, errors: Sequence[StorageError | MemoryClosedError]) -> None:
        for error in errors:
            # Only accesses may be lost: a recall succeeds even when the disk is full.
            _log.warning("the accesses of recalls could not be written: %s", error)

    def _write(self, patience: float | None = None) -> list[StorageError | MemoryClosedError]:
        """Write the log. Accesses of a graph that stays locked for `patience` seconds remain in the log."""
        accesses, at = self._take()
        errors: list[StorageError | MemoryClosedError] = []
        for store, mark in accesses.items():
            exclusively = store.exclusively(patience) if isinstance(store, SupportsExclusion) else nullcontext()
            try:
                with exclusively:
                    store.apply(GraphDelta(touch=mark, reason="touch", at=at))
            except (StorageError, MemoryClosedError) as error:
                if patience is not None and isinstance(error, MemoryLockedError):
                    with self._lock:
                        self._accesses.setdefault(store, []).append(mark)
                    continue
                # A closed store belongs to a dropped namespace, whose accesses are gone too.
                if not store.closed:
                    errors.append(error)
        return errors

    def _take(self) -> tuple[dict[GraphStorePort, Access], datetime]:
        with self._lock:
            accesses, self._accesses = self._accesses, {}
            self._since = self._clock()
            gathered = {store: Access.gathered(marks) for store, marks in accesses.items()}
            return {store: mark for store, mark in gathered.items() if mark}, self._last

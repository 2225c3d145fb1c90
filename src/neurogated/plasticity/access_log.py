"""The access log: which memories recalls used, gathered for all namespaces and written now and then."""

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
    """Gathers what recalls used and writes it as one touch a graph; safe to share between threads."""

    def __init__(self, clock: Clock, seconds: float, open_namespaces: int) -> None:
        """Write at the next recall once the oldest access is `seconds` old.

        The log is also written when it names half of the namespaces that may be open, so that these are still open.
        """
        self._clock = clock
        self._interval = timedelta(seconds=seconds)
        self._most_graphs = max(1, open_namespaces // 2)
        self._accesses: dict[GraphStorePort, list[Access]] = {}
        self._since = self._last = clock()
        self._lock = threading.Lock()

    def add(self, store: GraphStorePort, mark: Access) -> None:
        """Note what a recall used in a graph; when it is time, write all that was noted."""
        with self._lock:
            self._accesses.setdefault(store, []).append(mark)
            # An access counts from when it was, not from when it is written.
            self._last = self._clock()
            due = self._last - self._since >= self._interval or len(self._accesses) > self._most_graphs
        if due:
            # A question waits for nobody: while others write, accesses are gathered on.
            self._warn(self._write(patience=0))

    def flush(self) -> None:
        """Write what was noted.

        Raises:
            StorageError: a graph cannot be written to; the accesses of the others are written.
        """
        errors = self._write()
        if errors:
            raise errors[0]

    def flush_if_possible(self) -> None:
        """Write what was noted; the log names the graphs that cannot be written to, whose accesses are lost."""
        self._warn(self._write())

    def _warn(self, errors: Sequence[StorageError | MemoryClosedError]) -> None:
        for error in errors:
            # Accesses are the one thing that may be lost; a question is answered even when the disk is full.
            _log.warning("what was recalled could not be marked as used: %s", error)

    def _write(self, patience: float | None = None) -> list[StorageError | MemoryClosedError]:
        """Write what was noted; what others keep from being written within `patience` seconds stays noted."""
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
                # The accesses of a namespace that was dropped meanwhile are gone with it.
                if not store.closed:
                    errors.append(error)
        return errors

    def _take(self) -> tuple[dict[GraphStorePort, Access], datetime]:
        with self._lock:
            accesses, self._accesses = self._accesses, {}
            self._since = self._clock()
            gathered = {store: Access.gathered(marks) for store, marks in accesses.items()}
            return {store: mark for store, mark in gathered.items() if mark}, self._last

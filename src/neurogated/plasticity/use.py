"""Marks of use: which memories recalls used, gathered and written down now and then."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta

from neurogated.core.clock import Clock
from neurogated.core.delta import AccessMark, GraphDelta
from neurogated.core.ports import GraphStorePort
from neurogated.errors import MemoryClosedError, StorageError

__all__ = ["UseMarks"]

_log = logging.getLogger(__name__)


class UseMarks:
    """Gathers what recalls used and writes it as one touch every `seconds`; safe to share between threads.

    Attributes:
        frozen: while set, use leaves no marks.
    """

    def __init__(self, store: GraphStorePort, clock: Clock, seconds: float, *, gathers: bool = True) -> None:
        """Gather for `store`; marks are written once the oldest of them is `seconds` old, at the next recall.

        With `gathers` unset nothing is ever noted, as befits a store that cannot be written to.
        """
        self.frozen = False
        self._gathers = gathers
        self._store = store
        self._clock = clock
        self._interval = timedelta(seconds=seconds)
        self._marks = AccessMark()
        self._since = self._marked_at = clock()
        self._lock = threading.Lock()

    def add(self, mark: AccessMark) -> None:
        """Note what a recall used; when it is time, write down all that was noted."""
        if self.frozen or not self._gathers:
            return
        with self._lock:
            self._marks |= mark
            # Use counts from when it was, not from when it is written down.
            self._marked_at = self._clock()
            due = self._marked_at - self._since >= self._interval
        if due:
            self.flush_if_possible()

    def flush(self) -> None:
        """Write down what was noted."""
        with self._lock:
            marks, self._marks = self._marks, AccessMark()
            self._since = self._clock()
        if marks:
            self._store.apply(GraphDelta(touch=marks, reason="touch", at=self._marked_at))

    def flush_if_possible(self) -> None:
        """Write down what was noted; where the store cannot be written to it is lost, and the log says so."""
        try:
            self.flush()
        except (StorageError, MemoryClosedError) as error:
            # Marks are the one thing that may be lost; a question is answered even when the disk is full.
            _log.warning("what was recalled could not be marked as used: %s", error)

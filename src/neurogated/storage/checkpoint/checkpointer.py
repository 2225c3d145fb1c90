"""Keeping the graph index of a graph on disk, in the background, when much of it has changed."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeVar

from neurogated.config.memory_config import MemoryConfig
from neurogated.errors import MemoryLockedError
from neurogated.storage.background import JOB_FAILURES, started
from neurogated.storage.checkpoint.checkpoints import Checkpoints, IndexSnapshot

__all__ = ["Checkpointer"]

_log = logging.getLogger(__name__)

T = TypeVar("T")

# Seconds between two looks at whether the work was cancelled by whoever holds the lock.
_PATIENCE = 0.05

# How large a part of a graph may have changed before it is kept anew; so much is made up for at the next opening.
_SHARE = 1 / 32
# A rule for all edges counts as a change of so many of them, since it is evaluated anew at the next opening.
_OPERATOR_SHARE = 1 / 1_000


@dataclass(slots=True)
class _Work:
    """What one thread does."""

    thread: threading.Thread
    cancelled: threading.Event


class Checkpointer:
    """Counts the changes of one graph and keeps its form when they are many.

    Args:
        kept: where.
        graph_lock: held while one of the following runs.
        freeze: gives the present form; None where it cannot be kept just now.
        remap: is told where what was frozen last is kept.
        is_current: says whether what was frozen last is still of use.
        least: how many changes there must be.
    """

    def __init__(
        self,
        kept: Checkpoints,
        *,
        graph_lock: threading.RLock,
        freeze: Callable[[], IndexSnapshot | None],
        remap: Callable[[Path], None],
        is_current: Callable[[], bool | None],
        least: int,
    ) -> None:
        self._kept = kept
        self._graph_lock = graph_lock
        self._freeze = freeze
        self._remap = remap
        self._is_current = is_current
        self._least = least
        self._changes = 0.0
        self._size = 0
        self._work: _Work | None = None
        self._lock = threading.Lock()

    def note(self, changes: int, operators: int, size: int) -> None:
        """Note changes of a graph that has `size` nodes and edges; begin to keep it where they have become many."""
        with self._lock:
            self._size = size
            self._changes += changes + operators * _OPERATOR_SHARE * size
            self._begin_if_due()

    def add_backlog(self, changes: float, size: int) -> None:
        """Note what an opening had to replay: it is kept at the next change, or when `checkpoint` is called."""
        with self._lock:
            self._changes, self._size = self._changes + changes, size

    def checkpoint(self, *, at_once: bool) -> None:
        """Begin to keep the graph where much has changed, with `at_once` however little it is."""
        with self._lock:
            self._changes = math.inf if at_once else self._changes
            self._begin_if_due()

    @property
    def busy(self) -> bool:
        """Whether something is being kept."""
        return self._work is not None

    def wait(self) -> None:
        """Wait until what was begun is kept; not to be called with the graph's lock held."""
        work = self._work
        if work is not None and work.thread is not threading.current_thread():
            work.thread.join()

    def cancel(self) -> None:
        """Let go of what was begun; the graph's lock may be held."""
        work = self._work
        if work is not None:
            work.cancelled.set()
        self.wait()

    def _begin_if_due(self) -> None:
        if self._is_due() and self._work is None:
            cancelled = threading.Event()
            thread = threading.Thread(target=self._run, args=(cancelled,), name="neurogated-checkpointer")
            if started(thread):
                self._work = _Work(thread, cancelled)

    def _is_due(self) -> bool:
        return self._changes >= max(self._least, _SHARE * self._size)

    def _run(self, cancelled: threading.Event) -> None:
        """Keep the graph for as long as much changes meanwhile."""
        try:
            while taken := self._take_on(cancelled):
                try:
                    self._keep(cancelled)
                except MemoryLockedError as error:
                    _log.info("the graph is kept after its next change (%s)", error)
                    self.add_backlog(taken, self._size)
                    return
                except JOB_FAILURES as error:
                    _log.warning("what is derived could not be kept (%r); opening takes longer, nothing is lost", error)
        finally:
            # After a fault of the program too: later changes start another thread.
            with self._lock:
                if self._work is not None and self._work.thread is threading.current_thread():
                    self._work = None

    def _take_on(self, cancelled: threading.Event) -> float:
        """Return how many changes are to be kept, which no longer count; if there are none, the work has ended."""
        with self._lock:
            if not self._is_due() or cancelled.is_set():
                self._work = None
                return 0.0
            taken, self._changes = self._changes, 0.0
            return taken

    def _keep(self, cancelled: threading.Event) -> None:
        frozen = self._in_turn(cancelled, self._freeze)
        if frozen is None:
            return
        with self._exclusively(cancelled):
            folder = self._kept.write(frozen, lambda: bool(self._in_turn(cancelled, self._is_current)))
            if folder is not None:
                _log.info("kept the graph up to delta %d in %s", frozen.stamp.sequence, folder)
                self._in_turn(cancelled, partial(self._remap, folder))
                self._kept.tidy(frozen.stamp.namespace)

    @contextmanager
    def _exclusively(self, cancelled: threading.Event) -> Iterator[None]:
        """Keep others from writing what is kept; raises MemoryLockedError if they take too long or it is cancelled."""
        deadline = time.monotonic() + MemoryConfig().runtime.write_lock_seconds
        with ExitStack() as stack:
            while True:
                try:
                    stack.enter_context(self._kept.exclusively(_PATIENCE))
                    break
                except MemoryLockedError:
                    if cancelled.is_set() or time.monotonic() >= deadline:
                        raise
            yield

    def _in_turn(self, cancelled: threading.Event, action: Callable[[], T]) -> T | None:
        """Run an action with the graph's lock held; None if it was cancelled, which its holder may have done."""
        while not self._graph_lock.acquire(timeout=_PATIENCE):
            if cancelled.is_set():
                return None
        try:
            return None if cancelled.is_set() else action()
        finally:
            self._graph_lock.release()

"""Write checkpoints of a graph index in the background, after many changes."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Generic, Protocol, TypeVar

from neurogated.config.memory_config import MemoryConfig
from neurogated.errors import MemoryLockedError
from neurogated.storage.checkpoint.checkpoints import Stamp
from neurogated.utils.background import JOB_FAILURES, started

_log = logging.getLogger(__name__)

T = TypeVar("T")

# Seconds between two checks of whether the holder of the lock cancelled the work.
_PATIENCE = 0.05

# Write a checkpoint once this share of the graph has changed; the next opening replays only later changes.
_SHARE = 1 / 32
# An operator over all edges counts as changes of this share of the graph, because the next opening replays it.
_OPERATOR_SHARE = 1 / 1_000


class Snapshot(Protocol):
    """A graph at one moment."""

    @property
    def stamp(self) -> Stamp:
        """Identifies the state."""


S = TypeVar("S", bound=Snapshot)
S_contra = TypeVar("S_contra", bound=Snapshot, contravariant=True)


class SnapshotStore(Protocol[S_contra]):
    """Where checkpoints are: a folder, see `Checkpoints`, or a table."""

    def exclusively(self, patience: float) -> AbstractContextManager[object]:
        """Run a block in which nobody else writes checkpoints; raises MemoryLockedError."""

    def write(self, frozen: S_contra, is_wanted: Callable[[], bool]) -> Path | None:
        """Write a checkpoint, unless `is_wanted` returns false; return its folder if it has one."""

    def tidy(self, namespace: int) -> None:
        """Remove all checkpoints of a graph except the one last written here."""


@dataclass(slots=True)
class _Work:
    """A checkpoint thread and its cancellation flag."""

    thread: threading.Thread
    cancelled: threading.Event


class Checkpointer(Generic[S]):
    """Counts the changes of one graph and writes a checkpoint when there are many.

    Args:
        kept: the checkpoints of the memory.
        graph_lock: held during each call of the functions below.
        freeze: returns a snapshot of the index; None if it cannot be checkpointed now.
        remap: receives the folder of the snapshot that was written.
        is_current: returns whether the last snapshot still shows the graph.
        least: the minimum number of changes before a checkpoint.
    """

    def __init__(
        self,
        kept: SnapshotStore[S],
        *,
        graph_lock: threading.RLock,
        freeze: Callable[[], S | None],
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
        """Count changes of a graph with `size` nodes and edges; start a checkpoint if there are many."""
        with self._lock:
            self._size = size
            self._changes += changes + operators * _OPERATOR_SHARE * size
            self._begin_if_due()

    def add_backlog(self, changes: float, size: int) -> None:
        """Add changes that an opening had to replay; the next change or `checkpoint` call includes them."""
        with self._lock:
            self._changes, self._size = self._changes + changes, size

    def checkpoint(self, *, at_once: bool) -> None:
        """Start a checkpoint if there are many changes; with `at_once`, start one in any case."""
        with self._lock:
            self._changes = math.inf if at_once else self._changes
            self._begin_if_due()

    @property
    def busy(self) -> bool:
        """Whether a checkpoint is being written."""
        return self._work is not None

    def wait(self) -> None:
        """Wait until the running checkpoint is written; the caller must not hold the lock of the graph."""
        work = self._work
        if work is not None and work.thread is not threading.current_thread():
            work.thread.join()

    def cancel(self) -> None:
        """Cancel the running checkpoint; the caller may hold the lock of the graph."""
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
        """Write checkpoints until few changes are left."""
        try:
            while taken := self._take_on(cancelled):
                try:
                    self._keep(cancelled)
                except MemoryLockedError as error:
                    _log.info("the checkpoint waits for the next change (%s)", error)
                    self.add_backlog(taken, self._size)
                    return
                except JOB_FAILURES as error:
                    _log.warning("a checkpoint could not be written (%r); opening takes longer, nothing is lost", error)
        finally:
            # If a bug raised another exception, later changes start a new thread.
            with self._lock:
                if self._work is not None and self._work.thread is threading.current_thread():
                    self._work = None

    def _take_on(self, cancelled: threading.Event) -> float:
        """Return the backlog and reset it; if it is small, end the work and return 0."""
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
                _log.info("wrote a checkpoint of the graph up to delta %d to %s", frozen.stamp.sequence, folder)
                self._in_turn(cancelled, partial(self._remap, folder))
                self._kept.tidy(frozen.stamp.namespace)

    @contextmanager
    def _exclusively(self, cancelled: threading.Event) -> Iterator[None]:
        """Hold the lock on the checkpoint folder; raises MemoryLockedError after a deadline or a cancellation."""
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
        """Run an action with the lock of the graph held; None if the checkpoint was cancelled."""
        while not self._graph_lock.acquire(timeout=_PATIENCE):
            if cancelled.is_set():
                return None
        try:
            return None if cancelled.is_set() else action()
        finally:
            self._graph_lock.release()

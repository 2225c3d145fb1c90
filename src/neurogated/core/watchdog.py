"""Logs a warning when work makes no progress."""

from __future__ import annotations

import logging
import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

_log = logging.getLogger(__name__)


class _Work:
    """One unit of work: the stage of each of its threads, and the time of their last progress."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.began = time.monotonic()
        self.stages: dict[str, str] = {}
        self.enter(None)

    def enter(self, stage: str | None) -> None:
        thread = threading.current_thread().name
        if stage is None:
            self.stages.pop(thread, None)
        else:
            self.stages[thread] = stage
        self.moved, self.warnings = time.monotonic(), 0

    def __str__(self) -> str:
        stages = [f"{stage} [{thread}]" for thread, stage in self.stages.copy().items()]
        return f"{self.name}: {', '.join(stages) or 'beginning'}"


_current: ContextVar[_Work | None] = ContextVar("neurogated_work", default=None)


def stage(name: str | None) -> None:
    """Report progress: the work of this context enters a stage. Outside of watched work this does nothing.

    Args:
        name: the next step of this thread, for the log; None if its part of the work is done.
    """
    work = _current.get()
    if work is not None:
        work.enter(name)


def work_began() -> float:
    """Return when the work of this context began, by `time.monotonic`; ∞ outside of watched work."""
    work = _current.get()
    return math.inf if work is None else work.began


@contextmanager
def outside_work() -> Iterator[None]:
    """Run a block outside of the work of this context, so that it reads the present of a database."""
    token = _current.set(None)
    try:
        yield
    finally:
        _current.reset(token)


class Watchdog:
    """Logs a warning when watched work makes no progress for `patience` seconds, and again after doubling intervals.

    All work shares one daemon thread. The first work starts it. The thread ends when it wakes and finds no work, or
    after `end`. A library that hangs while it holds Python's interpreter lock also blocks this thread; in that case use
    `faulthandler.dump_traceback_later`.
    """

    def __init__(self, patience: float) -> None:
        """Set the seconds without progress before a warning; 0 for no warnings."""
        self._patience = patience
        self._changed = threading.Condition()
        self._under_way: set[_Work] = set()
        self._thread: threading.Thread | None = None
        self._closed = not patience

    @contextmanager
    def watch(self, name: str) -> Iterator[None]:
        """Watch the work of a block, and of the threads that run in a copy of its context."""
        work = _Work(name)
        with self._changed:
            self._under_way.add(work)
            if self._thread is None and not self._closed:
                thread = threading.Thread(target=self._run, name="neurogated-watchdog", daemon=True)
                thread.start()
                self._thread = thread
        token = _current.set(work)
        try:
            yield
        finally:
            _current.reset(token)
            with self._changed:
                self._under_way.discard(work)

    def end(self) -> threading.Thread | None:
        """Stop watching; return the thread, which ends soon."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            return self._thread

    def close(self) -> None:
        """Stop watching, and wait until the thread has ended."""
        thread = self.end()
        if thread is not None:
            thread.join()

    def _run(self) -> None:
        while stalled := self._next_stalled():
            for work in stalled:
                _log.warning("no progress for %.0f s while %s", time.monotonic() - work.moved, work)

    def _next_stalled(self) -> list[_Work]:
        """Wait until some work is stalled and return it; an empty list if no work is left."""
        with self._changed:
            while self._under_way and not self._closed:
                now = time.monotonic()
                waits = {work: work.moved + self._patience * 2**work.warnings - now for work in self._under_way}
                stalled = [work for work, wait in waits.items() if wait <= 0]
                if stalled:
                    for work in stalled:
                        work.warnings += 1
                    return stalled
                # New work is due after `patience` seconds.
                self._changed.wait(min(self._patience, *waits.values()))
            self._thread = None
            return []

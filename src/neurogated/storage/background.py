"""Work that goes on beside the answers, and stops when nobody needs it any more."""

from __future__ import annotations

import logging
import threading
import weakref
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar

__all__ = ["JOB_FAILURES", "BackgroundWorker", "Job", "Stopped", "TaskSource", "started", "while_alive"]

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

JOB_FAILURES = (ImportError, MemoryError, OSError, RuntimeError, ValueError)
"""What a job in the background may raise that says nothing about the next: no memory, no disk, no library, bad data."""


def started(thread: threading.Thread) -> bool:
    """Start a thread; return whether the system had one more, which may well be the case later."""
    try:
        thread.start()
    except RuntimeError as error:
        _log.warning("the thread %s cannot be started (%s); its work waits for the next change", thread.name, error)
        return False
    return True


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """A piece of work was given up because nobody waits for it any more."""


class Job(Protocol):
    """A piece of work; it must not refer to its source, so that this can go away."""

    def __call__(self, stop: Callable[[], bool]) -> Any:  # noqa: ANN401 - of use to the source only
        """Do it and return what came of it; raises Stopped soon after `stop` returns true."""


class TaskSource(Protocol):
    """What has work to be done. Its methods may be called from the worker's thread."""

    def next_job(self) -> Job | None:
        """Return what is to be done now, None if nothing is; quick, and takes no lock."""

    def finish_job(self, result: Any) -> None:  # noqa: ANN401 - whatever the job returned
        """Take up what came of the job."""

    def fail_job(self, error: BaseException) -> None:
        """Go on without it; `next_job` must not offer the same again for ever."""


class BackgroundWorker:
    """Does the work of one source in a thread of its own, which is there only while there is work.

    The thread keeps neither the source nor the interpreter alive: when either goes away, the work stops at the next
    moment it asks whether to.
    """

    def __init__(self, source: TaskSource) -> None:
        self._source = weakref.ref(source)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        # Runs at the interpreter's exit too, before it would tear down what the thread is working with.
        weakref.finalize(source, self.stop)

    def wake(self) -> None:
        """See to it that what is to be done is being done; not to be called under a lock of the source."""
        with self._lock:
            if self._thread is None and not self._stopped.is_set() and self._job() is not None:
                thread = threading.Thread(target=self._run, name="neurogated-background", daemon=True)
                if started(thread):
                    self._thread = thread

    @property
    def busy(self) -> bool:
        """Whether there is a thread at work."""
        return self._thread is not None

    def wait(self) -> None:
        """Wait until there is nothing left to do, or what is left failed."""
        self.wake()
        self._join()

    def stop(self) -> None:
        """Give up the work and take on none any more."""
        # Takes no lock: the worker itself may be the last to let go of the source, under its lock.
        self._stopped.set()
        self._join()

    def _join(self) -> None:
        # A forked child has no copy of the thread.
        while (thread := self._thread) is not None and thread is not threading.current_thread() and thread.is_alive():
            thread.join()

    def _job(self) -> Job | None:
        source = self._source()
        return None if source is None else source.next_job()

    def _run(self) -> None:
        try:
            while (job := self._next()) is not None:
                self._do(job)
                del job
        finally:
            # After a fault of the program too: the next `wake` starts another thread.
            if self._thread is threading.current_thread():
                self._thread = None

    def _do(self, job: Job) -> None:
        try:
            result = job(self._stopped.is_set)
            if (source := self._source()) is not None:
                source.finish_job(result)
        except Stopped:
            return
        except JOB_FAILURES as error:
            if (source := self._source()) is not None:
                source.fail_job(error)

    def _next(self) -> Job | None:
        """Return the next job; without one the thread is done, which a later `wake` is to know."""
        with self._lock:
            job = None if self._stopped.is_set() else self._job()
            if job is None:
                self._thread = None
            return job


def while_alive(method: Callable[P, T]) -> Callable[P, T | None]:
    """Return a function that calls a method as long as its object is in use, and does not keep it in use."""
    reference = weakref.WeakMethod(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> T | None:
        method = reference()
        return None if method is None else method(*args, **kwargs)

    return call

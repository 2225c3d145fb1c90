"""Background work that runs beside recalls and stops when its source is gone; locks that may be busy."""

import logging
import threading
import weakref
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar

_log = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

JOB_FAILURES = (ImportError, MemoryError, OSError, RuntimeError, ValueError)
"""Exceptions of a background job that do not affect the next job: no memory, no disk space, no library, bad data."""


def started(thread: threading.Thread) -> bool:
    """Start a thread; return False if the system refuses a new thread, which may be temporary."""
    try:
        thread.start()
    except RuntimeError as error:
        _log.warning("the thread %s cannot be started (%s); its job waits for the next change", thread.name, error)
        return False
    return True


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """A job ended early because nobody needs its result."""


class Job(Protocol):
    """A unit of work. It must not refer to its source, so that the source can be garbage-collected."""

    def __call__(self, stop: Callable[[], bool]) -> Any:  # noqa: ANN401 - only the source knows the type
        """Run the job and return its result; raises Stopped soon after `stop` returns true."""


class TaskSource(Protocol):
    """A source of jobs. The worker's thread calls its methods too."""

    def next_job(self) -> Job | None:
        """Return the next job, or None; must be quick and take no lock."""

    def finish_job(self, result: Any) -> None:  # noqa: ANN401 - only the source knows the type
        """Use the result of the job."""

    def fail_job(self, error: BaseException) -> None:
        """Handle the failure of the job; `next_job` must not offer the same job forever."""


class BackgroundWorker:
    """Runs the jobs of one source in a thread that exists only while there are jobs.

    The thread keeps neither the source nor the interpreter alive. If either goes away, the job stops when it next calls
    `stop`.
    """

    def __init__(self, source: TaskSource, failures: tuple[type[Exception], ...] = JOB_FAILURES) -> None:
        """Take the source, and the exceptions of a job that `fail_job` handles."""
        self._source, self._failures = weakref.ref(source), failures
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        # Also runs when the interpreter exits, before the interpreter tears down the objects that the thread uses.
        weakref.finalize(source, self.stop)

    def wake(self) -> None:
        """Start the thread if a job is due and no thread runs; the caller must not hold a lock of the source."""
        with self._lock:
            if self._thread is None and not self._stopped.is_set() and self._job() is not None:
                thread = threading.Thread(target=self._run, name="neurogated-background", daemon=True)
                if started(thread):
                    self._thread = thread

    @property
    def busy(self) -> bool:
        """Whether a thread is running."""
        return self._thread is not None

    def wait(self) -> None:
        """Wait until every job has finished or failed."""
        self.wake()
        self._join()

    def stop(self) -> None:
        """Stop the current job and accept no more jobs."""
        # Takes no lock: the worker thread may drop the last reference to the source while it holds that lock.
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
            # If a bug raised another exception, the next `wake` starts a new thread.
            if self._thread is threading.current_thread():
                self._thread = None

    def _do(self, job: Job) -> None:
        try:
            result = job(self._stopped.is_set)
            if (source := self._source()) is not None:
                source.finish_job(result)
        except Stopped:
            return
        except self._failures as error:
            if (source := self._source()) is not None:
                source.fail_job(error)

    def _next(self) -> Job | None:
        """Return the next job; if there is none, record that the thread ends, so that `wake` can start another."""
        with self._lock:
            job = None if self._stopped.is_set() else self._job()
            if job is None:
                self._thread = None
            return job


def while_alive(method: Callable[P, T]) -> Callable[P, T | None]:
    """Return a function that calls a bound method while its object is alive, without keeping the object alive."""
    reference = weakref.WeakMethod(method)

    def call(*args: P.args, **kwargs: P.kwargs) -> T | None:
        method = reference()
        return None if method is None else method(*args, **kwargs)

    return call


def take(lock: threading.RLock, taken: list[bool], seconds: float = -1) -> bool:
    """Wait up to so many seconds for a lock, for ever if they are negative, and append whether it was taken to `taken`.

    Python may deliver an interrupt after any call. One that strikes between taking a lock and the next statement leaves
    it locked for ever. Here, the call that takes the lock also notes it. So call this in a `try` block that ends with
    `finally: if True in taken: lock.release()`.
    """
    taken.extend(map(lock.acquire, (True,), (seconds,)))
    return taken[-1]


def is_free(lock: threading.RLock, seconds: float) -> bool:
    """Return whether this thread could take a lock within so many seconds."""
    taken: list[bool] = []
    try:
        return take(lock, taken, seconds)
    finally:
        if True in taken:
            lock.release()

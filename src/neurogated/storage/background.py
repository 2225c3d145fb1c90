"""Work that goes on beside the answers, and stops when nobody needs it any more."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any, Protocol

__all__ = ["BackgroundWorker", "Job", "Stopped", "Workplace"]


class Stopped(Exception):  # noqa: N818 - nothing went wrong
    """A piece of work was given up because nobody waits for it any more."""


class Job(Protocol):
    """A piece of work; it must not refer to its workplace, so that this can go away."""

    def __call__(self, stop: Callable[[], bool]) -> Any:  # noqa: ANN401 - of use to the workplace only
        """Do it and return what came of it; raises Stopped soon after `stop` returns true."""


class Workplace(Protocol):
    """What has work to be done. Its methods may be called from the worker's thread."""

    def next_job(self) -> Job | None:
        """Return what is to be done now, None if nothing is; quick, and takes no lock."""

    def finish_job(self, result: Any) -> None:  # noqa: ANN401 - whatever the job returned
        """Take up what came of the job."""

    def fail_job(self, error: BaseException) -> None:
        """Go on without it; `next_job` must not offer the same again for ever."""


class BackgroundWorker:
    """Does the work of one workplace in a thread of its own, which is there only while there is work.

    The thread keeps neither the workplace nor the interpreter alive: when either goes away, the work stops at the next
    moment it asks whether to.
    """

    def __init__(self, workplace: Workplace) -> None:
        self._workplace = weakref.ref(workplace)
        self._thread: threading.Thread | None = None
        self._lock = threading.Lock()
        self._stopped = threading.Event()
        # Runs at the interpreter's exit too, before it would tear down what the thread is working with.
        weakref.finalize(workplace, self.stop)

    def wake(self) -> None:
        """See to it that what is to be done is being done; not to be called under a lock of the workplace."""
        with self._lock:
            if self._thread is None and not self._stopped.is_set() and self._job() is not None:
                thread = threading.Thread(target=self._run, name="neurogated-background", daemon=True)
                thread.start()
                self._thread = thread

    def settle(self) -> None:
        """Wait until there is nothing left to do."""
        self.wake()
        self._join()

    def stop(self) -> None:
        """Give up the work and take on none any more."""
        # Takes no lock: the worker itself may be the last to let go of the workplace, under its lock.
        self._stopped.set()
        self._join()

    def _join(self) -> None:
        # A forked child has no copy of the thread.
        while (thread := self._thread) is not None and thread is not threading.current_thread() and thread.is_alive():
            thread.join()

    def _job(self) -> Job | None:
        workplace = self._workplace()
        return None if workplace is None else workplace.next_job()

    def _run(self) -> None:
        try:
            while (job := self._next()) is not None:
                self._do(job)
                del job
        except BaseException:
            # A fault of the program; nobody is to wait for a thread that is gone.
            self._stopped.set()
            self._thread = None
            raise

    def _do(self, job: Job) -> None:
        result: Any = None
        error: BaseException | None = None
        try:
            result = job(self._stopped.is_set)
        except Stopped:
            return
        except (ImportError, MemoryError, OSError, RuntimeError) as raised:
            error = raised
        if (workplace := self._workplace()) is None:
            return
        if error is None:
            workplace.finish_job(result)
        else:
            workplace.fail_job(error)

    def _next(self) -> Job | None:
        """Return the next job; without one the thread is done, which a later `wake` is to know."""
        with self._lock:
            job = None if self._stopped.is_set() else self._job()
            if job is None:
                self._thread = None
            return job

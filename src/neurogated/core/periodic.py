"""Work that is repeated in a background thread."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from neurogated.errors import NeurogatedError

__all__ = ["Periodic"]

_log = logging.getLogger(__name__)


class Periodic:
    """Calls a function every `seconds` in a daemon thread until `close`. An error is logged, and the calls go on."""

    def __init__(self, name: str, seconds: float, work: Callable[[], object]) -> None:
        """Start the thread; the first call is after `seconds`."""
        self._seconds = seconds
        self._work = work
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"neurogated-{name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the thread; wait for a call that is running."""
        self._closed.set()
        if threading.current_thread() is not self._thread:
            self._thread.join()

    @property
    def closing(self) -> bool:
        """Whether `close` was called; long work should end early."""
        return self._closed.is_set()

    def _run(self) -> None:
        while not self._closed.wait(self._seconds):
            try:
                self._work()
            except NeurogatedError as error:
                _log.warning("%s failed: %s", self._thread.name, error)

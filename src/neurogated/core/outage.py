"""Servers that are away or slow: calls skip them for a while, or get an answer within a time."""

import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

_log = logging.getLogger(__name__)


RETRY_SECONDS = 30.0
"""How long calls skip a server after a failure, so that not each of them waits for a server that is away."""


class Outage:
    """Notes failures of a server. After a failure, calls skip the server for a while. One outage logs one warning."""

    def __init__(self, consequence: str) -> None:
        """Start without an outage. `consequence` is the behaviour during one; it ends the warning."""
        self._consequence = consequence
        self._lock = threading.Lock()
        self._until: float | None = None
        self.note: str | None = None
        """The warning of the outage; None if there is none."""

    @property
    def skips(self) -> bool:
        """Whether a call should skip the server now."""
        return self._until is not None and time.monotonic() < self._until

    def failed(self, error: Exception) -> None:
        """Note a failure."""
        with self._lock:
            first = self._until is None
            self._until = time.monotonic() + RETRY_SECONDS
            self.note = f"{error}; {self._consequence}"
        if first:
            _log.warning("%s", self.note)

    def ended(self) -> bool:
        """Note that a call succeeded; return whether it ended an outage."""
        with self._lock:
            was_out, self._until, self.note = self._until is not None, None, None
        return was_out


T = TypeVar("T")


def answer_within(seconds: float | None, call: Callable[[], T], name: str) -> T:
    """Return the result of a call, in a thread of its own if `seconds` limit it; raises its error or TimeoutError."""
    if seconds is None:
        return call()
    answer: Future[T] = Future()

    def run() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:  # noqa: BLE001 - whoever waits raises it
            answer.set_exception(error)

    # A slow server does not delay the end of the process, because the thread is a daemon.
    threading.Thread(target=run, name=name, daemon=True).start()
    return answer.result(seconds)

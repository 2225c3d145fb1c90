"""Calls that get an answer within a time, or none."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

T = TypeVar("T")


def answer_within(seconds: float | None, call: Callable[[], T], name: str) -> T:
    """Return the result of a call, or raise its error. The call has a thread of its own, which nothing stops.

    Args:
        seconds: how long to wait; None: as long as the call takes, in this thread.
        call: a call that may take long, such as one of a server.
        name: the name of the thread.

    Raises:
        TimeoutError: the call takes longer. It goes on, and its result is lost.
    """
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

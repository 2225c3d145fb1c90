"""When the call of this context began, so that its reads share one look at a database."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar

_began: ContextVar[float] = ContextVar("neurogated_work_began", default=math.inf)


def work_began() -> float:
    """Return when the work of this context began, by `time.monotonic`; ∞ outside of work."""
    return _began.get()


@contextmanager
def work(began: float | None = None) -> Iterator[None]:
    """Run a block, and the threads that run in a copy of its context, as one piece of work that begins now."""
    token = _began.set(time.monotonic() if began is None else began)
    try:
        yield
    finally:
        _began.reset(token)


def outside_work() -> AbstractContextManager[None]:
    """Run a block outside of the work of this context, so that it reads the present of a database."""
    return work(math.inf)

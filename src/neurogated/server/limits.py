"""The limits of requests: their bodies, and how many one key may send."""

from __future__ import annotations

import contextlib
import re
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from neurogated.server.keys import Grant

_MOST_VALUES, _MOST_GROUPS = 50_000, 20_000
"""Values of a body, and lists and objects among them. Python makes an object of each while all other requests wait."""
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)


def too_many(body: bytes) -> str | None:
    """Return what a body of JSON has too much of; None if it is fine. It is not parsed, so that takes a millisecond."""
    # A quotation mark behind a backslash is mostly within a text; at most every second one of the others is.
    strings = body.count(b'"') - body.count(b'\\"')
    if strings <= 2 * _MOST_VALUES:
        if max(body.count(b","), _groups(body)) > _MOST_GROUPS:
            # Brackets and commas within texts are no values.
            body = _STRING.sub(b"", body)
        if body.count(b",") <= _MOST_VALUES and _groups(body) <= _MOST_GROUPS:
            return None
    return f"more than {_MOST_VALUES:,} values, or than {_MOST_GROUPS:,} lists and objects; send it in parts"


def _groups(body: bytes) -> int:
    return body.count(b"[") + body.count(b"{")


@dataclass(slots=True)
class Limits:
    """The limits of a server."""

    body: int = 1_000_000
    """Most bytes of a body."""
    rate: float = 500.0
    """Most requests of one key in a second, on average. A key may save up the requests of two seconds."""
    patience: float = 30.0
    """Seconds in which a body must arrive."""
    concurrency: int = 100
    """Most requests of one key that are being answered at once."""
    _left: dict[Grant, tuple[float, float]] = field(default_factory=dict, repr=False)
    """For each grant the requests that are left, and the time of the last one."""

    _open: Counter[Grant | None] = field(default_factory=Counter, repr=False)
    """For each grant the requests that are being answered; None for those without a key."""

    @contextlib.contextmanager
    def slot(self, grant: Grant | None) -> Iterator[bool]:
        """Count a request while it is being answered; the value is whether one more was allowed."""
        self._open[grant] += 1
        try:
            yield self._open[grant] <= self.concurrency
        finally:
            self._open[grant] -= 1

    def admits(self, grant: Grant) -> bool:
        """Count a request, and return whether it is within the rate (a token bucket)."""
        most, now = 2 * self.rate, time.monotonic()
        left, last = self._left.get(grant, (most, now))
        left = min(most, left + (now - last) * self.rate)
        self._left[grant] = (left - 1 if left >= 1 else left, now)
        return left >= 1

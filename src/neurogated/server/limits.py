"""The limits of requests: their bodies, and how many one key may send."""

from __future__ import annotations

import contextlib
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from neurogated.integrations.mcp.bodies import MOST_BYTES, PATIENCE
from neurogated.server.keys import Grant


@dataclass(slots=True)
class Limits:
    """The limits of a server."""

    body: int = MOST_BYTES
    """Most bytes of a body."""
    rate: float = 500.0
    """Most requests of one key in a second, on average. A key may save up the requests of two seconds."""
    patience: float = PATIENCE
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

"""The limits of requests: bytes of a body, and requests of one key in a second."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

from neurogated.server.keys import Grant


@dataclass(slots=True)
class Limits:
    """The limits of a server."""

    body: int = 1_000_000
    """Most bytes of a body."""
    rate: float = 500.0
    """Most requests of one key in a second, on average. A key may save up the requests of two seconds."""
    _left: dict[Grant, tuple[float, float]] = field(default_factory=dict, repr=False)
    """For each grant the requests that are left, and the time of the last one."""

    def admits(self, grant: Grant) -> bool:
        """Count a request, and return whether it is within the rate (a token bucket)."""
        most, now = 2 * self.rate, time.monotonic()
        left, last = self._left.get(grant, (most, now))
        left = min(most, left + (now - last) * self.rate)
        self._left[grant] = (left - 1 if left >= 1 else left, now)
        return left >= 1

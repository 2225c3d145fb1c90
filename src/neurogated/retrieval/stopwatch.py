"""The time of successive stages."""

from __future__ import annotations

import time


class Stopwatch:
    """The seconds of consecutive stages."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.skip()

    def lap(self, stage: str) -> None:
        """Count the time since the last call for this stage."""
        begin = self._begin
        self.skip()
        self.seconds[stage] = self._begin - begin

    def skip(self) -> None:
        """Count the time since the last call for no stage."""
        self._begin = time.perf_counter()

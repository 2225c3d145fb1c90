"""`CallQueue`: which calls of a memory run next when many wait."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")

_AT_ONCE = 2
"""Python runs one thread at a time; the other one computes in native code, or waits for the disk."""
_BEHIND, _MOST = 50, 5.0
"""A call of a kind that takes t seconds lets calls pass that arrive up to 50 t later, but at most 5 seconds later."""
_LONG = 0.25
"""Seconds after which a running call no longer keeps others waiting."""
_RECENT = 0.1
"""The weight of the last duration in the mean of its kind."""


class CallQueue:
    """Runs few calls at once, short kinds first. A long call waits for a bounded time, so none starves."""

    def __init__(self) -> None:
        self._free, self._numbers = _AT_ONCE, itertools.count()
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._seconds: dict[str, float] = {}

    async def run(self, kind: str, call: Callable[[], Awaitable[T]]) -> T:
        """Await a call when it is its turn. It is expected to take as long as earlier calls of its kind."""
        await self._turn(kind)
        loop, begin = asyncio.get_running_loop(), time.perf_counter()
        release = loop.call_later(_LONG, self._release)
        try:
            return await call()
        finally:
            seconds = time.perf_counter() - begin
            mean = self._seconds.get(kind, seconds)
            self._seconds[kind] = mean + _RECENT * (seconds - mean)
            if loop.time() < release.when():
                release.cancel()
                self._release()

    async def _turn(self, kind: str) -> None:
        if self._free:
            self._free -= 1
            return
        turn = asyncio.get_running_loop().create_future()
        place = time.perf_counter() + min(_BEHIND * self._seconds.get(kind, 0.0), _MOST)
        heapq.heappush(self._waiting, (place, next(self._numbers), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._release()
            raise

    def _release(self) -> None:
        while self._waiting:
            turn = heapq.heappop(self._waiting)[2]
            if not turn.done():
                turn.set_result(None)
                return
        self._free += 1

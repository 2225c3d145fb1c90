"""`CallQueue`: which calls of a server run next when many wait."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import TypeVar

from neurogated.core.extras import needs_extra

with needs_extra("serve"):
    from starlette.requests import ClientDisconnect

T = TypeVar("T")
IsGone = Callable[[], Awaitable[bool]]
_Place = tuple[float, int, asyncio.Future[None]]

_AT_ONCE = 2
"""Python runs one thread at a time; the other one computes in native code, or waits for the disk."""
_OF_ONE = 3
"""Most calls of one key that run, including long ones, which count no longer among those above."""
_BEHIND, _MOST = 50, 5.0
"""A call of a kind that takes t seconds lets calls pass that arrive up to 50 t later, but at most 5 seconds later."""
_LONG = 0.25
"""Seconds after which a running call no longer keeps others waiting."""
_RECENT = 0.1
"""The weight of the last duration in the mean of its kind."""


class CallQueue:
    """Runs few calls at once. The keys take turns; of one key, short kinds of calls run first.

    A call waits for a bounded time, so none starves.
    """

    def __init__(self) -> None:
        self._free, self._numbers = _AT_ONCE, itertools.count()
        self._running = Counter[Hashable]()
        # The calls of each key, which are heaps; the key whose turn is next is the first one.
        self._waiting: dict[Hashable, list[_Place]] = {}
        self._seconds: dict[str, float] = {}

    async def run(self, key: Hashable, kind: str, call: Callable[[], Awaitable[T]], is_gone: IsGone | None = None) -> T:
        """Await a call when it is its turn.

        Args:
            key: who asks.
            kind: what is asked. The call is expected to take as long as earlier ones of its kind.
            call: the call.
            is_gone: whether nobody waits for the result any more. It is asked after a wait.

        Raises:
            ClientDisconnect: nobody waits any more, so it was not called.
        """
        has_waited = await self._turn(key, kind)
        loop, begin = asyncio.get_running_loop(), time.perf_counter()
        release = loop.call_later(_LONG, self._release)
        try:
            if has_waited and is_gone is not None and await is_gone():
                raise ClientDisconnect
            return await call()
        finally:
            seconds = time.perf_counter() - begin
            mean = self._seconds.get(kind, seconds)
            self._seconds[kind] = mean + _RECENT * (seconds - mean)
            self._running[key] -= 1
            is_long = loop.time() >= release.when()
            if not is_long:
                release.cancel()
            self._release(0 if is_long else 1)

    async def _turn(self, key: Hashable, kind: str) -> bool:
        """Wait for the turn of a call; return whether that took time."""
        if self._may_run(key):
            self._take(key)
            return False
        turn = asyncio.get_running_loop().create_future()
        place = time.perf_counter() + min(_BEHIND * self._seconds.get(kind, 0.0), _MOST)
        heapq.heappush(self._waiting.setdefault(key, []), (place, next(self._numbers), turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._running[key] -= 1
                self._release()
            raise
        return True

    def _may_run(self, key: Hashable) -> bool:
        return self._free > 0 and self._running[key] < _OF_ONE

    def _take(self, key: Hashable) -> None:
        self._free -= 1
        self._running[key] += 1

    def _release(self, places: int = 1) -> None:
        """Add free places, and give them to the keys that wait."""
        self._free += places
        while (key := next(filter(self._may_run, self._waiting), None)) is not None:
            waiting = self._waiting.pop(key)
            turn = heapq.heappop(waiting)[2]
            if waiting:
                self._waiting[key] = waiting
            if not turn.done():
                self._take(key)
                turn.set_result(None)

"""`CallQueue`: which calls of a server run next when many wait."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import NamedTuple, TypeVar

from neurogated.core.extras import needs_extra

with needs_extra("serve"):
    from starlette.requests import ClientDisconnect

T = TypeVar("T")
IsGone = Callable[[], Awaitable[bool]]

_AT_ONCE = 2
"""Python runs one thread at a time; the other one computes in native code, or waits for the disk."""
_OF_ONE = 3
"""Most calls of one key that run, including long ones, which count no longer among those above."""
_SLOW = 2.0
"""A kind is slow if it takes more than this many times as long as the mean call. Slow calls run one at a time."""
_MOST = 5.0
"""Seconds after which a waiting call passes shorter ones."""
_LONG = 0.25
"""Seconds after which a running call no longer keeps others waiting."""
_RECENT = 0.1
"""The weight of the last duration in the mean of its kind, and in that of all calls."""


class _Waiting(NamedTuple):
    """A call that waits."""

    since: float
    kind: str
    turn: asyncio.Future[None]


class CallQueue:
    """Runs few calls at once. The keys take turns; of one key, the shortest kinds of calls run first.

    A call that has waited for long runs before shorter ones, so none starves.
    """

    def __init__(self) -> None:
        self._running = Counter[Hashable]()
        # The kinds of the running calls, without those that have taken long.
        self._kinds = Counter[str]()
        # The calls of each key in the order they came; the key whose turn is next is the first one.
        self._waiting: dict[Hashable, list[_Waiting]] = {}
        self._seconds: dict[str, float] = {}
        self._mean = 0.0

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
        release = loop.call_later(_LONG, self._release, kind)
        try:
            if has_waited and is_gone is not None and await is_gone():
                raise ClientDisconnect
            return await call()
        finally:
            self._measure(kind, time.perf_counter() - begin)
            self._running[key] -= 1
            is_long = loop.time() >= release.when()
            if not is_long:
                release.cancel()
            self._release(None if is_long else kind)

    def _measure(self, kind: str, seconds: float) -> None:
        if not self._seconds:
            self._mean = seconds
        mean = self._seconds.get(kind, seconds)
        self._seconds[kind] = mean + _RECENT * (seconds - mean)
        self._mean += _RECENT * (seconds - self._mean)

    async def _turn(self, key: Hashable, kind: str) -> bool:
        """Wait for the turn of a call; return whether that took time."""
        if self._may_run(key, kind):
            self._take(key, kind)
            return False
        turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(key, []).append(_Waiting(time.perf_counter(), kind, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._running[key] -= 1
                self._release(kind)
            raise
        return True

    def _may_run(self, key: Hashable, kind: str) -> bool:
        if self._kinds.total() >= _AT_ONCE or self._running[key] >= _OF_ONE:
            return False
        return not (self._is_slow(kind) and any(map(self._is_slow, +self._kinds)))

    def _is_slow(self, kind: str) -> bool:
        return self._seconds.get(kind, 0.0) > _SLOW * self._mean

    def _take(self, key: Hashable, kind: str) -> None:
        self._running[key] += 1
        self._kinds[kind] += 1

    def _release(self, kind: str | None) -> None:
        """Free the place of a call, if it still has one, and give the free places to calls that wait."""
        if kind is not None:
            self._kinds[kind] -= 1
        while found := next(filter(None, map(self._next_of, self._waiting)), None):
            key, call = found
            waiting = self._waiting.pop(key)
            waiting.remove(call)
            if waiting:
                self._waiting[key] = waiting
            if not call.turn.done():
                self._take(key, call.kind)
                call.turn.set_result(None)

    def _next_of(self, key: Hashable) -> tuple[Hashable, _Waiting] | None:
        """Return the waiting call of a key that runs next; None if none may run now."""
        calls = [call for call in self._waiting[key] if self._may_run(key, call.kind)]
        if not calls:
            return None
        is_late = time.perf_counter() - calls[0].since > _MOST
        return key, calls[0] if is_late else min(calls, key=lambda call: self._seconds.get(call.kind, 0.0))

"""`CallQueue`: which calls of a server run next when many wait."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterable
from typing import NamedTuple, TypeVar

from neurogated.core.extras import needs_extra

with needs_extra("serve"):
    from starlette.requests import ClientDisconnect

T = TypeVar("T")
IsGone = Callable[[], Awaitable[bool]]

_AT_ONCE = 2
"""Python runs one thread at a time; the other one computes in native code, or waits for the disk."""
_OF_USER, _OF_KEY = 2, 8
"""Most calls of one user behind a key, and of a key, that run, with long ones, which do not count among those above."""
_SLOW = 2.0
"""A kind is slow if it takes more than this many times as long as the mean call. Slow calls run one at a time."""
_MOST = 5.0
"""Seconds after which a waiting call passes shorter ones."""
_LONG = 0.25
"""Seconds after which a running call no longer keeps others waiting."""
_BESIDE = 5.0
"""Seconds that a user counts as present after asking. Beside others, a user has one call that has not taken long."""
_RECENT = 0.1
"""The weight of the last duration in the mean of its kind, and in that of all calls."""


class _Waiting(NamedTuple):
    """A call that waits."""

    since: float
    kind: str
    turn: asyncio.Future[None]


class CallQueue:
    """Runs few calls at once. Keys take turns; of one key, the shortest kinds run first, and its users take turns.

    A call that has waited for long runs before shorter ones, so none starves.
    """

    def __init__(self) -> None:
        # By key, and by key and user.
        self._running = Counter[Hashable]()
        # The kinds and the users of the running calls, without those that have taken long.
        self._kinds, self._placed = Counter[str](), Counter[Hashable]()
        # When each key and user asked last, the latest last; without those that are no longer present.
        self._asked: dict[Hashable, float] = {}
        # The calls of each user of each key in the order they came; the key and the user whose turn is next are first.
        self._waiting: dict[Hashable, dict[Hashable, list[_Waiting]]] = {}
        self._seconds: dict[str, float] = {}
        self._mean = 0.0

    async def run(
        self,
        key: Hashable,
        kind: str,
        call: Callable[[], Awaitable[T]],
        is_gone: IsGone | None = None,
        *,
        user: Hashable = None,
    ) -> T:
        """Await a call when it is its turn. One that runs keeps its place until it ends, also if it is cancelled.

        Args:
            key: that of the client.
            kind: what is asked. The call is expected to take as long as earlier ones of its kind.
            call: the call.
            is_gone: whether nobody waits for the result any more. It is asked after a wait.
            user: who asks, if several users are behind the key.

        Raises:
            ClientDisconnect: nobody waits any more, so it was not called.
        """
        has_waited = await self._turn(key, user, kind)
        loop, begin = asyncio.get_running_loop(), time.perf_counter()
        release = loop.call_later(_LONG, self._release, key, user, kind)

        async def wanted() -> T:
            if has_waited and is_gone is not None and await is_gone():
                raise ClientDisconnect
            return await call()

        def end(task: asyncio.Task[T]) -> None:
            seconds = time.perf_counter() - begin
            if not self._seconds:
                self._mean = seconds
            mean = self._seconds.get(kind, seconds)
            self._seconds[kind] = mean + _RECENT * (seconds - mean)
            self._mean += _RECENT * (seconds - self._mean)
            self._leave(key, user)
            is_long = loop.time() >= release.when()
            if not is_long:
                release.cancel()
            self._release(key, user, None if is_long else kind)
            if not task.cancelled():
                # Nobody else looks at the error of a call whose client has gone.
                task.exception()

        # A thread cannot be cancelled, so neither is the call: its place is free when its work has ended.
        running = asyncio.create_task(wanted())
        running.add_done_callback(end)
        return await asyncio.shield(running)

    async def _turn(self, key: Hashable, user: Hashable, kind: str) -> bool:
        """Wait for the turn of a call; return whether that took time."""
        self._note(key, user)
        if self._may_run(key, user, kind):
            self._take(key, user, kind)
            return False
        turn = asyncio.get_running_loop().create_future()
        waiting = self._waiting.setdefault(key, {}).setdefault(user, [])
        waiting.append(_Waiting(time.perf_counter(), kind, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._leave(key, user)
                self._release(key, user, kind)
            raise
        return True

    def _may_run(self, key: Hashable, user: Hashable, kind: str) -> bool:
        if self._kinds.total() >= _AT_ONCE or self._running[key] >= _OF_KEY or self._running[key, user] >= _OF_USER:
            return False
        if self._placed[key, user] and len(self._asked) > 1:
            return False
        return not (self._is_slow(kind) and any(map(self._is_slow, +self._kinds)))

    def _note(self, key: Hashable, user: Hashable) -> None:
        """Note that a user asks, and forget those who have not asked for some seconds."""
        self._asked.pop((key, user), None)
        self._asked[key, user] = now = time.perf_counter()
        while now - self._asked[first := next(iter(self._asked))] > _BESIDE:
            del self._asked[first]

    def _is_slow(self, kind: str) -> bool:
        return self._seconds.get(kind, 0.0) > _SLOW * self._mean

    def _take(self, key: Hashable, user: Hashable, kind: str) -> None:
        self._running.update((key, (key, user)))
        self._kinds[kind] += 1
        self._placed[key, user] += 1

    def _leave(self, key: Hashable, user: Hashable) -> None:
        self._running.subtract((key, (key, user)))
        # Users may be many.
        self._running = +self._running

    def _release(self, key: Hashable, user: Hashable, kind: str | None) -> None:
        """Free the place of a call, if it still has one, and give the free places to calls that wait."""
        if kind is not None:
            self._kinds[kind] -= 1
            self._placed.subtract(((key, user),))
            self._placed = +self._placed
        while (found := self._next()) is not None:
            key, user, call = found
            users = self._waiting.pop(key)
            calls = users.pop(user)
            calls.remove(call)
            if calls:
                users[user] = calls
            if users:
                self._waiting[key] = users
            if not call.turn.done():
                self._take(key, user, call.kind)
                call.turn.set_result(None)

    def _next(self) -> tuple[Hashable, Hashable, _Waiting] | None:
        """Return the waiting call that runs next, with its key and its user; None if none may run now."""
        for key, users in self._waiting.items():
            found = [
                (key, user, call)
                for user, waiting in users.items()
                if (call := self._first(call for call in waiting if self._may_run(key, user, call.kind)))
            ]
            if found:
                # Users behind a key take turns among calls of a kind.
                first = self._first(call for *_, call in found)
                return next(one for one in found if one[2] is first)
        return None

    def _first(self, calls: Iterable[_Waiting]) -> _Waiting | None:
        """Return the shortest of some calls, of equal ones the first, or else one that has waited for long."""
        known = list(calls)
        late = [call for call in known if time.perf_counter() - call.since > _MOST]
        if late:
            return min(late, key=lambda call: call.since)
        return min(known, key=lambda call: self._seconds.get(call.kind, 0.0), default=None)

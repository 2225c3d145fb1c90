"""`CallQueue`: which calls of a server run next when many wait."""

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar

from neurogated.core.extras import needs_extra
from neurogated.text.strings import giving_way

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
_LONG = 0.1
"""Seconds after which a running call no longer keeps others waiting."""
_GIVEN = 3.0
"""Seconds that a call which has taken long pauses at most for others, for each second that it has run."""
_BESIDE = 5.0
"""Seconds that a user counts as present after asking. Beside others, a user has one call that has not taken long."""
_RECENT = 0.1
"""The weight of the last duration in the mean of its kind, and in that of all calls."""


@dataclass(eq=False, slots=True)
class _Call:
    """A call that waits or runs."""

    key: Hashable
    user: Hashable
    kind: str
    since: float = field(default_factory=time.perf_counter)
    """When it came, and then when its turn came."""
    turn: asyncio.Future[None] | None = None
    passed: threading.Event = field(default_factory=threading.Event)
    """Set when it has ended or taken long."""
    given: float = 0.0
    """Seconds in which it gave way to others."""
    pausing: threading.Lock = field(default_factory=threading.Lock)
    """Held by the one of its threads that pauses, so that a pause of several counts once."""


class CallQueue:
    """Runs few calls at once. Keys take turns; of one key, the shortest kinds run first, and its users take turns.

    A call that has waited for long runs before shorter ones, so none starves. One that has taken long pauses in
    `give_way` while a call of another user runs that has not.
    """

    def __init__(self) -> None:
        # By key, and by key and user.
        self._running = Counter[Hashable]()
        # The running calls without those that have taken long.
        self._short = set[_Call]()
        # When each key and user asked last, the latest last; without those that are no longer present.
        self._asked: dict[Hashable, float] = {}
        # The calls of each user of each key in the order they came; the key and the user whose turn is next are first.
        self._waiting: dict[Hashable, dict[Hashable, list[_Call]]] = {}
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

        Raises ClientDisconnect if nobody waits any more, so it was not called.

        Args:
            key: that of the client.
            kind: what is asked. The call is expected to take as long as earlier ones of its kind.
            call: the call.
            is_gone: whether nobody waits for the result any more. It is asked after a wait.
            user: who asks, if several users are behind the key.
        """
        this = _Call(key, user, kind)
        has_waited = await self._turn(this)
        this.since = time.perf_counter()
        release = asyncio.get_running_loop().call_later(_LONG, self._release, this)

        async def wanted() -> T:
            if has_waited and is_gone is not None and await is_gone():
                raise ClientDisconnect
            with giving_way(partial(self._give_way, this)):
                return await call()

        def end(task: asyncio.Task[T]) -> None:
            seconds = time.perf_counter() - this.since - this.given
            if not self._seconds:
                self._mean = seconds
            mean = self._seconds.get(kind, seconds)
            self._seconds[kind] = mean + _RECENT * (seconds - mean)
            self._mean += _RECENT * (seconds - self._mean)
            self._leave(this)
            release.cancel()
            self._release(this)
            if not task.cancelled():
                # Nobody else looks at the error of a call whose client has gone.
                task.exception()

        # A thread cannot be cancelled, so neither is the call: its place is free when its work has ended.
        running = asyncio.create_task(wanted())
        running.add_done_callback(end)
        return await asyncio.shield(running)

    def _give_way(self, call: _Call) -> None:
        """Wait in the thread of a call that has taken long for those of other users that have not."""
        if call in self._short:
            return
        with call.pausing:
            for other in tuple(self._short):
                now = time.perf_counter()
                left = _GIVEN * (now - call.since - call.given) - call.given
                if left > 0 and (other.key, other.user) != (call.key, call.user):
                    other.passed.wait(left)
                    call.given += time.perf_counter() - now

    async def _turn(self, call: _Call) -> bool:
        """Wait for the turn of a call; return whether that took time."""
        # Those who have not asked for some seconds are forgotten.
        self._asked.pop((call.key, call.user), None)
        self._asked[call.key, call.user] = now = time.perf_counter()
        while now - self._asked[first := next(iter(self._asked))] > _BESIDE:
            del self._asked[first]
        if self._may_run(call):
            self._take(call)
            return False
        call.turn = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(call.key, {}).setdefault(call.user, []).append(call)
        try:
            await call.turn
        except asyncio.CancelledError:
            if not call.turn.cancelled():
                self._leave(call)
                self._release(call)
            raise
        return True

    def _may_run(self, call: _Call) -> bool:
        key, user = call.key, call.user
        if len(self._short) >= _AT_ONCE or self._running[key] >= _OF_KEY or self._running[key, user] >= _OF_USER:
            return False
        if len(self._asked) > 1 and any((one.key, one.user) == (key, user) for one in self._short):
            return False
        return not (self._is_slow(call.kind) and any(self._is_slow(one.kind) for one in self._short))

    def _is_slow(self, kind: str) -> bool:
        return self._seconds.get(kind, 0.0) > _SLOW * self._mean

    def _take(self, call: _Call) -> None:
        self._running.update((call.key, (call.key, call.user)))
        self._short.add(call)

    def _leave(self, call: _Call) -> None:
        self._running.subtract((call.key, (call.key, call.user)))
        # Users may be many.
        self._running = +self._running

    def _release(self, call: _Call) -> None:
        """Free the place of a call, if it still has one, and give the free places to calls that wait."""
        self._short.discard(call)
        call.passed.set()
        while (found := self._next()) is not None:
            # The key and the user take their next turn after the others.
            users = self._waiting.pop(found.key)
            calls = users.pop(found.user)
            calls.remove(found)
            if calls:
                users[found.user] = calls
            if users:
                self._waiting[found.key] = users
            if found.turn is not None and not found.turn.done():
                self._take(found)
                found.turn.set_result(None)

    def _next(self) -> _Call | None:
        """Return the waiting call that runs next; None if none may run now."""
        for users in self._waiting.values():
            # Users behind a key take turns among calls of a kind.
            firsts = (self._first(filter(self._may_run, waiting)) for waiting in users.values())
            if (found := self._first(call for call in firsts if call is not None)) is not None:
                return found
        return None

    def _first(self, calls: Iterable[_Call]) -> _Call | None:
        """Return the shortest of some calls, of equal ones the first, or else one that has waited for long."""
        known = list(calls)
        late = [call for call in known if time.perf_counter() - call.since > _MOST]
        if late:
            return min(late, key=lambda call: call.since)
        return min(known, key=lambda call: self._seconds.get(call.kind, 0.0), default=None)

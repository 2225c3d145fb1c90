"""Awaitable calls: each runs in a thread of the memory's pool, so it never blocks the event loop."""

from __future__ import annotations

import asyncio
import contextvars
import functools
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from neurogated.session import Session

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M")


class _Asynchronous(Protocol[M]):
    """An object whose coroutines are the calls of its memory."""

    memory: M

    async def run(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T: ...


def awaitable(call: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the coroutine method with the parameters of a method of the memory."""

    @functools.wraps(call)
    async def run(self: _Asynchronous[M], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self.run(call, self.memory, *args, **kwargs)

    return run


async def in_thread(session: Session, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a call in a thread of the memory, which runs 64 calls at once.

    Raises:
        MemoryClosedError: the memory is closed. Other errors are those of the call.
    """
    if session.store.closed:
        session.store.view()  # raises the error that says why
    # The loop's default executor has few threads, which other code shares.
    waiting = [functools.partial(contextvars.copy_context().run, call, *args, **kwargs)]
    del args, kwargs
    # The thread removes the call from the list, so that it holds no reference to the memory after the answer.
    return await asyncio.get_running_loop().run_in_executor(session.runtime.threads, lambda: waiting.pop()())  # noqa: PLW0108

"""`AsyncNeuroGraphMemory`: the calls of a memory as coroutines."""

from __future__ import annotations

import asyncio
import contextvars
import functools
import os
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.habits import explains_habits
from neurogated.memory import NeuroGraphMemory
from neurogated.session import Session

P = ParamSpec("P")
T = TypeVar("T")
M = TypeVar("M")


def awaitable(call: Callable[Concatenate[M, P], T]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]:
    """Return the coroutine method, of a class with `memory` and `run`, that has the parameters of a method."""

    @functools.wraps(call)
    async def run(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> T:  # noqa: ANN401
        answer: T = await self.run(call, self.memory, *args, **kwargs)
        return answer

    return run


async def in_thread(session: Session, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
    """Run a call in a thread of the memory, which runs 64 calls at once.

    Raises MemoryClosedError if the memory is closed. Other errors are those of the call.
    """
    if session.store.closed:
        session.store.view()  # raises the error that says why
    # The loop's default executor has few threads, which other code shares.
    waiting = [functools.partial(contextvars.copy_context().run, call, *args, **kwargs)]
    del args, kwargs
    # The thread removes the call from the list, so that it holds no reference to the memory after the answer.
    return await asyncio.get_running_loop().run_in_executor(session.runtime.threads, lambda: waiting.pop()())  # noqa: PLW0108


@explains_habits
class AsyncNeuroGraphMemory:
    """A memory with coroutines: each call of `NeuroGraphMemory` under the same name, in a thread of the memory.

    Attributes:
        memory: the memory; `run` awaits the calls of its components.
    """

    def __init__(
        self, config: MemoryConfig | str | os.PathLike[str] | None = None, *, memory: NeuroGraphMemory | None = None
    ) -> None:
        """Open the memory that `config` describes, or take one."""
        self.memory = NeuroGraphMemory(config) if memory is None else memory

    async def run(self, call: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Await any call of the memory, as in `await memory.aio.run(memory.conflicts.list, user_id="ana")`."""
        return await in_thread(self.memory.session, call, *args, **kwargs)

    add = awaitable(NeuroGraphMemory.add)
    add_document = awaitable(NeuroGraphMemory.add_document)
    add_documents = awaitable(NeuroGraphMemory.add_documents)
    recall = awaitable(NeuroGraphMemory.recall)
    retrieve = awaitable(NeuroGraphMemory.retrieve)
    retrieve_batch = awaitable(NeuroGraphMemory.retrieve_batch)
    get = awaitable(NeuroGraphMemory.get)
    list = awaitable(NeuroGraphMemory.list)
    count = awaitable(NeuroGraphMemory.count)
    update = awaitable(NeuroGraphMemory.update)
    delete = awaitable(NeuroGraphMemory.delete)
    feedback = awaitable(NeuroGraphMemory.feedback)
    get_context = awaitable(NeuroGraphMemory.get_context)
    record_event = awaitable(NeuroGraphMemory.record_event)
    answer = awaitable(NeuroGraphMemory.answer)
    execute = awaitable(NeuroGraphMemory.execute)
    maintenance = awaitable(NeuroGraphMemory.maintenance)
    flush = awaitable(NeuroGraphMemory.flush)
    usage = awaitable(NeuroGraphMemory.usage)
    undo = awaitable(NeuroGraphMemory.undo)

    async def close(self) -> None:
        """Close the memory, in a thread of the event loop: the threads of the memory end."""
        await asyncio.to_thread(self.memory.close)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

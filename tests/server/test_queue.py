"""Which calls run first when many wait."""

import asyncio
from collections.abc import Awaitable, Callable

from neurogated.server.queue import CallQueue


def lasting(seconds: float, done: list[str], name: str) -> Callable[[], Awaitable[None]]:
    async def call() -> None:
        await asyncio.sleep(seconds)
        done.append(name)

    return call


def test_short_calls_pass_long_ones_that_wait() -> None:
    async def order() -> list[str]:
        queue, done = CallQueue(), list[str]()
        await queue.run("long", lasting(0.05, done, "known"))
        names = ["long"] * 6 + ["short"] * 3
        await asyncio.gather(*(queue.run(name, lasting(0.05 * (name == "long"), done, name)) for name in names))
        return done

    done = asyncio.run(order())
    assert done.index("short") < 4
    assert done[-1] == "long"


def test_long_calls_run_in_the_end_although_short_ones_keep_coming() -> None:
    async def run() -> None:
        queue, done = CallQueue(), list[str]()
        await queue.run("long", lasting(0.02, done, "known"))

        async def keep_asking() -> None:
            while "long" not in done:
                await queue.run("short", lasting(0.001, done, "short"))

        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            for _ in range(6):
                tasks.create_task(keep_asking())
            await asyncio.sleep(0.01)
            tasks.create_task(queue.run("long", lasting(0.02, done, "long")))

    asyncio.run(run())


def test_very_long_calls_block_no_others_and_a_cancelled_call_takes_no_turn() -> None:
    async def run() -> None:
        queue, done, forever = CallQueue(), list[str](), asyncio.Event()
        tasks = [asyncio.create_task(queue.run("endless", forever.wait)) for _ in range(4)]
        waiting = asyncio.create_task(queue.run("gone", lasting(0, done, "gone")))
        await asyncio.sleep(0.01)
        waiting.cancel()
        async with asyncio.timeout(20):
            for _ in range(5):
                await queue.run("short", lasting(0, done, "short"))
        forever.set()
        await asyncio.gather(*tasks)
        assert done == ["short"] * 5

    asyncio.run(run())

"""Which calls run first when many wait."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.server.queue import CallQueue
from neurogated.text.strings import give_way, giving_way


def lasting(seconds: float, done: list[str], name: str) -> Callable[[], Awaitable[None]]:
    async def call() -> None:
        await asyncio.sleep(seconds)
        done.append(name)

    return call


def test_short_calls_pass_long_ones_that_wait() -> None:
    async def order() -> list[str]:
        queue, done = CallQueue(), list[str]()
        await queue.run("ana", "long", lasting(0.05, done, "known"))
        names = ["long"] * 6 + ["short"] * 3
        await asyncio.gather(*(queue.run("ana", name, lasting(0.05 * (name == "long"), done, name)) for name in names))
        return done

    done = asyncio.run(order())
    assert done.index("short") < 4
    assert done[-1] == "long"


def test_long_calls_run_in_the_end_although_short_ones_keep_coming() -> None:
    async def run() -> None:
        queue, done = CallQueue(), list[str]()
        await queue.run("ana", "long", lasting(0.02, done, "known"))

        async def keep_asking() -> None:
            while "long" not in done:
                await queue.run("ana", "short", lasting(0.001, done, "short"))

        async with asyncio.timeout(20), asyncio.TaskGroup() as tasks:
            for _ in range(6):
                tasks.create_task(keep_asking())
            await asyncio.sleep(0.01)
            tasks.create_task(queue.run("ana", "long", lasting(0.02, done, "long")))

    asyncio.run(run())


@pytest.mark.parametrize("shared", [False, True], ids=["keys", "users behind one key"])
def test_keys_and_users_take_turns(*, shared: bool) -> None:
    async def order() -> list[str]:
        queue, done = CallQueue(), list[str]()
        asked = ["ana"] * 20 + ["ben"] * 3
        calls = (queue.run("key" if shared else one, "same", lasting(0.001, done, one), user=one) for one in asked)
        await asyncio.gather(*calls)
        return done

    done = asyncio.run(order())
    assert done[:10].count("ben") == 3
    assert "ana" in done[-10:]


def test_long_calls_of_one_user_leave_places_to_others_behind_the_key_but_not_all_to_the_key() -> None:
    async def run() -> None:
        queue, done, forever, running = CallQueue(), list[str](), asyncio.Event(), list[str]()
        eight = asyncio.Event()

        def endless(user: str) -> Callable[[], Awaitable[bool]]:
            async def call() -> bool:
                running.append(user)
                if len(running) == 8:
                    eight.set()
                return await forever.wait()

            return call

        async def ask(users: str) -> list[asyncio.Task[bool]]:
            tasks = [asyncio.create_task(queue.run("key", "long", endless(one), user=one)) for one in users]
            await asyncio.sleep(0)
            return tasks

        tasks = await ask("aaaaaa")
        async with asyncio.timeout(20):
            await queue.run("key", "short", lasting(0, done, "ben"), user="ben")
            tasks += await ask("bbbbbbccccccdddddd")
            await eight.wait()
            for _ in range(2):
                await queue.run("other", "short", lasting(0, done, "other"))
        assert (len(running), running.count("a")) == (8, 2)
        forever.set()
        await asyncio.gather(*tasks)
        assert done == ["ben", "other", "other"]

    asyncio.run(run())


def test_one_slow_call_runs_at_a_time_beside_short_ones() -> None:
    async def run() -> None:
        queue, running, most = CallQueue(), 0, 0

        async def slow() -> None:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.05)
            running -= 1

        for _ in range(20):
            await queue.run("ana", "short", lasting(0, [], ""))
        await queue.run("ana", "slow", slow)
        done = list[str]()
        shorts = [queue.run("ana", "short", lasting(0, done, "short")) for _ in range(20)]
        await asyncio.gather(*(queue.run("ana", "slow", slow) for _ in range(3)), *shorts)
        assert most == 1

    asyncio.run(run())


def test_a_cancelled_call_keeps_its_place_until_its_work_ends() -> None:
    async def run() -> list[int]:
        queue, ends, begun, counts = CallQueue(), asyncio.Event(), list[asyncio.Task[bool]](), list[int]()

        async def work() -> None:
            begun.append(asyncio.create_task(ends.wait()))
            await asyncio.shield(begun[-1])

        for _ in range(20):
            task = asyncio.create_task(queue.run("ana", "recall", work))
            for _ in range(3):
                await asyncio.sleep(0)
            task.cancel()
        counts.append(len(begun))
        ends.set()
        async with asyncio.timeout(20):
            await queue.run("ben", "recall", lasting(0, [], "ben"))
        await asyncio.gather(*begun)
        return counts

    assert asyncio.run(run()) == [2]


@pytest.mark.parametrize("others", [[], ["ana"]], ids=["alone", "beside another"])
def test_beside_others_a_user_leaves_them_a_place(others: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # However slow the machine, no call of this test becomes a long one.
    monkeypatch.setattr("neurogated.server.queue._LONG", 3600)
    monkeypatch.setattr("neurogated.server.queue._BESIDE", 3600)

    async def run() -> list[str]:
        queue, done, started, ended = CallQueue(), list[str](), list[str](), asyncio.Event()

        async def call() -> None:
            started.append("ben")
            await ended.wait()

        for user in others:
            await queue.run("key", "short", lasting(0, done, user), user=user)
        tasks = [asyncio.create_task(queue.run("key", "same", call, user="ben")) for _ in range(3)]
        for _ in range(20):
            await asyncio.sleep(0)
        for user in others:
            await queue.run("key", "short", lasting(0, done, user), user=user)
        ran = [*started, *done]
        ended.set()
        await asyncio.gather(*tasks)
        return ran

    assert asyncio.run(run()) == (["ben", "ana", "ana"] if others else ["ben", "ben"])


@pytest.mark.parametrize(
    ("older", "younger", "is_first"),
    [(3600.0, "ben", "short"), (0.0, "ben", "long"), (3600.0, "ana", "long")],
    ids=["old", "no time to give", "same user"],
)
def test_a_long_call_gives_way_to_a_short_one_of_another_user(
    older: float, younger: str, is_first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    now, done, runs, went_on = [0.0], list[str](), threading.Event(), threading.Event()
    monkeypatch.setattr("neurogated.server.queue.time", SimpleNamespace(perf_counter=lambda: now[0]))
    monkeypatch.setattr("neurogated.server.queue._LONG", 0)

    def work() -> None:
        runs.wait()
        give_way()
        done.append("long")
        went_on.set()

    async def run() -> None:
        queue = CallQueue()
        long = asyncio.create_task(queue.run("key", "add", lambda: asyncio.to_thread(work), user="ana"))
        await queue.run("key", "recall", lasting(0.01, [], ""), user=younger)
        # However slow the machine, the next call does not become a long one.
        monkeypatch.setattr("neurogated.server.queue._LONG", 3600)
        now[0] = older

        async def short() -> None:
            runs.set()
            await asyncio.to_thread(went_on.wait, 0.1 if is_first == "short" else 20)
            done.append("short")

        async with asyncio.timeout(20):
            await queue.run("key", "recall", short, user=younger)
            await long

    asyncio.run(run())
    assert done[0] == is_first


def test_a_long_text_gives_way_in_each_of_its_steps_but_not_while_it_is_written(tmp_path: Path) -> None:
    text = "Ann moved to Lyon in May. " * 1_200
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        steps = list[None]()
        with giving_way(lambda: steps.append(None)):
            ids = memory.add(text)
            taken = len(steps)
            with memory.session.exclusively():
                give_way()
        assert taken > 3 * len(ids) > 30
        assert len(steps) == taken

"""The asynchronous store."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Sequence

import pytest
import pytest_asyncio
from langgraph.store.base import PutOp

from neurogated import MemoryConfig
from neurogated.integrations.langgraph import AsyncNeuroStore

CONFIG = MemoryConfig(embedding_name="hash")
NOTES = ("notes",)

pytestmark = pytest.mark.asyncio


class Gate:
    """Embeds a text with the word "slow" only when it is open."""

    def __init__(self) -> None:
        self.open, self.waiting = threading.Event(), threading.Event()

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        if any("slow" in text for text in texts):
            self.waiting.set()
            assert self.open.wait(30)
        return [[1.0, float(len(text))] for text in texts]


@pytest_asyncio.fixture
async def store() -> AsyncIterator[AsyncNeuroStore]:
    async with AsyncNeuroStore.from_conn_string(":memory:", config=CONFIG) as opened:
        yield opened


async def test_concurrent_puts_are_one_change(store: AsyncNeuroStore) -> None:
    before = store.memory.view().sequence
    await asyncio.gather(*(store.aput(NOTES, f"k{number}", {"n": number}) for number in range(50)))
    assert store.memory.view().sequence == before + 1
    assert len(await store.asearch(NOTES, limit=100)) == 50


async def test_neither_reads_nor_searches_wait_for_a_slow_call() -> None:
    gate = Gate()
    async with AsyncNeuroStore.from_conn_string(":memory:", index={"dims": 2, "embed": gate}) as store:
        await store.aput(NOTES, "k", {"text": "quick"})
        putting = asyncio.create_task(store.aput(NOTES, "s", {"text": "slow"}))
        searching = asyncio.create_task(store.asearch(NOTES, query="a slow question"))
        await asyncio.to_thread(gate.waiting.wait, 30)
        assert await store.aget(NOTES, "k") is not None
        assert [item.key for item in await store.asearch(NOTES)] == ["k"]
        assert [item.key for item in await store.asearch(NOTES, query="quick")] == ["k"]
        assert await store.alist_namespaces() == [NOTES]
        gate.open.set()
        await asyncio.gather(putting, searching)


async def test_threads_use_the_store_of_an_event_loop(store: AsyncNeuroStore) -> None:
    await asyncio.to_thread(store.put, NOTES, "k", {"n": 1})
    item = await asyncio.to_thread(store.get, NOTES, "k")
    assert item is not None
    with pytest.raises(asyncio.InvalidStateError):
        store.get(NOTES, "k")


async def test_a_sweeper_deletes_expired_items() -> None:
    async with AsyncNeuroStore.from_conn_string(":memory:", ttl={"default_ttl": 0.0001}, config=CONFIG) as store:
        await store.abatch([PutOp(NOTES, "k", {"n": 1}, ttl=0.0001)])
        await store.start_ttl_sweeper(0.0005)
        deadline = time.monotonic() + 30
        while await store.alist_namespaces():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        assert await store.stop_ttl_sweeper()

"""The stores of LangGraph over a memory: items, their table and lifetimes, and the asynchronous store."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from datetime import timedelta

import pytest
import pytest_asyncio
from langgraph.store.base import GetOp, Op, PutOp, SearchOp, TTLConfig

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.node_kind import ITEM
from neurogated.core.scope import ANY_USER
from neurogated.errors import InputError
from neurogated.integrations.langgraph import AsyncNeuroStore, NeuroStore
from neurogated.integrations.langgraph.items import ItemEntry, refresh
from neurogated.session import compose
from neurogated.testing import ManualClock

CONFIG = MemoryConfig(embedding_name="hash")
NOTES = ("ana", "notes")
IN_RAM = CONFIG.replace(storage="memory")


@pytest.fixture
def store() -> Iterator[NeuroStore]:
    with NeuroStore.from_conn_string(":memory:", config=CONFIG) as opened:
        yield opened


def test_an_item_is_a_memory_with_the_namespace_as_path(store: NeuroStore) -> None:
    store.put(NOTES, "k", {"text": "I like green tea."})
    (node,) = store.memory.find(kinds={ITEM})
    assert (node.content, node.scope.path) == ("I like green tea.", NOTES)
    assert store.memory.retrieve("green tea") == ["I like green tea."]


@pytest.mark.parametrize("query", ["tea in Lyon", "Who drinks tea? Where does Ana live?"])
def test_a_search_has_the_scores_of_a_recall(store: NeuroStore, query: str) -> None:
    store.batch([PutOp(NOTES, str(number), {"text": f"Ana drinks tea {number}."}) for number in range(3)])
    for _ in range(2):
        recall = store.memory.recall(query, path=NOTES, kinds=(ITEM,), user_id=ANY_USER, include_duplicates=True)
        found = store.search(NOTES, query=query)
        assert [one.score for one in found] == pytest.approx([one.score for one in recall], abs=1e-6)
        assert [one.value["text"] for one in found] == [one.content for one in recall]
        store.memory.facts.add("Ana", "city", "Lyon")


def test_a_store_shares_a_memory_with_other_memories() -> None:
    with NeuroGraphMemory(IN_RAM) as memory:
        memory.add("Tea grows in Assam.")
        store = NeuroStore(memory)
        store.put(NOTES, "k", {"text": "I like tea."})
        assert [item.key for item in store.search((), query="tea")] == ["k"]
        store.close()
        assert memory.count() == 2


def test_an_item_is_no_claim(store: NeuroStore) -> None:
    store.put(NOTES, "k", {"text": "My name is Ana and I live in Lyon."})
    assert store.memory.recall("Where does Ana live?").facts == ()
    assert store.memory.find(kinds={"claim"}) == []


def test_nothing_connects_the_items_of_two_users() -> None:
    with NeuroGraphMemory(IN_RAM) as memory:
        store = NeuroStore(memory, user_label=1)
        for user in ("ana", "ben"):
            for number in range(3):
                store.put(("memories", user), str(number), {"text": f"{user} drinks green tea at {number}"})
        users = {node.id: node.scope.user_id for node in memory.store.all_nodes()}
        edges = list(memory.store.all_edges())
        assert edges
        assert all(users[edge.source_id] == users[edge.target_id] for edge in edges)
        assert {item.namespace[1] for item in store.search(("memories",), query="green tea")} == {"ana", "ben"}
        assert len(memory.retrieve("green tea", user_id="ana", top_n=10)) == 3


def test_a_memory_that_is_deleted_is_no_item(store: NeuroStore) -> None:
    store.put(NOTES, "k", {"tags": ["tea", "cocoa"]}, index=["tags[*]"])
    node = store.memory.find(kinds={ITEM})[0]
    store.memory.delete(node.id)
    assert store.memory.count() == 0
    assert store.search(NOTES) == store.list_namespaces() == []


@pytest.mark.parametrize(
    "op",
    [
        PutOp(NOTES, "a\0b", {}),
        PutOp(NOTES, "k" * 100_000, {}),
        PutOp(NOTES, "k", {"n": float("inf")}),
        PutOp(NOTES, "k", {1: "one"}),  # type: ignore[dict-item]
        PutOp(NOTES, "k", {"when": object()}),
        PutOp(NOTES, "k", {"n": 1}, index="text"),  # type: ignore[arg-type]
        PutOp(NOTES, "k", {"n": 1}, ttl=-1),
        SearchOp(NOTES, limit=-1),
        GetOp(NOTES, 7),  # type: ignore[arg-type]
    ],
)
def test_an_invalid_operation_is_refused_with_its_batch(store: NeuroStore, op: Op) -> None:
    with pytest.raises(InputError):
        store.batch([PutOp(NOTES, "good", {"n": 1}), op])
    assert store.search(()) == []


def test_a_namespace_without_the_label_of_its_user_is_refused() -> None:
    with NeuroStore(user_label=1) as store:
        with pytest.raises(InputError, match="user_label=1"):
            store.put(NOTES[:1], "k", {"text": "tea"})
        assert store.list_namespaces() == []
        store.delete(NOTES[:1], "k")


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
async def async_store() -> AsyncIterator[AsyncNeuroStore]:
    async with AsyncNeuroStore.from_conn_string(":memory:", config=CONFIG) as opened:
        yield opened


@pytest.mark.asyncio
async def test_concurrent_puts_are_one_change(async_store: AsyncNeuroStore) -> None:
    before = async_store.memory.view().sequence
    await asyncio.gather(*(async_store.aput(NOTES, f"k{number}", {"n": number}) for number in range(50)))
    assert async_store.memory.view().sequence == before + 1
    assert len(await async_store.asearch(NOTES, limit=100)) == 50


@pytest.mark.asyncio
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


@pytest.mark.asyncio
async def test_threads_use_the_store_of_an_event_loop(async_store: AsyncNeuroStore) -> None:
    await asyncio.to_thread(async_store.put, NOTES, "k", {"n": 1})
    item = await asyncio.to_thread(async_store.get, NOTES, "k")
    assert item is not None
    with pytest.raises(asyncio.InvalidStateError):
        async_store.get(NOTES, "k")


@pytest.mark.asyncio
async def test_a_sweeper_deletes_expired_items() -> None:
    async with AsyncNeuroStore.from_conn_string(":memory:", ttl={"default_ttl": 0.0001}, config=CONFIG) as store:
        await store.abatch([PutOp(NOTES, "k", {"n": 1}, ttl=0.0001)])
        await store.start_ttl_sweeper(0.0005)
        deadline = time.monotonic() + 30
        while await store.alist_namespaces():
            assert time.monotonic() < deadline
            await asyncio.sleep(0.02)
        assert await store.stop_ttl_sweeper()


def test_an_erased_item_is_in_no_table_before_the_next_read(store: NeuroStore) -> None:
    store.batch([PutOp(NOTES, name, {"secret": f"zanzibar {name}"}) for name in "ab"])
    assert len(store.search(NOTES)) == 2
    store.delete(NOTES, "a")
    store.memory.admin.compact(history=True)
    entries = [one for one in gc.get_objects() if type(one) is ItemEntry]
    assert [one for one in entries if one.value.get("secret") == "zanzibar a"] == []
    assert [item.key for item in store.search(NOTES)] == ["b"]


Open = Callable[[TTLConfig], NeuroStore]


@pytest.fixture
def opened(clock: ManualClock) -> Iterator[Open]:
    with NeuroGraphMemory(IN_RAM, parts=compose.build(IN_RAM, clock)) as memory:
        yield lambda ttl: NeuroStore(memory, ttl=ttl)


def test_only_reads_of_the_store_refresh(opened: Open, clock: ManualClock) -> None:
    store = opened({"default_ttl": 60 * 24})
    store.put(NOTES, "k", {"text": "tea"})
    clock.advance(timedelta(hours=23))
    assert store.memory.recall("tea").ids
    store.memory.session.runtime.accesses.flush()
    clock.advance(timedelta(hours=1))
    assert store.sweep_ttl() == 1


def test_no_call_of_the_memory_finds_or_revives_an_expired_item(opened: Open, clock: ManualClock) -> None:
    store = opened({"default_ttl": 1})
    memory = store.memory
    store.put(NOTES, "k", {"text": "The secret blob of otters"})
    (item,) = memory.list()
    assert item.expires_at == clock() + timedelta(minutes=1)
    clock.advance(timedelta(minutes=2))
    assert memory.retrieve("secret blob of otters") == []
    assert (list(memory.list()), memory.count(), store.get(NOTES, "k"), store.search(NOTES)) == ([], 0, None, [])
    memory.session.runtime.accesses.flush()
    memory.maintenance()
    assert (store.get(NOTES, "k"), store.sweep_ttl()) == (None, 0)
    store.put(NOTES, "k", {"text": "another"})
    assert store.get(NOTES, "k") is not None


def test_a_late_refresh_revives_nothing_and_moves_no_newer_end(opened: Open, clock: ManualClock) -> None:
    store = opened({"default_ttl": 10})
    for key in ("expired", "newer"):
        store.put(NOTES, key, {"n": 1})
    entries = [ItemEntry.of(node) for node in store.memory.session.store.all_nodes()]
    clock.advance(timedelta(minutes=5))
    store.put(NOTES, "newer", {"n": 1}, ttl=60)
    refresh(store.memory.session, entries, wanted=True)
    ends = {node.metadata["key"]: node.expires_at for node in store.memory.session.store.all_nodes()}
    assert ends["newer"] == clock() + timedelta(minutes=60)
    clock.advance(timedelta(minutes=11))
    refresh(store.memory.session, [entry for entry in entries if entry.key == "expired"], wanted=True)
    assert store.sweep_ttl() == 1


def test_who_is_told_of_deleted_items_may_wait_for_another_writer(opened: Open) -> None:
    store, added = opened({"default_ttl": 10}), list[str]()

    def write(_: object) -> None:
        thread = threading.Thread(target=lambda: added.extend(store.memory.add("The barn burned.")))
        thread.start()
        thread.join(20)

    store.memory.on("deleted", write)
    store.put(NOTES, "k", {"n": 1})
    store.delete_namespace(NOTES)
    assert len(added) == 1

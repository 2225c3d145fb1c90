"""Lifetimes of items: refreshing reads, and what they cost."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from langgraph.store.base import TTLConfig

from neurogated import MemoryConfig, NeuroGraphMemory, compose
from neurogated.integrations.langgraph import NeuroStore
from neurogated.integrations.langgraph.items import ItemEntry
from neurogated.integrations.langgraph.table import Lifetimes
from neurogated.testing import ManualClock

CONFIG = MemoryConfig(embedding_name="hash", storage="memory")
NOTES = ("notes",)
Open = Callable[[TTLConfig], NeuroStore]


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def opened(clock: ManualClock) -> Iterator[Open]:
    with NeuroGraphMemory(CONFIG, parts=compose.build(CONFIG, clock)) as memory:
        yield lambda ttl: NeuroStore(memory, ttl=ttl)


def test_a_read_refreshes_to_the_moment(opened: Open, clock: ManualClock) -> None:
    store = opened({"default_ttl": 10})
    store.put(NOTES, "read", {"n": 1})
    store.put(NOTES, "left", {"n": 2})
    clock.advance(timedelta(minutes=6))
    store.get(NOTES, "read")
    store.get(NOTES, "left", refresh_ttl=False)
    clock.advance(timedelta(minutes=9))
    assert store.sweep_ttl() == 1
    assert [item.key for item in store.search(NOTES, refresh_ttl=False)] == ["read"]
    clock.advance(timedelta(minutes=1))
    assert store.sweep_ttl() == 1


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


@pytest.mark.slow
def test_ten_thousand_refreshing_reads_write_at_most_ten_deltas(tmp_path: Path) -> None:
    with NeuroStore.from_conn_string(
        str(tmp_path), ttl={"default_ttl": 60}, config=CONFIG.replace(storage="sqlite")
    ) as store:
        for number in range(10):
            store.put(NOTES, str(number), {"n": number})
        before = store.memory.view().sequence
        for number in range(10_000):
            assert store.get(NOTES, str(number % 10)) is not None
        store.memory.session.runtime.accesses.flush()
        assert 0 < store.memory.view().sequence - before <= 10


def test_a_late_refresh_revives_nothing_and_moves_no_newer_end(opened: Open, clock: ManualClock) -> None:
    store = opened({"default_ttl": 10})
    lifetimes = Lifetimes(store.memory.session)
    for key in ("expired", "newer"):
        store.put(NOTES, key, {"n": 1})
    entries = [ItemEntry.of(node) for node in store.memory.session.store.all_nodes()]
    clock.advance(timedelta(minutes=5))
    store.put(NOTES, "newer", {"n": 1}, ttl=60)
    lifetimes.refresh(entries, wanted=True)
    ends = {node.metadata["key"]: node.expires_at for node in store.memory.session.store.all_nodes()}
    assert ends["newer"] == clock() + timedelta(minutes=60)
    clock.advance(timedelta(minutes=11))
    lifetimes.refresh([entry for entry in entries if entry.key == "expired"], wanted=True)
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

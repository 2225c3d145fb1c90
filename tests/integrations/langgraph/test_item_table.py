"""The items of a store in memory: they are read at one moment, whatever is written meanwhile."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from langgraph.store.base import PutOp

from neurogated import MemoryConfig
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView
from neurogated.integrations.langgraph import NeuroStore
from neurogated.integrations.langgraph.items import ItemEntry
from neurogated.integrations.langgraph.table import ItemTable

NOTES = ("notes",)


class Interrupted:
    """A store of a graph of which one call is preceded by a write of another thread."""

    def __init__(self, graph: GraphStorePort, method: str, call: int, write: Callable[[], object]) -> None:
        self._graph, self._method, self._left, self._write = graph, method, call, write

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        if name == self._method:
            self._left -= 1
            if self._left == 0:
                self._write()
        return getattr(self._graph, name)


@pytest.fixture
def store() -> Iterator[NeuroStore]:
    with NeuroStore.from_conn_string(":memory:", config=MemoryConfig(embedding_name="hash")) as opened:
        yield opened


def _interrupted(store: NeuroStore, method: str, call: int, *ops: PutOp) -> ItemTable:
    graph: Any = Interrupted(store.memory.session.store, method, call, lambda: store.batch(ops))
    return ItemTable(graph, store.memory.session.now)


@pytest.mark.parametrize("method", ["view", "get_nodes"])
@pytest.mark.parametrize("call", [1, 2])
def test_a_batch_that_is_written_meanwhile_is_read_whole(store: NeuroStore, method: str, call: int) -> None:
    store.batch([PutOp(NOTES, name, {"n": 0}) for name in "ab"])
    table = _interrupted(store, method, call, *(PutOp(NOTES, name, {"n": 2}) for name in "ab"))
    table.under(())
    store.put(NOTES, "a", {"n": 1})
    found = {entry.key: entry.value["n"] for entry in table.page(NOTES, None, first=(), most=10, read=None)}
    assert found in ({"a": 1, "b": 0}, {"a": 2, "b": 2}, {"a": 1, "b": 2})
    assert {item.key: item.value["n"] for item in store.search(NOTES)} == {
        entry.key: entry.value["n"] for entry in table.under(NOTES)
    }


def test_a_page_is_of_the_moment_that_was_searched_until_the_table_knows_a_later_one(store: NeuroStore) -> None:
    def shown(read: GraphView | None) -> list[int]:
        return [entry.value["n"] for entry in table.page(NOTES, None, first=(), most=10, read=read)]

    table, graph = ItemTable(store.memory.store, store.memory.session.now), store.memory.store
    store.put(NOTES, "a", {"n": 0})
    before, first = graph.view(), shown(None)
    store.put(NOTES, "a", {"n": 1})
    assert [first, *map(shown, (before, graph.view(), before))] == [[0], [0], [1], [1]]


def test_deletions_and_reads_do_not_wait_for_each_other(tmp_path: Path) -> None:
    config = MemoryConfig(embedding_name="hash")
    with NeuroStore.from_conn_string(str(tmp_path), ttl={"omit_expired": True}, config=config) as store:

        def work(thread: int) -> None:
            for number in range(30):
                store.put(("kept", str(thread)), str(number), {"n": number})
                store.put(("short", str(thread)), str(number), {"n": number}, ttl=0)
                store.list_namespaces()
                store.search(("short",))
                if thread % 2:
                    store.sweep_ttl()
                else:
                    store.delete_namespace(("short",))

        with ThreadPoolExecutor(4) as pool:
            list(pool.map(work, range(4), timeout=60))
        assert len(store.search(("kept",), limit=200)) == 120


def test_an_erased_item_is_in_no_table_before_the_next_read(store: NeuroStore) -> None:
    store.batch([PutOp(NOTES, name, {"secret": f"zanzibar {name}"}) for name in "ab"])
    assert len(store.search(NOTES)) == 2
    store.delete(NOTES, "a")
    store.memory.admin.compact(history=True)
    entries = [one for one in gc.get_objects() if type(one) is ItemEntry]
    assert [one for one in entries if one.value.get("secret") == "zanzibar a"] == []
    assert [item.key for item in store.search(NOTES)] == ["b"]

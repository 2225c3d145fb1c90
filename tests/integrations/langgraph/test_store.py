"""The store of LangGraph over a memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from langgraph.store.base import GetOp, Op, PutOp, SearchOp

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.node_kind import ITEM
from neurogated.integrations.langgraph import NeuroStore

CONFIG = MemoryConfig(embedding_name="hash")
NOTES = ("ana", "notes")


@pytest.fixture
def store() -> Iterator[NeuroStore]:
    with NeuroStore.from_conn_string(":memory:", config=CONFIG) as opened:
        yield opened


def test_a_value_comes_back_as_it_went_in(store: NeuroStore) -> None:
    value = {"text": "tea", "n": 1.5, "list": [1, {"deep": None}], "nul": "a\0b", "": True}
    store.put(NOTES, "k", value)
    item = store.get(NOTES, "k")
    assert item is not None
    assert (item.namespace, item.key, item.value) == (NOTES, "k", value)


def test_an_item_is_a_memory_with_the_namespace_as_path(store: NeuroStore) -> None:
    store.put(NOTES, "k", {"text": "I like green tea."})
    (node,) = store.memory.find(kinds={ITEM})
    assert (node.content, node.scope.path) == ("I like green tea.", NOTES)
    assert store.memory.retrieve("green tea") == ["I like green tea."]


def test_items_outlive_the_process(tmp_path: Path) -> None:
    with NeuroStore.from_conn_string(str(tmp_path), config=CONFIG) as store:
        store.put(NOTES, "k", {"text": "tea"})
    with NeuroStore.from_conn_string(str(tmp_path), config=CONFIG) as store:
        assert [item.value for item in store.search(NOTES)] == [{"text": "tea"}]


def test_a_batch_reads_the_state_before_it_and_the_last_put_of_a_key_wins(store: NeuroStore) -> None:
    ops: list[Op] = [PutOp(NOTES, "k", {"n": 1}), GetOp(NOTES, "k"), SearchOp(()), PutOp(NOTES, "k", {"n": 2})]
    assert store.batch(ops) == [None, None, [], None]
    assert [item.value for item in store.search(())] == [{"n": 2}]


def test_a_batch_with_a_fault_writes_nothing(store: NeuroStore) -> None:
    with pytest.raises(ValueError, match="JSON"):
        store.batch([PutOp(NOTES, "a", {"n": 1}), PutOp(NOTES, "b", {"n": float("nan")})])
    assert store.search(()) == []


def test_an_overwrite_leaves_no_text_of_the_old_value(store: NeuroStore) -> None:
    store.put(NOTES, "k", {"tags": ["tea", "coffee", "cocoa"]}, index=["tags[*]"])
    store.put(NOTES, "k", {"tags": ["water"]}, index=["tags[*]"])
    assert [node.content for node in store.memory.find(kinds={ITEM})] == ["water"]
    store.put(NOTES, "k", {"tags": ["water"]}, index=False)
    assert [item.score for item in store.search(NOTES, query="water")] == [None]


def test_a_deleted_namespace_is_gone_with_all_below_it(store: NeuroStore) -> None:
    for namespace in (NOTES, ("ana", "notes", "old"), ("ben", "notes")):
        store.put(namespace, "k", {"text": "tea"})
    assert store.delete_namespace(NOTES) == 2
    assert store.list_namespaces() == [("ben", "notes")]


def test_a_store_shares_a_memory_with_other_memories() -> None:
    with NeuroGraphMemory(CONFIG.replace(storage="memory")) as memory:
        memory.add("Tea grows in Assam.")
        store = NeuroStore(memory)
        store.put(NOTES, "k", {"text": "I like tea."})
        assert [item.key for item in store.search((), query="tea")] == ["k"]
        store.close()
        assert memory.count() == 2

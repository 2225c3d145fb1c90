"""The store of LangGraph over a memory."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from langgraph.store.base import GetOp, Op, PutOp, SearchOp

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.core.node_kind import ITEM
from neurogated.core.ports import GraphReader
from neurogated.core.scope import ANY_USER
from neurogated.errors import InputError
from neurogated.integrations.langgraph import NeuroStore
from neurogated.integrations.langgraph.table import Order

CONFIG = MemoryConfig(embedding_name="hash")
NOTES = ("ana", "notes")


@pytest.fixture
def store() -> Iterator[NeuroStore]:
    with NeuroStore.from_conn_string(":memory:", config=CONFIG) as opened:
        yield opened


def test_an_item_is_a_memory_with_the_namespace_as_path(store: NeuroStore) -> None:
    store.put(NOTES, "k", {"text": "I like green tea."})
    (node,) = store.memory.find(kinds={ITEM})
    assert (node.content, node.scope.path) == ("I like green tea.", NOTES)
    assert store.memory.retrieve("green tea") == ["I like green tea."]


def test_a_search_that_finds_all_items_recalls_once(store: NeuroStore, monkeypatch: pytest.MonkeyPatch) -> None:
    store.batch([PutOp(NOTES, str(number), {"text": f"tea {number}"}) for number in range(3)])
    sizes, scores = list[object](), store.memory.session.retriever.scores

    def counted(query: str, reader: GraphReader, *, top_n: int) -> list[tuple[str, float]] | None:
        sizes.append(top_n)
        return scores(query, reader, top_n=top_n)

    monkeypatch.setattr(store.memory.session.retriever, "scores", counted)
    assert len(store.search(NOTES, query="tea", limit=20)) == 3
    assert sizes == [20]


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
    with NeuroGraphMemory(CONFIG.replace(storage="memory")) as memory:
        memory.add("Tea grows in Assam.")
        store = NeuroStore(memory)
        store.put(NOTES, "k", {"text": "I like tea."})
        assert [item.key for item in store.search((), query="tea")] == ["k"]
        store.close()
        assert memory.count() == 2


@pytest.mark.parametrize("order", ["activation", "cosine"])
def test_pages_of_a_query_neither_repeat_nor_miss_an_item(order: Order) -> None:
    with NeuroStore.from_conn_string(":memory:", config=CONFIG, order=order) as store:
        texts = [f"tea number {number} from {number % 7} hills" for number in range(150)]
        store.batch([PutOp(NOTES, text, {"text": text, "cup": text[::-1]}, ["text", "cup"]) for text in texts])
        store.batch([PutOp(NOTES, f"bare {number}", {"n": number}, index=False) for number in range(5)])
        pages = [store.search(NOTES, query="tea from 3 hills", limit=11, offset=at) for at in range(0, 165, 11)]
        keys = [item.key for page in pages for item in page]
        assert len(keys) == len(set(keys)) == 155
        assert sorted(keys[150:]) == [f"bare {number}" for number in range(5)]
        scores = [item.score for page in pages for item in page if item.score is not None]
        assert scores == sorted(scores, reverse=True)


def test_the_keys_of_a_value_are_no_words_of_it(store: NeuroStore) -> None:
    store.put(NOTES, "k", {"hobby": "chess", "years": 12})
    (node,) = store.memory.find(kinds={ITEM})
    assert node.content.split() == ["chess", "12"]


def test_an_item_is_no_claim(store: NeuroStore) -> None:
    store.put(NOTES, "k", {"text": "My name is Ana and I live in Lyon."})
    assert store.memory.recall("Where does Ana live?").facts == ()
    assert store.memory.find(kinds={"claim"}) == []


def test_nothing_connects_the_items_of_two_users() -> None:
    with NeuroGraphMemory(CONFIG.replace(storage="memory")) as memory:
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

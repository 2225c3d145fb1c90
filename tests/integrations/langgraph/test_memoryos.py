"""MemoryOS on our store and on LangGraph's."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore

from neurogated.dialogue.model import DialoguePage
from neurogated.errors import ConfigError, InputError
from neurogated.integrations.langgraph.dialogue import StoreRecords
from neurogated.integrations.langgraph.memoryos import MemoryOS
from neurogated.integrations.langgraph.store import NeuroStore
from tests.integrations.langgraph.conversations import Open, all_pages, exported, talk
from tests.integrations.langgraph.plain_chat import plain_chat
from tests.integrations.langgraph.words import ScriptedChat, WordEmbeddings

EXAMPLE = """
from langchain.chat_models import init_chat_model
from langchain_huggingface import HuggingFaceEmbeddings
from neurogated.integrations.langgraph.memoryos import MemoryOS

llm = init_chat_model("deepseek-chat")
embedding = HuggingFaceEmbeddings(model_name="path/to/embedding/model")

mem = MemoryOS(
    llm=llm,
    embedding_fuc=embedding,
    storage_dir="./memory_storage",
    short_term_max_capacity=10
)

# Save conversation
mem.save_memory(
    user_id="user123",
    session_id="session456",
    user_query="What is the capital of France?",
    assistant_response="The capital of France is Paris."
)

# Search memory
results = mem.search_memory(user_id="user123", query="French geography", top_k=5)
"""


class CountingStore(InMemoryStore):
    """Counts its writes."""

    puts = 0

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        given = list(ops)
        self.puts += sum(isinstance(op, PutOp) for op in given)
        return super().batch(given)


def test_the_example_of_its_readme_runs_to_the_letter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    huggingface = ModuleType("langchain_huggingface")
    huggingface.HuggingFaceEmbeddings = lambda **_: WordEmbeddings()  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "langchain_huggingface", huggingface)
    monkeypatch.setattr("langchain.chat_models.init_chat_model", lambda _: ScriptedChat(answers={}))
    monkeypatch.chdir(tmp_path)
    Path("example.py").write_text(EXAMPLE)
    names = runpy.run_path("example.py")
    assert "The capital of France is Paris." in names["results"]["short_term_memory"]
    names["mem"].close()
    assert (tmp_path / "memory_storage").is_dir()


def test_an_overflow_loses_no_pair_and_doubles_none(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=3)
    keys = talk(memory, 20)
    memory.flush()
    assert [page["key"] for page in all_pages(memory, tmp_path)] == keys
    assert [page["key"] for page in exported(memory, tmp_path, "short_term")["pages"]] == keys[-3:]


def test_the_short_term_memory_is_the_last_pairs_in_order(opened: Open) -> None:
    memory = opened(short_term_max_capacity=2)
    for word in ("one", "two", "three"):
        memory.save_memory("ana", "s", word, "")
    told = memory.search_memory("ana", "numbers")["short_term_memory"]
    assert "one" not in told
    assert told.index("two") < told.index("three")


def test_texts_come_back_exactly(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    long = "  The first sentence stands here.\n\n\tThe second one follows.  " * 60
    memory.save_memory("ana", "s", long, " \n")
    memory.save_memory("ana", "s", "", "Only I speak.")
    first, second = exported(memory, tmp_path, "short_term")["pages"]
    assert (first["user"], first["assistant"]) == (long, " \n")
    assert (second["user"], second["assistant"]) == ("", "Only I speak.")


@pytest.mark.parametrize("pair", [("I moved to Lyon.", ""), ("", "You moved to Lyon.")])
def test_a_one_sided_turn_is_kept_and_found(opened: Open, pair: tuple[str, str]) -> None:
    memory = opened(short_term_max_capacity=1)
    key = memory.save_memory("ana", "s", *pair)
    memory.save_memory("ana", "s", "Tell me a joke.", "No.")
    memory.flush()
    assert memory.search_memory("ana", "moved to Lyon", 1).hits[0].key == key


def test_half_a_character_and_nul_are_repaired(opened: Open) -> None:
    memory = opened()
    memory.save_memory("ana", "s", "My heron is Ada \ud83d", "PK\0")
    found = memory.search_memory("ana", "heron \ud83d")
    assert "My heron is Ada \ufffd" in str(found)


def test_a_pair_of_nothing_is_refused(opened: Open) -> None:
    memory = opened()
    for wrong in (("ana", "s", " ", ""), ("", "s", "a", "b"), ("ana", "", "a", "b")):
        with pytest.raises(InputError):
            memory.save_memory(*wrong)
    with pytest.raises(InputError):
        memory.search_memory("ana", "  ")
    with pytest.raises(InputError):
        memory.save_memory("ana", "s", "a", "b", page_id="user")


def test_saving_a_named_pair_again_changes_nothing(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    for user in ("ana", "bo", "ana"):
        memory.save_memory(user, "s", f"I am {user}.", "Hello.", page_id="first")
    assert [page["user"] for page in exported(memory, tmp_path, "short_term")["pages"]] == ["I am ana."]
    assert [page["user"] for page in exported(memory, tmp_path, "short_term", "bo")["pages"]] == ["I am bo."]


def test_of_pairs_with_one_name_that_are_stored_at_once_the_first_stays(opened: Open) -> None:
    kept = opened()._pages
    day = datetime(2027, 1, 1, tzinfo=UTC)
    pages = [DialoguePage("first", f"{n:016}-{n}", "s", f"I am {n}.", "Hello.", day) for n in range(4)]
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(partial(kept.add, "ana"), pages))
    found = kept.get("ana", ["first"])["first"]
    assert [page.user for page in pages].count(found.user) == 1
    kept.add("ana", pages[found.user == pages[0].user])
    assert kept.get("ana", ["first"])["first"] == found


def test_a_search_writes_nothing() -> None:
    store = CountingStore()
    with MemoryOS(embedding=WordEmbeddings(), store=store, short_term_max_capacity=1) as memory:
        talk(memory, 5)
        memory.flush()
        before = store.puts
        for _ in range(20):
            memory.search_memory("ana", "tomato")
        assert store.puts == before


def test_each_tier_gives_at_most_its_number_and_all_together_top_k(opened: Open) -> None:
    memory = opened(short_term_max_capacity=4, retrieval_page_topk=2)
    talk(memory, 12)
    memory.flush()
    tiers = [hit.tier for hit in memory.search_memory("ana", "tomato plants", 10).hits]
    assert tiers.count("mid_term") == 2
    assert tiers.count("short_term") <= 2
    assert len(memory.search_memory("ana", "tomato plants", 3).hits) == 3


def test_a_search_may_be_of_one_session(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1)
    talk(memory, 3, session="one")
    keys = talk(memory, 3, session="two")
    memory.flush()
    answer = memory.search_memory("ana", "tomato plants", session_id="two")
    assert {hit.key for hit in answer.hits} == set(keys)


def test_users_see_nothing_of_each_other(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    for user, town in (("ana", "Lyon"), ("Ana", "Ghent"), ("../ana", "Bern")):
        memory.save_memory(user, "s", f"I live in {town}.", f"The mayor of {town} is known.")
        memory.save_memory(user, "s", "Bye", "")
    memory.flush()
    for user, town in (("ana", "Lyon"), ("Ana", "Ghent"), ("../ana", "Bern")):
        told = str(memory.search_memory(user, "Who lives in Lyon, Ghent or Bern?", 9))
        assert [one for one in ("Lyon", "Ghent", "Bern") if one in told] == [town]


@pytest.mark.parametrize("user", ["../x", "a\0b", "x" * 10_000])
def test_any_text_is_a_user_and_a_name_of_a_file(opened: Open, tmp_path: Path, user: str) -> None:
    memory = opened()
    memory.save_memory(user, "s", "I live in Lyon.", "")
    assert memory.search_memory(user, "Lyon").hits
    memory.export(tmp_path / "out" / "files")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert sorted(path.parent.name for path in files) == ["long_term", "mid_term", "short_term"]
    assert all(json.loads(path.read_text())["user_id"] == user for path in files)


def test_threads_lose_nothing_and_keep_their_order(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=4)

    def talk(name: str) -> list[str]:
        return [memory.save_memory("ana", name, f"{name} says {n}", "") for n in range(12)]

    with ThreadPoolExecutor(4) as threads:
        told = dict(zip("abcd", threads.map(talk, "abcd"), strict=True))
    memory.flush()
    pages = all_pages(memory, tmp_path)
    assert len(pages) == 48
    for name, keys in told.items():
        assert [page["key"] for page in pages if page["session_id"] == name] == keys


@pytest.mark.parametrize(
    "wrong",
    [
        {"preset": "fast"}, {"short_term_max_capacity": 0}, {"heat": 3},
        {"embedding": WordEmbeddings(), "embedding_fuc": WordEmbeddings()},
        {"store": InMemoryStore(), "storage_dir": "x"}, {"llm": InMemoryStore()}, {"llm": "a folder"},
        {"store": "a folder"},
    ],
)  # fmt: skip
def test_settings_that_do_not_fit_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        MemoryOS(**wrong)


def test_a_neuro_store_brings_its_memory_and_embedder() -> None:
    with NeuroStore(index={"embed": WordEmbeddings(), "dims": 64}) as store:
        with pytest.raises(ConfigError):
            MemoryOS(store=store, embedding=WordEmbeddings())
        with MemoryOS(store=store, short_term_max_capacity=1) as memory:
            key = memory.save_memory("ana", "s", "I live in Lyon.", "")
        recall = store.memory.recall("Lyon", user_id="ana")
        assert recall.memories[0].metadata["page"] == key


@pytest.mark.nightly
def test_it_runs_on_a_real_postgres(tmp_path: Path) -> None:
    from tests.postgres_server import Postgres

    server = Postgres(tmp_path / "server")
    try:
        with PostgresStore.from_conn_string(server.database()) as store:
            store.setup()
            _runs_on(store, tmp_path)
    finally:
        server.stop()


def _indexed() -> InMemoryStore:
    return InMemoryStore(index={"dims": 64, "embed": WordEmbeddings(), "fields": ["text"]})


def test_a_store_with_an_index_takes_a_pair_of_equal_texts() -> None:
    """InMemoryStore of langgraph-checkpoint 4.3.2 refuses a batch in which an indexed text stands twice."""
    with MemoryOS(embedding=WordEmbeddings(), store=_indexed()) as memory:
        key = memory.save_memory("ana", "s", "Good night!", "Good night!")
        memory.flush()
        (hit,) = memory.search_memory("ana", "night").hits
        assert hit.key == key


def test_a_store_with_an_index_takes_equal_texts_of_two_kinds() -> None:
    embedding = WordEmbeddings()
    records = StoreRecords(_indexed(), lambda texts: np.array(embedding.embed_documents(list(texts)), np.float32))
    kinds = ("user_knowledge", "assistant_knowledge")
    records.put("ana", {(kind, "k"): {"text": "Tea is brewed at noon."} for kind in kinds})
    assert {(found.kind, found.key) for found in records.search("ana", "tea", 5)} == {(kind, "k") for kind in kinds}
    records.put("ana", dict.fromkeys([(kind, "k") for kind in kinds]))
    assert records.search("ana", "tea", 5) == []


def test_the_blank_text_of_a_silent_side_is_not_in_an_index() -> None:
    embedded: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        embedded.extend(texts)
        return WordEmbeddings().embed_documents(list(texts))

    store = InMemoryStore(index={"dims": 64, "embed": embed, "fields": ["text"]})
    with MemoryOS(embedding=WordEmbeddings(), store=store) as memory:
        memory.save_memory("ana", "s", "The garden pump broke.", "")
    assert embedded == ["The garden pump broke."]


def _runs_on(store: BaseStore, folder: Path) -> None:
    with MemoryOS(
        plain_chat(), WordEmbeddings(), store=store, short_term_max_capacity=2, mid_term_heat_threshold=1.5
    ) as one:
        keys = talk(one, 8)
        one.save_memory("ana", "s", "I live in Lyon.", "")
        keys += talk(one, 2, topic="trip")
        one.flush()
        assert one.search_memory("ana", "Where do I live?", 3).hits
        assert one.profile("ana")["Living environment"]["value"] == "Lyon"
        assert len(all_pages(one, folder)) == 11

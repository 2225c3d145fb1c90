"""MemoryOS on our store and on LangGraph's: three tiers, what it learns, and its settings."""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import AsyncPostgresStore, PostgresStore

from neurogated.errors import ConfigError, InputError, LLMError
from neurogated.integrations.langgraph.dialogue import StoreDialogue
from neurogated.integrations.langgraph.memoryos import MemoryOS
from neurogated.integrations.langgraph.store import NeuroStore
from tests.integrations.langgraph.words import ScriptedChat, WordEmbeddings, plain_chat
from tests.postgres_server import Postgres

TOPICS = {
    "garden": "The tomato plants in my garden have {n} yellow leaves.",
    "guitar": "I practise the guitar song for concert {n}.",
    "trip": "The early train from Lyon to Geneva is {n} minutes late.",
}
Open = Callable[..., MemoryOS]


def talk(memory: MemoryOS, count: int, *, user: str = "ana", session: str = "s", topic: str = "garden") -> list[str]:
    told = [TOPICS[topic].format(n=n) for n in range(count)]
    return [memory.save_memory(user, session, text, "") for n, text in enumerate(told)]


def exported(memory: MemoryOS, folder: Path, tier: str, user: str = "ana") -> dict[str, Any]:
    memory.export(folder)
    found: dict[str, Any] = json.loads((folder / tier / f"{user}.json").read_text())
    return found


def all_pages(memory: MemoryOS, folder: Path) -> list[dict[str, Any]]:
    """Return all pages of both tiers, in order."""
    short = exported(memory, folder, "short_term")["pages"]
    segments = exported(memory, folder, "mid_term")["segments"].values()
    return sorted([*short, *(page for one in segments for page in one["pages"])], key=lambda page: page["key"])


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


@pytest.fixture(params=["ours", "in memory"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Open]:
    """Open a memory again and again on the same store."""
    shared = InMemoryStore()
    memories: list[MemoryOS] = []

    def opening(**options: Any) -> MemoryOS:  # noqa: ANN401
        place = {"storage_dir": tmp_path / "memory"} if request.param == "ours" else {"store": shared}
        memories.append(MemoryOS(embedding=WordEmbeddings(), **place, **options))
        return memories[-1]

    yield opening
    for memory in memories:
        memory.close()


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


def test_a_search_writes_nothing(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1)
    talk(memory, 5)
    memory.flush()
    before = [item.dict() for item in memory.search((), limit=1000)]
    for _ in range(20):
        memory.search_memory("ana", "tomato")
    assert [item.dict() for item in memory.search((), limit=1000)] == before


def test_an_answer_has_both_names_of_its_texts(opened: Open) -> None:
    answer = opened().search_memory("ana", "tomato", user_conversation_meta_data={"topic": "garden"})
    others = {
        "assistant_knowledge_text_for_prompt": "assistant_knowledge",
        "meta_data_text_for_prompt": "conversation_metadata",
    }
    for other, name in others.items():
        assert (answer[other], answer.get(other), other in answer) == (answer[name], answer[name], True)
    assert "garden" in answer["meta_data_text_for_prompt"]
    assert answer.get("other") is None
    assert "other" not in answer


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


def _runs_on(store: BaseStore, folder: Path) -> None:
    with MemoryOS(plain_chat(), WordEmbeddings(), store=store, short_term_max_capacity=2) as memory:
        memory.set_profile("ana", "Living environment", "a house")
        keys = [*talk(memory, 6), memory.save_memory("ana", "s", "I live in Lyon.", "")]
        talk(memory, 3, user="an_")
        memory.flush()
        assert memory.search_memory("ana", "Where do I live?", 3).hits[0].key == keys[-1]
        assert [page["key"] for page in all_pages(memory, folder)] == keys
        memory.delete_user("an_")
    with MemoryOS(plain_chat(), WordEmbeddings(), store=store, mid_term_heat_threshold=1.5) as memory:
        keys += talk(memory, 10, topic="trip")
        memory.flush()
        assert [page["key"] for page in all_pages(memory, folder)] == keys
        assert [one["text"] for one in memory.knowledge("ana")["user_knowledge"]] == ["I live in Lyon"]
        memory.delete_page("ana", keys[6])
        assert (memory.knowledge("ana")["user_knowledge"], set(memory.profile("ana"))) == ([], {"Living environment"})
        assert not memory.search_memory("an_", "garden").hits


def test_it_runs_on_a_real_postgres(postgres: Postgres, tmp_path: Path) -> None:
    async def asynchronous() -> None:
        async with AsyncPostgresStore.from_conn_string(postgres.database()) as store:
            await store.setup()
            await asyncio.to_thread(_runs_on, store, tmp_path)

    with PostgresStore.from_conn_string(postgres.database()) as store:
        store.setup()
        _runs_on(store, tmp_path)
    asyncio.run(asynchronous())


def test_a_store_with_an_index_takes_equal_texts_and_indexes_no_blank_ones() -> None:
    """InMemoryStore of langgraph-checkpoint 4.3.2 refuses a batch in which an indexed text stands twice."""
    embedded: list[str] = []

    def embed(texts: Sequence[str]) -> list[list[float]]:
        embedded.extend(texts)
        return WordEmbeddings().embed_documents(list(texts))

    store = InMemoryStore(index={"dims": 64, "embed": embed, "fields": ["text"]})
    with MemoryOS(embedding=WordEmbeddings(), store=store) as memory:
        key = memory.save_memory("ana", "s", "Good night!", "Good night!")
        memory.save_memory("ana", "s", "The garden pump broke.", "")
        memory.flush()
        assert memory.search_memory("ana", "night").hits[0].key == key
    kept = StoreDialogue(store, lambda texts: np.array(embed(texts), np.float32))
    kinds = ("user_knowledge", "assistant_knowledge")
    kept.put("ana", {(kind, "k"): {"text": "Tea is brewed at noon."} for kind in kinds})
    assert {(found.kind, found.key) for found in kept.find_knowledge("ana", "tea", 5)} == {
        (kind, "k") for kind in kinds
    }
    assert all(map(str.strip, embedded))


def test_pages_gather_in_segments_by_topic(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=1)
    for topic in (*TOPICS, *TOPICS):
        talk(memory, 3, topic=topic)
    memory.flush()
    segments = exported(memory, tmp_path, "mid_term")["segments"].values()
    told = [{topic for topic in TOPICS for page in one["pages"] if topic in page["user"]} for one in segments]
    assert all(len(topics) <= 1 for topics in told)
    assert len(segments) < 6
    assert all(one["summary"] and one["keywords"] for one in segments)


def test_pages_that_continue_each_other_are_chained_within_their_session(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=1)
    first, second, _ = talk(memory, 3)
    (other,) = talk(memory, 1, session="another")
    memory.save_memory("ana", "s", "Which planet is the largest?", "Jupiter.")
    memory.flush()
    pages = {page["key"]: page for page in all_pages(memory, tmp_path)}
    assert (pages[first]["previous"], pages[first]["next"]) == (None, second)
    assert pages[second]["previous"] == first
    assert pages[other]["previous"] is None


def test_a_search_continues_the_work_of_a_closed_memory(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=50)
    talk(memory, 6)
    memory.close()
    memory = opened(short_term_max_capacity=1)
    memory.search_memory("ana", "tomato plants")
    memory.flush()
    (segment,) = exported(memory, tmp_path, "mid_term")["segments"].values()
    assert len(segment["pages"]) == 5


def test_a_hot_segment_teaches_the_long_term_memory_and_cools(opened: Open, tmp_path: Path) -> None:
    memory = opened(llm=plain_chat(), short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    memory.save_memory("ana", "s", "I live in Lyon.", "The capital of France is Paris.")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    (segment,) = exported(memory, tmp_path, "mid_term")["segments"].values()
    assert segment["heat"] < 1.5
    known = memory.knowledge("ana")
    assert [one["fact"] for one in known["user_knowledge"]] == ["user home: Lyon"]
    assert [one["fact"] for one in known["assistant_knowledge"]] == ["France capital: Paris"]
    profile = memory.profile("ana")
    assert profile["Living environment"]["value"] == "Lyon"
    assert profile["Living environment"]["evidence"] == [segment["pages"][0]["key"]]
    answer = memory.search_memory("ana", "Who lives in Lyon?")
    assert "Lyon" in answer["user_background_context"]


def test_the_user_corrects_and_erases_the_profile(opened: Open) -> None:
    memory = opened(llm=plain_chat(), short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    for text in ("I live in Lyon.", "I am 34 years old.", "Bye"):
        memory.save_memory("ana", "s", text, "")
    memory.flush()
    assert memory.profile("ana")["Age group"]["value"] == "34"
    memory.set_profile("ana", "Living environment", "Ghent")
    memory.set_profile("ana", "Age group", "")
    assert {name: one["value"] for name, one in memory.profile("ana").items()} == {"Living environment": "Ghent"}
    kept = [one.value for one in memory.search((), limit=999) if one.value.get("dimension") == "Age group"]
    assert [one["value"] for one in kept] == [""], "what the pages taught is still in the store"
    memory.save_memory("ana", "s", "I moved to Bern.", "")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    assert memory.profile("ana")["Living environment"]["value"] == "Ghent"


def test_beyond_the_capacity_segments_sleep_and_are_still_found(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1, mid_term_max_capacity=1, mid_term_heat_threshold=50.0)
    keys = {topic: talk(memory, 1, topic=topic) for topic in TOPICS}
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    for topic, (key,) in keys.items():
        assert key in [hit.key for hit in memory.search_memory("ana", TOPICS[topic]).hits]


def test_a_model_that_fails_leaves_the_work_to_the_next_save(opened: Open, tmp_path: Path) -> None:
    broken, plain = threading.Event(), plain_chat().answers
    broken.set()

    def page(prompt: str) -> dict[str, Any]:
        if broken.is_set():
            raise ConnectionResetError("no network")
        return dict(plain["continues"](prompt))

    memory = opened(llm=ScriptedChat(answers={**plain, "continues": page}), short_term_max_capacity=1)
    keys = talk(memory, 4)
    with pytest.raises(LLMError, match="no network"):
        memory.flush()
    assert memory.search_memory("ana", "tomato plants", 9).hits
    broken.clear()
    keys += talk(memory, 1)
    memory.flush()
    assert [page["key"] for page in all_pages(memory, tmp_path)] == keys


def test_the_budget_bounds_the_calls_and_the_next_opening_goes_on(opened: Open, tmp_path: Path) -> None:
    chat = plain_chat()
    memory = opened(llm=chat, short_term_max_capacity=1, max_llm_calls=2)
    keys = talk(memory, 6)
    with pytest.raises(LLMError, match="calls"):
        memory.flush()
    assert len(chat.asked) == 2
    memory.close()
    memory = opened(llm=chat, short_term_max_capacity=1)
    keys += talk(memory, 1)
    memory.flush()
    assert [page["key"] for page in all_pages(memory, tmp_path)] == keys


def test_a_sensitive_dimension_is_set_only_if_its_topic_is_allowed(opened: Open) -> None:
    opened(sensitive=["health"]).set_profile("ana", "Sleep preference", "eight hours")
    assert opened(sensitive=["health"]).profile("ana")["Sleep preference"]["value"] == "eight hours"
    memory = opened()
    with pytest.raises(InputError, match=r"sensitive=\['health'\]"):
        memory.set_profile("ana", "Sleep preference", "nine hours")
    memory.set_profile("ana", "Sleep preference", "")
    assert "Sleep preference" not in opened(sensitive=["health"]).profile("ana")

"""MemoryOS on our store and on LangGraph's."""

from __future__ import annotations

import asyncio
import json
import runpy
import sys
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from langgraph.store.base import BaseStore, Op, PutOp, Result
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore

from neurogated.errors import ConfigError, InputError, LLMError
from neurogated.integrations.langgraph.memoryos import MemoryOS
from neurogated.integrations.langgraph.store import NeuroStore
from tests.integrations.langgraph.words import ScriptedChat, WordEmbeddings, lines

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
TOPICS = {
    "garden": "The tomato plants in my garden have {n} yellow leaves.",
    "guitar": "I practise the guitar song for concert {n}.",
    "trip": "The early train from Lyon to Geneva is {n} minutes late.",
}
Open = Callable[..., MemoryOS]


class CountingStore(InMemoryStore):
    """Counts its writes."""

    puts = 0

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        given = list(ops)
        self.puts += sum(isinstance(op, PutOp) for op in given)
        return super().batch(given)


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


def _talk(memory: MemoryOS, count: int, *, user: str = "ana", session: str = "s", topic: str = "garden") -> list[str]:
    told = [TOPICS[topic].format(n=n) for n in range(count)]
    return [memory.save_memory(user, session, text, "") for n, text in enumerate(told)]


def _exported(memory: MemoryOS, folder: Path, tier: str, user: str = "ana") -> dict[str, Any]:
    memory.export(folder)
    found: dict[str, Any] = json.loads((folder / tier / f"{user}.json").read_text())
    return found


def _pages(memory: MemoryOS, folder: Path) -> list[dict[str, Any]]:
    """Return all pages of both tiers, in order."""
    short = _exported(memory, folder, "short_term")["pages"]
    segments = _exported(memory, folder, "mid_term")["segments"].values()
    return sorted([*short, *(page for one in segments for page in one["pages"])], key=lambda page: page["key"])


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


def test_the_answer_has_the_parts_under_both_spellings(opened: Open) -> None:
    memory = opened()
    memory.save_memory("ana", "s", "Hello", "Good day.")
    answer = memory.search_memory("ana", "hello", user_conversation_meta_data={"channel": "web"})
    assert set(answer) == {
        "short_term_memory", "mid_term_memory", "user_background_context", "assistant_knowledge",
        "conversation_metadata",
    }  # fmt: skip
    assert answer["meta_data_text_for_prompt"] == answer["conversation_metadata"] == '{"channel": "web"}'
    assert answer.get("assistant_knowledge_text_for_prompt") == answer["assistant_knowledge"]
    assert "meta_data_text_for_prompt" in answer
    assert answer.get("retrieved") is None
    with pytest.raises(KeyError):
        answer["retrieved"]


def test_an_overflow_loses_no_pair_and_doubles_none(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=3)
    keys = _talk(memory, 20)
    memory.flush()
    assert [page["key"] for page in _pages(memory, tmp_path)] == keys
    assert [page["key"] for page in _exported(memory, tmp_path, "short_term")["pages"]] == keys[-3:]


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
    first, second = _exported(memory, tmp_path, "short_term")["pages"]
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
    for wrong in (("ana", "s", " ", ""), ("", "s", "a", "b"), ("ana", "", "a", "b"), ("ana", "s", "\ud800", "b")):
        with pytest.raises(InputError):
            memory.save_memory(*wrong)
    with pytest.raises(InputError):
        memory.search_memory("ana", "  ")


def test_saving_a_named_pair_again_changes_nothing(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    for user in ("ana", "bo", "ana"):
        memory.save_memory(user, "s", f"I am {user}.", "Hello.", page_id="first")
    assert [page["user"] for page in _exported(memory, tmp_path, "short_term")["pages"]] == ["I am ana."]
    assert [page["user"] for page in _exported(memory, tmp_path, "short_term", "bo")["pages"]] == ["I am bo."]


def test_pages_gather_in_segments_by_topic(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=1)
    for topic in (*TOPICS, *TOPICS):
        _talk(memory, 3, topic=topic)
    memory.flush()
    segments = _exported(memory, tmp_path, "mid_term")["segments"].values()
    told = [{topic for topic in TOPICS for page in one["pages"] if topic in page["user"]} for one in segments]
    assert all(len(topics) <= 1 for topics in told)
    assert len(segments) < 6
    assert all(one["summary"] and one["keywords"] for one in segments)


def test_pages_that_continue_each_other_are_chained_within_their_session(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=1)
    first, second, _ = _talk(memory, 3)
    (other,) = _talk(memory, 1, session="another")
    memory.save_memory("ana", "s", "Which planet is the largest?", "Jupiter.")
    memory.flush()
    pages = {page["key"]: page for page in _pages(memory, tmp_path)}
    assert (pages[first]["previous"], pages[first]["next"]) == (None, second)
    assert pages[second]["previous"] == first
    assert pages[other]["previous"] is None


def test_a_chain_goes_on_after_the_memory_was_opened_again(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=1)
    (*_, last) = _talk(memory, 3)
    memory.close()
    memory = opened(short_term_max_capacity=1)
    following = memory.save_memory("ana", "s", TOPICS["garden"].format(n=99), "")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    pages = {page["key"]: page for page in _pages(memory, tmp_path)}
    assert pages[following]["previous"] == last
    assert len(_exported(memory, tmp_path, "mid_term")["segments"]) == 1


def test_work_that_a_closed_memory_left_is_done_by_the_next(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=50)
    keys = _talk(memory, 30)
    memory.close()
    memory = opened(short_term_max_capacity=1)
    keys.append(memory.save_memory("ana", "s", "Bye", ""))
    memory.flush()
    assert [page["key"] for page in _pages(memory, tmp_path)] == keys


def test_a_search_continues_the_work_of_a_closed_memory(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=50)
    _talk(memory, 6)
    memory.close()
    memory = opened(short_term_max_capacity=1)
    memory.search_memory("ana", "tomato plants")
    memory.flush()
    (segment,) = _exported(memory, tmp_path, "mid_term")["segments"].values()
    assert len(segment["pages"]) == 5


def test_a_hot_segment_teaches_the_long_term_memory_and_cools(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    memory.save_memory("ana", "s", "I live in Lyon.", "The capital of France is Paris.")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    (segment,) = _exported(memory, tmp_path, "mid_term")["segments"].values()
    assert segment["heat"] < 1.5
    known = memory.knowledge("ana")
    assert [one["fact"] for one in known["user_knowledge"]] == ["user home: Lyon"]
    assert [one["fact"] for one in known["assistant_knowledge"]] == ["France capital: Paris"]
    profile = memory.profile("ana")
    assert profile["Living environment"]["value"] == "Lyon"
    assert profile["Living environment"]["evidence"] == [segment["pages"][0]["key"]]
    answer = memory.search_memory("ana", "Who lives in Lyon?")
    assert "Lyon" in answer["user_background_context"]


def test_a_cold_segment_teaches_nothing(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1)
    memory.save_memory("ana", "s", "I live in Lyon.", "")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    assert memory.profile("ana") == {}


def test_searches_heat_a_segment(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1, mid_term_heat_threshold=4.5)
    memory.save_memory("ana", "s", "I live in Lyon.", "")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    for _ in range(3):
        memory.search_memory("ana", "Lyon")
    memory.save_memory("ana", "s", "Hello again", "")
    memory.flush()
    assert "Living environment" in memory.profile("ana")


def test_the_user_corrects_and_erases_the_profile(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    for text in ("I live in Lyon.", "I am 34 years old.", "Bye"):
        memory.save_memory("ana", "s", text, "")
    memory.flush()
    memory.set_profile("ana", "Living environment", "Ghent")
    memory.set_profile("ana", "Age group", "")
    assert {name: one["value"] for name, one in memory.profile("ana").items()} == {"Living environment": "Ghent"}
    memory.save_memory("ana", "s", "I moved to Bern.", "")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    assert memory.profile("ana")["Living environment"]["value"] == "Ghent"


def test_what_a_topic_makes_sensitive_stays_out_of_the_profile(opened: Open) -> None:
    for sensitive, found in (((), False), (("health",), True)):
        memory = opened(short_term_max_capacity=1, mid_term_heat_threshold=1.5, sensitive=sensitive)
        user = f"ana {found}"
        memory.save_memory(user, "s", "I am allergic to nuts.", "")
        memory.save_memory(user, "s", "Bye", "")
        memory.flush()
        assert ("Health" in memory.profile(user)) is found


def test_beyond_the_capacity_segments_sleep_and_are_still_found(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1, mid_term_max_capacity=1, mid_term_heat_threshold=50.0)
    keys = {topic: _talk(memory, 1, topic=topic) for topic in TOPICS}
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    for topic, (key,) in keys.items():
        assert key in [hit.key for hit in memory.search_memory("ana", TOPICS[topic]).hits]


def test_a_search_writes_nothing() -> None:
    store = CountingStore()
    with MemoryOS(embedding=WordEmbeddings(), store=store, short_term_max_capacity=1) as memory:
        _talk(memory, 5)
        memory.flush()
        before = store.puts
        for _ in range(20):
            memory.search_memory("ana", "tomato")
        assert store.puts == before


def test_each_tier_gives_at_most_its_number_and_all_together_top_k(opened: Open) -> None:
    memory = opened(short_term_max_capacity=4, retrieval_page_topk=2)
    _talk(memory, 12)
    memory.flush()
    tiers = [hit.tier for hit in memory.search_memory("ana", "tomato plants", 10).hits]
    assert tiers.count("mid_term") == 2
    assert tiers.count("short_term") <= 2
    assert len(memory.search_memory("ana", "tomato plants", 3).hits) == 3


def test_a_search_may_be_of_one_session(opened: Open) -> None:
    memory = opened(short_term_max_capacity=1)
    _talk(memory, 3, session="one")
    keys = _talk(memory, 3, session="two")
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


@pytest.mark.parametrize("user", ["../x", "a\0b", "x" * 10_000, "😀 Zoë", "a.b/c\\d", "NUL"])
def test_any_text_is_a_user_and_a_name_of_a_file(opened: Open, tmp_path: Path, user: str) -> None:
    memory = opened()
    memory.save_memory(user, "s", "I live in Lyon.", "")
    assert memory.search_memory(user, "Lyon").hits
    memory.export(tmp_path / "out" / "files")
    files = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert sorted(path.parent.name for path in files) == ["long_term", "mid_term", "short_term"]
    assert all(json.loads(path.read_text())["user_id"] == user for path in files)


def test_an_export_replaces_whole_files(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    _talk(memory, 1)
    assert len(_exported(memory, tmp_path, "short_term")["pages"]) == 1
    _talk(memory, 1)
    assert len(_exported(memory, tmp_path, "short_term")["pages"]) == 2
    assert not list(tmp_path.rglob("*.new"))


def test_it_is_the_store_below(opened: Open) -> None:
    memory = opened()
    memory.put(("notes", "ana"), "k", {"text": "tea"})
    item = memory.get(("notes", "ana"), "k")
    assert item is not None
    assert item.value == {"text": "tea"}
    assert asyncio.run(memory.aget(("notes", "ana"), "k")) == item
    assert ("notes", "ana") in memory.list_namespaces()
    memory.delete(("notes", "ana"), "k")
    assert memory.get(("notes", "ana"), "k") is None


def test_coroutines_save_and_search(opened: Open) -> None:
    memory = opened()

    async def both() -> str:
        key = await memory.asave_memory("ana", "s", "I live in Lyon.", "")
        answer = await memory.asearch_memory("ana", "Lyon", 1)
        assert answer.hits[0].key == key
        return key

    assert asyncio.run(both())


def test_threads_lose_nothing_and_keep_their_order(opened: Open, tmp_path: Path) -> None:
    memory = opened(short_term_max_capacity=4)

    def talk(name: str) -> list[str]:
        return [memory.save_memory("ana", name, f"{name} says {n}", "") for n in range(12)]

    with ThreadPoolExecutor(4) as threads:
        told = dict(zip("abcd", threads.map(talk, "abcd"), strict=True))
    memory.flush()
    pages = _pages(memory, tmp_path)
    assert len(pages) == 48
    for name, keys in told.items():
        assert [page["key"] for page in pages if page["session_id"] == name] == keys


def test_old_conversations_keep_their_times(opened: Open, tmp_path: Path) -> None:
    memory = opened()
    said = datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    memory.save_memory("ana", "s", "I live in Lyon.", "", timestamp=said)
    memory.save_memory("ana", "s", "Bye", "", timestamp=(said - timedelta(9)).isoformat())
    times = [page["timestamp"] for page in _exported(memory, tmp_path, "short_term")["pages"]]
    assert times == [said.isoformat(), (said - timedelta(9)).isoformat()]


@pytest.mark.parametrize(
    "wrong",
    [
        {"preset": "fast"}, {"short_term_max_capacity": 0}, {"heat": 3},
        {"embedding": WordEmbeddings(), "embedding_fuc": WordEmbeddings()},
        {"store": InMemoryStore(), "storage_dir": "x"},
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


# With a model.


def _page(prompt: str) -> dict[str, Any]:
    before, _, page = prompt.partition("\n\nExchange:\n")
    both = "tomato" in before and "tomato" in page
    return {"continues": both, "summary": f"About {page.split()[0]}", "keywords": ["tomato"] if both else ["other"]}


def _traits(prompt: str) -> dict[str, Any]:
    found = [
        {"dimension": name, "value": value, "confidence": 0.8, "message": one["message"], "quote": quote}
        for one in lines(prompt)
        for name, value, quote in (
            ("Pets", "a cat", "cat"),
            ("Neuroticism", "high", "cat"),
            ("Cars", "two", "cars"),
        )
    ]
    return {"traits": found}


def _claims(prompt: str) -> dict[str, Any]:
    return {
        "claims": [
            {"message": one["message"], "subject": "user", "attribute": "pet", "value": "cat", "state": "holds",
             "since": "", "until": "", "quote": "my cat"}
            for one in lines(prompt)
        ]
    }  # fmt: skip


ANSWERS: dict[str, Callable[[str], Any]] = {"continues": _page, "dimension": _traits, "claim": _claims}


def test_a_model_describes_pages_and_reads_traits_and_knowledge(opened: Open, tmp_path: Path) -> None:
    chat = ScriptedChat(answers=ANSWERS)
    memory = opened(llm=chat, short_term_max_capacity=1, mid_term_heat_threshold=1.5)
    first = memory.save_memory("ana", "s", "A tomato, and my cat ate it.", "Poor cat.")
    second = memory.save_memory("ana", "s", "The tomato is gone.", "")
    memory.save_memory("ana", "s", "Bye", "")
    memory.flush()
    pages = {page["key"]: page for page in _pages(memory, tmp_path)}
    assert pages[second]["previous"] == first
    assert pages[first]["summary"] == "About A"
    # What no message says, and what is sensitive, is dropped.
    assert {name: (one["value"], one["evidence"]) for name, one in memory.profile("ana").items()} == {
        "Pets": ("a cat", [first])
    }
    known = memory.knowledge("ana")
    assert [(one["fact"], one["evidence"]) for one in known["user_knowledge"]] == [("user pet: cat", [first])]
    assert known["assistant_knowledge"] == []


def test_a_model_that_fails_leaves_the_work_to_the_next_save(opened: Open, tmp_path: Path) -> None:
    broken = threading.Event()
    broken.set()

    def page(prompt: str) -> dict[str, Any]:
        if broken.is_set():
            raise ConnectionResetError("no network")
        return _page(prompt)

    memory = opened(llm=ScriptedChat(answers={**ANSWERS, "continues": page}), short_term_max_capacity=1)
    keys = _talk(memory, 4)
    with pytest.raises(LLMError, match="no network"):
        memory.flush()
    assert memory.search_memory("ana", "tomato plants", 9).hits
    broken.clear()
    keys += _talk(memory, 1)
    memory.flush()
    assert [page["key"] for page in _pages(memory, tmp_path)] == keys


def test_the_budget_bounds_the_calls_and_the_next_opening_goes_on(opened: Open, tmp_path: Path) -> None:
    chat = ScriptedChat(answers=ANSWERS)
    memory = opened(llm=chat, short_term_max_capacity=1, max_llm_calls=2)
    keys = _talk(memory, 6)
    with pytest.raises(LLMError, match="calls"):
        memory.flush()
    assert len(chat.asked) == 2
    memory.close()
    memory = opened(llm=chat, short_term_max_capacity=1)
    keys += _talk(memory, 1)
    memory.flush()
    assert [page["key"] for page in _pages(memory, tmp_path)] == keys


@pytest.mark.slow
def test_it_runs_on_a_real_postgres(tmp_path: Path) -> None:
    from tests.postgres_server import Postgres

    server = Postgres(tmp_path / "server")
    try:
        with PostgresStore.from_conn_string(server.database()) as store:
            store.setup()
            _runs_on(store, tmp_path)
    finally:
        server.stop()


def test_it_runs_on_a_store_with_an_index_of_its_own(tmp_path: Path) -> None:
    _runs_on(InMemoryStore(index={"dims": 64, "embed": WordEmbeddings(), "fields": ["text"]}), tmp_path)


def _runs_on(store: BaseStore, folder: Path) -> None:
    with MemoryOS(
        embedding=WordEmbeddings(), store=store, short_term_max_capacity=2, mid_term_heat_threshold=1.5
    ) as one:
        keys = _talk(one, 8)
        one.save_memory("ana", "s", "I live in Lyon.", "")
        keys += _talk(one, 2, topic="trip")
        one.flush()
        assert one.search_memory("ana", "Where do I live?", 3).hits
        assert one.profile("ana")["Living environment"]["value"] == "Lyon"
        assert len(_pages(one, folder)) == 11

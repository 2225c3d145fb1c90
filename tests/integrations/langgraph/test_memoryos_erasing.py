"""Nothing that MemoryOS derives from a page outlives the page, and users see nothing of each other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from numpy.typing import NDArray

from neurogated import NeuroGraphMemory
from neurogated.dialogue.model import DialoguePage
from neurogated.integrations.langgraph.dialogue import StoreDialogue
from neurogated.integrations.langgraph.memoryos import MemoryOS
from neurogated.integrations.langgraph.store import AsyncNeuroStore, NeuroStore
from tests.integrations.langgraph.words import WordEmbeddings, plain_chat

WORD = "zanzibar"
TOLD = f"I live in Lyon near the {WORD} bakery. I like {WORD} jazz."
TALK = [
    ("monday", TOLD, f"The {WORD} bakery opens at seven."),
    ("monday", f"My sister {WORD} lives in Lyon.", "I see."),
    ("tuesday", "I live in Lyon near the river. I like tea.", "The river is the Rhone."),
    ("tuesday", "I play the guitar.", "Guitars have six strings."),
    ("tuesday", "Good night.", "Good night."),
]
Erase = Callable[[MemoryOS, list[str]], None]


def _opened(store: BaseStore, *, year: int = 2026) -> MemoryOS:
    return MemoryOS(
        plain_chat(),
        store=store,
        embedding=None if isinstance(store, NeuroStore | AsyncNeuroStore) else WordEmbeddings(),
        clock=lambda: datetime(year, 5, 1, tzinfo=UTC),
        short_term_max_capacity=1,
        mid_term_heat_threshold=1.5,
        topic_similarity_threshold=0.1,
    )


def _told(memory: MemoryOS, talk: list[tuple[str, str, str]]) -> list[str]:
    keys = [memory.save_memory("ana", *said) for said in talk]
    memory.flush()
    return keys


def _kept(memory: MemoryOS, folder: Path) -> str:
    """Return everything that a store, an export and the answers have."""
    memory.flush()
    memory.export(folder)
    items = [[*item.namespace, item.key, item.value] for item in memory.store.search((), limit=10_000)]
    graph = isinstance(memory.store, NeuroStore)
    nodes = [(node.content, node.metadata) for node in _graph(memory).find()] if graph else []
    answer = memory.search_memory("ana", f"Who lives in Lyon near the {WORD} bakery?", 50)
    files = [file.read_text() for file in folder.rglob("*.json")]
    said = [answer, answer.hits, memory.profile("ana"), memory.knowledge("ana"), files, items, nodes]
    return json.dumps(said, default=str, ensure_ascii=False)


def _pages(memory: MemoryOS, keys: list[str]) -> None:
    for key in keys:
        memory.delete_page("ana", key)


def _graph(memory: MemoryOS) -> NeuroGraphMemory:
    assert isinstance(memory.store, NeuroStore)
    return memory.store.memory


def _turns(memory: MemoryOS, keys: list[str]) -> None:
    turns = _graph(memory).list(user_id="ana", kinds=("turn",))
    _graph(memory).delete([turn.id for turn in turns if turn.metadata["page"] in keys])


def _items(memory: MemoryOS, keys: list[str]) -> None:
    for key in keys:
        memory.delete(("memoryos", "ana", "pages"), key)


@pytest.fixture(params=[(NeuroStore, _pages), (NeuroStore, _turns), (InMemoryStore, _pages), (InMemoryStore, _items)])
def way(request: pytest.FixtureRequest) -> Iterator[tuple[MemoryOS, Erase]]:
    kind, erase = request.param
    with _closing(kind()) as store, _opened(store) as memory:
        yield memory, erase


def _closing(store: BaseStore) -> AbstractContextManager[BaseStore]:
    return store if isinstance(store, NeuroStore) else nullcontext(store)


def test_the_words_of_a_deleted_page_are_nowhere(way: tuple[MemoryOS, Erase], tmp_path: Path) -> None:
    memory, erase = way
    keys = _told(memory, TALK)
    before = _kept(memory, tmp_path)
    kinds = ("segments", "user_profile", "user_knowledge", "assistant_knowledge")
    assert all(kind in before for kind in kinds)
    assert before.count(WORD) > 20
    erase(memory, keys[:2])
    left = _kept(memory, tmp_path)
    assert WORD not in left
    assert "guitar" in left
    assert not [key for key in keys[:2] if memory.store.get(("memoryos", "ana", "page"), key)]


def test_what_another_page_says_too_is_learned_again(way: tuple[MemoryOS, Erase]) -> None:
    memory, erase = way
    said = "I play the guitar."
    keys = _told(memory, [("monday", said, ""), ("tuesday", said, ""), ("tuesday", "I like tea.", ""), TALK[4]])
    (entry,) = [one for one in memory.knowledge("ana")["user_knowledge"] if "guitar" in one["text"]]
    assert entry["evidence"] == keys[:2]
    erase(memory, keys[:1])
    assert memory.search_memory("ana", "guitar").hits
    memory.flush()
    (entry,) = [one for one in memory.knowledge("ana")["user_knowledge"] if "guitar" in one["text"]]
    assert entry["evidence"] == keys[1:2]


def test_an_entry_that_a_deleted_page_ended_holds_again(way: tuple[MemoryOS, Erase]) -> None:
    memory, erase = way
    moves = [("tuesday", "I live in Lyon.", ""), ("monday", "I moved to Bern. I live in Bern now.", ""), TALK[4]]
    keys = _told(memory, [*moves, TALK[4]])
    lives = [one["text"] for one in memory.knowledge("ana")["user_knowledge"]]
    assert not [text for text in lives if "Lyon" in text]
    erase(memory, keys[1:2])
    assert memory.search_memory("ana", "Lyon").hits
    memory.flush()
    assert [one["text"] for one in memory.knowledge("ana")["user_knowledge"]] == ["I live in Lyon"]


def test_pages_that_a_store_of_others_lost_are_missed_on_the_next_opening(tmp_path: Path) -> None:
    store = InMemoryStore()
    with _opened(store) as memory:
        keys = _told(memory, TALK)
    for key in keys[:2]:
        store.delete(("memoryos", "ana", "pages"), key)
    with _opened(store) as memory:
        answer = memory.search_memory("ana", f"{WORD} bakery", 50)
        assert WORD not in json.dumps([answer, answer.hits], default=str)
        left = _kept(memory, tmp_path)
        assert WORD not in left
        assert "guitar" in left


def test_a_page_and_what_was_derived_from_it_go_in_one_change(tmp_path: Path) -> None:
    with NeuroStore.from_conn_string(str(tmp_path)) as store:
        with _opened(store) as memory:
            keys = _told(memory, TALK)
        graph = store.memory
        before = graph.store.view().sequence
        graph.delete(user_id="ana", session_id="monday")
        assert graph.store.view().sequence == before + 1
        found = [item for item in store.search(("memoryos",), limit=1000) if WORD in json.dumps(item.value)]
        assert (found, len(keys)) == ([], 5)


def test_half_of_a_page_goes_alone(tmp_path: Path) -> None:
    long = f"The {WORD} bakery is closed. " + " ".join(f"Sentence number {place} is here." for place in range(80))
    with NeuroStore() as store, _opened(store) as memory:
        _told(memory, [("monday", long, "It opens at seven."), *TALK[2:]])
        turns = store.memory.list(user_id="ana", kinds=("turn",))
        store.memory.delete([turn.id for turn in turns if turn.role == "user" and WORD in turn.content])
        left = _kept(memory, tmp_path)
        assert WORD not in left
        assert "It opens at seven." in left


def _talk(memory: MemoryOS, user: str, text: str) -> None:
    for answer in ("Fine.", "Good.", "Bye."):
        memory.save_memory(user, "s", text, answer)
    memory.flush()


@pytest.mark.parametrize("kind", [NeuroStore, InMemoryStore])
@pytest.mark.parametrize("what", ["user", "session"])
def test_a_deleted_user_leaves_nothing_and_does_not_come_back(kind: type[BaseStore], what: str, tmp_path: Path) -> None:
    with _closing(kind()) as store, _opened(store) as memory:
        _talk(memory, "ana", TOLD)
        _talk(memory, "bob", "I live in Bern near the river.")
        if what == "user":
            memory.delete_user("ana")
        else:
            memory.delete_session("ana", "s")
        assert memory.profile("ana") == {}
        assert memory.search_memory("ana", "bakery").hits == ()
        _talk(memory, "ana", "I live in Lyon near the bakery.")
        assert WORD not in _kept(memory, tmp_path)
        assert memory.profile("bob")


def test_an_asynchronous_store_of_ours_is_taken_as_the_store_below_it() -> None:
    async def known() -> tuple[int, list[str]]:
        async with AsyncNeuroStore() as store:
            memory = await asyncio.to_thread(_opened, store)
            await asyncio.to_thread(_talk, memory, "ana", TOLD)
            learned = await asyncio.to_thread(memory.knowledge, "ana")
            found = store.store.memory.recall("Who lives near the bakery in Lyon?", user_id="bob")
            await asyncio.to_thread(memory.close)
            return len(learned["user_knowledge"]), [one.content for one in found]

    learned, of_bob = asyncio.run(known())
    assert learned
    assert of_bob == []


def test_the_vectors_of_erased_pages_are_forgotten() -> None:
    embedded: list[str] = []

    def embed(texts: Sequence[str]) -> NDArray[np.float32]:
        embedded.extend(texts)
        return np.ones((len(texts), 2), np.float32)

    kept = StoreDialogue(InMemoryStore(), embed)
    page = DialoguePage("p", f"{1:016d}-x", "s", TOLD, "", datetime(2026, 5, 1, tzinfo=UTC))
    for times in (1, 2):
        kept.add("ana", page)
        for _ in range(2):
            assert kept.find_pages("ana", WORD, 5, None)
        assert embedded.count(TOLD) == times
        kept.erase("ana")


def test_pairs_keep_their_order_when_the_clock_went_back() -> None:
    with NeuroStore() as store:
        with _opened(store) as memory:
            memory.save_memory("ana", "s", "The first pair", "")
        memory = _opened(store, year=2020)
        memory.save_memory("ana", "s", "The second pair", "")
        assert "second" in memory.search_memory("ana", "pair")["short_term_memory"]

"""What MemoryOS keeps of one user: erased for good, hidden from others, in order when the clock is wrong."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from langgraph.store.base import BaseStore
from langgraph.store.memory import InMemoryStore
from numpy.typing import NDArray

from neurogated.dialogue.model import DialoguePage
from neurogated.integrations.langgraph.dialogue import StorePages
from neurogated.integrations.langgraph.memoryos import MemoryOS
from neurogated.integrations.langgraph.store import AsyncNeuroStore, NeuroStore
from tests.integrations.langgraph.plain_chat import plain_chat
from tests.integrations.langgraph.words import WordEmbeddings

BAKERY = "zanzibar"
TOLD = f"I live in Lyon near the {BAKERY} bakery."
STORES: dict[str, Callable[[], BaseStore]] = {"ours": NeuroStore, "in memory": InMemoryStore}


@pytest.fixture(params=list(STORES))
def store(request: pytest.FixtureRequest) -> Iterator[BaseStore]:
    opened = STORES[request.param]()
    yield opened
    if isinstance(opened, NeuroStore):
        opened.close()


def _opened(store: BaseStore, *, year: int = 2026) -> MemoryOS:
    embedding = None if isinstance(store, NeuroStore | AsyncNeuroStore) else WordEmbeddings()
    return MemoryOS(
        plain_chat(),
        store=store,
        embedding=embedding,
        clock=lambda: datetime(year, 5, 1, tzinfo=UTC),
        short_term_max_capacity=1,
        mid_term_heat_threshold=1.5,
    )


def _talk(memory: MemoryOS, user: str, text: str) -> None:
    for answer in ("Fine.", "Good.", "Bye."):
        memory.save_memory(user, "s", text, answer)
    memory.flush()


def _kept(store: BaseStore) -> str:
    items = [item.value for item in store.search((), limit=1000)]
    nodes = [(node.content, node.metadata) for node in store.memory.find()] if isinstance(store, NeuroStore) else []
    return json.dumps([items, nodes], default=str)


def test_a_deleted_user_leaves_nothing_and_does_not_come_back(store: BaseStore, tmp_path: Path) -> None:
    with _opened(store) as memory:
        _talk(memory, "ana", TOLD)
        _talk(memory, "bob", "I live in Bern near the river.")
        memory.delete_user("ana")
        assert memory.profile("ana") == {}
        assert memory.search_memory("ana", "bakery").hits == ()
        _talk(memory, "ana", "I live in Lyon near the bakery.")
        assert BAKERY not in _kept(store)
        memory.export(tmp_path)
        assert not [file for file in tmp_path.rglob("*.json") if BAKERY in file.read_text()]
        assert memory.profile("bob")


def test_what_the_memory_below_erased_does_not_come_back(tmp_path: Path) -> None:
    with NeuroStore() as store, _opened(store) as memory:
        _talk(memory, "ana", TOLD)
        store.memory.delete(user_id="ana")
        memory.export(tmp_path)
        assert not [file for file in tmp_path.rglob("*.json") if BAKERY in file.read_text()]
        _talk(memory, "ana", "I live in Lyon near the bakery.")
        assert BAKERY not in _kept(store)


def test_knowledge_of_a_user_is_no_memory_of_another_one() -> None:
    with NeuroStore() as store, _opened(store) as memory:
        _talk(memory, "ana", TOLD)
        assert memory.knowledge("ana")["user_knowledge"]
        assert not list(store.memory.recall("Who lives near the bakery in Lyon?", user_id="bob"))


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

    pages = StorePages(InMemoryStore(), embed)
    page = DialoguePage("p", f"{1:016d}-x", "s", TOLD, "", datetime(2026, 5, 1, tzinfo=UTC))
    for times in (1, 2):
        pages.add("ana", page)
        for _ in range(2):
            assert pages.search("ana", BAKERY, 5, None)
        assert embedded.count(TOLD) == times
        pages.erase("ana")


def test_pairs_keep_their_order_when_the_clock_went_back(store: BaseStore) -> None:
    with _opened(store) as memory:
        memory.save_memory("ana", "s", "The first pair", "")
    with _opened(store, year=2020) as memory:
        memory.save_memory("ana", "s", "The second pair", "")
        assert "second" in memory.search_memory("ana", "pair")["short_term_memory"]

"""MemoryOS when the store below fails, and when a caller errs."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import pytest
from langgraph.store.base import Op, PutOp, Result
from langgraph.store.memory import InMemoryStore

from neurogated.errors import InputError
from neurogated.integrations.langgraph.memoryos import MemoryOS
from tests.integrations.langgraph.conversations import exported, talk
from tests.integrations.langgraph.words import WordEmbeddings


class DriverError(Exception):
    """An error that only the driver of a store knows."""


class DisconnectedStore(InMemoryStore):
    """A store whose batches of records fail while it is disconnected."""

    connected = True

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        given = list(ops)
        if not self.connected and any(isinstance(op, PutOp) and op.namespace[-1] == "page" for op in given):
            raise DriverError("the server is gone")
        return super().batch(given)


def test_flush_raises_the_error_of_a_driver_and_the_work_goes_on_later(tmp_path: Path) -> None:
    store = DisconnectedStore()
    with MemoryOS(embedding=WordEmbeddings(), store=store, short_term_max_capacity=1) as memory:
        store.connected = False
        keys = [key for user in ("ana", "bob") for key in talk(memory, 3, user=user)]
        with pytest.raises(DriverError, match="gone"):
            memory.flush()
        store.connected = True
        keys += [key for user in ("ana", "bob") for key in talk(memory, 1, user=user)]
        memory.flush()
        memory.export(tmp_path)
    placed = [
        page["key"]
        for file in (tmp_path / "mid_term").iterdir()
        for segment in json.loads(file.read_text())["segments"].values()
        for page in segment["pages"]
    ]
    assert sorted(placed) == sorted(keys[:6])


def test_an_unknown_dimension_is_refused_with_the_nearest_names() -> None:
    with (
        MemoryOS(embedding=WordEmbeddings()) as memory,
        pytest.raises(InputError, match="Living environment") as refused,
    ):
        memory.set_profile("ana", "living enviroment", "Ghent")
    assert len(str(refused.value)) < 200


def test_a_sensitive_dimension_is_set_only_if_its_topic_is_allowed() -> None:
    store = InMemoryStore()
    with MemoryOS(embedding=WordEmbeddings(), store=store, sensitive=["health"]) as memory:
        memory.set_profile("ana", "Sleep preference", "eight hours")
        assert memory.profile("ana")["Sleep preference"]["value"] == "eight hours"
    with MemoryOS(embedding=WordEmbeddings(), store=store) as memory:
        with pytest.raises(InputError, match=r"sensitive=\['health'\]"):
            memory.set_profile("ana", "Sleep preference", "nine hours")
        memory.set_profile("ana", "Sleep preference", "")
    with MemoryOS(embedding=WordEmbeddings(), store=store, sensitive=["health"]) as memory:
        assert "Sleep preference" not in memory.profile("ana")


def test_a_segment_has_the_keywords_of_all_its_pages_whoever_placed_them(tmp_path: Path) -> None:
    store = InMemoryStore()
    words = ("zucchini", "cucumber", "pumpkin")

    def say(memory: MemoryOS, word: str) -> None:
        memory.save_memory("ana", "s", f"My garden has tomato plants and {word}.", "")
        memory.save_memory("ana", "s", "Bye.", "")
        memory.flush()

    def opened() -> MemoryOS:
        return MemoryOS(
            embedding=WordEmbeddings(), store=store, short_term_max_capacity=1, topic_similarity_threshold=0.3
        )

    with opened() as one, opened() as two:
        for memory, word in zip((one, two, one), words, strict=True):
            say(memory, word)
    with opened() as memory:
        segments = exported(memory, tmp_path, "mid_term")["segments"].values()
    for segment in segments:
        told = {word for page in segment["pages"] for word in words if word in page["user"]}
        assert told <= set(segment["keywords"])
    assert max(len(segment["pages"]) for segment in segments) >= len(words)

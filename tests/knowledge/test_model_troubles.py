"""A language model that lies or is slow, and memories that change while others wait for its judgement."""

from __future__ import annotations

import threading

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.session import runtime
from tests.knowledge.model_server import (
    EARLIER,
    LATER,
    ModelServer,
    both_said,
    entry,
    erased,
    found,
    said,
    waiting,
)

OTHERS = ["My car is red, and I wash my car on no day of the week.", "I wash my red car on two days of the week."]


def queued(config: MemoryConfig, model: ModelServer) -> tuple[str, str]:
    """Leave a pair in the queue."""
    model.down = True
    with NeuroGraphMemory(config) as memory:
        sides = both_said(memory)
        assert waiting(memory) == 1
    model.down = False
    model.asked.clear()
    return sides


def test_a_reason_is_one_short_line_without_control_characters(config: MemoryConfig, model: ModelServer) -> None:
    reason = "<script>alert(1)</script>\n\x1b[2J\u202e" + "so it is " * 100_000
    model.judge = lambda pair: entry(pair, "contradiction", reason=reason)
    with NeuroGraphMemory(config) as memory:
        both_said(memory)
        (conflict,) = found(memory)
        assert conflict.reason.startswith("<script>alert(1)</script> [2Jso it is")
        assert conflict.reason.isprintable()
        assert len(conflict.reason) <= 120


def test_a_memory_without_a_model_keeps_the_queue_and_adds_nothing_to_it(
    config: MemoryConfig, model: ModelServer
) -> None:
    sides = queued(config, model)
    with NeuroGraphMemory(config.replace(llm={"use": "off"})) as memory:
        for day, text in enumerate(OTHERS, 4):
            said(memory, text, day)
        assert memory.learning.resume() == (0, 1)
    with NeuroGraphMemory(config) as memory:
        assert memory.learning.resume() == (1, 0)
        assert [one.sides for one in found(memory)] == [sides]


def test_a_write_returns_though_the_memory_is_closed_while_the_model_answers(
    config: MemoryConfig, model: ModelServer
) -> None:
    memory, ids = NeuroGraphMemory(config), list[str]()
    said(memory, EARLIER)
    model.hold()
    writer = threading.Thread(target=lambda: ids.append(said(memory, LATER, 3)))
    writer.start()
    assert model.came.wait(60)
    memory.close()
    model.goes_on.set()
    writer.join(60)
    model.during = None
    with NeuroGraphMemory(config) as memory:
        assert memory.get(ids[0]).content == LATER
        assert memory.learning.resume() == (1, 0)
        assert [one.second for one in found(memory)] == ids


def test_no_write_recall_or_context_waits_for_a_slow_model(
    config: MemoryConfig, model: ModelServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    model.hold()
    monkeypatch.setattr(runtime, "GATHER_SECONDS", 0.0)
    with NeuroGraphMemory(config.replace(llm={"wait": False})) as memory:
        sides = both_said(memory)
        assert model.came.wait(60)
        said(memory, OTHERS[0], 4)
        assert memory.recall("What meat did I eat?", user_id="ana").memories[0].id in sides
        assert "steak" in memory.get_context("What meat did I eat?", user_id="ana").text
        assert found(memory) == []
        model.goes_on.set()
        memory.flush()
        assert [one.sides for one in found(memory)] == [sides]


def test_erased_words_leave_the_conflicts_the_queue_and_the_cache(config: MemoryConfig, model: ModelServer) -> None:
    config = config.replace(cache_bytes=1 << 20)
    model.judge = lambda pair: entry(pair, "contradiction", reason="Zebrasteak is meat.")
    with NeuroGraphMemory(config) as memory:
        said(memory, EARLIER)
        judged = said(memory, "Yesterday I ate a big zebrasteak of meat with my friends.", 3)
        assert "Zebrasteak" in found(memory)[0].reason
        model.down = True
        left = said(memory, "Meat is what my friends and I never eat, not even a zebrasteak.", 4)
        assert waiting(memory) == 1
        for one in (judged, left):
            memory.delete(one)
        assert (waiting(memory), found(memory)) == (0, [])
        memory.admin.compact()
    assert erased(config.save_dir, b"ebrasteak")


@pytest.mark.parametrize("owner", [{"agent_id": "cook"}, {"user_id": "ben"}, {"user_id": None, "session_id": "other"}])
def test_texts_of_other_owners_are_never_in_a_prompt(
    config: MemoryConfig, model: ModelServer, owner: dict[str, str | None]
) -> None:
    with NeuroGraphMemory(config) as memory:
        for scope, text in (({}, EARLIER), (owner, LATER)):
            user, agent, session = {"user_id": "ana", "agent_id": None, "session_id": "talk", **scope}.values()
            memory.add({"role": "user", "content": text}, user_id=user, agent_id=agent, session_id=session)
        assert waiting(memory) == 0
    assert model.asked == []


def test_a_memory_that_moves_to_another_user_while_the_model_answers_is_in_no_conflict(
    config: MemoryConfig, model: ModelServer
) -> None:
    with NeuroGraphMemory(config) as memory:
        first = said(memory, EARLIER, id="first")

        def move() -> None:
            model.during = None
            memory.delete(first)
            said(memory, EARLIER, user="ben", id="first")

        model.during = move
        said(memory, LATER, 3)
        assert (found(memory), found(memory, "ben")) == ([], [])

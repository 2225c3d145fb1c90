"""The working canvas shows the memories that matter to a session now."""

import logging
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from neurogated import ANY_USER, MemoryConfig, NeuroGraphMemory
from neurogated.compose import build
from neurogated.core import outage
from neurogated.core.clock import to_micros
from neurogated.testing import ManualClock
from neurogated.tiers.canvas import CanvasOwner

if TYPE_CHECKING:
    from tests.projections.conftest import Redis

Opened = Callable[..., NeuroGraphMemory]


@pytest.fixture(params=["local", "redis"])
def config(request: pytest.FixtureRequest, tmp_path: Path) -> MemoryConfig:
    url = None
    if request.param == "redis":
        server: Redis = request.getfixturevalue("redis_server")
        server.start()
        url = server.url
    return MemoryConfig(
        save_dir=str(tmp_path / "out"),
        embedding_name="hash",
        metabolism={"canvas_size": 4, "canvas_url": url},  # type: ignore[arg-type]
    )


@pytest.fixture
def opened(config: MemoryConfig, clock: ManualClock) -> Iterator[Opened]:
    """Return a function that opens the memory, at the time of the clock."""
    memories = []

    def call(**changes: Any) -> NeuroGraphMemory:  # noqa: ANN401
        settings = config.replace(**changes)
        memories.append(NeuroGraphMemory(settings, parts=build(settings, clock)))
        return memories[-1]

    yield call
    for memory in memories:
        memory.close()


@pytest.fixture
def memory(opened: Opened) -> NeuroGraphMemory:
    return opened()


def test_added_and_recalled_memories_are_on_the_canvas(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (pump,) = memory.add("The pump is red.", importance=0.5)
    assert [one.id for one in memory.energy.canvas()] == [pump]
    clock.advance(timedelta(hours=5))
    memory.add([f"Text {number} about the harbour." for number in range(4)], importance=0.5)
    assert pump not in [one.id for one in memory.energy.canvas()]
    clock.advance(timedelta(minutes=1))
    memory.recall("red pump", top_n=1)
    assert memory.energy.canvas()[0].id == pump
    assert len(memory.energy.canvas()) == 4
    assert memory.energy.canvas(top_k=1)[0].parts.keys() == {"energy", "relevance"}


def test_scores_follow_the_formula(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    ids = [memory.add(f"Text {number}.", importance=1.0)[0] for number in range(2)]
    assert [one.score for one in memory.energy.canvas()] == [1.0, 1.0]
    clock.advance(timedelta(minutes=30))
    recall = memory.recall("Text 1.", top_n=2)
    said = {one.id: one.score / recall[0].score for one in recall}
    clock.advance(timedelta(hours=3))
    days = memory.config.metabolism.half_life_of_kinds[""]
    for one in memory.energy.canvas():
        energy = 2 ** -(0.5 / 24 / days)
        assert one.parts["energy"] == pytest.approx(memory.energy.of(one.id), rel=1e-9)
        # When it was added, it was fully relevant, which was 30 minutes before the recall.
        assert one.score == pytest.approx(max(said[one.id] * energy, 2**-0.5) * 2**-3, rel=1e-6)
    assert {one.id for one in memory.energy.canvas()} == set(ids)


def test_users_and_sessions_never_mix(memory: NeuroGraphMemory) -> None:
    memory.add("Ana has a secret.", user_id="ana", session_id="s1")
    memory.add("Ana has a cat.", user_id="ana", session_id="s2")
    memory.add("Bob has a secret.", user_id="bob", session_id="s1")
    memory.add("The gate is green.")
    for user, session in (("ana", "s1"), ("ana", "s2"), ("bob", "s1"), (None, None), (None, "s1"), ("ana", None)):
        memory.recall("secret cat gate", user_id=user, session_id=session, top_n=4)
    memory.recall("secret cat gate", user_id=ANY_USER, top_n=4)

    def shown(**owner: str) -> set[str]:
        return {one.content for one in memory.energy.canvas(**owner)}  # type: ignore[arg-type]

    shared = "The gate is green."
    assert shown(user_id="ana", session_id="s1") == {"Ana has a secret.", shared}
    assert shown(user_id="ana", session_id="s2") == {"Ana has a cat.", shared}
    assert shown(user_id="ana") == {"Ana has a secret.", "Ana has a cat.", shared}
    assert shown(user_id="bob", session_id="s1") == {"Bob has a secret.", shared}
    assert shown(user_id="eve") == shown() == shown(session_id="s1") == {shared}


def test_what_a_canvas_holds_of_another_user_is_not_shown(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    (own,) = memory.add("Ana has a cat.", user_id="ana")
    (secret,) = memory.add("Bob has a secret.", user_id="bob")
    canvas, view, now = memory._parts.canvas, memory.store.view(), to_micros(clock())
    canvas.enter(view, memory.config.namespace, CanvasOwner("ana"), {own: 1.0, secret: 1.0}, now)
    assert [one.id for one in memory.energy.canvas(user_id="ana")] == [own]


def test_removed_memories_leave_the_canvas(memory: NeuroGraphMemory, clock: ManualClock) -> None:
    gone, expired, undone, kept = (
        memory.add(f"Text {number}.", ttl=60 if number == 1 else None)[0] for number in range(4)
    )
    assert len(memory.energy.canvas()) == 4
    memory.delete(gone)
    assert {one.id for one in memory.energy.canvas()} == {expired, undone, kept}
    clock.advance(timedelta(hours=1))
    assert {one.id for one in memory.energy.canvas()} == {undone, kept}
    memory.delete(undone)
    memory.undo()
    assert {one.id for one in memory.energy.canvas()} >= {kept}
    memory.update(kept, "Other words.")
    assert "Other words." in {one.content for one in memory.energy.canvas()}


# With a server


@pytest.fixture
def shared(tmp_path: Path, redis_server: "Redis", monkeypatch: pytest.MonkeyPatch) -> MemoryConfig:
    monkeypatch.setattr(outage, "RETRY_SECONDS", 0.0)
    redis_server.start()
    metabolism = {"canvas_url": redis_server.url}
    return MemoryConfig(save_dir=str(tmp_path / "out"), embedding_name="hash", metabolism=metabolism)  # type: ignore[arg-type]


def test_a_server_that_is_away_is_said_once(
    shared: MemoryConfig, redis_server: "Redis", caplog: pytest.LogCaptureFixture
) -> None:
    with NeuroGraphMemory(shared) as memory:
        (pump,) = memory.add("The pump is red.")
        assert memory.energy.canvas().note is None
        redis_server.stop()
        try:
            with caplog.at_level(logging.WARNING):
                (gate,) = memory.add("The gate is green.")
                memory.recall("pump")
                canvas = memory.energy.canvas()
                memory.delete(pump)
                assert [one.id for one in memory.energy.canvas()] == [gate]
            assert {one.id for one in canvas} == {pump, gate}
            assert canvas.note is not None
            assert "a canvas of its own" in canvas.note
            assert len([record for record in caplog.records if "canvas" in record.getMessage()]) == 1
        finally:
            redis_server.start()
        canvas = memory.energy.canvas()
        assert [one.id for one in canvas] == [gate]
        assert memory.energy.canvas().note is None


def test_erased_words_leave_the_server(shared: MemoryConfig, redis_server: "Redis") -> None:
    client = redis_server.client()
    client.flushall()

    def content() -> bytes:
        keys = client.keys("*")
        return b" ".join([*keys, *(client.dump(key) for key in keys)])

    with NeuroGraphMemory(shared) as memory:
        memory.add("The quetzalcoatl is red.", id="axolotl", user_id="xochitl", session_id="tonatiuh")
        (pump,) = memory.add("The pump is red.", user_id="xochitl")
        memory.energy.canvas(user_id="xochitl", session_id="tonatiuh")
        assert b"axolotl" in content()
        assert not any(word in content() for word in (b"quetzalcoatl", b"xochitl", b"tonatiuh"))
        memory.delete("axolotl")
        assert b"axolotl" not in content()
        assert pump.encode() in content()
        memory.delete(user_id="xochitl")
        assert content() == b""
    client.close()

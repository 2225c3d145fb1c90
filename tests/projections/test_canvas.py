"""The working canvas shows the memories that matter to a session now, in a process and in Redis alike."""

import contextlib
import logging
import socketserver
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from neurogated import ANY_USER, MemoryConfig, NeuroGraphMemory
from neurogated.core import outage
from neurogated.core.clock import to_micros
from neurogated.core.projections import CanvasKey, CanvasStorage
from neurogated.errors import StorageError
from neurogated.projections.redis_canvases import RedisCanvases
from neurogated.session.compose import build
from neurogated.testing import ManualClock
from neurogated.tiers.canvas import CanvasOwner, LocalCanvases, WorkingCanvas

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


if TYPE_CHECKING:
    from tests.projections.conftest import Redis

KEYS = [CanvasKey("g", "s"), CanvasKey("g", "t"), CanvasKey("h", "s")]
SIZE = 4


@pytest.fixture(params=["local", "redis"])
def canvases(request: pytest.FixtureRequest) -> Iterator[CanvasStorage]:
    if request.param == "local":
        yield LocalCanvases(100)
        return
    server: Redis = request.getfixturevalue("redis_server")
    server.start()
    found = RedisCanvases(server.url, "memory", seconds=5.0, lifetime=100.0)
    found.clear()
    yield found
    found.close()


_KEY, _ID = st.sampled_from(KEYS), st.sampled_from(["a", "b", "c", "d", "e", "Ö", "\0"])
_SCORE = st.sampled_from([-1000.0, 0.0, 0.5, 0.25, 495000.125, 495000.25])
_ACTIONS = st.one_of(
    st.tuples(st.just("enter"), _KEY, st.dictionaries(_ID, _SCORE, max_size=6), st.booleans()),
    st.tuples(st.just("remove"), st.sampled_from(["g", "h"]), st.lists(_ID, min_size=1, max_size=3)),
    st.tuples(st.just("clear")),
)


@given(actions=st.lists(_ACTIONS, max_size=12))
@example(actions=[("enter", KEYS[0], {"a": 0.5}, True), ("enter", KEYS[0], {"a": 0.0}, True)])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_canvas_holds_the_best(canvases: CanvasStorage, actions: list[tuple]) -> None:  # type: ignore[type-arg]
    canvases.clear()
    held: dict[CanvasKey, dict[str, float]] = {key: {} for key in KEYS}
    complete: set[CanvasKey] = set()
    for action in actions:
        if action[0] == "enter":
            _, key, scores, is_complete = action
            canvases.enter(key, scores, SIZE, complete=is_complete)
            merged = {name: max(scores.get(name, -1e9), held[key].get(name, -1e9)) for name in {*scores, *held[key]}}
            best = sorted(merged, key=lambda name: (merged[name], name.encode()), reverse=True)
            complete |= {key} if is_complete else set()
            # A canvas that is not complete may hold one more; nobody reads it.
            held[key] = {name: merged[name] for name in best[: SIZE + (key not in complete)]}
        elif action[0] == "remove":
            canvases.remove(action[1], action[2])
            for key in KEYS:
                if key.graph == action[1]:
                    held[key] = {name: score for name, score in held[key].items() if name not in action[2]}
        else:
            canvases.clear()
            held, complete = {key: {} for key in KEYS}, set()
        for key in KEYS:
            assert canvases.read(key, SIZE) == (held[key] if key in complete else None)


class _Meeting(LocalCanvases):
    """A server on which each of two calls waits for the other one, once it is told to."""

    place = "a server"
    meeting: threading.Barrier | None = None

    def enter(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - as in the base class
        super().enter(*args, **kwargs)
        if self.meeting is not None:
            self.meeting.wait(10)

    def erase(self) -> None:
        self.clear()

    def close(self) -> None:
        pass


def test_recalls_of_several_threads_reach_the_server_side_by_side(clock: ManualClock) -> None:
    config, server = MemoryConfig(storage="memory", embedding_name="hash"), _Meeting(10)
    parts = replace(build(config, clock), canvas=WorkingCanvas(config.metabolism, server))
    with NeuroGraphMemory(config, parts=parts) as memory, ThreadPoolExecutor(2) as threads:
        memory.add("Anna lives in Oslo.", user_id="ana")
        server.meeting = threading.Barrier(2)
        found = list(threads.map(lambda _: memory.retrieve("Where does Anna live?", user_id="ana"), range(2)))
        assert found[0] == found[1] != []


@pytest.mark.parametrize(
    "answer", [b"+OK\r\n", b":5\r\n", b"*-5\r\n", b"*1\r\n" * 3000, b"$3\r\nabc\r\n", b"nonsense\r\n"]
)
def test_a_server_that_is_no_redis_is_an_outage(tmp_path: Path, answer: bytes) -> None:
    class NoRedis(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            while self.request.recv(4096):
                self.wfile.write(answer)

    with socketserver.UnixStreamServer(str(tmp_path / "socket"), NoRedis) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        canvases = RedisCanvases(f"unix://{tmp_path}/socket", "memory", seconds=0.5, lifetime=100.0)
        calls: list[Callable[[], object]] = [
            lambda: canvases.enter(KEYS[0], {"a": 1.0}, SIZE),
            lambda: canvases.read(KEYS[0], SIZE),
            lambda: canvases.remove("g", ["a"]),
            canvases.clear,
        ]
        for call in calls:
            # Some calls take some of these answers for an empty canvas.
            with contextlib.suppress(StorageError):
                call()
        canvases.close()
        server.shutdown()

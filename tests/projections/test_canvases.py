"""Canvases in a process and in Redis hold the same memories."""

import contextlib
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neurogated.core.projections import CanvasKey, CanvasStorage
from neurogated.errors import StorageError
from neurogated.projections.redis_canvases import RedisCanvases
from neurogated.tiers.canvas import LocalCanvases

if TYPE_CHECKING:
    from tests.projections.conftest import Redis

KEYS = [CanvasKey("g", "s"), CanvasKey("g", "t"), CanvasKey("h", "s")]
SIZE = 4


@pytest.fixture(params=["local", "redis"])
def storage(request: pytest.FixtureRequest) -> Iterator[CanvasStorage]:
    if request.param == "local":
        yield LocalCanvases(100)
        return
    server: Redis = request.getfixturevalue("redis_server")
    server.start()
    canvases = RedisCanvases(server.url, "memory", seconds=5.0, lifetime=100.0)
    canvases.clear()
    yield canvases
    canvases.close()


_KEY, _ID = st.sampled_from(KEYS), st.sampled_from(["a", "b", "c", "d", "e", "Ö", "\0"])
_SCORE = st.sampled_from([-1000.0, 0.0, 0.5, 0.25, 495000.125, 495000.25])
_ACTIONS = st.one_of(
    st.tuples(st.just("enter"), _KEY, st.dictionaries(_ID, _SCORE, max_size=6), st.booleans()),
    st.tuples(st.just("remove"), st.sampled_from(["g", "h"]), st.lists(_ID, min_size=1, max_size=3)),
    st.tuples(st.just("clear")),
)


@given(actions=st.lists(_ACTIONS, max_size=12))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_canvas_holds_the_best(storage: CanvasStorage, actions: list[tuple]) -> None:  # type: ignore[type-arg]
    storage.clear()
    held: dict[CanvasKey, dict[str, float]] = {key: {} for key in KEYS}
    complete: set[CanvasKey] = set()
    for action in actions:
        if action[0] == "enter":
            _, key, scores, is_complete = action
            storage.enter(key, scores, SIZE, complete=is_complete)
            merged = {name: max(scores.get(name, -1e9), held[key].get(name, -1e9)) for name in {*scores, *held[key]}}
            best = sorted(merged, key=lambda name: (merged[name], name.encode()), reverse=True)
            complete |= {key} if is_complete else set()
            # A canvas that is not complete may hold one more; nobody reads it.
            held[key] = {name: merged[name] for name in best[: SIZE + (key not in complete)]}
        elif action[0] == "remove":
            storage.remove(action[1], action[2])
            for key in KEYS:
                if key.graph == action[1]:
                    held[key] = {name: score for name, score in held[key].items() if name not in action[2]}
        else:
            storage.clear()
            held, complete = {key: {} for key in KEYS}, set()
        for key in KEYS:
            assert storage.read(key, SIZE) == (held[key] if key in complete else None)


class _NoRedis(socketserver.StreamRequestHandler):
    """Answers each request as Redis would never do."""

    def handle(self) -> None:
        answer = self.server.answer  # type: ignore[attr-defined]
        while self.request.recv(4096):
            self.wfile.write(answer)


NO_ANSWERS = [b"+OK\r\n", b":5\r\n", b"*-5\r\n", b"*1\r\n" * 3000, b"$3\r\nabc\r\n", b"nonsense\r\n"]


@pytest.mark.parametrize("answer", NO_ANSWERS)
def test_a_server_that_is_no_redis_is_an_outage(tmp_path: Path, answer: bytes) -> None:
    with socketserver.UnixStreamServer(str(tmp_path / "socket"), _NoRedis) as server:
        server.answer = answer  # type: ignore[attr-defined]
        threading.Thread(target=server.serve_forever, daemon=True).start()
        canvases = RedisCanvases(f"unix://{tmp_path}/socket", "memory", seconds=0.5, lifetime=100.0)
        # Some calls take some of these answers for an empty canvas.
        with contextlib.suppress(StorageError):
            canvases.enter(KEYS[0], {"a": 1.0}, SIZE)
        with contextlib.suppress(StorageError):
            canvases.read(KEYS[0], SIZE)
        with contextlib.suppress(StorageError):
            canvases.remove("g", ["a"])
        with contextlib.suppress(StorageError):
            canvases.clear()
        canvases.close()
        server.shutdown()

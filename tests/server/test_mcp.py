"""MCP on the port of the server."""

import asyncio
import contextlib
import gc
import json
import operator
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import httpx2
import pytest
import uvicorn
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

import neurogated.server.mcp
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.server import Grant, Keys, create_app
from neurogated.server.guard import Limits
from tests.integrations.mcp_clients import ACCEPTED, INITIALIZE, call, opened
from tests.served import Servers, client

PING = {"jsonrpc": "2.0", "id": 2, "method": "ping"}


@pytest.fixture(scope="module")
def keyed(servers: Servers) -> tuple[str, dict[str, str]]:
    keys = {name: servers.key("--user_id", name) for name in ("ana", "ben")}
    return servers.start(), keys


def test_a_key_shows_its_user_by_mcp_as_by_rest(keyed: tuple[str, dict[str, str]]) -> None:
    url, keys = keyed

    async def found(user: str, *texts: str) -> list[str]:
        headers = {"Authorization": f"Bearer {keys[user]}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            streamable_http_client(f"{url}/mcp", http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as session,
        ):
            await session.initialize()
            for text in texts:
                await call(session, "remember", text=text)
            recalled = await call(session, "recall", query="Where does the parrot live?")
            return [one["content"] for one in recalled["memories"]]

    assert anyio.run(found, "ana", "My parrot lives in Lyon.") == ["My parrot lives in Lyon."]
    assert anyio.run(found, "ben") == []
    with client(url, keys["ana"]) as rest:
        assert [one["content"] for one in rest.get("/v1/memories").json()["memories"]] == ["My parrot lives in Lyon."]


def test_a_session_is_unknown_to_another_key(keyed: tuple[str, dict[str, str]]) -> None:
    url, keys = keyed
    with client(url, keys["ana"]) as ana, client(url, keys["ben"]) as ben:
        ids, tools = opened(ana), {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
        assert ana.post("/mcp", json=tools, headers=ids).status_code == 200
        assert ben.post("/mcp", json=tools, headers=ids).status_code == 404
        assert ben.post("/mcp?user_id=ana", json=INITIALIZE, headers=ACCEPTED).status_code == 403


@contextlib.contextmanager
def serving(folder: Path, limits: Limits | None = None) -> Iterator[tuple[str, list[str]]]:
    """Serve a memory from a thread; yield its address and two keys for all users."""
    keys, file = Keys(), folder / "keys.json"
    texts = [keys.create(file, Grant(MemoryConfig().namespace)) for _ in range(2)]
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        server = uvicorn.Server(uvicorn.Config(create_app(memory, keys, limits=limits), log_level="warning"))
        with socket.create_server(("127.0.0.1", 0)) as listening:
            thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
            thread.start()
            yield f"http://127.0.0.1:{listening.getsockname()[1]}", texts
            server.should_exit = True
            thread.join()


def session_of(url: str, key: str, user_id: str) -> Callable[[], int]:
    """Open a session; return a function that uses it, and returns the status."""
    with client(url, key, user_id=user_id) as one:
        headers = opened(one)

    def use() -> int:
        with client(url, key, user_id=user_id) as one:
            return one.post("/mcp", json=PING, headers=headers).status_code

    return use


def test_users_named_by_one_key_end_no_session_of_another_key(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(neurogated.server.mcp, "_MOST", 3)
    with serving(tmp_path) as (url, (first, second)):
        use = session_of(url, first, "ana")
        others = [session_of(url, second, user_id) for user_id in ("ana", "ben", "cleo", "dan")]
        assert use() == 200
        assert [one() for one in reversed(others)] == [200, 200, 200, 404]


def test_sessions_that_nobody_uses_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(neurogated.server.mcp, "_IDLE", 0.5)
    with serving(tmp_path) as (url, (key, _)):
        use = session_of(url, key, "ana")
        while use() == 200:
            time.sleep(0.6)
        assert session_of(url, key, "ana")() == 200


@pytest.mark.parametrize(
    ("headers", "size", "status"),
    [
        ({"Authorization": ""}, 1, 401),
        ({"Origin": "https://evil.example"}, 1, 403),
        ({}, 2_000_000, 413),
        ({"Transfer-Encoding": "chunked"}, 2_000_000, 413),
    ],
)
def test_requests_by_mcp_pass_the_same_checks(
    keyed: tuple[str, dict[str, str]], headers: dict[str, str], size: int, status: int
) -> None:
    url, keys = keyed
    body = json.dumps({**INITIALIZE, "padding": "a" * size}).encode()
    content = iter([body]) if "Transfer-Encoding" in headers else body
    with client(url, keys["ana"]) as ana:
        sent = ACCEPTED | {"Content-Type": "application/json"} | headers
        answer = ana.post("/mcp", content=content, headers=sent)
        assert answer.status_code == status
        assert answer.json()["error"]


def _held() -> tuple[int, int, int]:
    """Return the numbers of tasks, threads and open files of this process, where the server runs, too."""
    gc.collect()
    tasks = sum(type(one) is asyncio.Task for one in gc.get_objects())
    return tasks, threading.active_count(), sum(1 for _ in Path("/proc/self/fd").iterdir())


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="counts open files as Linux lists them")
@pytest.mark.parametrize(("count", "at_once"), [(20, 5), pytest.param(1000, 50, marks=[pytest.mark.nightly])])
def test_sessions_that_end_leave_no_task_thread_or_file(count: int, at_once: int, tmp_path: Path) -> None:
    # The streams of the sessions and their calls together are more.
    limits = Limits(concurrency=at_once * 3 // 2)
    with serving(tmp_path, limits) as (url, (key, _)), client(url, key, user_id="ana") as one:

        def session(number: int) -> None:
            headers = opened(one)
            name, arguments = (
                ("recall", {"query": "pier"}) if number % 10 else ("remember", {"text": f"Pier {number}."})
            )
            asked = {**PING, "method": "tools/call", "params": {"name": name, "arguments": arguments}}
            assert 'isError":true' not in one.post("/mcp", json=asked, headers=headers).text
            assert one.delete("/mcp", headers=headers).status_code == 200

        async def many() -> None:
            async with contextlib.AsyncExitStack() as stack:
                sessions = []
                headers = {"Authorization": f"Bearer {key}"}
                for _ in range(at_once):
                    http = await stack.enter_async_context(httpx2.AsyncClient(headers=headers, timeout=120))
                    address = f"{url}/mcp?user_id=ana"
                    streams = await stack.enter_async_context(streamable_http_client(address, http_client=http))
                    sessions.append(await stack.enter_async_context(ClientSession(streams[0], streams[1])))
                    await sessions[-1].initialize()
                answers = [call(session, "recall", query="pier") for session in sessions]
                assert all(answer["memories"] for answer in await asyncio.gather(*answers))

        for number in range(15):
            session(number)
        asyncio.run(many())
        before = _held()
        for number in range(count):
            session(number)
        asyncio.run(many())
        # Pools of threads may still grow a little, up to their bounds.
        bounds, ends = [held + 10 for held in before], time.monotonic() + 60
        while not all(map(operator.le, _held(), bounds)) and time.monotonic() < ends:
            time.sleep(0.05)
        assert all(map(operator.le, _held(), bounds)), (before, _held())

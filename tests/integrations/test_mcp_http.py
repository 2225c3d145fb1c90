"""The server over HTTP, in a process of its own: its checks, and a client of the SDK."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio
import httpx
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import ConfigError
from neurogated.integrations.mcp.http import http_app
from neurogated.server import create_app
from tests.integrations.mcp_clients import call

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}},
}
ACCEPTED = {"Accept": "application/json, text/event-stream"}


@pytest.fixture(scope="module")
def port(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    folder = tmp_path_factory.mktemp("memory")
    words = ["-m", "neurogated", "mcp", "--http", "--port", str(port), "--save_dir", str(folder), "--token", "secret"]
    with subprocess.Popen([sys.executable, *words]) as server:
        ends = time.monotonic() + 60
        while time.monotonic() < ends:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
        yield port
        server.terminate()


def test_a_client_with_the_token_remembers_and_recalls(port: int) -> None:
    async def talk() -> None:
        headers = {"Authorization": "Bearer secret"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http) as streams,
            ClientSession(streams[0], streams[1]) as client,
        ):
            await client.initialize()
            (one,) = (await call(client, "remember", text="Ana lives in Lyon."))["ids"]
            found = await call(client, "recall", query="Where does Ana live?")
            assert found["memories"][0]["id"] == one

    anyio.run(talk)


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({}, 401),
        ({"Authorization": "Bearer other"}, 401),
        ({"Authorization": "Bearer secret", "Origin": "http://evil.example"}, 403),
        ({"Authorization": "Bearer secret", "Host": "evil.example"}, 421),
        ({"Authorization": "Bearer secret", "Origin": "http://localhost:3000"}, 200),
    ],
)
def test_a_request_without_the_token_or_from_a_foreign_page_is_refused(
    port: int, headers: dict[str, str], status: int
) -> None:
    answer = httpx2.post(f"http://127.0.0.1:{port}/mcp", json=INITIALIZE, headers=ACCEPTED | headers, timeout=60)
    assert answer.status_code == status


def tool_call(arguments: bytes) -> bytes:
    params = b'{"name": "remember", "arguments": ' + arguments + b"}"
    return b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": ' + params + b"}"


def ping(identity: bytes) -> bytes:
    return b'{"jsonrpc": "2.0", "id": ' + identity + b', "method": "ping"}'


@pytest.mark.parametrize("app_of", [http_app, create_app], ids=["alone", "beside REST"])
def test_every_body_is_answered_within_bounds(app_of: Callable[[NeuroGraphMemory], Starlette]) -> None:
    bodies: list[tuple[bytes, int, int | None, str]] = [
        (tool_call(rb'{"text": "Half \ud83d, whole \ud83d\ude00."}'), 200, 7, "ids"),
        (tool_call(b'{"text": "caf\xe9"}'), 400, 7, "-32700"),
        (b'{"jsonrpc": "2.0", "id": 3, "method": "tools/list", "params": {]', 400, 3, "-32700"),
        (b"\xff\xfe", 400, None, "-32700"),
        (b"", 400, None, "-32700"),
        (b'{"id": 4, "method": "ping"}', 400, 4, "-32600"),
        (b"[]", 400, None, "-32600"),
        (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "ping"}', 400, None, "-32700"),
        (b'{"jsonrpc": "2.0", "id": ' + b"9" * 5_000 + b', "method": "ping"', 400, None, "-32700"),
        *((ping(odd), 400, None, "-32600") for odd in (b"null", b"1.5", b"2.0", b"true", b"{}", b"[1]")),
        (b"\xef\xbb\xbf" + ping(b"6"), 200, 6, "result"),
        (b"[" * 100_000, 413, None, "20,000 lists and objects"),
        (tool_call(b'{"tags": [' + b"1," * 60_000 + b"1]}"), 413, None, "more than 50,000 values"),
        (tool_call(b'{"text": "' + b"a " * 500_000 + b'"}'), 413, None, "more than 1,000,000 bytes"),
    ]

    async def talk(memory: NeuroGraphMemory) -> None:
        app, sent = app_of(memory), ACCEPTED | {"Content-Type": "application/json"}
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://localhost:1", headers=sent) as client,
        ):
            session = (await client.post("/mcp", json=INITIALIZE)).headers["mcp-session-id"]
            client.headers["mcp-session-id"] = session
            await client.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"})
            for body, status, identity, told in bodies:
                answer = await client.post("/mcp", content=body)
                assert (answer.status_code, told in answer.text) == (status, True), answer.text
                assert len(answer.text) < 400
                if status != 413:
                    assert json.loads(answer.text[answer.text.index("{") :].partition("\n")[0])["id"] == identity

    with NeuroGraphMemory(MemoryConfig(storage="memory", embedding_name="hash")) as memory:
        anyio.run(talk, memory)
        assert {one.content for one in memory.list()} == {"Half \ufffd, whole \U0001f600."}


def test_a_host_beyond_this_machine_needs_a_token(tmp_path: Path) -> None:
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path))) as memory, pytest.raises(ConfigError, match="token"):
        http_app(memory, host="0.0.0.0")  # noqa: S104 - the address that must be refused

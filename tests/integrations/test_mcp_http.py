"""The server over HTTP, in a process of its own: its checks, and a client of the SDK."""

from __future__ import annotations

import contextlib
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import anyio
import httpx2
import pytest
from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.errors import ConfigError
from neurogated.integrations.mcp.http import http_app
from tests.integrations.mcp_clients import call

INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
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


def test_a_host_beyond_this_machine_needs_a_token(tmp_path: Path) -> None:
    with (
        NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path))) as memory,
        pytest.raises(ConfigError, match="token"),
    ):
        http_app(memory, host="0.0.0.0")  # noqa: S104 - the address that must be refused

"""Several servers on one memory, and servers that are killed."""

from __future__ import annotations

import contextlib
import json
import random
import subprocess
import sys
from pathlib import Path

import anyio
import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.mcp.prepared import STATELESS_VERSIONS
from tests.integrations.mcp_clients import call, client_of

SERVERS = 4
_META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS_VERSIONS[-1],
    "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
    "io.modelcontextprotocol/clientCapabilities": {},
}


def _name(random_source: random.Random) -> str:
    return "".join(random_source.choices("bcdfglmnprstvz", k=4)).join(random_source.choices("aeiou", k=2)).title()


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("count", [3, pytest.param(500, marks=[pytest.mark.slow, pytest.mark.nightly])])
def test_what_one_server_stored_is_found_by_the_next_recall_of_another(count: int, tmp_path: Path) -> None:
    found, stored = list[str](), list[str]()

    async def talk() -> None:
        async with contextlib.AsyncExitStack() as stack:
            clients = [
                await stack.enter_async_context(client_of(tmp_path, "--user_id", f"user {number % 2}"))
                for number in range(SERVERS)
            ]

            async def write(number: int) -> None:
                names = random.Random(number)
                for _ in range(count):
                    text = f"{_name(names)} lent {_name(names)} the {_name(names)} of {_name(names)}."
                    (one,) = (await call(clients[number], "remember", text=text))["ids"]
                    stored.append(one)
                    # The user of a server has another server, too.
                    recalled = await call(clients[(number + 2) % SERVERS], "recall", query=text, top_n=3)
                    found.extend(memory["id"] for memory in recalled["memories"] if memory["id"] == one)

            async with anyio.create_task_group() as tasks:
                for number in range(SERVERS):
                    tasks.start_soon(write, number)

    anyio.run(talk)
    assert len(found) == len(stored) == count * SERVERS
    assert sorted(found) == sorted(stored)
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path))) as memory:
        assert memory.admin.check() == []
        assert {node.id for number in range(2) for node in memory.find(user_id=f"user {number}")} == set(stored)


@pytest.mark.parametrize("answers", [7])
def test_what_a_killed_server_has_answered_is_stored(answers: int, tmp_path: Path) -> None:
    texts = [f"Ana bought {number} glasses of honey in Lyon." for number in range(40)]
    requests = [
        {
            "jsonrpc": "2.0",
            "id": number,
            "method": "tools/call",
            "params": {"name": "remember", "arguments": {"text": text}, "_meta": _META},
        }
        for number, text in enumerate(texts)
    ]
    command = [sys.executable, "-m", "neurogated", "mcp", "--save_dir", str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join(json.dumps(request).encode() + b"\n" for request in requests))
        server.stdin.flush()
        lines = [server.stdout.readline() for _ in range(answers)]
        server.kill()
        lines += [line for line in server.stdout if line.endswith(b"\n")]
    acknowledged = [one for line in lines for one in json.loads(line)["result"]["structuredContent"]["ids"]]
    assert len(acknowledged) >= answers
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path))) as memory:
        assert memory.admin.check() == []
        assert {node.id for node in memory.find()} >= set(acknowledged)
        assert len(memory.find()) < len(texts)

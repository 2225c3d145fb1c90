"""Several keys at one server, one of which asks for as much as it can."""

import json
import socket
import threading
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from tests.served import Servers, client
from tests.server.test_mcp import ACCEPTED, INITIALIZE

MANY = 40
TASK = {"query": "write to the neighbours who collect stamps of the town"}
LONG = {"query": "a" * 20_000}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("asked")
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
        memory.add([f"Neighbour {one} collects {one % 97} stamps of town {one % 53}." for one in range(500)])
    return folder


@pytest.mark.parametrize("shared", [False, True], ids=["keys", "users behind one key"])
def test_a_user_waits_for_one_turn_of_another_who_asks_for_much(folder: Path, *, shared: bool) -> None:
    with Servers(folder) as servers:
        names = ("ana", "ben")
        keys = [servers.key()] * 2 if shared else [servers.key("--user_id", name) for name in names]
        url, done, asking = servers.start(), list[int](), threading.Barrier(MANY + 1)

        def ask() -> None:
            with client(url, keys[0], user_id=names[0]) as one:
                one.get("/v1/memories?limit=1")
                asking.wait()
                assert one.post("/v1/context", json=TASK).status_code == 200
                done.append(1)

        threads = [threading.Thread(target=ask) for _ in range(MANY)]
        for one in threads:
            one.start()
        with client(url, keys[1], user_id=names[1]) as quick:
            quick.get("/v1/memories?limit=1")
            asking.wait()
            while len(done) < 3:
                pass
            assert quick.post("/v1/context", json=TASK).status_code == 200
            assert len(done) < MANY // 2
        for one in threads:
            one.join()


def test_requests_whose_clients_are_gone_are_not_answered(folder: Path) -> None:
    with Servers(folder) as servers:
        key = servers.key()
        url, body = servers.start(), json.dumps(TASK)
        head = f"POST /v1/context HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\n"
        request = f"{head}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()
        at = urlsplit(url)
        with client(url, key) as present:
            for _ in range(MANY):
                with socket.create_connection((at.hostname or "", at.port or 0)) as impatient:
                    impatient.sendall(request)
            assert present.post("/v1/context", json=TASK).status_code == 200
            counts = [line for line in present.get("/metrics").text.splitlines() if "_count" in line]
        assert any('route="/context",status="408"' in line for line in counts), counts
        assert servers.stop()[1].count("\n") < 5


def test_questions_have_a_longest_length(folder: Path) -> None:
    with Servers(folder) as servers:
        key = servers.key()
        with client(servers.start(), key) as asking:
            assert asking.post("/v1/recall", json=LONG).status_code == 422
            assert asking.post("/v1/context", json={"query": LONG["query"]}).status_code == 422
            opened = asking.post("/mcp", json=INITIALIZE, headers=ACCEPTED)
            ids = ACCEPTED | {"Mcp-Session-Id": opened.headers["mcp-session-id"]}
            asking.post("/mcp", json={"jsonrpc": "2.0", "method": "notifications/initialized"}, headers=ids)
            call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "recall", "arguments": LONG}}
            assert '"isError":true' in asking.post("/mcp", json=call, headers=ids).text

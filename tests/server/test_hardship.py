"""Slow clients, too many requests, greedy users, writers elsewhere, and processes that are killed."""

import contextlib
import json
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from tests.served import Servers, client

HALF = b"POST /v1/memories HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 90\r\n\r\n{"


@contextlib.contextmanager
def slow_clients(url: str, count: int, sent: bytes = HALF) -> Iterator[list[socket.socket]]:
    """Send a part of a request over each of several connections."""
    at = urlsplit(url)
    with contextlib.ExitStack() as stack:
        opened = []
        for _ in range(count):
            one = stack.enter_context(socket.create_connection((at.hostname or "", at.port or 0), timeout=30))
            one.sendall(sent)
            opened.append(one)
        yield opened


def keep_sending(connection: socket.socket) -> None:
    """Send bytes until the connection ends; raises ConnectionError then."""
    while True:
        connection.sendall(b"a")
        time.sleep(0.1)


def test_slow_clients_are_refused_and_others_are_answered_meanwhile(tmp_path: Path) -> None:
    with Servers(tmp_path) as servers:
        url = servers.start("--patience", "1", "--concurrency", "50")
        with slow_clients(url, 30) as slow, client(url) as quick:
            assert quick.get("/v1/memories").status_code == 200
            for one in slow:
                assert b"408" in one.recv(100)
        assert servers.stop()[0] == 0


def test_more_connections_than_files_stop_no_server_and_fill_no_log(tmp_path: Path) -> None:
    with Servers(tmp_path) as servers:
        key = servers.key()
        url = servers.start(files=256)
        for sent in (b"", b"POST /v1/memories HTTP/1.1\r\nHost: loc", b"\0\r\n\r\n", HALF):
            with slow_clients(url, 400, sent), client(url, key) as quick:
                for _ in range(5):
                    assert quick.get("/v1/memories").status_code == 200
        code, errors = servers.stop()
        assert code == 0
        assert len(errors) < 4_000


def test_headers_that_trickle_and_answers_that_are_not_read_end(tmp_path: Path) -> None:
    with Servers(tmp_path) as servers:
        url = servers.start("--patience", "1")
        with client(url) as writer:
            writer.post("/v1/memories", json={"content": "x" * 900_000})
        at, asked = urlsplit(url), b"GET /v1/memories HTTP/1.1\r\nHost: localhost\r\n\r\n"
        with socket.socket() as deaf, slow_clients(url, 1, asked[:9]) as (trickling,):
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
            deaf.connect((at.hostname, at.port))
            deaf.sendall(asked * 9)
            with pytest.raises(ConnectionError):
                keep_sending(trickling)
            with pytest.raises(ConnectionError):
                keep_sending(deaf)


def test_more_requests_at_once_than_allowed_are_refused_until_some_are_done(tmp_path: Path) -> None:
    with Servers(tmp_path) as servers:
        url = servers.start("--patience", "3", "--concurrency", "4")
        with client(url) as quick:
            with slow_clients(url, 4):
                ends = {httpx.codes.OK, httpx.codes.TOO_MANY_REQUESTS}
                codes = []
                while httpx.codes.TOO_MANY_REQUESTS not in codes:
                    answer = quick.get("/v1/memories")
                    codes.append(answer.status_code)
                    assert answer.status_code in ends
                assert answer.headers["retry-after"]
                assert answer.json()["error"]["request_id"]
            while quick.get("/v1/memories").status_code == httpx.codes.TOO_MANY_REQUESTS:
                pass
            assert quick.get("/v1/memories").status_code == httpx.codes.OK


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
def test_what_was_acknowledged_is_there_after_a_stop_during_writes(how: signal.Signals, tmp_path: Path) -> None:
    with Servers(tmp_path) as servers:
        url, known, enough = servers.start(), list[str](), threading.Event()

        def write(number: int) -> None:
            with client(url) as one, contextlib.suppress(httpx.HTTPError):
                for count in range(10_000):
                    answer = one.post("/v1/memories", json={"content": f"Note {count} of writer {number}."})
                    if answer.status_code != httpx.codes.CREATED:
                        return
                    known.extend(answer.json()["ids"])
                    if len(known) > 40:
                        enough.set()

        writers = [threading.Thread(target=write, args=(number,)) for number in range(4)]
        for one in writers:
            one.start()
        assert enough.wait(60)
        errors = servers.stop(how)[1]
        for one in writers:
            one.join()
        assert "Traceback" not in errors
        with client(servers.start()) as reader:
            found = {one["id"] for one in reader.get("/v1/memories?limit=1000").json()["memories"]}
            assert set(known) <= found
            assert reader.post("/v1/memories", json={"content": "A note after it."}).status_code == 201


MANY = 40
TASK = {"query": "write to the neighbours who collect stamps of the town"}


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
        url, done, asking = servers.start(), list[int](), threading.Barrier(MANY + 1, timeout=120)

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

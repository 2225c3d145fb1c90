"""The connections of a server."""

import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from neurogated.cli import main

SERVER = """
import contextlib, os, socket
from neurogated.cli.listening import serve

async def app(scope, receive, send):
    if scope["type"] == "http":
        await send({"type": "http.response.start", "status": 200})
        await send({"type": "http.response.body", "body": b"%d" % at_once(tuple(scope["client"]))})

def at_once(client):
    for one in os.listdir("/proc/self/fd"):
        with contextlib.suppress(OSError), socket.socket(fileno=os.dup(int(one))) as found:
            if found.getpeername()[:2] == client:
                return found.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)

serve(app, "127.0.0.1", 0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="finds the socket of a connection in /proc")
def test_an_answer_in_two_parts_does_not_wait_for_an_acknowledgement() -> None:
    with subprocess.Popen([sys.executable, "-c", SERVER], stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            assert int(httpx.get(server.stdout.readline().strip()).text) > 0
        finally:
            server.terminate()


@pytest.mark.parametrize("host", ["127.0.0.1", "192.0.2.1"])
def test_an_address_that_cannot_be_had_is_an_error_of_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], host: str
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        words = ["--save_dir", str(tmp_path), "--embedding_name", "hash", "--host", host, "--port", port]
        main(["serve", "--new_key", *words[:4]])
        capsys.readouterr()
        assert main(["serve", *words]) != 0
    (line,) = [one for one in capsys.readouterr().err.splitlines() if "warning" not in one.lower()]
    assert "--port" in line

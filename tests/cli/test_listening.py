"""The connections of a server."""

import subprocess
import sys

import httpx
import pytest

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

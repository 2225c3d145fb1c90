"""How soon a server answers many clients: quantiles of the milliseconds by kind of request.

    python -m benchmarks.serve --memories 2000 --clients 50 --requests 100 --pause 1

The server is a process of its own with the bundled model. Each client has its own connection and user. It waits on
average `--pause` seconds between an answer and its next request; with 0 it never waits.

    python -m benchmarks.serve --hostile --requests 200

One user recalls, first alone and then while another user sends large and wrong bodies, long questions, and requests
that it abandons, over as many connections as `--clients` says. A third connection asks for `/health` without a pause:
its longest wait is the longest stall of the event loop. Other programs on the machine make it longer.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from urllib.parse import urlsplit

from benchmarks.measuring import quantile
from neurogated import MemoryConfig, NeuroGraphMemory

_BATCH = 500
_KINDS = {"recall": 40, "add": 15, "get": 20, "list": 10, "context": 15}
"""Percent of the requests."""

Request = tuple[str, str, object]


class _Client:
    """One connection that sends one request at a time."""

    def __init__(self, url: str, number: int) -> None:
        self._at, self.random, self._user = urlsplit(url), random.Random(number), f"user{number}"  # noqa: S311
        self.times: dict[str, list[float]] = {kind: [] for kind in _KINDS}
        self.statuses = Counter[int]()
        self._ids: list[str] = []

    async def open(self) -> None:
        """Send a request of each kind, unmeasured."""
        self._reader, self._writer = await asyncio.open_connection(self._at.hostname, self._at.port)
        for kind in ("add", *_KINDS):
            await self.ask(self.request(kind, -1))

    async def run(self, requests: int, pause: float) -> None:
        """Send requests, and measure each."""
        for number in range(requests):
            await asyncio.sleep(self.random.expovariate(1 / pause) if pause else 0)
            (kind,) = self.random.choices(list(_KINDS), list(_KINDS.values()))
            begin = time.perf_counter()
            await self.ask(self.request(kind, number))
            self.times[kind].append(time.perf_counter() - begin)
        self._writer.close()

    def request(self, kind: str, number: int) -> Request:
        """Return a request of a kind."""
        chosen = self.random.randrange(10_000)
        requests: dict[str, Request] = {
            "recall": ("POST", "recall", {"query": f"Who collects the {chosen % 97} stamps of town {chosen % 53}?"}),
            "add": ("POST", "memories", {"content": f"{self._user} lent book {number} to neighbour {chosen}."}),
            "get": ("GET", f"memories/{self._ids[chosen % len(self._ids)] if self._ids else ''}", None),
            "list": ("GET", "memories", None),
            "context": ("POST", "context", {"query": f"write to the neighbour who has book {chosen % 100}"}),
        }
        return requests[kind]

    async def ask(self, request: Request) -> None:
        """Send a request, and await its answer."""
        method, path, content = request
        body = b"" if content is None else content if isinstance(content, bytes) else json.dumps(content).encode()
        path = "/health" if path == "health" else f"/v1/{path}"
        head = f"{method} {path}?user_id={self._user} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}\r\n"
        self._writer.write(f"{head}Content-Type: application/json\r\n\r\n".encode() + body)
        answer = await self._reader.readuntil(b"\r\n\r\n")
        length = int(answer.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        told = json.loads(await self._reader.readexactly(length))
        self.statuses[int(answer.split()[1])] += 1
        self._ids += told.get("ids", ())


async def measure(url: str, asked: argparse.Namespace) -> None:
    """Print the quantiles of all clients."""
    clients = [_Client(url, number) for number in range(asked.clients)]
    await asyncio.gather(*(client.open() for client in clients))
    begin = time.perf_counter()
    await asyncio.gather(*(client.run(asked.requests, asked.pause) for client in clients))
    seconds, total = time.perf_counter() - begin, asked.clients * asked.requests
    statuses = sum((client.statuses for client in clients), Counter[int]())
    print(f"{asked.memories:,} memories, {asked.clients} clients, pause {asked.pause:g} s")
    print(f"{total / seconds:.0f} requests/s")
    print("statuses:", ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items())))
    for kind in _KINDS:
        times = [1000 * one for client in clients for one in client.times[kind]]
        middle, high, highest = quantile(times, 0.5), quantile(times, 0.95), max(times)
        print(f"{kind:8} {len(times):6,} requests   median {middle:7.1f}   p95 {high:7.1f}   most {highest:7.1f} ms")


def _attacks() -> list[Request]:
    """Return the bodies of a hostile user: those of earlier faults, each within the limits of the server or beyond."""
    size = 900_000
    texts = [
        "Ann moved to Lyon in May. ",
        "Ann Lyon ",
        "a",
        "| a | b |\n|---|---|\n",
        "\U0001f469\u200d\U0001f467",
        "on 3 May ",
    ]
    bodies = [{"content": text * (size // len(text.encode()))} for text in texts]
    bodies += [{"content": f"a{' ' * size}b"}, {"content": [1] * 40_000}, {"content": "a", "tags": ["a"] * 40_000}]
    bodies += [{"content": "a", "metadata": {f"key {one}": [one, {"a": one}] for one in range(1_200)}}]
    bodies += [{"content": [{"role": "user", "content": f"Note {one} of Ann."} for one in range(900)]}]
    asked = [text * (9_900 // len(text)) for text in ("我住在上海。", "to ", "a and b and ", "5 ft 11 in ", "why? ")]
    sent = [("memories", body) for body in bodies] + [("recall", {"query": text}) for text in asked]
    # Encoded at once, since this process measures meanwhile.
    return [("POST", path, json.dumps(body).encode()) for path, body in sent]


class _Hostile(_Client):
    async def attack(self) -> None:
        """Send bodies until cancelled, and abandon every third request."""
        attacks = _attacks()
        while True:
            await self.ask(self.random.choice(attacks))
            if not self.random.randrange(3):
                _, abandoned = await asyncio.open_connection(self._at.hostname, self._at.port)
                body = json.dumps({"query": "write to the neighbour who has book 3"}).encode()
                head = (
                    f"POST /v1/context?user_id={self._user} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(body)}"
                )
                abandoned.write(f"{head}\r\nContent-Type: application/json\r\n\r\n".encode() + body)
                await abandoned.drain()
                abandoned.close()


async def measure_hostile(url: str, asked: argparse.Namespace) -> None:
    """Print how a user's recalls and the event loop fare, alone and beside a hostile user."""
    user, watch = _Client(url, 1), _Client(url, 2)
    hostile = [_Hostile(url, 3) for _ in range(asked.clients)]
    await asyncio.gather(*(client.open() for client in (user, watch, *hostile)))
    for number, one in enumerate(hostile):
        # One user, but each connection sends other bodies; the requests that opened it do not count.
        one.random.seed(number)
        one.statuses.clear()

    async def timed(client: _Client, request: Request) -> float:
        begin = time.perf_counter()
        await client.ask(request)
        return 1000 * (time.perf_counter() - begin)

    async def stalls(found: list[float]) -> None:
        while True:
            found.append(await timed(watch, ("GET", "health", None)))
            await asyncio.sleep(0.002)

    alone = 0.0
    for name, attackers in (("alone", ()), ("beside a hostile user", hostile)):
        waited = list[float]()
        tasks = [asyncio.create_task(one.attack()) for one in attackers] + [asyncio.create_task(stalls(waited))]
        recalls = []
        for number in range(asked.requests):
            recalls.append(await timed(user, user.request("recall", number)))
            await asyncio.sleep(0.05)
        for task in tasks:
            task.cancel()
        high = quantile(recalls, 0.95)
        alone = alone or high
        print(f"{name}: recall median {quantile(recalls, 0.5):.1f}, p95 {high:.1f} ms ({high / alone:.2f} x); ", end="")
        print(f"longest wait for /health {max(waited):.0f}, p99 {quantile(waited, 0.99):.1f} ms")
    statuses = sum((client.statuses for client in hostile), Counter[int]())
    print("statuses:", ", ".join(f"{status}: {count:,}" for status, count in sorted(statuses.items())))


def main() -> None:
    """Serve a memory, and measure."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in (("--memories", 2_000), ("--clients", 50), ("--requests", 100)):
        parser.add_argument(name, type=int, default=value)
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument(
        "--hostile", action="store_true", help="one user beside a hostile one, with --clients connections"
    )
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        with NeuroGraphMemory(MemoryConfig(save_dir=name)) as memory:
            for first in range(0, asked.memories, _BATCH):
                numbers = range(first, min(first + _BATCH, asked.memories))
                memory.add([f"Person {one} collects {one % 97} stamps of town {one % 53}." for one in numbers])
        words = [sys.executable, "-m", "neurogated", "serve", "--save_dir", name, "--port", "0", "--rate", "100000"]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as server:
            assert server.stdout is not None
            try:
                asyncio.run((measure_hostile if asked.hostile else measure)(server.stdout.readline().strip(), asked))
                print(f"server: {_seconds(server.pid):.1f} s of processor time")
            finally:
                server.terminate()


def _seconds(process: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


if __name__ == "__main__":
    main()

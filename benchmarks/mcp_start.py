"""How soon a fresh MCP server answers, and how fast it stores: medians of several processes.

    python -m benchmarks.mcp_start --memories 10000

The server runs as a client starts it, on standard input and output. Times are seconds from the start of the process.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.integrations.mcp.stdio import STATELESS_VERSIONS

_BATCH = 500
_WRITES = 50
_CLIENT = {"name": "benchmark", "version": "1"}
_META = {
    "io.modelcontextprotocol/protocolVersion": STATELESS_VERSIONS[-1],
    "io.modelcontextprotocol/clientInfo": _CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
_INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": _CLIENT}


class _Server:
    """A server in a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._began, self._number = time.perf_counter(), 0
        command = [sys.executable, "-m", "neurogated", "mcp", "--save_dir", str(folder)]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, method: str, **params: object) -> tuple[float, dict[str, Any]]:
        """Send a request; return the seconds since the start, and the result."""
        assert self._process.stdout is not None
        self._number += 1
        self.send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        answer = json.loads(self._process.stdout.readline())
        return time.perf_counter() - self._began, answer["result"]

    def send(self, message: dict[str, Any]) -> None:
        """Send a message."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(message).encode() + b"\n")
        self._process.stdin.flush()

    def call(self, tool: str, **arguments: object) -> tuple[float, dict[str, Any]]:
        """Call a tool; return the seconds since the start, and its structured result."""
        seconds, result = self.ask("tools/call", name=tool, arguments=arguments)
        return seconds, result["structuredContent"]

    def end(self) -> None:
        """End the process."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait()


def one_round(folder: Path) -> Iterator[tuple[str, float]]:
    """Yield the rows of fresh processes."""
    server = _Server(folder)
    yield "server/discover", server.ask("server/discover", _meta=_META)[0]
    server.end()
    server = _Server(folder)
    yield "initialize", server.ask("initialize", **_INITIALIZE)[0]
    server.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
    seconds, found = server.call("recall", query="Who collects stamps in Lyon?")
    yield f"first recall, {'by keywords' if found['notes'] else 'by meaning'}", seconds
    while found["notes"]:
        seconds, found = server.call("recall", query="Who collects stamps in Lyon?")
    yield "first recall by meaning", seconds
    yield "tools/list after it", server.ask("tools/list")[0] - seconds
    before = time.perf_counter()
    for number in range(_WRITES):
        server.call("remember", text=f"Ana lent book {time.time_ns()} to neighbour {number}.")
    yield "a remember", (time.perf_counter() - before) / _WRITES
    server.end()


def main() -> None:
    """Print the medians."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--memories", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=7)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        with NeuroGraphMemory(MemoryConfig(save_dir=name)) as memory:
            for first in range(0, asked.memories, _BATCH):
                numbers = range(first, min(first + _BATCH, asked.memories))
                memory.add(
                    [f"Person {number} collects {number % 97} stamps of town {number % 53}." for number in numbers]
                )
        rows = dict[str, list[float]]()
        for _ in range(asked.rounds):
            for row, seconds in one_round(Path(name)):
                rows.setdefault(row, []).append(seconds)
    print(f"{asked.memories:,} memories, medians of {asked.rounds} rounds, seconds")
    for row, values in rows.items():
        print(f"{row:30} {statistics.median(values):7.3f}   {min(values):.3f} to {max(values):.3f}")


if __name__ == "__main__":
    main()

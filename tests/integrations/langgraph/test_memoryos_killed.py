"""Processes with several threads each save pairs and items, and are killed again and again."""

import json
import random
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from neurogated.integrations.langgraph.memoryos import MemoryOS
from tests.integrations.langgraph.memoryos_writer import LONG
from tests.integrations.langgraph.words import WordEmbeddings

ROOT = Path(__file__).parents[3]
SECOND = 1.0


class _Writer:
    """A process that saves pairs until all of its sessions are done."""

    def __init__(self, folder: Path, name: str, threads: int, count: int) -> None:
        self.done: dict[str, int] = {}
        self._arguments = [str(folder), name, str(threads), str(count)]

    def run(self, kills: int) -> None:
        """Run the process to its end; kill it at a random moment of the second after it is ready, this many times."""
        chance = random.Random(self._arguments[1])
        for _ in range(kills):
            if self._lives(chance.random() * SECOND) == 0:
                return
        assert self._lives(None) == 0

    def _lives(self, seconds: float | None) -> int:
        done = [f"{session}:{number}" for session, number in self.done.items()]
        command = [sys.executable, "-m", "tests.integrations.langgraph.memoryos_writer", *self._arguments, *done]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
            assert process.stdout is not None
            killer = threading.Timer(seconds, process.kill) if seconds is not None else None
            for line in process.stdout:
                if line == "ready\n" and killer is not None:
                    killer.start()
                elif line.endswith("\n") and ":" in line:
                    session, number = line.strip().split(":")
                    self.done[session] = int(number)
            if killer is not None:
                killer.cancel()
        return process.returncode


@pytest.mark.parametrize(
    ("names", "threads", "count", "kills"),
    [
        ("a", 2, 8, 1),
        pytest.param("abc", 2, 25, 6, marks=[pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(3_600)]),
    ],
)
def test_killed_processes_lose_nothing_save_nothing_twice_and_see_nothing_of_others(
    tmp_path: Path, names: str, threads: int, count: int, kills: int
) -> None:
    folder = tmp_path / "memory"
    MemoryOS(embedding=WordEmbeddings(), storage_dir=folder).close()
    writers = [_Writer(folder, name, threads, count) for name in names]
    running = [threading.Thread(target=writer.run, args=(kills,)) for writer in writers]
    for thread in running:
        thread.start()
    for thread in running:
        thread.join()
    assert all(set(writer.done.values()) == {count} for writer in writers)
    with MemoryOS(embedding=WordEmbeddings(), storage_dir=folder, short_term_max_capacity=5) as memory:
        for name in names:
            memory.save_memory(f"user-{name}", "end", "Bye", "")
        memory.flush()
        memory.export(tmp_path / "out")
        for name in names:
            _look_at_pages(tmp_path / "out", name, threads, count)
            keys = {f"{name}{thread}:{number}" for thread in range(threads) for number in range(count)}
            for side in ("left", "right"):
                items = memory.store.search((side, f"user-{name}"), limit=10_000)
                assert len(items) == len(keys)
                assert {item.key: item.value for item in items} == {key: {"text": f"{LONG}{key}"} for key in keys}


def _look_at_pages(folder: Path, name: str, threads: int, count: int) -> None:
    """Check that a user has the pages of its process, once and in order, and no others."""
    file = f"user-{name}.json"
    short = json.loads((folder / "short_term" / file).read_text())["pages"]
    segments = json.loads((folder / "mid_term" / file).read_text())["segments"].values()
    pages = [*(page for one in segments for page in one["pages"]), *short]
    keys = [page["key"] for page in pages if page["session_id"] != "end"]
    assert len(keys) == len(set(keys)) == threads * count
    assert {page["session_id"] for page in pages} == {"end", *(f"{name}{thread}" for thread in range(threads))}
    for session in {page["session_id"] for page in pages} - {"end"}:
        told = sorted((page for page in pages if page["session_id"] == session), key=lambda page: page["timestamp"])
        assert [page["user"] for page in told] == [f"{session} says {number}" for number in range(count)]

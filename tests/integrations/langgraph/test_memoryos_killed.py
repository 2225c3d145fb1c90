"""Processes with several threads each save pairs, and are killed again and again."""

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from neurogated.integrations.langgraph.memoryos import MemoryOS
from tests.integrations.langgraph.words import WordEmbeddings

ROOT = Path(__file__).parents[3]
SECOND = 1.0


class _Writer:
    """A process that saves pairs until all of its sessions are done."""

    def __init__(self, folder: Path, name: str, threads: int, count: int) -> None:
        self.done: dict[str, int] = {}
        self._arguments = [str(folder), name, str(threads), str(count)]

    def run(self, kills: int) -> None:
        """Run the process to its end; kill it a second after it is ready, this many times."""
        for _ in range(kills):
            if self._lives(SECOND) == 0:
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
        ("a", 2, 15, 1),
        pytest.param("ab", 4, 125, 20, marks=[pytest.mark.slow, pytest.mark.nightly, pytest.mark.timeout(3_600)]),
    ],
)
def test_killed_processes_lose_no_pair_and_save_none_twice(
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
        memory.save_memory("ana", "end", "Bye", "")
        memory.flush()
        memory.export(tmp_path / "out")
    short = json.loads((tmp_path / "out" / "short_term" / "ana.json").read_text())["pages"]
    segments = json.loads((tmp_path / "out" / "mid_term" / "ana.json").read_text())["segments"].values()
    pages = [*(page for one in segments for page in one["pages"]), *short]
    keys = [page["key"] for page in pages if page["session_id"] != "end"]
    assert len(keys) == len(set(keys)) == len(names) * threads * count
    for session in {page["session_id"] for page in pages} - {"end"}:
        told = sorted((page for page in pages if page["session_id"] == session), key=lambda page: page["timestamp"])
        assert [page["user"] for page in told] == [f"{session} says {number}" for number in range(count)]

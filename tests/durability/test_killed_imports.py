"""Imports and `index --workers` that are killed at random moments: to the end, nothing is doubled and nothing lost."""

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from tests.archive.foreign.files import written
from tests.durability.contents import environment

LONG = [pytest.mark.slow, pytest.mark.nightly]
TURNS = 20
COMMAND = (sys.executable, "-m", "neurogated")


def _until_done(words: list[str], folder: Path, kills: int, seed: int) -> int:
    """Run a command to its end, and kill it before at random moments; return how often it was killed."""
    chance, killed = random.Random(seed), 0
    for _ in range(kills):
        # The moment counts from the first file of the memory, since a process needs seconds to start.
        process = subprocess.Popen(words, env=environment(), stderr=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and not (folder / "memory" / "memory.db-wal").exists():
            time.sleep(0.01)
        time.sleep(chance.random() * 1.5)
        killed += process.poll() is None
        os.killpg(process.pid, signal.SIGKILL) if chance.random() < 0.5 else process.kill()
        process.wait()
        with NeuroGraphMemory(MemoryConfig(save_dir=str(folder), embedding_name="hash")) as memory:
            assert memory.admin.check() == []
    subprocess.run(words, env=environment(), check=True, capture_output=True)
    return killed


def _locomo(name: str, sessions: int) -> dict[str, Any]:
    turns: dict[str, Any] = {"speaker_a": "Ana", "speaker_b": "Ben"}
    for session in range(1, sessions + 1):
        turns[f"session_{session}_date_time"] = f"1:56 pm on {session % 28 + 1} May, 2023"
        turns[f"session_{session}"] = [
            {"speaker": ("Ana", "Ben")[n % 2], "dia_id": f"D{session}:{n + 1}", "text": f"{name} {session}.{n} it is."}
            for n in range(TURNS)
        ]
    return {"sample_id": name, "conversation": turns, "qa": []}


@pytest.mark.parametrize(("sessions", "kills"), [(2, 1), pytest.param(15, 6, marks=LONG)])
def test_killed_workers_index_each_turn_once_when_they_are_run_again(tmp_path: Path, sessions: int, kills: int) -> None:
    names = ("Lyon", "Ghent", "Turin")
    written(tmp_path / "talks.json", [_locomo(name, sessions) for name in names])
    folder = tmp_path / "memory"
    flags = ["--dataset_dir", str(tmp_path), "--format", "locomo", "--embedding_name", "hash", "--workers", "2"]
    words = [*COMMAND, "index", "--dataset", "talks", "--save_dir", str(folder), *flags]
    _until_done(words, folder / "talks", kills, seed=kills)
    with NeuroGraphMemory(MemoryConfig(save_dir=str(folder / "talks"), embedding_name="hash")) as memory:
        assert memory.admin.check() == []
        told = [node.content for name in memory.admin.namespaces() for node in memory.in_namespace(name).find()]
        said = [
            f"{name} {session}.{n} it is." for name in names for session in range(1, sessions + 1) for n in range(20)
        ]
        assert sorted(text for text in told if text.endswith(" it is.")) == sorted(said)

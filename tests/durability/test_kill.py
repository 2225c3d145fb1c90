"""kill -9 at random moments, processes that start together, those that open memories all the time, and workers."""

import json
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

# kill -9 at random moments: every acknowledged write is there, and every other write is complete or absent


HERE = Path(__file__).parent

LONG = [pytest.mark.slow, pytest.mark.nightly]


@pytest.mark.parametrize(("seed", "rounds"), [(21, 10), pytest.param(22, 100, marks=LONG)])
def test_a_memory_outlives_kills(tmp_path: Path, seed: int, rounds: int) -> None:
    command = [sys.executable, str(HERE / "kill_rounds.py"), str(tmp_path), str(seed), str(rounds)]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert sum(seen["killed during"].values()) == rounds
    assert len(seen["killed during"]) > rounds ** (1 / 3), "the kills fall on one kind of change only"
    assert seen["operations"] > rounds, "the children hardly came to do anything"


@pytest.mark.parametrize("rounds", [2, pytest.param(100, marks=LONG)])
@pytest.mark.parametrize("case", ["make", "replace"])
def test_kills_while_a_memory_is_made_leave_it_whole_or_absent(tmp_path: Path, case: str, rounds: int) -> None:
    command = [sys.executable, str(HERE / "kill_creation.py"), str(tmp_path), "7", str(rounds), case]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sum(json.loads(done.stdout).values()) == rounds


# A process that opens and closes memories all the time keeps nothing of them


_SCRIPT = Path(__file__).with_name("cycles.py")


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="reads the memory and the files as Linux lists them")
@pytest.mark.parametrize(
    ("first", "last"),
    [pytest.param(80, 120, marks=pytest.mark.slow), pytest.param(500, 2500, marks=pytest.mark.nightly)],
)
def test_a_closed_memory_leaves_no_object_file_or_thread(tmp_path: Path, first: int, last: int) -> None:
    words = [sys.executable, str(_SCRIPT), str(tmp_path), str(first), str(last)]
    done = subprocess.run(words, env=environment(), capture_output=True, text=True, check=True)
    before, after = map(json.loads, done.stdout.splitlines())
    assert after["objects"] - before["objects"] < last - first, "at least one object stays of each memory"
    assert after["files"] <= before["files"]
    assert after["threads"] <= before["threads"]


# Processes that start to write at the same time: nobody holds the lock while patterns compile or a model loads


_WRITER = Path(__file__).with_name("cold_writer.py")


def _started(folder: Path, number: int, turns: int, embedder: str) -> subprocess.Popen[str]:
    command = [sys.executable, str(_WRITER), str(folder), str(number), str(turns), embedder]
    return subprocess.Popen(command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def _result(process: subprocess.Popen[str]) -> tuple[int, str]:
    out, error = process.communicate()
    return process.returncode or 0, out.strip() or error.strip()


def test_the_first_write_of_a_process_compiles_loads_and_embeds_nothing_under_the_lock(tmp_path: Path) -> None:
    assert _result(_started(tmp_path, 0, 2, "all-MiniLM-L6-v2")) == (0, "")
    # The vectors of these texts are in the cache, so nothing loads the model before the lock is taken.
    assert _result(_started(tmp_path, 0, 2, "all-MiniLM-L6-v2")) == (0, "")


@pytest.mark.slow
def test_eight_processes_that_start_together_store_all_their_turns(tmp_path: Path) -> None:
    processes = [_started(tmp_path, number, 10, "hash") for number in range(8)]
    assert [_result(process)[0] for process in processes] == [0] * 8
    with NeuroGraphMemory(MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")) as memory:
        turns = memory.find(user_id="ana")
        assert len(turns) == 80
        assert len({turn.position for turn in turns}) == 80


# Workers of `index` that are killed at random moments: to the end, nothing is doubled and nothing lost


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

"""Processes that start to write at the same time: nobody holds the lock while patterns compile or a model loads."""

import subprocess
import sys
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from tests.durability.contents import environment

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

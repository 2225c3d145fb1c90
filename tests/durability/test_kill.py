"""kill -9 at random moments: every acknowledged write is there, and every other write is complete or absent."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.durability.contents import environment

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

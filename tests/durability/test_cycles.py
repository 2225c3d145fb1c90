"""A process that opens and closes memories all the time keeps nothing of them."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.durability.contents import environment

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

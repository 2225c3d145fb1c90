"""The scripts that measure recall run on the sample."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def _python(*words: str | Path) -> subprocess.CompletedProcess[str]:
    # A test worker is not a benchmark. Benchmarks refuse to measure beside each other.
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["PYTHONPATH"] = f"{ROOT / 'src'}"
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.slow
def test_the_scripts_of_recall_measure_the_sample(tmp_path: Path) -> None:
    ablation = _python("-m", "benchmarks.ablation", "sample", "--save-dir", tmp_path, "--variants", "no_activation")
    assert re.search(r"^\| no_activation \| [\d.]+ \(", ablation.stdout, re.MULTILINE), ablation.stderr
    learning = _python("-m", "benchmarks.learning", "sample", "--seeds", "1")
    assert re.search(r"^\| held out \(34\) \| [+-]", learning.stdout, re.MULTILINE), learning.stderr

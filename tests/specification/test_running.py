"""Commands, data sets and installation."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*words: str, source: str = str(ROOT / "src")) -> subprocess.CompletedProcess[str]:
    """Run Python at the top of a checkout."""
    variables = {**os.environ, "PYTHONPATH": source}
    return subprocess.run(
        [sys.executable, *words], cwd=ROOT, env=variables, text=True, capture_output=True, check=False, timeout=240
    )


def outcome(done: subprocess.CompletedProcess[str]) -> tuple[int, str]:
    return done.returncode, done.stdout + done.stderr


def test_the_parts_of_main_are_imported_from_main() -> None:
    names = "GraphStore, MemoryConfig, NeuroGraphMemory, NeuroRetriever, PlasticityEngine"

    assert outcome(run("-c", f"from main import {names}")) == (0, "")


def test_a_checkout_runs_without_being_installed(tmp_path: Path) -> None:
    # So the requirements are found, but not the additions of an editable installation.
    requirements = sysconfig.get_path("purelib")
    flags = ["--dataset", "sample", "--embedding_name", "hash", "--save_dir", str(tmp_path)]
    code, text = outcome(run("-S", "main.py", *flags, source=requirements))

    assert code == 0, text
    where = run("-S", "-c", "import main, neurogated; print(neurogated.__file__)", source=requirements)
    assert outcome(where) == (0, f"{ROOT / 'src' / 'neurogated' / '__init__.py'}\n")


@pytest.mark.parametrize(
    "flag", ["--dataset", "--llm_name", "--embedding_name", "--llm_base_url", "--force_index_from_scratch"]
)
def test_every_flag_of_the_commands_is_known(flag: str) -> None:
    from neurogated.cli.measuring import bench_run

    context = bench_run.make_context("run", ["--dataset", "sample", flag, "true"])

    assert context.params[flag.removeprefix("--")] == "true"

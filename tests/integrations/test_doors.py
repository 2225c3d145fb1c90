"""What holds for all doors: what an import loads, and the error for a package that is not installed."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
DOORS = {
    "langchain": "langchain",
    "langchain_agents": "langchain",
    "openai_agents": "openai-agents",
    "anthropic_memory": "anthropic",
    "llama_index": "llama-index",
    "pydantic_ai": "pydantic-ai",
    "google_adk": "google-adk",
    "agent_framework": "agent-framework",
}
"""Modules and their extras."""
FRAMEWORKS = (
    "langchain", "langchain_core", "langgraph", "agents", "anthropic", "llama_index", "pydantic_ai", "google.adk",
    "agent_framework",
)  # fmt: skip


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_room_loads_no_framework() -> None:
    shown = "import sys, neurogated.integrations; print(*sys.modules)"
    assert _run(shown).split()
    assert set(FRAMEWORKS).isdisjoint(_run(shown).split())


def test_a_missing_package_gives_an_error_that_names_the_extra() -> None:
    code = (
        f"import importlib, sys\nsys.modules.update(dict.fromkeys({FRAMEWORKS}))\n"
        f"for door in {[*DOORS, 'langgraph', 'langgraph.memoryos']}:\n"
        "    try:\n        importlib.import_module(f'neurogated.integrations.{door}')\n"
        "    except ImportError as error:\n        print(door, error)"
    )
    told = dict(line.split(" ", 1) for line in _run(code).splitlines() if "neurogated[" in line)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    for door, extra in {**DOORS, "langgraph": "langgraph", "langgraph.memoryos": "langgraph"}.items():
        assert f"neurogated[{extra}]" in told[door]
        assert extra in extras


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        # By day, the tests of each framework run the same calls in this process.
        pytest.param(file.name, marks=() if file.stem == "with_langchain" else pytest.mark.nightly)
        for file in sorted((ROOT / "examples").glob("with_*.py"))
    ],
)
def test_an_example_runs_offline_and_each_user_finds_her_own_only(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    of_ana, of_bob = done.stdout.split("\nbob:")
    assert "Ada" in of_ana.split("\nana:")[-1]
    assert "Ada" not in of_bob

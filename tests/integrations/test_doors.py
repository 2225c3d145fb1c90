"""What holds for all doors: what an import loads, and the error for a package that is not installed."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import neurogated.integrations

ROOT = Path(__file__).parents[2]
DOORS = {
    "langchain": "langchain",
    "langchain_agents": "langchain",
    "openai_agents": "openai-agents",
    "anthropic_memory": "anthropic",
    "anthropic_memory_async": "anthropic",
    "llama_index": "llama-index",
    "pydantic_ai": "pydantic-ai",
    "pydantic_ai_tools": "pydantic-ai",
    "google_adk": "google-adk",
    "agent_framework": "agent-framework",
}
"""Modules and their extras."""
SHARED = {"conversation", "files"}
FRAMEWORKS = (
    "langchain", "langchain_core", "langgraph", "agents", "anthropic", "llama_index", "pydantic_ai", "google.adk",
    "agent_framework",
)  # fmt: skip


def _run(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_importing_the_room_loads_no_framework() -> None:
    shown = "import sys, neurogated.integrations, neurogated.integrations.files; print(*sys.modules)"
    assert _run(shown).split()
    assert set(FRAMEWORKS).isdisjoint(_run(shown).split())


@pytest.mark.parametrize("door", [*DOORS, "langgraph", "langgraph.memoryos"])
def test_a_missing_package_gives_an_error_that_names_the_extra(door: str) -> None:
    extra = DOORS.get(door, "langgraph")
    hidden = f"import sys; sys.modules.update(dict.fromkeys({FRAMEWORKS}))"
    caught = f"try:\n import neurogated.integrations.{door}\nexcept ImportError as error:\n print(error)"
    assert f"neurogated[{extra}]" in _run(f"{hidden}\n{caught}")
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    assert extra in extras


def test_every_door_is_short_and_has_a_section_and_an_example() -> None:
    (room,) = map(Path, neurogated.integrations.__path__)
    modules = {file.stem: file for file in room.glob("*.py") if not file.stem.startswith("_")}
    assert modules.keys() >= DOORS.keys() | SHARED
    page = (ROOT / "docs" / "integrations.md").read_text(encoding="utf-8")
    for door in DOORS:
        assert len(modules[door].read_text(encoding="utf-8").splitlines()) < 120, door
        assert re.search(rf"neurogated\.integrations\.{door}\b", page), door


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(file.name for file in (ROOT / "examples").glob("with_*.py")))
def test_an_example_runs_offline_and_each_user_finds_her_own_only(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "examples" / name), str(tmp_path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    of_ana, of_bob = done.stdout.split("\nbob:")
    assert "Ada" in of_ana.split("\nana:")[-1]
    assert "Ada" not in of_bob

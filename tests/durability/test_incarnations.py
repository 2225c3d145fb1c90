"""A copy of a memory is another memory: what it deletes elsewhere is its own."""

import shutil
import sqlite3
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.session.administration import restore_snapshot


@pytest.fixture
def original(tmp_path: Path) -> MemoryConfig:
    """Return a closed memory whose facts are in a database that copies share."""
    config = MemoryConfig(save_dir=str(tmp_path / "original"), embedding_name="hash").replace(
        metabolism={"facts_url": f"sqlite:///{tmp_path / 'shared.db'}"}
    )
    with NeuroGraphMemory(config) as memory:
        memory.facts.add("Ana", "city", "Lyon", user_id="ana")
        memory.admin.snapshot(tmp_path / "taken")
    return config


def _values(tmp_path: Path) -> list[tuple[str, int]]:
    with sqlite3.connect(tmp_path / "shared.db") as connection:
        return connection.execute("SELECT value, count(*) FROM facts GROUP BY value").fetchall()


def _identity(config: MemoryConfig) -> str:
    with NeuroGraphMemory(config) as memory:
        return str(memory.store.identity[0])


@pytest.mark.parametrize("how", ["copied", "restored"])
def test_deleting_in_a_copy_leaves_the_rows_of_the_original(original: MemoryConfig, tmp_path: Path, how: str) -> None:
    copy = original.replace(save_dir=str(tmp_path / "copy"))
    if how == "copied":
        shutil.copytree(original.save_dir, copy.save_dir)
    else:
        restore_snapshot(copy, tmp_path / "taken")
    with NeuroGraphMemory(copy) as memory:
        assert memory.delete(user_id="ana")
        memory.facts.add("Ben", "city", "Rome")
        memory.admin.compact()
    assert _values(tmp_path) == [("Lyon", 1), ("Rome", 1)]
    with NeuroGraphMemory(original) as memory:
        assert memory.delete(user_id="ana")
    assert _values(tmp_path) == [("Rome", 1)]


def test_a_moved_folder_is_the_same_memory(original: MemoryConfig, tmp_path: Path) -> None:
    identity = _identity(original)
    Path(original.save_dir).rename(tmp_path / "moved")
    moved = original.replace(save_dir=str(tmp_path / "moved"))
    assert _identity(moved) == identity
    with NeuroGraphMemory(moved) as memory:
        assert memory.delete(user_id="ana")
    assert _values(tmp_path) == []


def test_a_snapshot_that_replaces_a_memory_takes_over_its_rows(original: MemoryConfig, tmp_path: Path) -> None:
    with NeuroGraphMemory(original) as memory:
        memory.facts.add("Ana", "city", "Paris", user_id="ana")
    identity = _identity(original)
    restore_snapshot(original, tmp_path / "taken", replace=True)
    assert _identity(original) == identity
    with NeuroGraphMemory(original) as memory:
        assert memory.admin.check() == []
        assert memory.delete(user_id="ana")
    assert _values(tmp_path) == []

"""A memory file that another program rewrote has pages without checksums; `repair` gives them, and hides no damage."""

import sqlite3
from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory, repair_memory
from neurogated.cli import main
from neurogated.errors import ConfigError, CorruptMemoryError, MemoryLockedError, StorageError

TEXTS = [f"The pump {number} stands beside mill {number % 7}." for number in range(40)]


@pytest.fixture
def config(tmp_path: Path) -> MemoryConfig:
    """Return the settings of a closed memory in a file, which another program has rewritten."""
    config = MemoryConfig(save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config) as memory:
        memory.add_documents(TEXTS, progress=False)
        memory.delete(memory.add("The heron is gone."))
    other = sqlite3.connect(tmp_path / "memory" / "memory.db", isolation_level=None)
    other.execute("VACUUM")
    other.close()
    return config


def test_a_memory_is_whole_again_after_another_program_vacuumed_its_file(config: MemoryConfig) -> None:
    with pytest.raises(CorruptMemoryError, match="neurogated check --repair"):
        NeuroGraphMemory(config)
    repair_memory(config)
    with NeuroGraphMemory(config) as memory:
        assert sorted(node.content for node in memory.find()) == sorted(TEXTS)
        assert memory.admin.check() == []
        memory.undo()
        assert memory.count() == len(TEXTS) + 1


def test_the_command_repairs(config: MemoryConfig, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["check", "--save_dir", str(config.save_dir)]) == 1
    assert main(["check", "--repair", "--save_dir", str(config.save_dir), "--embedding_name", "hash"]) == 0
    assert "is sound" in capsys.readouterr().out
    assert main(["check", "--save_dir", str(config.save_dir), "--embedding_name", "hash"]) == 0


def test_a_memory_that_is_in_use_is_not_repaired(config: MemoryConfig) -> None:
    repair_memory(config)
    with NeuroGraphMemory(config), pytest.raises(MemoryLockedError):
        repair_memory(config)


def test_damage_is_not_taken_for_the_work_of_another_program(config: MemoryConfig) -> None:
    repair_memory(config)
    file = Path(config.save_dir) / "memory" / "memory.db"
    damaged = file.read_bytes().replace(b"stands beside", b"stands behind")
    file.write_bytes(damaged)
    with pytest.raises(CorruptMemoryError, match="restore a snapshot"):
        repair_memory(config)
    assert file.read_bytes() == damaged


def test_only_a_memory_in_a_file_is_repaired(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        repair_memory(MemoryConfig(storage="memory"))
    with pytest.raises(StorageError, match="no memory"):
        repair_memory(MemoryConfig(save_dir=str(tmp_path)))

"""A memory file that another program rewrote, or into which it copied the log after its writer was killed."""

import logging
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory, repair_memory
from neurogated.cli import main
from neurogated.errors import ConfigError, CorruptMemoryError, MemoryLockedError, StorageError
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.kill_rounds import run_child

# A memory file that another program rewrote has pages without checksums; `repair` gives them, and hides no damage


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


def test_only_a_memory_in_a_file_is_repaired(tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        repair_memory(MemoryConfig(storage="memory"))
    with pytest.raises(StorageError, match="no memory"):
        repair_memory(MemoryConfig(save_dir=str(tmp_path)))


# A memory whose writer was killed and whose log another program copied into the file


NAMES = [f"n{number}" for number in range(40)]


def write(path: Path, names: list[str], _: int) -> None:
    store = SqliteStore.open(path)
    for name in names:
        store.add_node(MemoryNode(name, f"a heron, {name}, stood in the reeds", embedding=[1.0, 2.0]))
    os.kill(os.getpid(), signal.SIGKILL)


def in_child(work: Callable[[int], None]) -> None:
    child, pipe = run_child(work)
    os.waitpid(child, 0)
    os.close(pipe)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a memory file whose log plain SQLite copied after its writer was killed."""
    path = tmp_path / "memory.db"
    in_child(lambda pipe: write(path, NAMES, pipe))
    visit(path)
    assert not path.with_name("memory.db-wal").exists()
    return path


def visit(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM nodes").fetchone()[0] >= len(NAMES)
    connection.close()


def test_it_is_sound_and_all_of_it_is_there(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("later", "later still"):
        with caplog.at_level(logging.WARNING), SqliteStore.open(path) as store:
            assert "another program wrote" in caplog.text
            assert {node.id for node in store.all_nodes()} >= set(NAMES)
            assert store.check() == []
        caplog.clear()
        with caplog.at_level(logging.WARNING), SqliteStore.open(path, read_only=True) as reader:
            assert reader.check() == []
        assert "another program" not in caplog.text
        in_child(lambda pipe, name=name: write(path, [name], pipe))  # type: ignore[misc]
        visit(path)


def test_a_process_that_only_reads_names_the_remedy(path: Path) -> None:
    before = path.read_bytes()
    with pytest.raises(StorageError):
        SqliteStore.open(path, read_only=True)
    assert path.read_bytes() == before
    SqliteStore.open(path).close()
    with SqliteStore.open(path, read_only=True) as reader:
        assert len(reader) == len(NAMES)

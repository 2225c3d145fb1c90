"""A memory whose writer was killed and whose log another program copied into the file."""

import logging
import os
import signal
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from neurogated import MemoryNode
from neurogated.errors import StorageError
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.kill_rounds import run_child

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

"""Another program that copies the log of an open memory into its file."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from neurogated import MemoryNode
from neurogated.errors import CorruptMemoryError
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.contents import environment

_FOREIGN = """
import sqlite3, sys
connection = sqlite3.connect(sys.argv[1])
print(connection.execute(f"PRAGMA wal_checkpoint({sys.argv[2]})").fetchone()[0])
connection.close()
"""
_ADD = """
import sys
from neurogated import MemoryNode
from neurogated.storage.sqlite_store import SqliteStore
with SqliteStore.open(sys.argv[1]) as store:
    for name in sys.argv[2:]:
        store.add_node(MemoryNode(id=name, content="badger " * 20_000, embedding=[1.0, 2.0]))
"""
COUNT = 40


def _run(script: str, *words: str) -> str:
    command = [sys.executable, "-c", script, *words]
    return subprocess.run(command, env=environment(), capture_output=True, check=True, text=True).stdout


def _checkpoint(path: Path, mode: str = "TRUNCATE") -> None:
    assert _run(_FOREIGN, str(path), mode) == "0\n", "it could not copy all of the log"


def _node(name: str) -> MemoryNode:
    return MemoryNode(id=name, content=f"badger {name}", embedding=[1.0, 2.0])


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with SqliteStore.open(path) as store:
        for number in range(COUNT):
            store.add_node(_node(str(number)))
        yield store


@pytest.mark.parametrize("mode", ["PASSIVE", "FULL", "RESTART", "TRUNCATE"])
def test_the_writer_goes_on(path: Path, store: SqliteStore, mode: str, caplog: pytest.LogCaptureFixture) -> None:
    for number in range(2):
        _checkpoint(path, mode)
        store.add_node(_node(f"later {number}"))
        assert "they were found sound and have checksums again" in caplog.text
        caplog.clear()
        assert store.check() == []
    store.close()
    with SqliteStore.open(path) as again:
        assert len(again) == COUNT + 2
        assert again.check() == []
    assert not caplog.text


def test_checkpoints_of_our_own_processes_are_no_reason_to_read_the_file(
    path: Path, store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    written = path.stat().st_mtime_ns
    monkeypatch.setattr("neurogated.storage.log.sqlite.integrity._unsealed", pytest.fail)
    _run(_ADD, str(path), *(f"other {number}" for number in range(30)))
    assert path.stat().st_mtime_ns != written
    for number in range(30):
        store.add_node(MemoryNode(id=f"own {number}", content="badger " * 20_000, embedding=[1.0, 2.0]))
    assert len(store) == COUNT + 60


def test_while_a_process_reads_an_older_state_pages_are_sealed_later(path: Path, store: SqliteStore) -> None:
    with closing(sqlite3.connect(path)) as other:
        # No page changes, so no page lacks a checksum.
        other.execute("BEGIN")
        other.execute("SELECT count(*) FROM nodes").fetchone()
        store.add_node(_node("newer"))
        _run(_FOREIGN, str(path), "PASSIVE")
        store.add_node(_node("newest"))
    store.add_node(_node("last"))
    assert store.check() == []
    store.close()
    with SqliteStore.open(path) as again:
        assert len(again) == COUNT + 3
        assert again.check() == []


def test_a_reader_that_meets_it_first_is_told_that_a_writer_mends_it(path: Path, store: SqliteStore) -> None:
    with SqliteStore.open(path, read_only=True) as reader:
        assert len(reader) == COUNT
        _checkpoint(path)
        with pytest.raises(CorruptMemoryError):
            reader.check()
        store.add_node(_node("later"))
        assert reader.check() == []


def test_a_bit_that_flips_in_an_open_memory_is_still_damage(path: Path, store: SqliteStore) -> None:
    store.compact()
    status = path.stat()
    content = path.read_bytes()
    place = content.index(b"badger 7")
    with path.open("r+b") as file:
        file.seek(place)
        file.write(b"B")
    # A faulty disk reports nothing.
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    with pytest.raises(CorruptMemoryError), SqliteStore.open(path) as other:
        other.check()


def test_damage_is_told_from_missing_checksums(path: Path, store: SqliteStore) -> None:
    _checkpoint(path)
    with path.open("r+b") as file:
        # The page type, here a tree node.
        file.seek(4096)
        file.write(b"\xff")
    with pytest.raises(CorruptMemoryError):
        store.add_node(_node("later"))
    with pytest.raises(CorruptMemoryError):
        store.close()
    with pytest.raises(CorruptMemoryError):
        SqliteStore.open(path)

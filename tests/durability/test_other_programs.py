"""Other programs, and other parts of this process, open, close and copy the files of a memory during writes."""

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from neurogated import MemoryNode
from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.storage.log.sqlite.schema import check_format
from neurogated.storage.log.sqlite.snapshot import restore_snapshot
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.contents import environment

_FOREIGN = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as connection:
    print(connection.execute("SELECT count(*) FROM nodes").fetchone()[0])
connection.close()
"""


def _foreign_count(path: Path) -> int:
    """Count nodes in another process with plain SQLite, which closes the file afterwards."""
    command = [sys.executable, "-c", _FOREIGN, str(path)]
    return int(subprocess.run(command, env=environment(), capture_output=True, check=True).stdout)


def _node(name: str) -> MemoryNode:
    return MemoryNode(id=name, content=f"badger {name}", embedding=[1.0, 2.0])


def _read_along(path: Path) -> None:
    SqliteStore.open(path, read_only=True).close()


def _copy_folder(path: Path) -> None:
    shutil.copytree(path.parent, path.parent.with_name("backup"))


def _read_with_another_library(path: Path) -> None:
    connection = sqlite3.connect(path)
    assert connection.execute("SELECT count(*) FROM nodes").fetchone() == (1,)
    connection.close()


def _read_header(path: Path) -> None:
    check_format(path)


def _take_snapshot(path: Path) -> None:
    with SqliteStore.open(path, read_only=True) as store:
        store.backup(path.parent.parent / "snapshot")


def _restore_elsewhere(path: Path) -> None:
    restore_snapshot(path, path.parent.parent / "restored" / "memory.db")


_PARTS_OF_THE_PROCESS = [
    _read_along, _copy_folder, _read_with_another_library, _read_header, _take_snapshot, _restore_elsewhere,
]  # fmt: skip


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory" / "memory.db"


@pytest.mark.parametrize("part", _PARTS_OF_THE_PROCESS)
def test_writes_stay_after_a_part_of_the_process_and_then_another_process_close_the_file(
    path: Path, part: Callable[[Path], None]
) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(_node("first"))
        part(path)
        assert _foreign_count(path) == 1
        for number in range(20):
            store.add_node(_node(str(number)))
        assert _foreign_count(path) == 21
    assert not path.with_name("memory.db-wal").exists(), "the last one to close the file writes its log back"
    with SqliteStore.open(path) as store:
        assert len(store) == 21
        assert store.check() == []


@pytest.mark.parametrize("part", [_copy_folder, _read_with_another_library])
def test_a_reader_sees_later_writes_after_other_parts_of_its_process_closed_the_file(
    path: Path, part: Callable[[Path], None]
) -> None:
    write = "import sys; from neurogated import MemoryNode; from neurogated.storage.sqlite_store import *\n"
    write += "with SqliteStore.open(sys.argv[1]) as store: store.add_node(MemoryNode(sys.argv[2], 'x', [1.0, 2.0]))"
    with SqliteStore.open(path) as store:
        store.add_node(_node("first"))
    with SqliteStore.open(path, read_only=True) as reader:
        part(path)
        for number in range(3):
            subprocess.run([sys.executable, "-c", write, str(path), str(number)], env=environment(), check=True)
            assert len(reader) == 2 + number
            assert _foreign_count(path) == len(reader)


def test_a_reader_of_a_snapshot_lets_a_writer_begin_a_log_and_follows_it(path: Path, tmp_path: Path) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(_node("first"))
        store.backup(tmp_path / "snapshot")
    restore_snapshot(tmp_path / "snapshot", path, replace=True)
    with SqliteStore.open(path, read_only=True) as reader, SqliteStore.open(path) as store:
        store.add_node(_node("second"))
        assert len(reader) == 2
        _copy_folder(path)
        assert _foreign_count(path) == 2
        store.add_node(_node("third"))
        assert len(reader) == 3


def test_a_reader_stays_guarded_when_the_writer_of_its_process_closes(path: Path) -> None:
    writer = SqliteStore.open(path)
    with SqliteStore.open(path, read_only=True) as reader:
        writer.add_node(_node("first"))
        writer.close()
        _copy_folder(path)
        assert _foreign_count(path) == 1
        with SqliteStore.open(path) as store:
            store.add_node(_node("second"))
            assert _foreign_count(path) == len(reader) == 2
    with SqliteStore.open(path) as store:
        assert store.check() == []


@pytest.mark.parametrize("suffix", ["", "-wal", "-shm"])
def test_nothing_is_acknowledged_once_a_file_was_deleted(path: Path, suffix: str) -> None:
    store = SqliteStore.open(path)
    store.add_node(_node("kept"))
    shutil.copytree(path.parent, path.parent.with_name("backup"))
    path.with_name(path.name + suffix).unlink()
    for _ in range(2):
        with pytest.raises(StorageError):
            store.add_node(_node("refused"))
    assert [node.id for node in store.all_nodes()] == ["kept"]
    store.close()


def test_a_write_during_which_the_log_was_deleted_is_not_acknowledged(path: Path) -> None:
    store = SqliteStore.open(path)

    def write() -> None:
        with store.engine.transaction() as connection:
            connection.execute("INSERT INTO nodes VALUES (77, 1, 'lost')")
            path.with_name("memory.db-wal").unlink()

    with pytest.raises(StorageError):
        write()
    before = path.read_bytes()
    store.close()
    assert path.read_bytes() == before, "an old log was mixed into a file that others may have written"


# Another program copies the log of an open memory into its file


_COPY_LOG = """
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
    assert _run(_COPY_LOG, str(path), mode) == "0\n", "it could not copy all of the log"


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
        _run(_COPY_LOG, str(path), "PASSIVE")
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

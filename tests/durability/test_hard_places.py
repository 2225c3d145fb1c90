"""Full disks, read-only folders, odd names, and clocks that go backwards."""

import errno
import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from neurogated import MemoryNode
from neurogated.errors import FormatVersionError, MemoryLockedError, StorageError
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.contents import fill_disk


def _node(name: str, size: int = 1000) -> MemoryNode:
    return MemoryNode(id=name, content=f"{name} " + "x" * size, embedding=[1.0, 2.0])


def test_a_memory_that_cannot_be_made_on_a_full_disk_leaves_nothing(mounted: Path) -> None:
    filler = fill_disk(mounted)
    with pytest.raises(StorageError, match="memory"):
        SqliteStore.open(mounted / "memory.db")
    assert not (mounted / "memory.db").exists()
    filler.unlink()
    with SqliteStore.open(mounted / "memory.db") as store:
        assert store.check() == []


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "killed"])
def test_a_folder_that_may_not_be_written_to_is_for_readers(mounted: Path, *, closed: bool) -> None:
    with SqliteStore.open(mounted / "memory.db") as store:
        store.add_node(_node("a"))
        if not closed:
            for file in mounted.glob("memory.*"):
                shutil.copy(file, file.with_name("copy" + file.name[6:]))
    path = mounted / ("memory.db" if closed else "copy.db")
    subprocess.run(["mount", "-o", "remount,ro", str(mounted)], check=True)
    with pytest.raises(StorageError):
        SqliteStore.open(path)
    with SqliteStore.open(path, read_only=True) as reader:
        assert [node.id for node in reader.all_nodes()] == ["a"]
        assert reader.check() == []
        with pytest.raises(StorageError):
            reader.add_node(_node("b"))


def test_a_file_system_without_locks_is_not_called_another_writer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_locks(*_: object) -> None:
        raise OSError(errno.ENOLCK, os.strerror(errno.ENOLCK))

    monkeypatch.setattr(fcntl, "flock", no_locks)
    with pytest.raises(StorageError) as raised:
        SqliteStore.open(tmp_path / "memory.db")
    assert not isinstance(raised.value, MemoryLockedError)


def test_a_reader_cannot_create_a_memory(tmp_path: Path) -> None:
    for path in (tmp_path / "memory.db", tmp_path / "missing" / "memory.db"):
        with pytest.raises(StorageError):
            SqliteStore.open(path, read_only=True)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("read_only", [False, True])
def test_a_newer_format_is_named(tmp_path: Path, *, read_only: bool) -> None:
    path = tmp_path / "memory.db"
    SqliteStore.open(path).close()
    content = bytearray(path.read_bytes())
    content[60:64] = (7).to_bytes(4)
    path.write_bytes(content)
    with pytest.raises(FormatVersionError):
        SqliteStore.open(path, read_only=read_only)

"""Snapshots, restored memories and copies: no acknowledged write is lost, and a copy is another memory."""

import shutil
import sqlite3
from pathlib import Path

import apsw
import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.core.clock import utc_now
from neurogated.core.delta import GraphDelta
from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.session.administration import import_memory, restore_snapshot
from neurogated.storage.log.sqlite import snapshot
from neurogated.storage.registry import open_store
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.contents import killed_copy

COUNT = 5


def _node(number: int) -> MemoryNode:
    return MemoryNode(id=str(number), content=f"badger {number}", embedding=[1.0, number])


def _files(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def _count(config: MemoryConfig) -> int:
    with open_store(config.replace(read_only=True), utc_now) as store:  # type: ignore[attr-defined]
        assert store.check() == []
        return len(store)


@pytest.fixture
def killed(tmp_path: Path) -> Path:
    """Return a memory's file after a kill. Most changes are only in the log."""
    path = tmp_path / "alive" / "memory.db"
    with SqliteStore.open(path) as store:
        store.add_node(_node(0))
        store.engine.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        for number in range(1, COUNT):
            store.add_node(_node(number))
        return killed_copy(path, tmp_path / "killed" / "memory")


@pytest.fixture
def target(tmp_path: Path) -> MemoryConfig:
    return MemoryConfig(save_dir=str(tmp_path / "restored"), embedding_name="hash")


@pytest.mark.parametrize("how", ["same name", "link", "other way"])
def test_a_memory_is_not_restored_from_its_own_file(killed: Path, tmp_path: Path, how: str) -> None:
    config = MemoryConfig(save_dir=str(killed.parent.parent), embedding_name="hash")
    given = killed
    if how == "link":
        given = tmp_path / "link"
        given.symlink_to(killed)
    elif how == "other way":
        given = killed.parent / ".." / "memory" / "memory.db"
    before = _files(killed.parent)
    with pytest.raises(StorageError):
        restore_snapshot(config, given)
    assert _files(killed.parent) == before
    assert _count(config) == COUNT


@pytest.mark.parametrize("shared", [True, False], ids=["with -shm", "without"])
def test_writes_only_in_the_log_of_a_copied_memory_are_restored(
    killed: Path, target: MemoryConfig, *, shared: bool
) -> None:
    if not shared:
        killed.with_name("memory.db-shm").unlink()
    before = _files(killed.parent)
    restore_snapshot(target, killed)
    assert _count(target) == COUNT
    after = _files(killed.parent)
    assert after.keys() == before.keys()
    # The shared memory file has no durable content.
    assert {name: after[name] for name in after if "shm" not in name} == {
        name: before[name] for name in before if "shm" not in name
    }


def test_a_copied_memory_whose_log_was_left_behind_is_refused(killed: Path, target: MemoryConfig) -> None:
    for suffix in ("-wal", "-shm"):
        killed.with_name(killed.name + suffix).unlink()
    with pytest.raises(CorruptMemoryError):
        restore_snapshot(target, killed)
    assert not Path(target.save_dir, "memory", "memory.db").exists()


def test_an_existing_memory_is_replaced_only_on_request(killed: Path, tmp_path: Path, target: MemoryConfig) -> None:
    with open_store(target, utc_now) as store:  # type: ignore[attr-defined]
        store.add_node(_node(0))
    with pytest.raises(StorageError):
        restore_snapshot(target, killed)
    assert _count(target) == 1
    restore_snapshot(target, killed, replace=True)
    assert _count(target) == COUNT
    assert tmp_path.exists()


@pytest.mark.parametrize("step", ["_copy", "_require_sound", "_settle", "replace_file"])
def test_a_restore_that_fails_half_way_leaves_the_old_memory(
    killed: Path, tmp_path: Path, target: MemoryConfig, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """Here the old memory is the one that a kill left, whose latest changes are only in its log."""
    old = MemoryConfig(save_dir=str(tmp_path / "old"), embedding_name="hash")
    shutil.copytree(killed.parent, tmp_path / "old" / "memory")
    with open_store(target, utc_now) as store:  # type: ignore[attr-defined]
        store.add_node(_node(0))

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(f"neurogated.storage.log.sqlite.snapshot.{step}", full)
    with pytest.raises(StorageError):
        restore_snapshot(old, Path(target.save_dir, "memory", "memory.db"), replace=True)
    assert _count(old) == COUNT


def test_a_snapshot_takes_no_name_of_the_memory(killed: Path) -> None:
    with SqliteStore.open(killed) as store:
        before = set(killed.parent.iterdir())
        for name in ("memory.snapshot", "memory.lock.snapshot"):
            with pytest.raises(StorageError):
                store.backup(killed.with_name(name))
        assert set(killed.parent.iterdir()) == before
        store.backup(killed.with_name("memory-of-may.snapshot"))
        (killed.parent / "elsewhere").mkdir()
        store.backup(killed.parent / "elsewhere" / "memory.snapshot")


# SQLite's page cache holds 2 MB by default.
BIGGER_THAN_THE_CACHE = 3_000_000
TEXT = 10_000


def _config(folder: Path) -> MemoryConfig:
    return MemoryConfig(save_dir=str(folder), embedding_name="hash")


def _fill(store: SqliteStore) -> None:
    nodes = tuple(
        MemoryNode(id=str(number), content=f"badger {number} ".ljust(TEXT, "x"), embedding=[1.0, number])
        for number in range(BIGGER_THAN_THE_CACHE // TEXT)
    )
    store.apply(GraphDelta(nodes=nodes, at=utc_now()))


def _check(config: MemoryConfig) -> int:
    with open_store(config, utc_now) as store:  # type: ignore[attr-defined]
        assert store.check() == []
        return len(store)


def test_a_snapshot_an_export_and_the_folder_of_a_killed_process_with_a_long_log_are_restored(tmp_path: Path) -> None:
    path = tmp_path / "alive" / "memory" / "memory.db"
    with NeuroGraphMemory(_config(tmp_path / "alive")) as memory:
        assert isinstance(memory.store, SqliteStore)
        _fill(memory.store)
        assert path.with_name("memory.db-wal").stat().st_size > BIGGER_THAN_THE_CACHE
        memory.store.backup(tmp_path / "taken")
        killed = killed_copy(path, tmp_path / "killed" / "memory")
        memory.admin.export(tmp_path / "out", progress=False)
        count = len(memory.store)
    restore_snapshot(_config(tmp_path / "restored"), tmp_path / "taken")
    restore_snapshot(_config(tmp_path / "revived"), killed)
    import_memory(_config(tmp_path / "imported"), tmp_path / "out", progress=False)
    for name in ("restored", "revived", "killed", "imported"):
        assert _check(_config(tmp_path / name)) == count


def test_a_damaged_copy_is_never_called_a_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SqliteStore.open(tmp_path / "memory.db") as store:
        _fill(store)
        copied = snapshot._write_copy

        def spoiled(source: apsw.Connection, draft: Path) -> None:
            copied(source, draft)
            with draft.open("r+b") as file:
                file.seek(draft.stat().st_size // 2)
                file.write(b"spoiled")

        monkeypatch.setattr(snapshot, "_write_copy", spoiled)
        with pytest.raises(CorruptMemoryError):
            store.backup(tmp_path / "taken")
        assert not list(tmp_path.glob("taken*"))


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

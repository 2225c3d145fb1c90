"""Restoring never loses an acknowledged write and never changes its source."""

import shutil
from pathlib import Path

import pytest

from neurogated import MemoryConfig, MemoryNode
from neurogated.core.clock import utc_now
from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.session.administration import restore_snapshot
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

"""Copies of a memory in use, larger than SQLite's page cache: each snapshot and export can be read, or none is made."""

from pathlib import Path

import apsw
import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.core.clock import utc_now
from neurogated.core.delta import GraphDelta
from neurogated.errors import CorruptMemoryError
from neurogated.session.administration import import_memory, restore_snapshot
from neurogated.storage.log.sqlite import snapshot
from neurogated.storage.registry import open_store
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.contents import killed_copy

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

"""Copies of a memory in use, larger than SQLite's page cache: each snapshot and export can be read, or none is made."""

from pathlib import Path

import apsw
import numpy as np
import pytest

from neurogated import MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.administration import import_memory, restore_snapshot
from neurogated.core.clock import utc_now
from neurogated.core.delta import GraphDelta
from neurogated.errors import CorruptMemoryError
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


def test_a_snapshot_of_an_open_memory_with_a_long_log_is_restored(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "memory.db") as store:
        _fill(store)
        assert (tmp_path / "memory.db-wal").stat().st_size > BIGGER_THAN_THE_CACHE
        store.snapshot(tmp_path / "taken")
        count = len(store)
    restore_snapshot(_config(tmp_path / "restored"), tmp_path / "taken")
    assert _check(_config(tmp_path / "restored")) == count


def test_the_folder_of_a_killed_process_with_a_long_log_is_restored(tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "alive" / "memory.db") as store:
        _fill(store)
        killed = killed_copy(tmp_path / "alive" / "memory.db", tmp_path / "killed" / "memory")
        count = len(store)
    restore_snapshot(_config(tmp_path / "restored"), killed)
    assert _check(_config(tmp_path / "restored")) == count
    assert _check(_config(tmp_path / "killed")) == count


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
            store.snapshot(tmp_path / "taken")
        assert not list(tmp_path.glob("taken*"))


@pytest.mark.slow
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(("texts", "copies"), [(600, 4), pytest.param(10_000, 13, marks=pytest.mark.nightly)])
def test_snapshots_and_exports_of_a_growing_memory_restore(tmp_path: Path, texts: int, copies: int) -> None:
    step = texts // copies
    vectors = np.random.default_rng(0).normal(size=(texts, 64)).astype(np.float32)
    with NeuroGraphMemory(_config(tmp_path / "source")) as memory:
        for number in range(texts):
            text = f"Sett {number} lies {number % 97} paces north of the old oak number {number * 7 % 1009}."
            memory.store.apply(GraphDelta(nodes=(MemoryNode(f"{number}", text, vectors[number]),), at=utc_now()))
            if number % step == step - 1 and number // step < copies:
                memory.admin.snapshot(tmp_path / f"{number // step}.taken")
                memory.admin.export(tmp_path / f"{number // step}.export", progress=False)
    for number in range(copies):
        restored, imported = tmp_path / f"{number}.restored", tmp_path / f"{number}.imported"
        restore_snapshot(_config(restored), tmp_path / f"{number}.taken")
        import_memory(_config(imported), tmp_path / f"{number}.export", progress=False)
        assert [_check(_config(folder)) for folder in (restored, imported)] == 2 * [(number + 1) * step]


def test_an_export_of_an_open_memory_with_a_long_log_is_imported(tmp_path: Path) -> None:
    with NeuroGraphMemory(_config(tmp_path / "source")) as memory:
        _fill(memory.store)  # type: ignore[arg-type]
        memory.admin.export(tmp_path / "out", progress=False)
        count = len(memory.store)  # type: ignore[arg-type]
    import_memory(_config(tmp_path / "target"), tmp_path / "out", progress=False)
    assert _check(_config(tmp_path / "target")) == count

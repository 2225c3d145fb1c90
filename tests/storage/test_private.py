"""Only the owner may read the files of a memory, and they grow with its content, not with its recalls."""

import os
import stat
import sys
from collections.abc import Iterator
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest

from neurogated import (
    Access,
    EdgeKey,
    EdgeType,
    GraphDelta,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    NeuroGraphMemory,
)
from neurogated.config.groups import RuntimeSettings
from neurogated.core.ports import GraphStorePort
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock

# Only the owner of a memory may read its files, whatever the umask allows


def modes(folder: Path) -> dict[str, int]:
    return {
        str(one.relative_to(folder)): stat.S_IMODE(one.stat().st_mode) & ~(0o700 if one.is_dir() else 0o600)
        for one in folder.rglob("*")
    }


@pytest.fixture
def open_to_all() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("open_to_all")
@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no modes")
def test_new_files_and_folders_are_private_and_existing_ones_keep_their_mode(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir(0o755)
    for folder in (shared, tmp_path / "new" / "deeper"):
        config = MemoryConfig(
            save_dir=str(folder), embedding_name="hash", runtime=RuntimeSettings(checkpoint_changes=1)
        )
        with NeuroGraphMemory(config) as memory:
            memory.add([f"Ana has {count} parrots." for count in range(20)], user_id="ana")
            memory.facts.add("Ana", "city", "Lyon", user_id="ana")
            memory.recall("How many parrots has Ana?", user_id="ana")
            memory.admin.export(folder / "export")
            memory.admin.export_user("ana", folder / "ana.json")
            memory.admin.snapshot(folder / "snapshot.graph")
            assert set(modes(folder).values()) == {0}, modes(folder)
        assert set(modes(folder).values()) == {0}, modes(folder)
        assert {"facts.db", "ana.json", "snapshot.graph"} < modes(folder).keys()
        assert any("checkpoint" in name or "index" in name for name in modes(folder)), modes(folder).keys()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o755
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700


# A memory grows with its content, not with the number of its recalls


NAMES = [f"n{number}" for number in range(12)]
KEYS = [EdgeKey(one, other, EdgeType.SEQ) for one, other in pairwise(NAMES)]


@pytest.fixture
def store(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteStore]:
    with SqliteStore.open(tmp_path / "memory.db", clock=clock) as opened:
        made = [MemoryEdge(*key, 0.9, created_at=clock()) for key in KEYS]
        nodes = [MemoryNode(name, f"text of {name}", created_at=clock()) for name in NAMES]
        opened.apply(GraphDelta(nodes=tuple(nodes), edges=tuple(made), at=clock()))
        yield opened


def use(store: SqliteStore, clock: ManualClock, first: int, count: int = 5) -> GraphDelta:
    keys = [KEYS[place % len(KEYS)] for place in range(first, first + count)]
    delta = GraphDelta(touch=Access.of(frozenset(NAMES[:3]), frozenset(keys)), reason="touch", at=clock())
    store.apply(delta)
    return delta


def rows(store: GraphStorePort, statement: str) -> list[tuple[int, ...]]:
    assert isinstance(store, SqliteStore)
    return fetch(store.engine.connection, statement)


def counted(store: GraphStorePort, *tables: str) -> list[int]:
    return [rows(store, f"SELECT count(*) FROM {table}")[0][0] for table in tables]  # noqa: S608


def test_uses_add_no_rows(store: SqliteStore, clock: ManualClock) -> None:
    tables = "edges", "edge_weights", "accesses", "deltas", "edge_uses", "daily_uses"
    for place in range(len(KEYS)):
        use(store, clock, place)
    before = counted(store, *tables)
    for place in range(200):
        clock.advance(timedelta(minutes=1))
        use(store, clock, place)
    assert counted(store, *tables) == before
    assert [before[0], before[3:]] == [len(KEYS), [2, len(KEYS), 1]]

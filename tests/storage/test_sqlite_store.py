"""The durable store beyond the contract: reopening, and refusals of foreign or broken files."""

import os
import sqlite3
import struct
import subprocess
import sys
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from neurogated import Access, Decay, EdgeKey, EdgeType, GraphDelta, MemoryEdge, MemoryNode, WeightChange
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.errors import CorruptMemoryError, FormatVersionError, MemoryLockedError, StorageError
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def _fill(store: SqliteStore, clock: ManualClock) -> None:
    """Write a history with every kind of change."""
    for place, name in enumerate("abcdef"):
        store.add_node(MemoryNode(id=name, content=name, embedding=[1.0, place], metadata={"place": place}))
        if place:
            store.add_edge("abcdef"[place - 1], name, EdgeType.SEQ, 0.5 + place / 16)
            store.add_edge(name, "a", EdgeType.SIM, place / 8)
    clock.advance(timedelta(days=1))
    store.apply(GraphDelta(weights=(WeightChange(EdgeKey("a", "b", EdgeType.SEQ), 0.9),), at=clock()))
    store.apply(GraphDelta(operators=(Decay(0.7, clock(), 0.4),), at=clock()))
    store.apply(GraphDelta(touch=Access.of(frozenset("c"), frozenset({EdgeKey("e", "f", EdgeType.SEQ)})), at=clock()))
    clock.advance(timedelta(days=1))
    store.apply(GraphDelta(operators=(Decay(0.9, clock() - timedelta(hours=1)),), at=clock()))
    store.remove_node("d")
    store.add_node(MemoryNode(id="a", content="a again", embedding=[1.0, 0.0], metadata={"place": [0]}))
    store.add_edge("f", "a", EdgeType.CAUSE, 0.3)
    store.add_edge("b", "c", EdgeType.SEQ, 0.6)


def _everything(store: SqliteStore) -> tuple[object, ...]:
    view = store.view()
    arcs = [
        view.arcs(view.rows([view.ids[row]]), kind, both_ways=True) for row in view.live_nodes() for kind in EdgeType
    ]
    walked = [
        [(view.ids[target], weight) for target, weight in zip(a.target.tolist(), a.weight.tolist(), strict=True)]
        for a in arcs
    ]
    return list(store.all_nodes()), list(store.all_edges()), walked, view.sequence


def test_closing_and_opening_changes_nothing(path: Path, clock: ManualClock) -> None:
    with SqliteStore.open(path, config=MemoryConfig(runtime=RuntimeSettings(overlay_edges=4)), clock=clock) as store:
        _fill(store, clock)
        before = _everything(store)
    with SqliteStore.open(path, clock=clock) as store:
        assert _everything(store) == before


def test_namespaces_and_embedder_are_restored(path: Path) -> None:
    with SqliteStore.open(path, "one") as store:
        store.bind_embedder("model", 2)
        store.in_namespace("two").add_node(MemoryNode(id="x", content="in two", embedding=[1.0, 0.0]))
    with SqliteStore.open(path, "one") as store:
        assert store.namespaces() == ["one", "two"]
        assert len(store) == 0
        assert store.in_namespace("two").get_node("x").content == "in two"
        with pytest.raises(StorageError, match="'model'"):
            store.bind_embedder("other", None)


def test_an_edge_type_of_another_process_is_restored(path: Path) -> None:
    script = (
        "import sys; from neurogated import *; from neurogated.storage.sqlite_store import SqliteStore\n"
        "kind = EdgeType.register('STRANGE', 'strange', plastic=True, both_ways=False)\n"
        "with SqliteStore.open(sys.argv[1]) as store:\n"
        "    [store.add_node(MemoryNode(id=i, content=i)) for i in 'ab']\n"
        "    store.add_edge('a', 'b', kind, 0.5)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=True)
    with SqliteStore.open(path) as store:
        assert store.get_edge("a", "b").type.name == "STRANGE"
        assert store.get_edge("a", "b").type.plastic


def test_the_journal_keeps_every_version(path: Path, clock: ManualClock) -> None:
    with SqliteStore.open(path, clock=clock) as store:
        for text in ("first", "second"):
            store.add_node(MemoryNode(id="a", content=text, embedding=[1.0]))
        store.remove_node("a")
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT content, since, until FROM node_versions ORDER BY since").fetchall()
        vectors = connection.execute("SELECT since, until FROM vectors").fetchall()
    assert rows == [("first", 1, 2), ("second", 2, 3)]
    assert vectors == [(1, 3)], "an unchanged vector is stored once"


@pytest.mark.parametrize("version", [0, 1, 2, 4, 99])
def test_another_format_version_is_refused_and_untouched(path: Path, version: int) -> None:
    SqliteStore.open(path).close()
    with path.open("r+b") as file:
        file.seek(60)
        file.write(struct.pack(">i", version))
    before = path.read_bytes()
    with pytest.raises(FormatVersionError, match=f"version {version}.*version 3.*(from_scratch|newer)"):
        SqliteStore.open(path)
    assert path.read_bytes() == before
    assert not list(path.parent.glob("memory.db-*"))
    with SqliteStore.open(path, from_scratch=True) as store:
        assert len(store) == 0


@pytest.mark.parametrize("from_scratch", [False, True])
def test_a_foreign_file_is_refused_and_untouched(path: Path, *, from_scratch: bool) -> None:
    path.write_bytes(b"my diary, do not overwrite")
    with pytest.raises(CorruptMemoryError, match="not an SQLite file"):
        SqliteStore.open(path, from_scratch=from_scratch)
    assert path.read_bytes() == b"my diary, do not overwrite"
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE other (x)")
        before = {file: file.read_bytes() for file in path.parent.glob("memory.db*")}
        with pytest.raises(CorruptMemoryError, match="not a memory"):
            SqliteStore.open(path, from_scratch=from_scratch)
        assert all(file.read_bytes() == content for file, content in before.items())


def test_a_damaged_file_is_a_clear_error(path: Path) -> None:
    with SqliteStore.open(path) as store:
        for place in range(200):
            store.add_node(MemoryNode(id=str(place), content="x" * 500, embedding=[1.0, 2.0]))
    content = bytearray(path.read_bytes())
    content[4096:] = os.urandom(len(content) - 4096)
    path.write_bytes(content)
    with pytest.raises(StorageError, match=r"memory\.db"):
        SqliteStore.open(path)


def test_from_scratch_drops_the_old_content(path: Path) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
    with SqliteStore.open(path, from_scratch=True) as store:
        assert len(store) == 0


def test_dropping_an_open_memory_is_refused_with_its_place(path: Path) -> None:
    with SqliteStore.open(path):
        with pytest.raises(MemoryLockedError, match=f"process {os.getpid()}"):
            SqliteStore.open(path, from_scratch=True)
        script = (
            "from neurogated.storage.sqlite_store import SqliteStore; "
            f"SqliteStore.open({str(path)!r}, from_scratch=True)"
        )
        other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert other.returncode != 0
        assert f"process {os.getpid()}" in other.stderr
    SqliteStore.open(path).close()


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(StorageError, match="choose another save_dir"):
        SqliteStore.open(tmp_path / "file" / "memory.db")


def test_a_full_disk_refuses_the_delta_and_keeps_the_rest(small_disk: Path) -> None:
    path = small_disk / "memory.db"
    store = SqliteStore.open(path)
    stored: list[str] = []

    def write_on() -> None:
        while True:
            store.add_node(MemoryNode(id=str(len(stored)), content="x" * 50_000, embedding=[1.0, 2.0]))
            stored.append(str(len(stored)))

    with pytest.raises(StorageError, match="check free space"):
        write_on()
    assert stored
    assert sorted(node.id for node in store.all_nodes()) == sorted(stored)
    store.close()
    with SqliteStore.open(path) as again:
        assert sorted(node.id for node in again.all_nodes()) == sorted(stored)


def test_a_crash_while_the_file_is_made_leaves_nothing_in_the_way(path: Path) -> None:
    path.with_suffix(".draft").write_bytes(b"half a file")
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
    assert not path.with_suffix(".draft").exists()


def test_a_delta_with_edges_between_new_and_old_nodes_survives_reopening(path: Path) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="old", content="old"))
        store.apply(
            GraphDelta(
                nodes=(MemoryNode(id="new", content="new"),),
                edges=(MemoryEdge("new", "old", EdgeType.SEQ), MemoryEdge("old", "new", EdgeType.CAUSE, 0.5)),
            )
        )
        before = list(store.all_edges())
    with SqliteStore.open(path) as store:
        assert list(store.all_edges()) == before

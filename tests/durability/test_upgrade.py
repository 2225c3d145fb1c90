"""A memory of format version 1 becomes one of today's, with all it held; the golden file is not of this code."""

import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from neurogated import Decay, EdgeType, MemoryNode
from neurogated.core.delta import PendingTask
from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.storage.sqlite_store import SqliteStore
from tests.durability.contents import environment
from tests.durability.format_1 import write_format_1

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
HERE = Path(__file__).parent


def _second(number: float) -> datetime:
    return EPOCH + timedelta(seconds=number)


@pytest.fixture(params=[False, True], ids=["closed", "killed"])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    path = tmp_path / "memory.db"
    write_format_1(path, killed=request.param)
    assert (
        path.with_name("memory.db-wal").exists() is request.param or not path.with_name("memory.db-wal").stat().st_size
    )
    return path


def test_everything_of_the_old_memory_is_there(old: Path) -> None:
    with SqliteStore.open(old) as store:
        assert store.check() == []
        assert store.embedder == ("model", 3)
        assert store.namespaces() == ["default", "other"]
        first, second = store.all_nodes()
        assert first == MemoryNode(
            id="a", content="the second apple", embedding=[1.0, 0.0, 0.0], metadata={"place": 2}, created_at=_second(3),
            last_accessed=_second(6),
        )  # fmt: skip
        assert second == MemoryNode(
            id="b", content="a river", embedding=[0.0, 1.0, 0.0], base_energy=0.5, created_at=_second(1),
            last_accessed=_second(1), valid_from=_second(0.5), valid_to=_second(9),
        )  # fmt: skip
        edges = [(*edge.key, edge.weight, edge.valid_from) for edge in store.all_edges()]
        # Strengthened to 0.8, faded to 0.4, touched.
        assert edges == [("a", "b", EdgeType.SEQ, 0.4, None), ("a", "b", EdgeType.SIM, 0.75, _second(1))]
        assert store.pending() == [PendingTask("cause", ("a", "b"))]
        assert [node.content for node in store.in_namespace("other").all_nodes()] == ["an apple elsewhere"]
        assert [name for name, _ in store.keyword_search("apple", 5)] == ["a"]


def test_history_and_past_of_the_old_memory_are_there(old: Path) -> None:
    with SqliteStore.open(old) as store:
        history = store.history()
        assert [(entry.sequence, entry.at, entry.reason) for entry in history] == [
            (1, _second(1), "three nodes"), (3, _second(3), "a again"), (4, _second(4), "feedback"),
            (5, _second(5), "decay"), (7, _second(7), "c goes"),
        ]  # fmt: skip
        assert history[3].operators == (Decay(0.5, _second(5)),)
        weights = [[edge.weight for edge in store.as_of(moment).all_edges()] for moment in (1, 4, 5, 6, 7)]
        assert weights == [[0.5, 0.5, 0.75], [0.8, 0.5, 0.75], [0.4, 0.25, 0.75], [0.4, 0.25, 0.75], [0.4, 0.75]]
        before = store.as_of(_second(2.5))
        assert [node.content for node in before.all_nodes()] == ["the first apple", "a river", "a cloud"]
        assert {name for name, _ in before.keyword_search("first cloud", 5)} == {"a", "c"}


def test_the_upgraded_memory_goes_on_where_the_old_one_ended(old: Path) -> None:
    with SqliteStore.open(old) as store:
        store.add_node(MemoryNode(id="d", content="new", embedding=[1.0, 1.0, 1.0], expires_at=_second(10**10)))
        assert store.view().sequence == 8
        before = everything_of(store)
    with SqliteStore.open(old) as store:
        assert everything_of(store) == before
        assert store.check() == []


def everything_of(store: SqliteStore) -> list[object]:
    return [list(store.all_nodes()), list(store.all_edges()), store.history(), store.pending()]


def test_a_reader_refuses_the_old_memory_and_leaves_it(old: Path) -> None:
    before = old.read_bytes()
    with pytest.raises(StorageError, match="format version 1; open it for writing once"):
        SqliteStore.open(old, read_only=True)
    assert old.read_bytes() == before


def test_a_full_disk_leaves_the_old_memory(tmp_path: Path, old: Path, small_disk: Path) -> None:
    connection = sqlite3.connect(old)
    connection.execute("UPDATE node_versions SET content = ? WHERE node = 2", ("x" * 700_000,))
    connection.commit()
    connection.close()
    target = small_disk / "memory.db"
    target.write_bytes(old.read_bytes())
    with pytest.raises(StorageError, match="check free space"):
        SqliteStore.open(target)
    del tmp_path
    with closing(sqlite3.connect(target)) as connection:
        assert connection.execute("PRAGMA user_version").fetchone() == (1,)


@pytest.mark.parametrize("table", ["deltas", "strengths"])
def test_an_old_memory_that_is_damaged_is_refused(old: Path, table: str) -> None:
    connection = sqlite3.connect(old)
    ((page,),) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = ?", (table,))
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = bytearray(old.read_bytes())
    content[(page - 1) * 4096 : page * 4096] = b"\xff" * 4096
    old.write_bytes(content)
    with pytest.raises(CorruptMemoryError, match="damaged"):
        SqliteStore.open(old)
    assert old.read_bytes() == content


@pytest.mark.parametrize(("seed", "rounds"), [(31, 6), pytest.param(32, 60, marks=pytest.mark.slow)])
@pytest.mark.parametrize("what", ["upgrade", "create", "replace"])
def test_a_kill_while_a_file_is_made_loses_nothing(tmp_path: Path, what: str, seed: int, rounds: int) -> None:
    command = [sys.executable, str(HERE / "kill_making.py"), str(tmp_path), str(seed), str(rounds), what]
    done = subprocess.run(command, env=environment(), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert sum(json.loads(done.stdout).values()) == rounds

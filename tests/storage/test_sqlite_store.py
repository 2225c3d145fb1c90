"""The durable store beyond the contract: reopening, refusals, limits, and files that only the owner reads."""

import logging
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import apsw
import pytest

from graph_store_kit.reads import keyword_search
from neurogated import (
    Access,
    Decay,
    EdgeKey,
    EdgeType,
    GraphDelta,
    GraphStore,
    MemoryConfig,
    MemoryEdge,
    MemoryNode,
    NeuroGraphMemory,
    WeightChange,
)
from neurogated.config.groups import RuntimeSettings
from neurogated.core.delta import NodeChange, PendingTask
from neurogated.core.ports import GraphStorePort
from neurogated.errors import ConfigError, InputError, MemoryClosedError, MemoryLockedError, StorageError
from neurogated.storage.checkpoint import IndexSnapshot
from neurogated.storage.log.memory_log import MemoryLog
from neurogated.storage.log.neo4j.connection import BoltAddress
from neurogated.storage.log.postgres.server import PostgresAddress
from neurogated.storage.log.sqlite import journal
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.sqlite_log import SqliteLog
from neurogated.storage.sqlite_store import SqliteStore
from neurogated.testing import ManualClock


def test_dropping_an_open_memory_is_refused_with_its_place(path: Path) -> None:
    with SqliteStore.open(path):
        with pytest.raises(MemoryLockedError):
            SqliteStore.open(path, from_scratch=True)
        script = (
            "from neurogated.storage.sqlite_store import SqliteStore; "
            f"SqliteStore.open({str(path)!r}, from_scratch=True)"
        )
        other = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
        assert other.returncode != 0
        assert f"process {os.getpid()}" in other.stderr
    SqliteStore.open(path).close()


def test_a_crash_while_the_file_is_made_leaves_nothing_in_the_way(path: Path) -> None:
    path.with_name(path.name + ".draft").write_bytes(b"half a file")
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
    assert not path.with_name(path.name + ".draft").exists()


def test_the_changes_since_a_delta_are_found_without_reading_all_nodes(path: Path) -> None:
    with SqliteStore.open(path) as store:
        store.add_node(MemoryNode(id="a", content="a"))
    values = {"after": 0, "up_to": 1, "namespace": 1, "kind": "fact", "edge_type": "derived_from"}
    connection = apsw.Connection(str(path))
    plan = [row[-1] for row in connection.execute(f"EXPLAIN QUERY PLAN {journal._TOUCHED}", values)]
    connection.close()

    assert [step for step in plan if step.startswith("SEARCH n ")]
    assert all("INTEGER PRIMARY KEY" in step for step in plan if step.startswith("SEARCH n "))
    assert not [step for step in plan if step.startswith("SCAN n")]


def test_what_another_process_wrote_is_taken_in_at_a_cost_that_does_not_grow(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few, many = (_steps_of_following(tmp_path / f"{count}.db", count, monkeypatch) for count in (100, 2_000))

    assert 0 < many <= 1.2 * few


def _steps_of_following(path: Path, count: int, monkeypatch: pytest.MonkeyPatch) -> int:
    """Return the steps of SQLite's machine with which a reader takes in one memory, beside others."""
    steps, day = list[int](), datetime(2026, 1, 1, tzinfo=UTC)

    def watch(connection: apsw.Connection) -> None:
        def note(event: dict[str, Any]) -> None:
            steps.append(event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"])

        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, note)

    with SqliteStore.open(path) as writer:
        ids = [f"n{number}" for number in range(count)]
        nodes = [MemoryNode(id=one, content=one, valid_from=day) for one in ids]
        edges = [MemoryEdge(*ends, EdgeType.CAUSE, valid_from=day, relation="next") for ends in pairwise(ids)]
        writer.apply(GraphDelta(nodes=tuple(nodes), edges=tuple(edges)))
        writer.apply(GraphDelta(node_changes=tuple(NodeChange(one, energy=0.5) for one in ids)))
        writer.apply(GraphDelta(touch=Access.of(ids, [edge.key for edge in edges])))
        monkeypatch.setattr(apsw, "connection_hooks", [*apsw.connection_hooks, watch])
        with SqliteStore.open(path, read_only=True) as reader:
            reader.view()
            writer.add_node(MemoryNode(id="new", content="new", valid_from=day))
            steps.clear()
            assert len(reader) == count + 1
    return sum(steps)


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
def filled(tmp_path: Path, clock: ManualClock) -> Iterator[SqliteStore]:
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


def test_uses_add_no_rows(filled: SqliteStore, clock: ManualClock) -> None:
    tables = "edges", "edge_weights", "accesses", "deltas", "edge_uses", "daily_uses"
    for place in range(len(KEYS)):
        use(filled, clock, place)
    before = counted(filled, *tables)
    for place in range(200):
        clock.advance(timedelta(minutes=1))
        use(filled, clock, place)
    assert counted(filled, *tables) == before
    assert [before[0], before[3:]] == [len(KEYS), [2, len(KEYS), 1]]


# The limits of a store. It refuses the rest before it commits anything


AT = datetime(2026, 1, 1, tzinfo=UTC)
SEQ = EdgeKey("a", "b", EdgeType.SEQ)
BASE = GraphDelta(
    nodes=(MemoryNode("a", "apple", [1, 0]), MemoryNode("b", "pear", [0, 1])), edges=(MemoryEdge(*SEQ, 0.5),), at=AT
)


def nested(depth: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(depth - 1):
        value = [value]
    return value


def changed(value: object) -> MemoryNode:
    """Return a node whose metadata was changed after its validation."""
    node = MemoryNode("changed", "changed")
    node.metadata["value"] = value  # type: ignore[index]
    return node


def assert_opens_as_it_is(store: SqliteStore, path: Path) -> None:
    told = list(store.all_nodes()), list(store.all_edges()), store.pending()
    assert store.check() == []
    store.close()
    with SqliteStore.open(path) as again:
        assert (list(again.all_nodes()), list(again.all_edges()), again.pending()) == told
        assert again.check() == []
        again.compact()


UNFIT: dict[str, Callable[[], GraphDelta]] = {
    "content that is no text": lambda: GraphDelta(nodes=(MemoryNode("n", None),)),  # type: ignore[arg-type]
    "a number with too many digits": lambda: GraphDelta(nodes=(MemoryNode("n", "", metadata={"a": 10**5000}),)),
    "metadata nested deeply": lambda: GraphDelta(nodes=(MemoryNode("n", "", metadata={"a": nested(100)}),)),
    "metadata nested beyond recursion": lambda: GraphDelta(nodes=(MemoryNode("n", "", metadata={"a": nested(10**5)}),)),
    "metadata that became NaN": lambda: GraphDelta(nodes=(changed(float("nan")),)),
    "metadata that became a set": lambda: GraphDelta(nodes=(changed({1}),)),
    "metadata that became half a character": lambda: GraphDelta(nodes=(changed("\ud800"),)),
    "metadata that became too deep": lambda: GraphDelta(nodes=(changed(nested(10**5)),)),
    "a node without a time": lambda: GraphDelta(nodes=(MemoryNode("n", "", last_accessed=None),)),  # type: ignore[arg-type]
    "an edge without a time": lambda: GraphDelta(edges=(MemoryEdge("b", "a", EdgeType.SEQ, created_at=None),)),  # type: ignore[arg-type]
    "a time that is text": lambda: GraphDelta(weights=(WeightChange(SEQ, 0.5, "now"),)),  # type: ignore[arg-type]
    "a delta without a time": lambda: GraphDelta(nodes=(MemoryNode("n", ""),), at=None),  # type: ignore[arg-type]
    "an embedding of letters": lambda: GraphDelta(nodes=(MemoryNode("n", "", "ab"),)),  # type: ignore[arg-type]
    "an energy that is no number": lambda: GraphDelta(nodes=(MemoryNode("n", "", base_energy=None),)),  # type: ignore[arg-type]
    "a weight that is no number": lambda: GraphDelta(weights=(WeightChange(SEQ, None),)),  # type: ignore[arg-type]
    "a decay that is none": lambda: GraphDelta(operators=(Decay(float("nan"), AT),)),
    "a task about numbers": lambda: GraphDelta(queued=(PendingTask("cause", (1,)),)),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("make", UNFIT.values(), ids=UNFIT)
def test_a_delta_that_cannot_be_stored_is_refused_completely(tmp_path: Path, make: Callable[[], GraphDelta]) -> None:
    store = SqliteStore.open(tmp_path / "memory.db")
    store.apply(BASE)
    with pytest.raises(InputError):
        store.apply(make())
    assert len(list(store.journal())) == 1
    assert_opens_as_it_is(store, tmp_path / "memory.db")


def test_vectors_of_a_file_have_one_length(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    longer = MemoryNode("n", "", [1, 2, 3])
    with SqliteStore.open(path) as store:
        store.apply(BASE)
        with pytest.raises(InputError):
            store.in_namespace("other").add_node(longer)
        store.apply(GraphDelta(removed_nodes=("a", "b")))
    # The past still has vectors.
    with SqliteStore.open(path) as store:
        with pytest.raises(InputError):
            store.add_node(longer)
        assert store.check() == []
        store.compact()
        store.in_namespace("other").add_node(longer)
        with pytest.raises(InputError):
            store.apply(BASE)
        assert store.check() == []


# Names in the addresses of databases: none that a server would cut, since two of them could be one memory


LONG = "tenant_" + "x" * 57


@pytest.mark.parametrize(
    "url",
    [
        f"postgresql://host/database?schema={LONG}",
        f"postgresql://host/database?schema={'é' * 32}",
        f"postgresql://host/{LONG}",
        f"postgresql://{LONG}@host/database",
    ],
)
def test_postgresql_refuses_a_name_that_the_server_would_cut(url: str) -> None:
    with pytest.raises(ConfigError, match=r"63 bytes of a name.*shorten it"):
        PostgresAddress(url)


@pytest.mark.parametrize("option", ["options=-c%20search_path%3Dother", "search=database"])
def test_postgresql_refuses_another_name_of_the_schema_and_an_unknown_option(option: str) -> None:
    with pytest.raises(ConfigError):
        PostgresAddress(f"postgresql://host/database?{option}")


def test_neo4j_refuses_a_database_that_no_server_can_have() -> None:
    with pytest.raises(ConfigError, match="shorten it"):
        BoltAddress.of(f"bolt://host/{LONG}", {})
    # The name of a memory is a value, which no server cuts.
    assert BoltAddress.of(f"bolt://host/d?memory={LONG}", {}).memory == LONG


# The journal during reads, transactions, and readers beside the writer, step by step


def _node(name: str, text: str | None = None) -> MemoryNode:
    return MemoryNode(name, text or name, [1.0, float(len(name))])


def _ids(store: GraphStore) -> list[str]:
    return [node.id for node in store.all_nodes()]


# The past


def test_the_past_can_be_read_only(path: Path) -> None:
    with SqliteStore.open(path) as store:
        for name in "abc":
            store.add_node(_node(name))
        past = store.as_of(2)
        writes: list[Callable[[], object]] = [
            lambda: past.add_node(_node("x")),
            lambda: past.remove_node("a"),
            lambda: past.in_namespace("other"),
            lambda: past.bind_embedder("hash", 2),
        ]
        for write in writes:
            with pytest.raises(InputError):
                write()
            assert _ids(past) == ["a", "b"]
        with pytest.raises(InputError), past.transaction():
            past.add_node(_node("x"))
        assert _ids(past) == ["a", "b"]
        assert _ids(past.as_of(1)) == ["a"]
        store.add_node(_node("a", "later"))
        for numbers in (past.journal(), past.history()):
            assert [entry.sequence for entry in numbers] == [1, 2]
        assert [entry.sequence for entry in past.journal(about="a")] == [1]
        with pytest.raises(InputError):
            past.as_of(3)
        past.close()
        with pytest.raises(MemoryClosedError):
            past.view()
        assert _ids(store) == ["a", "b", "c"]
        past = store.as_of(2)
    with pytest.raises(MemoryClosedError):
        past.view()


# Transactions


class _FailureError(Exception):
    pass


def _fail_after(store: GraphStore, *changes: Callable[[], object]) -> None:
    """Make changes in a transaction that then fails."""
    with pytest.raises(_FailureError):
        _made_and_failed(store, changes)


def _made_and_failed(store: GraphStore, changes: Iterable[Callable[[], object]]) -> None:
    with store.transaction():
        for change in changes:
            change()
        raise _FailureError


def test_an_inner_transaction_that_raises_is_taken_back_alone(store: GraphStore) -> None:
    with store.transaction():
        store.add_node(_node("a"))
        _fail_after(store, lambda: store.add_node(_node("b")))
        assert _ids(store) == ["a"]
        with store.transaction():
            store.add_node(_node("c"))
    assert _ids(store) == ["a", "c"]
    assert [sorted(entry.changes.items()) for entry in store.history()] == [[("nodes put", 1)]] * 2
    if isinstance(store, SqliteStore):
        assert store.check() == []

    def inner() -> None:
        with store.transaction():
            store.add_node(_node("d"))

    _fail_after(store, inner)
    assert _ids(store) == ["a", "c"]


# Readers


def test_a_reader_opens_the_file_that_replaced_its_own(path: Path, tmp_path: Path) -> None:
    with SqliteStore.open(tmp_path / "new.db") as new:
        new.add_node(_node("new"))
    with SqliteStore.open(path) as store:
        store.add_node(_node("old"))
    with SqliteStore.open(path, read_only=True) as reader:
        view = reader.view()
        rows = view.rows(["old"])
        (tmp_path / "new.db").replace(path)
        assert _ids(reader) == ["new"]
        assert reader.snapshot(view).similarities([1.0, 3.0], rows).tolist() == [0.0]
        assert keyword_search(reader, "old", 1) == []
        path.unlink()
        with pytest.raises(StorageError):
            reader.view()


# Interrupts, failed background jobs and full disks


# A store after interrupts, with leftover files, and in the past


@pytest.mark.parametrize("log", [MemoryLog, SqliteLog])
def test_after_an_interrupt_at_the_commit_the_store_continues_with_the_stored_state(
    path: Path, log: type[MemoryLog | SqliteLog], monkeypatch: pytest.MonkeyPatch
) -> None:
    append = log.append

    def interrupted(*arguments: Any) -> int:  # noqa: ANN401
        # Like Ctrl-C right after the commit, while the process waits for the disk.
        append(*arguments)
        raise KeyboardInterrupt

    with GraphStore() if log is MemoryLog else SqliteStore.open(path) as store:
        monkeypatch.setattr(log, "append", interrupted)
        for name in "ab":
            with pytest.raises(KeyboardInterrupt):
                store.add_node(MemoryNode(id=name, content=name))
        monkeypatch.undo()
        assert [node.id for node in store.all_nodes()] == ["a", "b"]
        store.add_edge("a", "b", EdgeType.SEQ)
        if isinstance(store, SqliteStore):
            assert store.check() == []
            with SqliteStore.open(path) as again:
                assert [node.id for node in again.all_nodes()] == ["a", "b"]


def test_a_log_that_lost_its_file_is_not_played_into_a_new_memory(path: Path) -> None:
    first = SqliteStore.open(path)
    first.add_node(MemoryNode(id="old", content="old"))
    log = path.with_name("memory.db-wal").read_bytes()
    first.close()
    path.unlink()
    # While the watermark exists, the loss is an error.
    path.with_name("memory.acknowledged").unlink()
    path.with_name("memory.db-wal").write_bytes(log)
    with SqliteStore.open(path) as fresh:
        assert len(fresh) == 0
        assert fresh.check() == []


# After a failed background job, later jobs run, no thread waits for ever, and the log has a line


def test_indexes_are_kept_again_after_memory_ran_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def full(*_: object) -> None:
        raise MemoryError

    with SqliteStore.open(
        tmp_path / "memory.db", config=MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    ) as store:
        with monkeypatch.context() as patch, caplog.at_level(logging.WARNING):
            patch.setattr(IndexSnapshot, "write", full)
            store.add_node(MemoryNode(id="a", content="heron"))
            store.follower.checkpointer.wait()
        assert "could not be written (MemoryError())" in caplog.text
        store.add_node(MemoryNode(id="b", content="egret"))
        store.follower.checkpointer.wait()
        assert [folder.name for folder in (tmp_path / "memory.index").iterdir()] == ["1-2"]

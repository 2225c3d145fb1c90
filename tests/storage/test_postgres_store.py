"""What a memory in PostgreSQL does beyond the conformance kit, on a real server."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psycopg
import pytest

from graph_store_kit.histories import node
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import RuntimeSettings
from neurogated.core.codec import decode
from neurogated.core.delta import GraphDelta
from neurogated.errors import (
    CorruptMemoryError,
    ForkedMemoryError,
    MemoryLockedError,
    StorageError,
)
from neurogated.storage.log.log import Position
from neurogated.storage.log.postgres.postgres_log import PostgresLog
from neurogated.storage.postgres_store import PostgresStore

HURRIED = MemoryConfig(runtime=RuntimeSettings(write_lock_seconds=0.2))


@pytest.fixture
def store(url: str) -> Iterator[PostgresStore]:
    with PostgresStore.open(url) as opened:
        yield opened


def put(store: PostgresStore, name: str, reason: str = "") -> int:
    return store.apply(GraphDelta(nodes=(node(name),), reason=reason))


def names(store: PostgresStore) -> list[str]:
    return [one.id for one in store.all_nodes()]


def change(url: str, statement: str) -> None:
    with psycopg.connect(url, options="-c search_path=neurogated", autocommit=True) as connection:
        connection.execute(statement)


# Several processes


def test_one_call_asks_once_whether_others_have_written(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = MemoryConfig(storage=url, save_dir=str(tmp_path), embedding_name="hash")
    with NeuroGraphMemory(config) as memory, NeuroGraphMemory(config) as other:
        memory.add("Ana went to Lyon.")
        memory.recall("Where was Ana?")
        asked: list[object] = []
        read = PostgresLog.position

        def counted(log: PostgresLog) -> Position:
            asked.append(log)
            return read(log)

        monkeypatch.setattr(PostgresLog, "position", counted)
        with memory.session.runtime.work("recalling"):
            memory.session.retriever.recall("Where was Ana?")
        assert len(asked) == 1
        (stored,) = other.add("Ana went to Oslo.")
        assert stored in memory.recall("Who went to Oslo?").ids


def test_transactions_that_wait_for_each_other_do_not_wait_for_ever(store: PostgresStore, url: str) -> None:
    both = threading.Barrier(2)

    def write(one: PostgresStore, order: tuple[str, str]) -> bool:
        graphs = [one.in_namespace(name) for name in order]
        try:
            with one.in_namespace("base" + order[0]).transaction():
                put(graphs[0], order[0])
                both.wait()
                put(graphs[1], order[0])
        except MemoryLockedError:
            return False
        return True

    with PostgresStore.open(url) as other, ThreadPoolExecutor() as pool:
        store.in_namespace("x"), store.in_namespace("y")
        made = list(pool.map(write, (store, other), (("x", "y"), ("y", "x"))))
        assert True in made
        expected = [order for order, is_made in zip("xy", made, strict=True) if is_made]
        for name in "xy":
            assert sorted(names(store.in_namespace(name))) == expected


def test_an_export_reads_one_state_while_others_write(store: PostgresStore, url: str) -> None:
    tenant = store.in_namespace("tenant")
    put(store, "a"), put(tenant, "a")
    config = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    with store.still_copy() as copy:
        assert names(copy) == ["a"]
        with PostgresStore.open(url, config=config) as other:
            put(other, "b"), put(other.in_namespace("tenant"), "b")
        assert names(copy) == names(copy.in_namespace("tenant")) == ["a"]
    assert names(tenant) == ["a", "b"]


def test_only_the_parent_of_a_fork_uses_the_memory(store: PostgresStore) -> None:
    put(store, "a")
    child = os.fork()
    if not child:
        try:
            store.view()
        except ForkedMemoryError:
            os._exit(7)
        os._exit(8)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    put(store, "b")
    assert names(store) == ["a", "b"]


def test_a_damaged_checkpoint_is_rebuilt(url: str) -> None:
    config = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    with PostgresStore.open(url, config=config) as store:
        put(store, "a"), put(store, "b")
        store.remove_node("a")
    change(url, "UPDATE checkpoints SET deltas[1] = set_byte(deltas[1], 40, 255 - get_byte(deltas[1], 40))")
    with PostgresStore.open(url) as store:
        assert names(store) == ["b"]
        assert store.engine.fetch("SELECT count(*) FROM checkpoints") == [(1,)]


def test_a_compaction_erases_texts_from_checkpoints_too(url: str) -> None:
    config = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
    with PostgresStore.open(url, config=config) as store:
        put(store, "a"), put(store, "b")
    with PostgresStore.open(url) as store:
        assert store.engine.fetch("SELECT count(*) FROM checkpoints") == [(1,)]
        store.remove_node("a")
        store.compact()
        for column in ("SELECT body FROM deltas", "SELECT unnest(deltas) FROM checkpoints"):
            deltas = [decode(body) for (body,) in store.engine.fetch(column)]
            assert "a" not in {one.id for delta in deltas for one in delta.nodes}


def test_a_write_that_fails_in_a_transaction_cannot_be_ignored(store: PostgresStore, url: str) -> None:
    store.in_namespace("tenant")
    with PostgresStore.open(url, config=HURRIED) as other, store.in_namespace("tenant").exclusively():
        with pytest.raises(StorageError), other.transaction():  # noqa: PT012 - the whole block is under test
            put(other, "a")
            with pytest.raises(MemoryLockedError):
                put(other.in_namespace("tenant"), "b")
        assert names(other) == []
        put(other, "c")
    assert names(store) == ["c"]


# Faults


def test_an_unreachable_server_is_named_without_its_password(tmp_path: Path) -> None:
    url = "postgresql://ana:se%40cret@127.0.0.1:1/memories?connect_timeout=1&schema=notes"
    config = MemoryConfig(storage=url, save_dir=str(tmp_path), embedding_name="hash")
    with pytest.raises(StorageError, match=r"127\.0") as caught:
        NeuroGraphMemory(config)
    command = [sys.executable, "-m", "neurogated", "stats", "--storage", url, "--debug"]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 1
    for text in (str(caught.value), repr(config), told.stdout + told.stderr):
        assert "ana" in text
        assert "cret" not in text


def test_damage_is_found(store: PostgresStore, url: str) -> None:
    put(store, "a")
    change(url, "UPDATE deltas SET body = set_byte(body, 40, 255 - get_byte(body, 40))")
    with pytest.raises(CorruptMemoryError):
        PostgresStore.open(url)

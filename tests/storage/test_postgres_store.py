"""What a memory in PostgreSQL does beyond the conformance kit, on a real server."""

import contextlib
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psycopg
import pytest
from numpy.typing import NDArray

from graph_store_kit.histories import node
from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.config.groups import RuntimeSettings
from neurogated.core.codec import decode
from neurogated.core.delta import GraphDelta
from neurogated.core.model import MemoryNode
from neurogated.embedding.registry import HashEmbedder
from neurogated.errors import (
    CorruptMemoryError,
    ForkedMemoryError,
    FormatVersionError,
    MemoryLockedError,
    StorageError,
)
from neurogated.session.administration import re_embed
from neurogated.storage.log.log import Position
from neurogated.storage.log.postgres import server
from neurogated.storage.log.postgres.postgres_log import PostgresLog
from neurogated.storage.postgres_store import PostgresStore
from neurogated.testing import ManualClock
from tests.gate import Gate
from tests.postgres_server import Postgres

OFTEN = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
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
    with store.still_copy() as copy:
        assert names(copy) == ["a"]
        with PostgresStore.open(url, config=OFTEN) as other:
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
    with PostgresStore.open(url, config=OFTEN) as store:
        put(store, "a"), put(store, "b")
        store.remove_node("a")
    change(url, "UPDATE checkpoints SET deltas[1] = set_byte(deltas[1], 40, 255 - get_byte(deltas[1], 40))")
    with PostgresStore.open(url) as store:
        assert names(store) == ["b"]
        assert store.engine.fetch("SELECT count(*) FROM checkpoints") == [(1,)]


def test_a_compaction_erases_texts_from_checkpoints_too(url: str) -> None:
    with PostgresStore.open(url, config=OFTEN) as store:
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


# Connections that are cut: every write is made wholly or not at all, and work goes on


@pytest.fixture
def gate(url: str) -> Iterator[Gate]:
    gate = Gate.before(url)
    gate.open()
    yield gate
    gate.shut()


def test_a_write_whose_answer_is_lost_is_found_again(gate: Gate) -> None:
    with PostgresStore.open(gate.url) as store:
        put(store, "a")
        with gate.cut(b"lost answer", forward=True):
            assert put(store, "b", reason="lost answer") == 2
        put(store, "c")
        assert names(store) == ["a", "b", "c"]
        assert store.check() == []


def test_a_write_that_never_arrives_raises_and_can_be_made_again(gate: Gate) -> None:
    with PostgresStore.open(gate.url) as store:
        put(store, "a")
        with gate.cut(b"never arrives", forward=False), pytest.raises(StorageError):
            put(store, "b", reason="never arrives")
        assert names(store) == ["a"]
        assert put(store, "b") == 2
        assert store.check() == []


@pytest.mark.parametrize("forward", [True, False])
def test_a_transaction_is_made_wholly_or_not_at_all(gate: Gate, *, forward: bool) -> None:
    with PostgresStore.open(gate.url) as store:
        other = store.in_namespace("other")
        failing = contextlib.nullcontext() if forward else pytest.raises(StorageError)
        with gate.cut(b"COMMIT", forward=forward), failing, store.transaction():
            put(store, "a"), put(other, "a"), put(store, "b")
        assert names(store) == (["a", "b"] if forward else [])
        assert names(other) == (["a"] if forward else [])
        put(store, "c")
        assert store.check() == []


@pytest.fixture(scope="module")
def postgres_of_ana(postgres: Postgres) -> Postgres:
    postgres.require_password("ana", "right")
    return postgres


@pytest.mark.parametrize(
    ("change_url", "told"),
    [
        (lambda url: url.replace("/tests_", "/absent_"), "create the database"),
        (lambda url: url.replace("postgres:@", "ghost:cret@"), "user or the password"),
        (lambda url: url.replace("postgres:@", "ana:cret@"), "user or the password"),
        (lambda url: url.replace("postgres:@", "ana@"), "user or the password"),
    ],
)
def test_a_server_that_refuses_a_connection_is_not_called_away(
    postgres_of_ana: Postgres, change_url: Callable[[str], str], told: str
) -> None:
    url = postgres_of_ana.database()
    with pytest.raises(StorageError, match=told) as caught:
        PostgresStore.open(change_url(url))
    assert "cret" not in str(caught.value)
    assert "cannot be reached" not in str(caught.value)


def test_a_server_that_takes_no_writes_is_told_from_a_memory_that_is_open_read_only(url: str) -> None:
    PostgresStore.open(url).close()
    standby = f"{url}&options=-c%20default_transaction_read_only%3Don"
    with (
        PostgresStore.open(standby) as store,
        pytest.raises(StorageError, match="takes no writes, because it is a standby"),
    ):
        put(store, "a")
    with PostgresStore.open(url, read_only=True) as store, pytest.raises(StorageError, match="without read_only"):
        put(store, "a")


def test_a_pooler_that_mixes_sessions_is_named(url: str) -> None:
    with PostgresStore.open(url) as store:
        put(store, "a")
        with store.engine.server.session() as connection:
            # The next transaction finds the session of another client.
            connection.execute("SET search_path TO public")
        with pytest.raises(StorageError, match="pool_mode=session"):
            put(store, "b")


# Formats that other versions of this library wrote


def test_a_newer_format_is_refused(url: str) -> None:
    PostgresStore.open(url).close()
    change(url, "INSERT INTO migrations VALUES (99)")
    with pytest.raises(FormatVersionError, match="99"):
        PostgresStore.open(url)


def test_an_older_format_is_migrated_before_it_is_read(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA neurogated; SET search_path TO neurogated")
        connection.execute("CREATE TABLE migrations (number integer PRIMARY KEY); INSERT INTO migrations VALUES (3)")
        for statements in server.MIGRATIONS[:3]:
            connection.execute(statements)
        connection.execute(
            "INSERT INTO copies VALUES ('secret'); INSERT INTO namespaces (name) VALUES ('secret'); ANALYZE"
        )
        samples = "SELECT count(*) FROM pg_stats WHERE attname IN ('place', 'name') AND schemaname = 'neurogated'"
        assert connection.execute(samples).fetchone() == (2,)
        with pytest.raises(FormatVersionError):
            PostgresStore.open(url, read_only=True)
        with PostgresStore.open(url) as store:
            put(store, "a")
            assert store.namespaces() == ["secret", "default"]
        assert connection.execute(samples).fetchone() == (0,)
    with PostgresStore.open(url, read_only=True) as store:
        assert names(store) == ["a"]


OF_THE_SEARCH = """
    SET search_path TO neurogated;
    CREATE TABLE memories (namespace bigint REFERENCES namespaces ON DELETE CASCADE, body text);
    CREATE TABLE vectors (namespace bigint REFERENCES namespaces ON DELETE CASCADE) PARTITION BY LIST (namespace);
    CREATE TABLE vectors_of_others PARTITION OF vectors DEFAULT;
    CREATE TABLE vectors_of_1 PARTITION OF vectors FOR VALUES IN (1);
    CREATE TABLE terms (namespace bigint REFERENCES namespaces ON DELETE CASCADE);
    CREATE TABLE links (namespace bigint REFERENCES namespaces ON DELETE CASCADE);
    INSERT INTO memories VALUES (1, 'secret');
    UPDATE heads SET searched = true;
    DELETE FROM migrations WHERE number = 6;
"""
LEFT = "SELECT count(*) FROM pg_tables WHERE schemaname = 'neurogated' AND tablename ~ 'memories|vectors|terms|links'"


@pytest.mark.parametrize("from_scratch", [True, False])
def test_the_tables_by_which_earlier_versions_searched_go_when_the_memory_is_opened(
    url: str, *, from_scratch: bool
) -> None:
    with PostgresStore.open(url) as store:
        put(store, "a")
        change(url, OF_THE_SEARCH)
        with PostgresStore.open(url, from_scratch=from_scratch) as migrated:
            put(migrated, "b")
            assert migrated.engine.fetch(LEFT) == [(0,)]
            assert migrated.engine.fetch("SELECT 1 FROM heads WHERE searched") == []
            assert names(migrated) == (["b"] if from_scratch else ["a", "b"])
            assert migrated.check() == []


def test_tables_of_other_programs_stay_when_a_memory_is_made_or_migrated(url: str) -> None:
    change(url, "CREATE SCHEMA neurogated; CREATE TABLE neurogated.memories AS SELECT 'theirs'; ")
    PostgresStore.open(url).close()
    change(url, "DELETE FROM neurogated.migrations WHERE number = 6")
    with PostgresStore.open(url) as store:
        assert store.engine.fetch("SELECT * FROM memories") == [("theirs",)]
    with PostgresStore.open(url, from_scratch=True) as store:
        assert store.engine.fetch("SELECT * FROM memories") == [("theirs",)]


# Compaction and re-embedding while other sessions use the database


class OtherEmbedder(HashEmbedder):
    """Another model, which calls a function at each use."""

    name = "other"
    used: Callable[[], None]

    def embed_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.used()
        return super().embed_documents(texts)


def test_a_compaction_says_which_transaction_can_still_read_what_it_erased(url: str) -> None:
    with PostgresStore.open(url, config=HURRIED) as store:
        store.apply(GraphDelta(nodes=(MemoryNode("a", "secret"), MemoryNode("b", "text"))))
        with psycopg.connect(url) as old:
            old.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            old.execute("SELECT 1")
            store.remove_node("a")
            with pytest.raises(MemoryLockedError, match=str(old.info.backend_pid)):
                store.compact()
            old.rollback()
        assert store.compact() == 0
        ((kept,),) = store.engine.fetch("SELECT count(*) FROM deltas")
        assert kept == 2
        assert names(store) == ["b"]


def test_no_graph_keeps_vectors_of_the_old_model(url: str, clock: ManualClock) -> None:
    refused: list[str] = []
    with PostgresStore.open(url) as store, PostgresStore.open(url, config=HURRIED) as other:
        store.bind_embedder("hash", HashEmbedder().dimension)
        vector = HashEmbedder().embed_documents(["text"])[0]
        for each in (store, other.in_namespace("early")):
            each.apply(GraphDelta(nodes=(MemoryNode("a", "text", vector),)))

        def write() -> None:
            if store.engine.writer is None:
                return
            for name in ("early", f"late {len(refused)}"):
                try:
                    other.in_namespace(name).apply(GraphDelta(nodes=(MemoryNode("b", "text", vector),)))
                except MemoryLockedError:
                    refused.append(name)

        embedder = OtherEmbedder()
        embedder.used = write
        assert re_embed(store, embedder, MemoryConfig(), at=clock()) == 2
        assert refused[:2] == ["early", "late 0"]
        assert store.namespaces() == ["default", "early"]
        assert {version.key[0] for version in store.embedded_versions()} == {1, 2}
    with PostgresStore.open(url) as store:
        assert store.check() == []


def test_the_statistics_of_the_planner_have_nothing_that_users_wrote(url: str) -> None:
    with PostgresStore.open(url, config=OFTEN) as store:
        for name in "abcdef":
            store.apply(GraphDelta(nodes=(node(name, 1.0, 2.0),), reason=f"secret {name}"))
        store.record_copy("secret")
        store.in_namespace("secret")
    with PostgresStore.open(url) as store:
        store.engine.change("ANALYZE")
        sampled = store.engine.fetch(
            "SELECT relname, s.attname FROM pg_stats s, pg_class c, pg_attribute a WHERE relname = tablename "
            "AND c.oid = attrelid AND a.attname = s.attname AND schemaname = current_schema() "
            "AND NOT atttypid = ANY('{int, bigint, boolean}'::regtype[])"
        )
        # The names of settings and random numbers are nobody's words.
        assert set(sampled) == {("settings", "name"), ("deltas", "token")}

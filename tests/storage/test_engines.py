"""What each engine does beyond the conformance kit: several openings of one memory, checkpoints, and other models."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graph_store_kit.histories import node
from neurogated import GraphDelta, MemoryConfig
from neurogated.config.groups import RuntimeSettings
from neurogated.core.abilities import VersionKey
from neurogated.core.model import Vector, same_vector
from neurogated.errors import InputError, MemoryClosedError, StorageError, UnknownIdError
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.neo4j_store import Neo4jStore
from neurogated.storage.postgres_store import PostgresStore
from neurogated.storage.sqlite_store import SqliteStore

OFTEN = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=1))
PATIENT = MemoryConfig(runtime=RuntimeSettings(write_lock_seconds=60))

Open = Callable[..., Any]


@pytest.fixture(params=["sqlite", "postgres", "neo4j"])
def opened(request: pytest.FixtureRequest, tmp_path: Path) -> Open:
    """Return a function that opens the same memory again and again."""
    if request.param == "sqlite":
        return lambda *name, **settings: SqliteStore.open(tmp_path / "memory.db", *name, **settings)
    if request.param == "postgres":
        url = request.getfixturevalue("postgres").database()
        return lambda *name, **settings: PostgresStore.open(url, *name, **settings)
    address = request.getfixturevalue("bolt_server").url()
    return lambda *name, **settings: Neo4jStore.open(address, *name, **settings)


def names(store: GraphStore) -> list[str]:
    return [one.id for one in store.all_nodes()]


def put(store: GraphStore, *ids: str) -> None:
    for name in ids:
        store.apply(GraphDelta(nodes=(node(name),)))


def test_a_read_sees_the_writes_of_others_while_a_write_of_its_process_waits(opened: Open) -> None:
    with opened(config=PATIENT) as store, opened() as other, ThreadPoolExecutor() as pool:
        tenant = store.in_namespace("tenant")
        with other.exclusively():
            waiting = pool.submit(put, store, "mine")
            for name in "abc":
                put(other, name)
                put(other.in_namespace("tenant"), name)
                assert names(store)[-1] == names(tenant)[-1] == name
            assert not waiting.done()
        waiting.result()
        assert names(store)[-1] == names(other)[-1] == "mine"


def test_a_writer_that_writes_again_and_again_lets_others_write(opened: Open) -> None:
    stop = threading.Event()

    def write(store: GraphStore) -> None:
        while not stop.is_set():
            put(store, "busy")

    # A machine that is shared may need long for a turn; a writer that never gets one fails in any case.
    with opened() as busy, opened(config=PATIENT) as other, ThreadPoolExecutor() as pool:
        done = pool.submit(write, busy)
        try:
            put(other, *"abcde")
        finally:
            stop.set()
        done.result()
        assert set(names(busy)) == set(names(other)) == {"busy", *"abcde"}


def test_a_graph_that_another_process_dropped_is_closed(opened: Open) -> None:
    with opened() as store, opened() as other:
        theirs = other.in_namespace("guests")
        put(theirs, "a")
        assert set(store.namespaces()) >= {"guests"}
        store.drop_namespace("guests")
        for use in (lambda: put(theirs, "b"), theirs.view):
            with pytest.raises(MemoryClosedError):
                use()
        put(other.in_namespace("guests"), "c")
        assert names(store.in_namespace("guests")) == ["c"]


def test_a_block_that_was_taken_back_is_never_seen_by_the_other(opened: Open) -> None:
    with opened() as one, opened() as two:
        put(one, "a")
        with pytest.raises(ZeroDivisionError), one.transaction():  # noqa: PT012 - the block is under test
            put(one, "phantom")
            assert not two.has_node("phantom")
            raise ZeroDivisionError
        put(two, "b")
        assert names(one) == names(two) == ["a", "b"]


def test_a_compaction_reaches_other_processes_and_checkpoints(opened: Open) -> None:
    with opened(config=OFTEN) as store:
        put(store, "a", "b")
    with opened() as store, opened() as other:
        assert names(other) == ["a", "b"]
        store.remove_node("a")
        assert store.compact() == 1
        assert names(other) == ["b"]
        assert all(one.id == "b" for entry in other.journal() for one in entry.delta.nodes)
        assert other.check() == store.check() == []
    with opened() as store:
        assert names(store) == ["b"]
        assert store.check() == []


def test_vectors_of_another_model_replace_those_of_all_versions_or_none(opened: Open) -> None:
    with opened() as store, opened() as other:
        tenant = store.in_namespace("tenant")
        store.bind_embedder("one", 2)
        store.apply(GraphDelta(nodes=(node("a"), node("b"), node("c", embedding=None))))
        put(tenant, "a")
        store.remove_node("a")
        fresh = [(version.key, [1.0, 2.0, 3.0]) for version in store.embedded_versions()]
        assert len(fresh) == 3

        def broken_off() -> Iterator[tuple[VersionKey, Vector]]:
            yield fresh[0]
            raise ZeroDivisionError

        few, short = fresh[1:], [*fresh[1:], (fresh[0][0], [1.0])]
        for wrong, delta in (
            (few, GraphDelta()),
            (short, GraphDelta()),
            (broken_off(), GraphDelta()),
            (fresh, GraphDelta(removed_nodes=("nobody",))),
        ):
            with pytest.raises((InputError, UnknownIdError, ZeroDivisionError)):
                store.replace_vectors("two", 3, wrong, delta)
            assert other.embedder == ("one", 2)
            assert same_vector(other.as_of(1).get_node("b").embedding, [1.0, 0.0])
        if not isinstance(store, SqliteStore):
            with pytest.raises(InputError, match="for no version"):
                store.replace_vectors("two", 3, [*fresh, ((99, 99), [1.0, 2.0, 3.0])], GraphDelta())
        store.replace_vectors("two", 3, fresh, GraphDelta(nodes=(node("d", 4.0, 5.0, 6.0),)))
        assert other.embedder == ("two", 3)
        for one in (*other.all_nodes(), *other.as_of(1).all_nodes(), *other.in_namespace("tenant").all_nodes()):
            expected = {"c": None, "d": [4.0, 5.0, 6.0]}.get(one.id, [1.0, 2.0, 3.0])
            assert same_vector(one.embedding, expected)
        assert other.check() == []


def test_a_read_only_memory_follows_and_never_writes(opened: Open) -> None:
    with pytest.raises(StorageError):
        opened(read_only=True)
    with opened() as writer, opened(read_only=True) as reader:
        put(writer, "a")
        writes: list[Callable[[], object]] = [
            lambda: put(reader, "b"),
            # With nothing to erase, a compaction of a database writes nothing.
            *([reader.compact] if isinstance(reader, SqliteStore) else []),
            lambda: put(reader.in_namespace("other"), "b"),
            lambda: reader.bind_embedder("hash", 2),
        ]
        for write in writes:
            # A graph that is not there yet is closed to a reader of Neo4j.
            with pytest.raises((StorageError, MemoryClosedError)):
                write()
        assert names(reader) == names(writer) == ["a"]
        if not isinstance(reader, Neo4jStore):
            later = reader.in_namespace("later")
            assert names(later) == []
            put(writer.in_namespace("later"), "c")
            assert names(later) == ["c"]

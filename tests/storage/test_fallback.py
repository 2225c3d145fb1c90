"""A memory whose database is away is in a file, whose changes the database takes over when it is back."""

import logging
from pathlib import Path

import pytest

from neurogated import GraphStore, MemoryConfig, MemoryNode, NeuroGraphMemory
from neurogated.core.clock import utc_now
from neurogated.errors import UnreachableError
from neurogated.storage.fallback import open_with_fallback
from neurogated.storage.neo4j_store import Neo4jStore
from neurogated.storage.registry import memory_exists
from tests.bolt_server import BoltServer

AWAY = "bolt://localhost:9/tests"


def _config(folder: Path, storage: str) -> MemoryConfig:
    return MemoryConfig(storage=storage, fallback=True, save_dir=str(folder), embedding_name="hash")


@pytest.fixture
def away(tmp_path: Path) -> MemoryConfig:
    return _config(tmp_path, AWAY)


@pytest.fixture
def back(tmp_path: Path, bolt_server: BoltServer) -> MemoryConfig:
    return _config(tmp_path, bolt_server.url())


def test_without_fallback_a_database_that_is_away_is_an_error(away: MemoryConfig) -> None:
    with pytest.raises(UnreachableError):
        NeuroGraphMemory(away.replace(fallback=False))


def test_a_database_that_is_back_takes_over_what_was_written_meanwhile(
    away: MemoryConfig, back: MemoryConfig, caplog: pytest.LogCaptureFixture
) -> None:
    with NeuroGraphMemory(back) as memory:
        before = memory.add("Ana lives in Lyon.")
    with caplog.at_level(logging.WARNING), NeuroGraphMemory(away) as memory:
        gone = memory.add("Ben is a baker.")
        meanwhile = memory.add("Chiara keeps bees.")
        memory.delete(gone)
        memory.in_namespace("tenant").add("Dmitri sails.")
        assert "bees" in memory.retrieve("What does Chiara keep?")[0]
    assert "localhost:9" in caplog.text
    lengths = []
    for _ in range(2):
        with NeuroGraphMemory(back) as memory:
            present = {node.id for node in memory.store.all_nodes()}
            assert present >= {*before, *meanwhile}
            assert not present & {*gone}
            assert "sails" in memory.in_namespace("tenant").retrieve("Who sails?")[0]
            assert "bees" in memory.retrieve("What does Chiara keep?")[0]
            assert memory.admin.check() == []
            lengths.append(len(memory.store.history()))
    assert lengths[0] == lengths[1]


def test_a_process_killed_before_it_deletes_the_file_takes_nothing_over_twice(
    away: MemoryConfig, back: MemoryConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not memory_exists(away)
    with NeuroGraphMemory(away) as memory:
        memory.add("Chiara keeps bees.")
    assert memory_exists(away)

    def killed(_: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("neurogated.storage.fallback.drop_file", killed)
        with pytest.raises(KeyboardInterrupt):
            NeuroGraphMemory(back)
    with Neo4jStore.open(back.storage) as store:
        before = len(store.history())
    with NeuroGraphMemory(back):
        pass
    with Neo4jStore.open(back.storage) as store:
        assert len(store.history()) == before


def test_while_a_process_uses_the_file_others_use_it_too(away: MemoryConfig, back: MemoryConfig) -> None:
    def open_database() -> GraphStore:
        return Neo4jStore.open(back.storage, config=back)

    with (
        open_with_fallback(away, utc_now, lambda: Neo4jStore.open(AWAY)) as first,
        open_with_fallback(back, utc_now, open_database) as second,
    ):
        second.add_node(MemoryNode("a", "text"))
        assert first.has_node("a")
    with open_with_fallback(back, utc_now, open_database) as store:
        assert isinstance(store, Neo4jStore)
        assert store.has_node("a")

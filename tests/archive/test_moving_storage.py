"""A memory is copied from a file to a database and back with its whole history."""

from pathlib import Path

import pytest

from neurogated import MemoryConfig, NeuroGraphMemory
from neurogated.administration import move_memory
from neurogated.errors import StorageError
from tests.bolt_server import BoltServer
from tests.postgres_server import Postgres


def _config(folder: Path, storage: str = "sqlite") -> MemoryConfig:
    return MemoryConfig(storage=storage, save_dir=str(folder), embedding_name="hash")


def _told(config: MemoryConfig) -> list[object]:
    """Return everything that a memory tells of its graphs."""
    told: list[object] = []
    with NeuroGraphMemory(config.replace(read_only=True)) as memory:
        for name in memory.admin.namespaces():
            store = memory.in_namespace(name).store
            told += [name, list(store.all_nodes()), list(store.all_edges()), store.pending()]
            told += [
                [entry.delta for entry in store.journal()],
                list(store.as_of(store.history()[0].sequence).all_nodes()),
            ]
        told.append([(one.node.id, one.score) for one in memory.recall("Where does the heron stand?")])
    return told


@pytest.fixture(params=["postgres", "bolt_server"])
def url(request: pytest.FixtureRequest) -> str:
    """Return the address of a new memory in a database."""
    server: Postgres | BoltServer = request.getfixturevalue(request.param)
    return server.database() if isinstance(server, Postgres) else server.url()


def test_a_memory_goes_to_a_database_and_comes_back(url: str, tmp_path: Path) -> None:
    first, database, last = _config(tmp_path / "a"), _config(tmp_path / "a", url), _config(tmp_path / "b")
    with NeuroGraphMemory(first) as memory:
        memory.add(["The heron stands on a stone.", "Ana lives in Lyon."])
        memory.facts.add("Ana", "city", "Lyon")
        memory.facts.add("Ana", "city", "York")
        memory.in_namespace("tenant").add("A stone fell.")
        memory.delete(memory.add("A slip."))
    move_memory(first, database.storage)
    with pytest.raises(StorageError):
        move_memory(first, database.storage)
    move_memory(database.replace(save_dir=last.save_dir), "sqlite")
    assert _told(first) == _told(database) == _told(last)

"""The store in PostgreSQL passes the conformance kit, on a real server."""

from pathlib import Path
from typing import ClassVar
from weakref import WeakKeyDictionary

import pytest

from graph_store_kit import GraphStoreContract, store_machine
from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres
from tests.storage.short_machine import shortened

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_overlay")]

CONFIG = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=2))

_places: WeakKeyDictionary[GraphStorePort, tuple[str, Clock]] = WeakKeyDictionary()


class _Schemas:
    """Opens each store in a schema of its own."""

    url: ClassVar[str]
    count: ClassVar[int] = 0

    @classmethod
    def open(cls, folder: Path, *, clock: Clock) -> GraphStorePort:  # noqa: ARG003 - it writes no files
        cls.count += 1
        return _opened(f"{cls.url}&schema=kit_{cls.count}", clock)


def _opened(url: str, clock: Clock) -> GraphStorePort:
    store = PostgresStore.open(url, config=CONFIG, clock=clock)
    _places[store] = url, clock
    return store


def _reopen(store: GraphStorePort) -> GraphStorePort:
    store.close()
    return _opened(*_places[store])


def _kill(store: GraphStorePort) -> GraphStorePort:
    """Return a store on the memory of an open store, whose connections end as those of a dead process."""
    assert isinstance(store, PostgresStore)
    store.engine.server.close()
    return _opened(*_places[store])


@pytest.fixture(scope="session", autouse=True)
def _database(postgres: Postgres) -> None:
    _Schemas.url = postgres.database()


class TestPostgresStore(GraphStoreContract):
    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        return _Schemas.open(folder, clock=clock)

    def reopen(self, store: GraphStorePort) -> GraphStorePort:
        return _reopen(store)

    def kill(self, store: GraphStorePort) -> GraphStorePort:
        return _kill(store)


TestPostgresStoreMachine = shortened(store_machine(open_store=_Schemas.open, reopen=_reopen, kill=_kill).TestCase)

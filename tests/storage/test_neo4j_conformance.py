"""A memory in a database that speaks Bolt passes the conformance kit."""

from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort
from neurogated.storage.log.neo4j.address import Address
from neurogated.storage.neo4j_store import Neo4jStore
from neurogated.testing import GraphStoreContract
from tests.bolt_server import BoltServer

# Few, so that the overlay merges often.
CONFIG = MemoryConfig(runtime=RuntimeSettings(overlay_edges=4))

_places: WeakKeyDictionary[GraphStorePort, tuple[Address, Clock]] = WeakKeyDictionary()


def open_at(address: Address, clock: Clock) -> GraphStorePort:
    store = Neo4jStore.open(address, config=CONFIG, clock=clock)
    _places[store] = address, clock
    return store


def _reopen(store: GraphStorePort) -> GraphStorePort:
    store.close()
    return open_at(*_places[store])


def _kill(store: GraphStorePort) -> GraphStorePort:
    """Return another store on the database; the first one is left open, as a dead process leaves it."""
    return open_at(*_places[store])


@pytest.fixture(autouse=True, scope="module")
def _server(bolt_server: BoltServer) -> None:
    TestNeo4jStore.server = bolt_server


class TestNeo4jStore(GraphStoreContract):
    server: BoltServer

    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:  # noqa: ARG002 - it writes no files
        return open_at(Address.of(self.server.url(), self.server.environ), clock)

    def reopen(self, store: GraphStorePort) -> GraphStorePort:
        return _reopen(store)

    def kill(self, store: GraphStorePort) -> GraphStorePort:
        return _kill(store)

"""A memory in a database that speaks Bolt passes the conformance kit."""

from pathlib import Path
from weakref import WeakKeyDictionary

import pytest

from graph_store_kit import GraphStoreContract, store_machine
from neurogated.core.clock import Clock
from neurogated.core.ports import GraphStorePort
from neurogated.storage.neo4j_store import Neo4jStore
from tests.bolt_server import BoltServer
from tests.storage.short_machine import shortened

pytestmark = pytest.mark.usefixtures("small_overlay")

_places: WeakKeyDictionary[GraphStorePort, tuple[str, Clock]] = WeakKeyDictionary()
_servers: list[BoltServer] = []


@pytest.fixture(autouse=True, scope="module")
def _server(bolt_server: BoltServer) -> None:
    _servers.append(bolt_server)


def _open_at(url: str, clock: Clock) -> GraphStorePort:
    store = Neo4jStore.open(url, clock=clock)
    _places[store] = url, clock
    return store


def _open(folder: Path, *, clock: Clock) -> GraphStorePort:  # noqa: ARG001 - it writes no files
    return _open_at(_servers[0].url(), clock)


def _reopen(store: GraphStorePort) -> GraphStorePort:
    assert isinstance(store, Neo4jStore)
    assert store.check() == []
    store.close()
    return _open_at(*_places[store])


def _kill(store: GraphStorePort) -> GraphStorePort:
    """Return another store on the database, opened while the first one is, as after the death of its process."""
    other = _open_at(*_places[store])
    store.close()
    return other


class TestNeo4jStore(GraphStoreContract):
    def open_store(self, folder: Path, *, clock: Clock) -> GraphStorePort:
        return _open(folder, clock=clock)

    def reopen(self, store: GraphStorePort) -> GraphStorePort:
        return _reopen(store)

    def kill(self, store: GraphStorePort) -> GraphStorePort:
        return _kill(store)


TestNeo4jMachine = pytest.mark.slow(shortened(store_machine(open_store=_open, reopen=_reopen, kill=_kill).TestCase))

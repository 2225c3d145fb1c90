"""A memory in a database that speaks Bolt passes the conformance kit."""

import pytest

from neurogated.storage.neo4j_store import Neo4jStore
from tests.bolt_server import BoltServer
from tests.storage.kit import suite

pytestmark = pytest.mark.usefixtures("small_overlay")

_servers: list[BoltServer] = []


@pytest.fixture(autouse=True, scope="module")
def _server(bolt_server: BoltServer) -> None:
    _servers.append(bolt_server)


# Another store is opened on the database while the first one is, as after the death of its process.
TestNeo4jStore, TestNeo4jMachine = suite(
    lambda url, clock: Neo4jStore.open(url, clock=clock), lambda _: _servers[0].url(), lambda _, url: url
)

"""The store in PostgreSQL passes the conformance kit, on a real server."""

from itertools import count
from pathlib import Path

import pytest

from neurogated.config.groups import RuntimeSettings
from neurogated.config.memory_config import MemoryConfig
from neurogated.storage.postgres_store import PostgresStore
from tests.postgres_server import Postgres
from tests.storage.kit import suite

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("small_overlay")]

CONFIG = MemoryConfig(runtime=RuntimeSettings(checkpoint_changes=2))
_databases: list[str] = []
_schemas = count()


@pytest.fixture(scope="session", autouse=True)
def _database(postgres: Postgres) -> None:
    _databases.append(postgres.database())


def _schema(_: Path) -> str:
    """Return a place for a store of its own."""
    return f"{_databases[0]}&schema=kit_{next(_schemas)}"


def _kill(store: PostgresStore, url: str) -> str:
    """End the connections of an open store, as those of a dead process end."""
    store.engine.server.close()
    return url


TestPostgresStore, TestPostgresStoreMachine = suite(
    lambda url, clock: PostgresStore.open(url, config=CONFIG, clock=clock), _schema, _kill
)

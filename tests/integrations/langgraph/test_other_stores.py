"""The conformance kit over LangGraph's own stores: what each fails, by name."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from langgraph.store.base import BaseStore, IndexConfig, TTLConfig
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

import langgraph_store_kit
from langgraph_store_kit import LangGraphStoreContract

if TYPE_CHECKING:
    from tests.postgres_server import Postgres

README = (Path(langgraph_store_kit.__file__).parents[2] / "README.md").read_text(encoding="utf-8")


def _table() -> dict[str, dict[str, str]]:
    """Return the cells of the README's table: by probe, then by store."""
    lines = README[README.index("## Which stores") :].splitlines()
    header, _, *rows = [line.strip("|").split("|") for line in lines if line.startswith("|")]
    stores = [name.strip(" `") for name in header]
    return {row[0].strip(" `"): {name: cell.strip() for name, cell in zip(stores, row, strict=True)} for row in rows}


TABLE = _table()


class OtherStore(LangGraphStoreContract):
    """A store that is expected to fail the probes of its column in the kit's table: strictly, except for races."""

    @pytest.fixture(autouse=True)
    def _expect_listed_failures(self, request: pytest.FixtureRequest) -> None:
        cell = TABLE.get(request.function.__name__, {}).get(type(self).__name__.removeprefix("Test"))
        if cell:
            request.node.add_marker(pytest.mark.xfail(strict=cell == "fails", reason=f"the table says: {cell}"))


class TestInMemoryStore(OtherStore):
    ttl = durable = shared = False

    @contextmanager
    def open_store(
        self,
        place: str,  # noqa: ARG002 - in memory
        *,
        index: IndexConfig | None = None,
        ttl: TTLConfig | None = None,  # noqa: ARG002 - without expiry
    ) -> Iterator[BaseStore]:
        yield InMemoryStore(index=index)


@pytest.mark.nightly
class TestSqliteStore(OtherStore):
    asynchronous = False
    vectors = hasattr(sqlite3.Connection, "enable_load_extension")
    lifetime = 10

    @contextmanager
    def open_store(
        self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> Iterator[BaseStore]:
        with SqliteStore.from_conn_string(str(Path(place) / "store.db"), index=index, ttl=ttl) as store:
            store.setup()
            yield store

    def advance(self, store: BaseStore, minutes: float) -> None:
        assert isinstance(store, SqliteStore)
        store.conn.execute(
            "UPDATE store SET expires_at = DATETIME(expires_at, ?)", (f"-{round(minutes * 60)} seconds",)
        )


@pytest.fixture(scope="session")
def database(postgres: "Postgres") -> str:
    return postgres.database()


@pytest.mark.nightly
class TestPostgresStore(OtherStore):
    lifetime = 10

    @pytest.fixture
    def place(self, database: str) -> str:
        with psycopg.connect(database, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE")
            connection.execute("CREATE SCHEMA public")
        return database

    @contextmanager
    def open_store(
        self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> Iterator[BaseStore]:
        pg_index: Any = index  # its own type has more fields
        with PostgresStore.from_conn_string(place, index=pg_index, ttl=ttl) as store:
            store.setup()
            yield store

    def advance(self, store: BaseStore, minutes: float) -> None:
        assert isinstance(store, PostgresStore)
        with store._cursor() as cursor:
            cursor.execute("UPDATE store SET expires_at = expires_at - %s", (timedelta(minutes=minutes),))


def test_the_table_lists_probes_that_exist() -> None:
    probes = {name for name in dir(LangGraphStoreContract) if name.startswith("test_")}
    assert set(TABLE) <= probes
    assert len(probes) >= 80
    assert sum(cells["InMemoryStore"] == "fails" for cells in TABLE.values()) >= 15

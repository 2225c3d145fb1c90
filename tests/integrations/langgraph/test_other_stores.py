"""The conformance kit over LangGraph's own stores and over a dictionary: what each fails, by name."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import psycopg
import pytest
from langgraph.store.base import BaseStore, IndexConfig, TTLConfig
from langgraph.store.memory import InMemoryStore
from langgraph.store.postgres import PostgresStore
from langgraph.store.sqlite import SqliteStore

from neurogated.testing.langgraph import LangGraphStoreContract
from tests.integrations.langgraph.dictionary_store import DictionaryStore

if TYPE_CHECKING:
    from tests.postgres_server import Postgres


class TestInMemoryStore(LangGraphStoreContract):
    ttl = durable = shared = False

    @contextmanager
    def open_store(
        self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> Iterator[BaseStore]:
        yield InMemoryStore(index=index)


class TestSqliteStore(LangGraphStoreContract):
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


class TestPostgresStore(LangGraphStoreContract):
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
        with PostgresStore.from_conn_string(place, index=index, ttl=ttl) as store:
            store.setup()
            yield store

    def advance(self, store: BaseStore, minutes: float) -> None:
        assert isinstance(store, PostgresStore)
        with store._cursor() as cursor:
            cursor.execute("UPDATE store SET expires_at = expires_at - %s", (timedelta(minutes=minutes),))


class TestDictionaryStore(LangGraphStoreContract):
    durable = shared = False
    lifetime = 10

    @contextmanager
    def open_store(
        self, place: str, *, index: IndexConfig | None = None, ttl: TTLConfig | None = None
    ) -> Iterator[BaseStore]:
        yield DictionaryStore(index=index, ttl=ttl)

    def advance(self, store: BaseStore, minutes: float) -> None:
        assert isinstance(store, DictionaryStore)
        store.times = {name: (ttl, at - timedelta(minutes=minutes)) for name, (ttl, at) in store.times.items()}

"""The `conftest.py` that runs LangGraph's own tests of stores over ours: it replaces their classes.

Their tests of PostgreSQL read and change rows by SQL; here, the same few statements read and change items.
"""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import timedelta
from typing import Any, Self

import langgraph.store.memory
import langgraph.store.postgres
import langgraph.store.sqlite
import langgraph.store.sqlite.aio
import psycopg

from neurogated.core.clock import to_micros
from neurogated.core.delta import GraphDelta
from neurogated.ingestion.items import id_of
from neurogated.integrations.langgraph import AsyncNeuroStore, NeuroStore

RAM = ":memory:"


def place_of(conn: str) -> str:
    """Return where a store is: a folder in the place of a file; RAM in the place of a server, for speed."""
    return RAM if conn == RAM or "://" in conn else tempfile.mkdtemp()


class InMemory(NeuroStore):
    """In the place of `InMemoryStore`."""

    def __init__(self, **options: Any) -> None:  # noqa: ANN401 - those of their classes
        super().__init__(order="cosine", **options)


class Rows:
    """Executes the statements of their tests on the table `store`."""

    def __init__(self, store: NeuroStore) -> None:
        self.store, self.row = store, dict[str, Any]()

    def execute(self, statement: str, values: tuple[Any, ...] = ()) -> None:
        """Execute one statement."""
        if statement.startswith("DROP TABLE"):
            return
        *seconds, prefix, key = values
        memory = self.store.memory
        nodes = memory.store.get_nodes([id_of(tuple(prefix.split(".")), key)], missing_ok=True)
        if statement.startswith("SELECT"):
            self.row = {"n": len(nodes), "expires_at": nodes[0].expires_at if nodes else None}
            return
        (node,) = nodes
        now = memory.session.clock()
        if "updated_at =" in statement:
            updated = to_micros(now - timedelta(seconds=seconds[0]))
            changed = node.changed(metadata={**node.metadata, "updated_at": updated})
        else:
            changed = node.changed(expires_at=now)
        memory.session.commit(lambda: GraphDelta(nodes=(changed,), reason="test"))

    def fetchone(self) -> dict[str, Any]:
        """Return the row of the last statement."""
        return self.row


class AsyncRows(Rows):
    """`Rows` with coroutines."""

    async def execute(self, statement: str, values: tuple[Any, ...] = ()) -> None:  # type: ignore[override]
        super().execute(statement, values)

    async def fetchone(self) -> dict[str, Any]:  # type: ignore[override]
        return super().fetchone()


class Stored(NeuroStore):
    """In the place of `SqliteStore` and `PostgresStore`."""

    MIGRATIONS: Any = ()

    @classmethod
    @contextmanager
    def from_conn_string(cls, conn: str, **options: Any) -> Iterator[Self]:  # noqa: ANN401
        options = {name: value for name, value in options.items() if name in {"index", "ttl"}}
        with super().from_conn_string(place_of(conn), order="cosine", **options) as store:
            yield store

    @contextmanager
    def _cursor(self) -> Iterator[Rows]:
        yield Rows(self)


class AsyncStored(AsyncNeuroStore):
    """In the place of `AsyncSqliteStore` and `AsyncPostgresStore`."""

    MIGRATIONS: Any = ()

    @classmethod
    @asynccontextmanager
    async def from_conn_string(cls, conn: str, **options: Any) -> AsyncIterator[Self]:  # noqa: ANN401
        options = {name: value for name, value in options.items() if name in {"index", "ttl"}}
        async with super().from_conn_string(place_of(conn), order="cosine", **options) as store:
            yield store

    @asynccontextmanager
    async def _cursor(self) -> AsyncIterator[AsyncRows]:
        yield AsyncRows(self.store)


class NoServer:
    """In the place of a connection to the server, where their tests create and drop databases."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...

    def execute(self, *_: object) -> None: ...


class AsyncNoServer:
    """`NoServer` with coroutines."""

    @classmethod
    async def connect(cls, *_: object, **__: object) -> Self:
        return cls()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None: ...

    async def execute(self, *_: object) -> None: ...


psycopg.Connection.connect = lambda *_, **__: NoServer()  # type: ignore[assignment,method-assign]
psycopg.AsyncConnection.connect = AsyncNoServer.connect  # type: ignore[assignment,method-assign]
langgraph.store.memory.InMemoryStore = InMemory  # type: ignore[misc,assignment]
langgraph.store.sqlite.SqliteStore = Stored  # type: ignore[misc,assignment]
langgraph.store.sqlite.AsyncSqliteStore = AsyncStored  # type: ignore[misc,assignment]
langgraph.store.sqlite.aio.AsyncSqliteStore = AsyncStored  # type: ignore[misc,assignment]
langgraph.store.postgres.PostgresStore = Stored  # type: ignore[misc,assignment]
langgraph.store.postgres.AsyncPostgresStore = AsyncStored  # type: ignore[misc,assignment]

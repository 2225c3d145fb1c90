"""`Database`: an SQLite file or a PostgreSQL database, with short transactions and without connections between them."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, func, make_url, select
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from neurogated.core.extras import import_extra
from neurogated.core.files import make_file
from neurogated.errors import ConfigError, CorruptMemoryError, StorageError
from neurogated.text.strings import checked_identifier
from neurogated.utils.background import take

_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_MILLISECONDS = 1000
_HURRIED_SECONDS = 0.1

_LOCKS: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
"""The threads of this process take turns on a file."""


class _Session(sqlite3.Connection):
    """A connection that frees its lock when it is closed.

    Otherwise a cursor in the traceback of an interrupt would keep the transaction of a closed connection alive.
    """

    def rollback(self) -> None:
        with contextlib.suppress(sqlite3.ProgrammingError):
            super().rollback()

    def close(self) -> None:
        self.rollback()
        super().close()


class Database:
    """Runs transactions that exclude each other, in all processes. Threads may share it.

    Each transaction has a connection of its own, so a restarted server needs no care, and a forked process inherits
    none.
    """

    def __init__(self, url: str | Path, seconds: float, subject: str) -> None:
        """Describe the database; it is opened at the first transaction.

        Args:
            url: `sqlite:///FILE` or `postgresql://HOST/DATABASE`; a path is an SQLite file.
            seconds: how long a transaction waits for the database.
            subject: names the content of the database in errors, and its lock.

        Raises:
            ConfigError: the URL is of another kind.
        """
        self._url = _parsed(url)
        self._subject = subject
        self._seconds = seconds
        self._sessions = threading.local()
        self._patient = self._engine(seconds)
        self._hurried = self._engine(min(seconds, _HURRIED_SECONDS)) if self.is_file else self._patient

    def __str__(self) -> str:
        """Return the URL without a password, and with the whole path of a file."""
        shown = self._url.set(drivername=self._url.get_backend_name()).difference_update_query(["password"])
        if self.is_file and shown.database:
            shown = shown.set(database=str(Path(shown.database).resolve()))
        return URL.create(shown.drivername, shown.username, None, *shown[3:]).render_as_string()

    @property
    def is_file(self) -> bool:
        """Whether it is an SQLite file."""
        return self._url.get_backend_name() == "sqlite"

    @contextlib.contextmanager
    def transaction(self, *, hurried: bool = False) -> Iterator[Connection]:
        """Run a block as one transaction.

        Args:
            hurried: do not wait long for another program that has locked a file.

        Raises:
            CorruptMemoryError: the file is damaged.
            StorageError: the database is away or locked.
        """
        with (
            self._turn(),
            self._translated(),
            self._closed(),
            (self._hurried if hurried else self._patient).begin() as connection,
        ):
            if not self.is_file:
                connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(self._subject))))
            yield connection

    @contextlib.contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait for other threads of this process, which to SQLite are other programs, even in a hurry."""
        lock, taken = _LOCKS[os.path.realpath(self._url.database or "")] if self.is_file else threading.RLock(), [False]
        try:
            # A thread that waits in vain may hold what the other one needs.
            take(lock, taken, self._seconds)
            yield
        finally:
            if True in taken:
                lock.release()

    def purge(self, table: str) -> None:
        """Leave no removed rows of a table in files: empty the log of a file, or rewrite the table of a server.

        Raises:
            StorageError: the database is away, or another program is reading it.
        """
        on_server = "SET statement_timeout = 0", f"SET lock_timeout = {self._milliseconds}", f"VACUUM FULL {table}"
        with self._translated(), self._closed(), contextlib.closing(self._patient.raw_connection()) as connection:
            if not self.is_file:
                connection.driver_connection.autocommit = True  # type: ignore[union-attr]
            cursor = connection.cursor()
            for statement in ("PRAGMA wal_checkpoint(TRUNCATE)",) if self.is_file else on_server:
                cursor.execute(statement)
            if self.is_file and cursor.fetchall()[0][0]:
                raise StorageError(f"another program is reading the {self._subject} in {self}")

    @property
    def _milliseconds(self) -> int:
        return int(self._seconds * _MILLISECONDS)

    def _engine(self, seconds: float) -> Engine:
        if self.is_file:
            engine = create_engine(
                self._url, poolclass=NullPool, connect_args={"timeout": seconds, "factory": _Session}
            )
            event.listen(engine, "do_connect", lambda *_: make_file(Path(self._url.database or "")))
            event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        else:
            given = self._url.query.get("options", "")
            options = f"-c timezone=UTC -c statement_timeout={self._milliseconds} {given}".strip()
            import_extra("psycopg", "facts")
            connect = {"connect_timeout": max(1, round(seconds)), "options": options}
            engine = create_engine(self._url, poolclass=NullPool, connect_args=connect)
        event.listen(engine, "connect", self._set_up)
        return engine

    def _set_up(self, connection: Any, _: object) -> None:  # noqa: ANN401 - of the driver
        self._sessions.opened.append(connection)
        if self.is_file:
            # Python must not begin transactions by itself: they would begin too late to exclude other writers.
            connection.isolation_level = None
            # Readers do not block writers.
            connection.execute("PRAGMA journal_mode = WAL")
            # Removed rows leave no words in the file.
            connection.execute("PRAGMA secure_delete = ON")

    @contextlib.contextmanager
    def _closed(self) -> Iterator[None]:
        """Close the connections of a block: SQLAlchemy may leave one open, with its lock, after an interrupt in it."""
        opened: list[Any] = []
        self._sessions.opened = opened
        try:
            yield
        finally:
            for connection in opened:
                connection.close()

    @contextlib.contextmanager
    def _translated(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, self._patient.dialect.loaded_dbapi.Error) as error:
            reason = getattr(error, "orig", None) or error
            is_damaged = getattr(reason, "sqlite_errorcode", None) in _DAMAGED
            text = f"the {self._subject} in {self} cannot be used ({' '.join(str(reason).split())})"
            raise (CorruptMemoryError if is_damaged else StorageError)(text) from error


def _parsed(url: str | Path) -> URL:
    if isinstance(url, Path):
        return URL.create("sqlite", database=str(url))
    try:
        parsed = make_url(url)
        parsed = parsed.set(drivername=_DRIVERS[parsed.drivername.partition("+")[0]])
    except (ArgumentError, KeyError):
        # The message does not quote the URL, which may have a password.
        raise ConfigError("metabolism.facts_url must be sqlite:///FILE, postgresql://HOST/DATABASE, or off") from None
    if parsed.get_backend_name() != "sqlite":
        checked_identifier("the database in metabolism.facts_url", parsed.database or "")
    return parsed


if hasattr(os, "register_at_fork"):
    # A thread of the parent may have had a lock.
    os.register_at_fork(after_in_child=_LOCKS.clear)

"""`Server`: connections to the PostgreSQL database that holds a memory, and the translation of its errors."""

import contextlib
import os
import re
import secrets
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, LiteralString, cast
from urllib.parse import parse_qsl, quote, urlencode
from weakref import WeakSet

import psycopg
from psycopg import conninfo, errors, sql
from psycopg.pq import TransactionStatus

from neurogated.core.forking import InheritedLock
from neurogated.errors import (
    ConfigError,
    FormatVersionError,
    MemoryClosedError,
    MemoryLockedError,
    StorageError,
    UnreachableError,
)
from neurogated.text.strings import checked_identifier

Connection = psycopg.Connection[tuple[Any, ...]]
Row = tuple[Any, ...]

DEFAULT_SCHEMA = "neurogated"
_MOST_IDLE = 4
_CONNECT_SECONDS = 10
_NO_POOL = (
    "a pooler that gives each transaction another session, as PgBouncer's pool_mode=transaction does, cannot be used: "
    "connect to PostgreSQL itself, or set pool_mode=session"
)
# The driver knows no codes of errors for connections that fail.
_REFUSALS = (
    (re.compile(r"database .* does not exist"), "create the database, or correct its name in storage"),
    (
        re.compile(r"password|authentication|role .* (does not exist|not permitted)|pg_hba\.conf"),
        "correct the user or the password in storage, PGPASSWORD or ~/.pgpass",
    ),
    (re.compile(r"unsupported startup parameter"), _NO_POOL),
)
_LOST = (errors.OperationalError, errors.InterfaceError)
# Tables and statements that this session had.
_OF_ANOTHER_SESSION = (errors.UndefinedTable, errors.InvalidSqlStatementName, errors.DuplicatePreparedStatement)


class PostgresAddress:
    """The URL of a memory. Its text has no password."""

    def __init__(self, url: str) -> None:
        """Read a URL such as `postgresql://USER:PASSWORD@HOST/DATABASE?schema=NAME`.

        Raises:
            ConfigError: PostgreSQL does not accept the URL or would cut a name in it, or it names the schema in another
                way.
        """
        base, _, query = url.partition("?")
        given = dict(parse_qsl(query, keep_blank_values=True))
        if "search_path" in given.get("options", ""):
            raise ConfigError("the options of storage have a search_path; name the schema by ?schema=NAME")
        self.schema = checked_identifier("schema in storage", given.pop("schema", "") or DEFAULT_SCHEMA)
        self._url = f"{base}?{urlencode(given, quote_via=quote)}" if given else base
        try:
            parts = conninfo.conninfo_to_dict(self._url)
        except psycopg.ProgrammingError:
            # The driver's message may repeat the password.
            raise ConfigError(
                "storage is no URL of PostgreSQL; write postgresql://USER:PASSWORD@HOST:PORT/DATABASE, with % for "
                "special characters"
            ) from None
        user, host, port = (quote(str(parts.get(name) or ""), safe="") for name in ("user", "host", "port"))
        for name in ("dbname", "user"):
            checked_identifier(f"{name} in storage", str(parts.get(name) or ""))
        place = f"{user and user + '@'}{host}{port and ':' + port}/{quote(str(parts.get('dbname') or ''))}"
        self._shown = f"postgresql://{place}?schema={quote(self.schema)}"

    def __str__(self) -> str:
        return self._shown

    __repr__ = __str__

    def connect(self, *, read_only: bool) -> Connection:
        """Return a new connection, on which every statement is a transaction of its own, unless one is begun."""
        given = conninfo.conninfo_to_dict(self._url)
        patience: dict[str, Any] = {} if "connect_timeout" in given else {"connect_timeout": _CONNECT_SECONDS}
        connection = psycopg.connect(self._url, autocommit=True, **patience)
        connection.execute(sql.SQL("SET search_path TO {}").format(sql.Identifier(self.schema)))
        if read_only:
            # A transaction reads one state.
            connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
            connection.execute("SET default_transaction_read_only TO on")
        return connection


class ConnectionLostError(UnreachableError):
    """The connection was lost; whether the server executed the last statement is unknown."""


class Server:
    """A pool of connections to one database. It has no threads, and threads may share it."""

    def __init__(self, address: PostgresAddress, *, read_only: bool) -> None:
        self.address = address
        self.read_only = read_only
        self._idle: list[Connection] = []
        self._opened: WeakSet[Connection] = WeakSet()
        self._lock = threading.Lock()
        self._closed = False

    @contextlib.contextmanager
    def session(self) -> Iterator[Connection]:
        """Lend a connection to the block; it is closed afterwards unless it is idle and sound."""
        connection = self._taken()
        try:
            yield connection
        except GeneratorExit:
            # An interrupt prevented the end of the block, so the session may still have locks.
            connection.close()
            raise
        finally:
            is_sound = not connection.closed and connection.info.transaction_status == TransactionStatus.IDLE
            with self._lock:
                is_kept = is_sound and not self._closed and len(self._idle) < _MOST_IDLE
                self._idle += [connection] if is_kept else []
            if not is_kept:
                connection.close()

    def fetch(self, statement: LiteralString, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a statement that only reads; after a lost connection it is asked once more.

        Raises:
            StorageError: the server cannot be reached or refuses the statement.
        """
        try:
            with self.session() as connection:
                return self.execute(connection, statement, values)
        except ConnectionLostError:
            self.forget()
            with self.session() as connection:
                return self.execute(connection, statement, values)

    def execute(self, connection: Connection, statement: LiteralString, values: Sequence[object] = ()) -> list[Row]:
        """Execute a statement and return its rows, if it has any.

        Raises:
            ConnectionLostError: the connection was lost.
            MemoryLockedError: another session holds a lock for too long.
            StorageError: the server refuses the statement.
        """
        with self.translated(connection):
            cursor = connection.execute(statement, values, binary=True)
            return cursor.fetchall() if cursor.description else []

    @contextlib.contextmanager
    def translated(self, connection: Connection | None = None) -> Iterator[None]:
        """Raise errors of the driver as those of this library."""
        try:
            yield
        except (errors.LockNotAvailable, errors.DeadlockDetected) as error:
            raise MemoryLockedError(f"another process is writing to {self.address}; try again later") from error
        except errors.ReadOnlySqlTransaction as error:
            if self.read_only:
                raise StorageError(
                    f"{self.address} is open read-only; open it without read_only to change it"
                ) from error
            raise StorageError(
                f"{self.address} takes no writes, because it is a standby or its default_transaction_read_only is on; "
                "name the server that takes them, or open the memory with read_only"
            ) from error
        except _OF_ANOTHER_SESSION as error:
            told = " ".join(str(error).split())
            raise StorageError(f"{self.address} has lost its tables or its session ({told}); {_NO_POOL}") from error
        except psycopg.Error as error:
            told = " ".join(str(error).split())
            for sign, remedy in _REFUSALS if connection is None else ():
                if sign.search(told):
                    raise StorageError(f"{self.address} refuses the connection ({told}); {remedy}") from error
            if connection is None or (isinstance(error, _LOST) and connection.closed):
                raise ConnectionLostError(
                    f"{self.address} cannot be reached ({told}); start the server, or correct the URL in storage"
                ) from error
            raise StorageError(f"{self.address} refuses a statement ({told})") from error

    def forget(self) -> None:
        """Close the idle connections, which a restart of the server has cut."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def close(self) -> None:
        """Close all connections, those on loan when they are given back."""
        self._closed = True
        self.forget()

    def disown(self) -> None:
        """Leave the connections to the parent process.

        In the child, nothing may reach their sockets, also not the end of a block that began before the fork.
        """
        self._lock = cast("threading.Lock", InheritedLock())
        nowhere = os.open(os.devnull, os.O_RDWR)
        for connection in self._opened:
            if not connection.closed:
                os.dup2(nowhere, connection.fileno())
        os.close(nowhere)

    def _taken(self) -> Connection:
        with self._lock:
            if self._closed:
                raise MemoryClosedError("the memory is closed; open it again to use it")
            if self._idle:
                return self._idle.pop()
        with self.translated():
            connection = self.address.connect(read_only=self.read_only)
        self._opened.add(connection)
        return connection


_, *MIGRATIONS = re.split(rb"(?m)^-- Migration \d+$", Path(__file__).with_name("migrations.sql").read_bytes())
"""The statements of each migration."""

_LOCK = 0x6E6575726F676174  # "neurogat": excludes other processes that migrate
_HIDDEN = "SELECT 1 FROM pg_namespace WHERE nspname = %s AND NOT has_schema_privilege(oid, 'USAGE')"
_TABLES = ("checkpoints", "deltas", "heads", "namespaces", "copies", "settings", "migrations")


def prepare(server: Server, *, from_scratch: bool) -> None:
    """Create or migrate the tables of a memory; with `from_scratch`, drop its tables first.

    Raises:
        FormatVersionError: a newer version of this library made the tables.
        StorageError: the memory does not exist and may only be read, the user may not use the schema, or the server
            refuses.
    """
    made = version_of(server)
    with server.session() as connection, server.translated(connection):
        if made > len(MIGRATIONS):
            raise FormatVersionError(
                f"{server.address} has format {made}, but this version of neurogated reads {len(MIGRATIONS)}; update it"
            )
        if server.read_only and not made:
            raise StorageError(f"there is no memory at {server.address}; open it without read_only to create one")
        if server.read_only and made < len(MIGRATIONS):
            raise FormatVersionError(f"{server.address} has the older format {made}; open it once without read_only")
        if server.read_only or (made == len(MIGRATIONS) and not from_scratch):
            return
        with connection.transaction():
            connection.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK,))
            schema = server.address.schema
            if connection.execute("SELECT to_regnamespace(quote_ident(%s))", (schema,)).fetchone() == (None,):
                connection.execute(sql.SQL("CREATE SCHEMA {}").format(sql.Identifier(schema)))
            for table in _TABLES if from_scratch else ():
                connection.execute(sql.SQL("DROP TABLE IF EXISTS {} CASCADE").format(sql.Identifier(table)))
            connection.execute("CREATE TABLE IF NOT EXISTS migrations (number integer PRIMARY KEY)")
            for number, statements in enumerate(MIGRATIONS[(made := _version(connection)) :], start=made + 1):
                connection.execute(statements)
                connection.execute("INSERT INTO migrations VALUES (%s)", (number,))
            identity = (secrets.token_hex(),)
            connection.execute("INSERT INTO settings VALUES ('identity', %s) ON CONFLICT DO NOTHING", identity)


def version_of(server: Server) -> int:
    """Return the format of the memory in a schema, 0 if there is none; raises StorageError."""
    with server.session() as connection, server.translated(connection):
        schema, user = server.address.schema, connection.info.user
        if connection.execute(_HIDDEN, (schema,)).fetchone():
            # Without the right to use it, it would look like one without a memory.
            raise StorageError(
                f"user {user!r} may not use the schema {schema!r} of {server.address}; its owner can grant that (GRANT "
                "USAGE, CREATE ON SCHEMA, and rights to its tables), or name another schema"
            )
        return _version(connection)


def _version(connection: Connection) -> int:
    if connection.execute("SELECT to_regclass('migrations')").fetchone() == (None,):
        return 0
    (found,) = connection.execute("SELECT max(number) FROM migrations").fetchone() or (0,)
    return int(found or 0)

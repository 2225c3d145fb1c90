"""Facts as rows of SQL tables: their schema, what writes them, and the database, a file of SQLite or PostgreSQL."""

from __future__ import annotations

import contextlib
import logging
import os
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice, takewhile
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    JSON,
    URL,
    BigInteger,
    Boolean,
    Column,
    ColumnElement,
    Connection,
    DateTime,
    Dialect,
    Float,
    Index,
    Integer,
    MetaData,
    String,
    Table,
    TypeDecorator,
    and_,
    create_engine,
    delete,
    event,
    func,
    insert,
    inspect,
    make_url,
    select,
    text,
)
from sqlalchemy.exc import ArgumentError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from neurogated.core.abilities import SupportsNamespaces, SupportsTouched
from neurogated.core.clock import to_micros
from neurogated.core.edge_type import EdgeType
from neurogated.core.extras import import_extra
from neurogated.core.facts import FACTS as KINDS
from neurogated.core.facts import Fact, fact_ids, facts_of
from neurogated.core.files import make_file
from neurogated.core.ports import GraphStorePort
from neurogated.core.projections import remove_file
from neurogated.core.view import GraphView
from neurogated.errors import ConfigError, CorruptMemoryError, StorageError
from neurogated.text.strings import checked_identifier
from neurogated.utils.background import take

VERSION = 4
"""Raised whenever a column, its settings or what has a row changes; tables of another version are rebuilt."""
SCHEMA = MetaData()


class _Moment(TypeDecorator[datetime]):
    """A time in UTC. SQLite has no time zones, so its times are read as UTC."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def process_result_value(self, value: datetime | None, dialect: Dialect) -> datetime | None:  # noqa: ARG002 - SQLAlchemy's
        return None if value is None else value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)


def _graph() -> list[Column[Any]]:
    return [Column("memory", String, primary_key=True), Column("namespace", String, primary_key=True)]


FACTS = Table(
    "facts",
    SCHEMA,
    *_graph(),
    Column("id", String, primary_key=True),
    *(Column(name, String) for name in ("user_id", "agent_id", "session_id")),
    Column("path", JSON, nullable=False),
    *(Column(name, String, nullable=False) for name in ("subject", "attribute", "value")),
    Column("is_denied", Boolean, nullable=False),
    Column("statement", String, nullable=False),
    *(Column(name, _Moment) for name in ("valid_from", "valid_to", "said_at", "expires_at")),
    Column("confidence", Float),
    Column("sources", JSON, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Index("facts_by_subject", "memory", "namespace", "subject", "attribute"),
    Index("facts_by_user", "memory", "namespace", "user_id"),
)
"""One row for each fact. `memory` and `namespace` say of which graph; `sequence` is the change that wrote it."""

PROGRESS = Table(
    "facts_progress",
    SCHEMA,
    *_graph(),
    Column("version", Integer, nullable=False),
    Column("epoch", BigInteger, nullable=False),
    Column("sequence", BigInteger, nullable=False),
    Column("at", BigInteger, nullable=False),
)
"""The last change that the rows of a graph show: its number, and its time in microseconds since 1970 UTC."""


_OF_FACT = (
    *("id", "subject", "attribute", "value", "statement", "is_denied"),
    *("valid_from", "valid_to", "expires_at", "confidence"),
)
_OF_SCOPE = ("user_id", "agent_id", "session_id")


def _row_of(fact: Fact, sequence: int) -> dict[str, Any]:
    values = {name: getattr(fact, name) for name in _OF_FACT} | {name: getattr(fact.scope, name) for name in _OF_SCOPE}
    row = {name: _storable(value) if isinstance(value, str) else value for name, value in values.items()}
    lists = {"path": fact.scope.path, "sources": fact.sources}
    row |= {name: list(map(_storable, texts)) for name, texts in lists.items()}
    return row | {"said_at": fact.timestamp, "sequence": sequence}


def _storable(text: str | None) -> str | None:
    """Replace the one character that PostgreSQL cannot store."""
    return text and text.replace("\0", "\ufffd")


_log = logging.getLogger(__name__)

_AT_ONCE = 500


class _Graph(NamedTuple):
    """A graph of a memory, in whose rows these columns have these values; and the epoch of its log."""

    columns: dict[str, str | None]
    epoch: int

    @classmethod
    def of(cls, store: GraphStorePort, namespace: str) -> _Graph:
        if not isinstance(store, SupportsNamespaces):
            raise ConfigError(
                f"a {type(store).__name__} has no identity, so no table can follow it; set facts_url to off"
            )
        memory, epoch = store.identity
        return cls({"memory": memory, "namespace": _storable(namespace)}, epoch)

    def rows(self, table: Table) -> ColumnElement[bool]:
        """Return the condition of the rows of the graph."""
        return and_(*(table.c[name] == value for name, value in self.columns.items()))


class FactTable:
    """Projects the facts of graphs into the table `facts`; several memories may share a database.

    The table holds no truth: if it is lost, of another version, or follows another journal, it is rebuilt. Each
    catch-up is one transaction with the number of its last change, so a killed process leaves the table consistent.
    """

    def __init__(self, url: str | Path, *, seconds: float) -> None:
        """Describe the database; it is opened at the first catch-up.

        Args:
            url: `sqlite:///FILE` or `postgresql://HOST/DATABASE`; a path is a file that this class may recreate.
            seconds: how long a call waits for the database.

        Raises:
            ConfigError: the URL is of another kind.
        """
        self._own_file = url if isinstance(url, Path) else None
        self._database = _Database(url, seconds, "table of facts")

    @property
    def place(self) -> str | None:
        """The URL without its password; None for the file of a memory."""
        return str(self._database) if self._own_file is None else None

    def catch_up(self, store: GraphStorePort, namespace: str, *, hurried: bool = False) -> int:
        """Write the changes of the facts of a graph since the last call, and rows that are lost; see `FactProjection`.

        Raises:
            StorageError: the database is away or in use, or it has a table `facts` of another program.
        """
        try:
            return self._caught_up(store, namespace, hurried=hurried)
        except CorruptMemoryError as error:
            if self._own_file is None:
                raise
            _log.warning("%s; it is rebuilt", error)
            remove_file(self._own_file)
            return self._caught_up(store, namespace, hurried=hurried)

    def forget(self, store: GraphStorePort, namespace: str) -> None:
        """Remove the rows of a graph; raises StorageError."""
        with self._database.transaction() as connection:
            self._prepare(connection)
            self._empty(connection, _Graph.of(store, namespace))

    def erase(self, graphs: Mapping[str, GraphStorePort]) -> None:
        """Hold the rows of these graphs of a memory only, and leave no removed words in files; raises StorageError."""
        kept = [_Graph.of(store, name).columns for name, store in graphs.items()]
        for name, store in graphs.items():
            self.catch_up(store, name)
        with self._database.transaction() as connection:
            for table in (FACTS, PROGRESS):
                others = table.c.namespace.not_in([graph["namespace"] for graph in kept])
                connection.execute(delete(table).where(table.c.memory == kept[0]["memory"], others))
        self._database.purge(FACTS.name)

    def _caught_up(self, store: GraphStorePort, namespace: str, *, hurried: bool) -> int:
        graph = _Graph.of(store, namespace)
        with self._database.transaction(hurried=hurried) as connection:
            if not hurried and self._own_file is not None:
                fault = connection.execute(text("PRAGMA quick_check(1)")).scalar()
                if fault != "ok":
                    raise CorruptMemoryError(f"the table of facts is damaged ({fault}); remove its file")
            self._prepare(connection)
            view = store.view()
            found = connection.execute(select(PROGRESS).where(graph.rows(PROGRESS))).one_or_none()
            if found is None or found.epoch != graph.epoch or not _is_known(store, found.sequence, found.at):
                self._empty(connection, graph)
                found = None
            after = (0, 0) if found is None else (found.sequence, found.at)
            written = _advance(connection, store, view, graph, after)
            if hurried:
                return written
            # The table must have a row for each of the facts.
            there = set(connection.execute(select(FACTS.c.id).where(graph.rows(FACTS))).scalars())
            if facts_of(store, view, [name for name in fact_ids(view) if _storable(name) not in there]):
                _log.warning("rows of the table of facts in %s are lost; they are written again", self._database)
                self._empty(connection, graph)
                written = _advance(connection, store, view, graph, (0, 0))
            return written

    def _empty(self, connection: Connection, graph: _Graph) -> None:
        """Remove the rows of a graph, and from the file of a memory also those of a former memory in its folder."""
        for table in (FACTS, PROGRESS):
            rows = graph.rows(table)
            if self._own_file is not None:
                rows |= table.c.memory != graph.columns["memory"]
            connection.execute(delete(table).where(rows))

    def _prepare(self, connection: Connection) -> None:
        """Create the tables, and drop those of another version.

        Raises:
            StorageError: the database has a table `facts` that this class did not create.
        """
        there = set(inspect(connection).get_table_names())
        if self._own_file is None and FACTS.name in there and PROGRESS.name not in there:
            raise StorageError(
                f"the database {self._database} has a table {FACTS.name!r} without a table {PROGRESS.name!r}; name "
                "another database in metabolism.facts_url, or drop the table if neurogated created it"
            )
        if there >= SCHEMA.tables.keys():
            other = select(PROGRESS.c.version).where(PROGRESS.c.version != VERSION).limit(1)
            if connection.execute(other).first() is None:
                return
            _log.info("the table of facts is of another version and is rebuilt")
        for table in reversed(SCHEMA.sorted_tables):
            connection.execute(text(f"DROP TABLE IF EXISTS {table.name}"))
        SCHEMA.create_all(connection)
        # A server keeps samples of columns for its planner, which no erasure reaches.
        for column in FACTS.columns if connection.dialect.name == "postgresql" else ():
            if isinstance(column.type, String | JSON):
                connection.execute(text(f"ALTER TABLE {FACTS.name} ALTER COLUMN {column.name} SET STATISTICS 0"))


def _is_known(store: GraphStorePort, sequence: int, at: int) -> bool:
    if isinstance(store, SupportsTouched):
        return store.last_change(sequence) == (sequence, at)
    entry = next(store.journal(sequence - 1), None)
    return entry is not None and (entry.sequence, to_micros(entry.delta.at)) == (sequence, at)


def _advance(
    connection: Connection, store: GraphStorePort, view: GraphView, graph: _Graph, after: tuple[int, int]
) -> int:
    """Write the changes of a graph after a delta of this number and time; return how many rows that changed."""
    put, gone, last, at = _changes_between(store, *after, view.sequence)
    if last == after[0]:
        return 0
    if gone:
        derived = select(FACTS.c.id, FACTS.c.sources).where(graph.rows(FACTS))
        for fact_id, sources in connection.execute(derived).all():
            lost = max((gone.get(source, 0) for source in sources), default=0)
            if lost > put.get(fact_id, 0):
                put[fact_id] = lost
    written, waiting = 0, iter(put.keys() | gone.keys())
    while ids := list(islice(waiting, _AT_ONCE)):
        old = delete(FACTS).where(graph.rows(FACTS), FACTS.c.id.in_([_storable(name) for name in ids]))
        rows = [graph.columns | _row_of(fact, put[fact.id]) for fact in facts_of(store, view, ids) if fact.id in put]
        removed = connection.execute(old).rowcount
        written += max(removed, len(rows))
        if rows:
            connection.execute(insert(FACTS), rows)
    connection.execute(delete(PROGRESS).where(graph.rows(PROGRESS)))
    progress = {"version": VERSION, "epoch": graph.epoch, "sequence": last, "at": at}
    connection.execute(insert(PROGRESS).values(**graph.columns, **progress))
    return written


def _changes_between(
    store: GraphStorePort, sequence: int, at: int, up_to: int
) -> tuple[dict[str, int], dict[str, int], int, int]:
    """Return changed facts and removed nodes with the numbers of their last changes, and number and time of the last.

    Among the changed ones may be other nodes. A fact that is derived from a removed one changed, too. Deltas that hold
    only uses do not count; if there are no others, the number and the time are `sequence` and `at`.
    """
    found: dict[str, int] = {}
    removed: dict[str, int] = {}
    derived = EdgeType.DERIVED_FROM
    if isinstance(store, SupportsTouched):
        for kind in sorted(KINDS):
            for name, last in store.touched(kind, derived.value, sequence, up_to).items():
                found[name] = max(last, found.get(name, 0))
        return found, removed, *store.last_change(up_to)
    for entry in takewhile(lambda one: one.sequence <= up_to, store.journal(sequence)):
        delta = entry.delta
        # The journal has only the last use of an edge, so a later use replaces such an entry.
        if not delta.tells_of_uses_only:
            edges = (*(edge.key for edge in delta.edges), *delta.removed_edges)
            removed |= dict.fromkeys(delta.removed_nodes, entry.sequence)
            found |= dict.fromkeys((key.source_id for key in edges if key.type is derived), entry.sequence)
            found |= dict.fromkeys((node.id for node in delta.nodes), entry.sequence)
            sequence, at = entry.sequence, to_micros(delta.at)
    return found, removed, sequence, at


# --- The database: an SQLite file or a PostgreSQL database, without connections between transactions ------------------

_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_HURRIED_SECONDS = 0.1

_LOCKS: defaultdict[str, threading.RLock] = defaultdict(threading.RLock)
"""The threads of this process take turns on a file: to SQLite they are other programs, even in a hurry."""

if hasattr(os, "register_at_fork"):
    # A thread of the parent may have had a lock.
    os.register_at_fork(after_in_child=_LOCKS.clear)


class _Database:
    """Runs transactions that exclude each other, in all processes. Threads may share it.

    Each transaction has a connection of its own, so a restarted server needs no care, and a forked process inherits
    none.
    """

    def __init__(self, url: str | Path, seconds: float, subject: str) -> None:
        """Describe the database; see `FactTable`. `subject` names its content in errors, and its lock."""
        self._url = _parsed(url)
        self._subject, self._seconds = subject, seconds
        self.is_file = self._url.get_backend_name() == "sqlite"
        self._session = threading.local()
        milliseconds = int(1000 * seconds)
        options = f"-c timezone=UTC -c statement_timeout={milliseconds} -c lock_timeout={milliseconds} "
        of_server = {
            "connect_timeout": max(1, round(seconds)),
            "options": (options + self._url.query.get("options", "")).strip(),  # type: ignore[operator]
        }
        if not self.is_file:
            import_extra("psycopg", "facts")
        # The blocks close the connections themselves; a reset of a closed one would fail.
        self._engine = create_engine(
            self._url, poolclass=NullPool, pool_reset_on_return=None, connect_args={} if self.is_file else of_server
        )
        event.listen(self._engine, "connect", self._set_up)
        if self.is_file:
            event.listen(self._engine, "do_connect", lambda *_: make_file(Path(self._url.database or "")))
            event.listen(self._engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))

    def __str__(self) -> str:
        """Return the URL without a password, and with the whole path of a file."""
        shown = self._url.set(drivername=self._url.get_backend_name()).difference_update_query(["password"])
        if self.is_file and shown.database:
            shown = shown.set(database=str(Path(shown.database).resolve()))
        return URL.create(shown.drivername, shown.username, None, *shown[3:]).render_as_string()

    @contextlib.contextmanager
    def transaction(self, *, hurried: bool = False) -> Iterator[Connection]:
        """Run a block as one transaction; if `hurried`, do not wait long for a program that has locked a file.

        Raises:
            CorruptMemoryError: the file is damaged.
            StorageError: the database is away or locked.
        """
        lock, taken = _LOCKS[os.path.realpath(self._url.database or "")] if self.is_file else threading.RLock(), [False]
        try:
            # A thread that waits in vain may hold what the other one needs.
            take(lock, taken, self._seconds)
            with self._connecting(_HURRIED_SECONDS if hurried else self._seconds), self._engine.begin() as connection:
                if not self.is_file:
                    connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(self._subject))))
                yield connection
        finally:
            if True in taken:
                lock.release()

    def purge(self, table: str) -> None:
        """Leave no removed rows of a table in files: empty the log of a file, or rewrite the table of a server.

        Raises:
            StorageError: the database is away, or another program is reading it.
        """
        on_server = "SET statement_timeout = 0", f"VACUUM FULL {table}"
        with self._connecting(self._seconds), contextlib.closing(self._engine.raw_connection()) as connection:
            if not self.is_file:
                connection.driver_connection.autocommit = True  # type: ignore[union-attr]
            cursor = connection.cursor()
            for statement in ("PRAGMA wal_checkpoint(TRUNCATE)",) if self.is_file else on_server:
                cursor.execute(statement)
            if self.is_file and cursor.fetchall()[0][0]:
                raise StorageError(f"another program is reading the {self._subject} in {self}")

    def _set_up(self, connection: Any, _: object) -> None:  # noqa: ANN401 - of the driver
        self._session.opened.append(connection)
        if self.is_file:
            # Python must not begin transactions by itself: they would begin too late to exclude other writers.
            connection.isolation_level = None
            connection.execute(f"PRAGMA busy_timeout = {int(1000 * self._session.seconds)}")
            # Readers do not block writers.
            connection.execute("PRAGMA journal_mode = WAL")
            # Removed rows leave no words in the file.
            connection.execute("PRAGMA secure_delete = ON")

    @contextlib.contextmanager
    def _connecting(self, seconds: float) -> Iterator[None]:
        """Run a block with errors of this library, and close its connections, which wait so long for a file.

        SQLAlchemy may leave one open after an interrupt, and a cursor in its traceback would keep the lock of the
        transaction.
        """
        opened: list[Any] = []
        self._session.opened, self._session.seconds = opened, seconds
        driver_error: type[Exception] = self._engine.dialect.loaded_dbapi.Error
        try:
            yield
        except (SQLAlchemyError, driver_error) as error:
            reason = getattr(error, "orig", None) or error
            is_damaged = getattr(reason, "sqlite_errorcode", None) in _DAMAGED
            told = f"the {self._subject} in {self} cannot be used ({' '.join(str(reason).split())})"
            raise (CorruptMemoryError if is_damaged else StorageError)(told) from error
        finally:
            for connection in opened:
                with contextlib.suppress(driver_error):
                    connection.rollback()
                connection.close()


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

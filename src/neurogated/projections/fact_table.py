"""`FactTable`: the facts of a memory as rows of an SQL table, which follows the journal of the memory."""

from __future__ import annotations

import contextlib
import logging
import sqlite3
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

from sqlalchemy import (
    URL,
    Connection,
    Engine,
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
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from neurogated.core.abilities import SupportsIdentity
from neurogated.core.extras import import_extra
from neurogated.core.facts import facts_of
from neurogated.core.ports import GraphStorePort
from neurogated.core.projections import remove_file
from neurogated.core.view import GraphView
from neurogated.errors import ConfigError, StorageError
from neurogated.projections.fact_changes import FactChanges, changes_between, is_known
from neurogated.projections.fact_schema import FACTS, PROGRESS, SCHEMA, VERSION, row_of, storable

__all__ = ["FactTable"]

_log = logging.getLogger(__name__)

_DRIVERS = {"sqlite": "sqlite", "postgresql": "postgresql+psycopg", "postgres": "postgresql+psycopg"}
_DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
_AT_ONCE = 500
_MILLISECONDS = 1000


class _Progress(NamedTuple):
    """The last change that the rows of a graph show."""

    epoch: int
    sequence: int
    at: int


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
        self._url = _parsed(url)
        self._engine = _engine(self._url, seconds)

    def __str__(self) -> str:
        """Return the URL without its password."""
        return self._url.render_as_string(hide_password=True)

    def catch_up(self, store: GraphStorePort, namespace: str) -> int:
        """Write the changes of the facts of a graph since the last call; return how many rows were written or removed.

        Raises:
            StorageError: the database is away, or it has a table `facts` of another program.
        """
        try:
            return self._caught_up(store, namespace)
        except StorageError as error:
            if self._own_file is None or not _is_damage(error.__cause__):
                raise
            _log.warning("%s; it is rebuilt", error)
            remove_file(self._own_file)
            return self._caught_up(store, namespace)

    def forget(self, store: GraphStorePort, namespace: str) -> None:
        """Remove the rows of a graph; raises StorageError."""
        with self._transaction() as connection:
            _prepare(connection)
            self._empty(connection, _graph_of(store, namespace))

    def settle(self) -> None:
        """Leave no removed words in the log of an SQLite file; raises StorageError while a reader needs them."""
        if self._url.get_backend_name() != "sqlite":
            return
        try:
            with contextlib.closing(self._engine.raw_connection()) as connection:
                cursor = connection.cursor()
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)")
                ((is_busy, *_),) = cursor.fetchall()
        except sqlite3.Error as error:
            raise StorageError(f"the table of facts in {self} cannot be used ({error})") from error
        if is_busy:
            raise StorageError(f"another program is reading the table of facts in {self}")

    def _caught_up(self, store: GraphStorePort, namespace: str) -> int:
        graph = _graph_of(store, namespace)
        with self._transaction() as connection:
            _prepare(connection)
            view, before = store.view(), self._progress(connection, graph)
            if before is None or before.epoch != graph.epoch or not is_known(store, before.sequence, before.at):
                self._empty(connection, graph)
                before = _Progress(graph.epoch, 0, 0)
            changes = changes_between(store, before.sequence, before.at, view.sequence)
            if changes.sequence == before.sequence:
                return 0
            written = _write(connection, store, view, graph, changes)
            connection.execute(delete(PROGRESS).where(_in_graph(PROGRESS, graph)))
            progress = _Progress(graph.epoch, changes.sequence, changes.at)
            connection.execute(insert(PROGRESS).values(**graph.columns, version=VERSION, **progress._asdict()))
            return written

    def _empty(self, connection: Connection, graph: _Graph) -> None:
        """Remove the rows of a graph, and from the file of a memory also those of a former memory in its folder."""
        for table in (FACTS, PROGRESS):
            rows = _in_graph(table, graph)
            if self._own_file is not None:
                rows |= table.c.memory != graph.memory
            connection.execute(delete(table).where(rows))

    @staticmethod
    def _progress(connection: Connection, graph: _Graph) -> _Progress | None:
        columns = (PROGRESS.c.epoch, PROGRESS.c.sequence, PROGRESS.c.at)
        found = connection.execute(select(*columns).where(_in_graph(PROGRESS, graph))).one_or_none()
        return None if found is None else _Progress(*found)

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """Run a block as one transaction; other processes that catch up wait for it."""
        try:
            with self._engine.begin() as connection:
                if connection.dialect.name == "postgresql":
                    connection.execute(select(func.pg_advisory_xact_lock(func.hashtext(FACTS.name))))
                yield connection
        except SQLAlchemyError as error:
            reason = " ".join(str(getattr(error, "orig", None) or error).split())
            raise StorageError(f"the table of facts in {self} cannot be used ({reason})") from error


class _Graph(NamedTuple):
    """A graph of a memory."""

    memory: str
    namespace: str
    epoch: int

    @property
    def columns(self) -> dict[str, str | None]:
        """The columns that identify the rows of the graph."""
        return {"memory": self.memory, "namespace": storable(self.namespace)}


def _graph_of(store: GraphStorePort, namespace: str) -> _Graph:
    if not isinstance(store, SupportsIdentity):
        raise ConfigError(f"a {type(store).__name__} has no identity, so no table can follow it; set facts_url to off")
    memory, epoch = store.identity
    return _Graph(memory, namespace, epoch)


def _in_graph(table: Any, graph: _Graph) -> Any:  # noqa: ANN401 - an SQL expression
    return (table.c.memory == graph.columns["memory"]) & (table.c.namespace == graph.columns["namespace"])


def _parsed(url: str | Path) -> URL:
    if isinstance(url, Path):
        return URL.create("sqlite", database=str(url))
    try:
        parsed = make_url(url)
        return parsed.set(drivername=_DRIVERS[parsed.drivername.partition("+")[0]])
    except (ArgumentError, KeyError):
        # The message does not quote the URL, which may have a password.
        raise ConfigError("metabolism.facts_url must be sqlite:///FILE, postgresql://HOST/DATABASE, or off") from None


def _engine(url: URL, seconds: float) -> Engine:
    if url.get_backend_name() == "sqlite":
        engine = create_engine(url, poolclass=NullPool, connect_args={"timeout": seconds})
        event.listen(engine, "connect", _set_up_sqlite)
        event.listen(engine, "begin", lambda connection: connection.exec_driver_sql("BEGIN IMMEDIATE"))
        return engine
    milliseconds = int(seconds * _MILLISECONDS)
    options = f"-c timezone=UTC -c statement_timeout={milliseconds} {url.query.get('options', '')}"
    connect = {"connect_timeout": max(1, round(seconds)), "options": options.strip()}
    import_extra("psycopg", "facts")
    # Without a pool, a restarted server needs no care, and a forked process inherits no connection.
    return create_engine(url, poolclass=NullPool, connect_args=connect)


def _set_up_sqlite(connection: sqlite3.Connection, _: object) -> None:
    # Python must not begin transactions by itself: they would begin too late to exclude other writers.
    connection.isolation_level = None
    # Readers do not block writers.
    connection.execute("PRAGMA journal_mode = WAL")
    # Removed rows leave no words in the file.
    connection.execute("PRAGMA secure_delete = ON")


def _is_damage(error: BaseException | None) -> bool:
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlite_errorcode", None) in _DAMAGED


def _prepare(connection: Connection) -> None:
    """Create the tables, and drop those of another version.

    Raises:
        StorageError: the database has a table `facts` that this class did not create.
    """
    there = set(inspect(connection).get_table_names())
    if FACTS.name in there and PROGRESS.name not in there:
        raise StorageError(
            f"the database has a table {FACTS.name!r} without a table {PROGRESS.name!r}; name another database in "
            "metabolism.facts_url, or drop the table if neurogated created it"
        )
    if there >= SCHEMA.tables.keys():
        if connection.execute(select(PROGRESS.c.version).where(PROGRESS.c.version != VERSION).limit(1)).first() is None:
            return
        _log.info("the table of facts is of another version and is rebuilt")
    for table in reversed(SCHEMA.sorted_tables):
        connection.execute(text(f"DROP TABLE IF EXISTS {table.name}"))
    SCHEMA.create_all(connection)


def _write(connection: Connection, store: GraphStorePort, view: GraphView, graph: _Graph, changes: FactChanges) -> int:
    """Replace the rows of changed facts; return how many rows were written or removed."""
    put = dict(changes.touched)
    if changes.removed:
        derived = select(FACTS.c.id, FACTS.c.sources).where(_in_graph(FACTS, graph))
        for fact_id, sources in connection.execute(derived).all():
            if lost := [changes.removed[source] for source in sources if source in changes.removed]:
                put[fact_id] = max(*lost, put.get(fact_id, 0))
    count, waiting = 0, iter(put.keys() | changes.removed.keys())
    while ids := list(islice(waiting, _AT_ONCE)):
        gone = delete(FACTS).where(_in_graph(FACTS, graph), FACTS.c.id.in_([storable(name) for name in ids]))
        rows = [graph.columns | row_of(fact, put[fact.id]) for fact in facts_of(store, view, ids) if fact.id in put]
        removed = connection.execute(gone).rowcount
        count += max(removed, len(rows))
        if rows:
            connection.execute(insert(FACTS), rows)
    return count

"""`PostgresEngine` and `PostgresLog`: the journals of a memory in PostgreSQL, as rows of encoded deltas."""

from __future__ import annotations

import contextlib
import hashlib
import json
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import LiteralString, NamedTuple, cast

from psycopg.pq import TransactionStatus

from neurogated.core.clock import to_micros
from neurogated.core.codec import encode
from neurogated.core.delta import GraphDelta
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.errors import MemoryLockedError, StorageError
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.delta_log import GONE, DatabaseEngine, DeltaLog, Line, line_of
from neurogated.storage.log.log import Position
from neurogated.storage.log.postgres.server import (
    Connection,
    ConnectionLostError,
    PostgresAddress,
    Row,
    Server,
    prepare,
)

_MILLISECONDS = 1000
_WAIT_SECONDS = 0.05
# Later statements of the session have the whole patience.
_LOCK = """
    SELECT set_config('lock_timeout', %s, false), set_config('lock_timeout', %s, true), pg_advisory_lock(%s)
"""
_UNLOCK = "SELECT pg_advisory_unlock_all()"
_FIND_APPEND = "SELECT 1 FROM deltas WHERE namespace = %s AND sequence = %s AND token = %s"


class Append(NamedTuple):
    """Identifies a delta that this process wrote."""

    namespace: int
    sequence: int
    token: bytes


class LockedWriter:
    """Locks graphs for one thread until it is closed, and writes by one connection.

    The locks are advisory locks of the session, since they must outlast the transactions of the block. While a session
    may still commit, it has its locks. So after a lost connection, a new session that has them sees what was committed.
    """

    def __init__(self, server: Server, patience: float, meanwhile: Callable[[], None] | None) -> None:
        """Take the server, how many seconds to wait for a lock, and what to call again and again during the wait."""
        self._server = server
        self._patience = patience
        self._meanwhile = meanwhile
        self._lent = contextlib.ExitStack()
        self._connection: Connection | None = None
        self._claimed: set[int] = set()
        self._depth = 0
        # The ends of the logs that only this thread can change; see `position`.
        self._ends: dict[int, Position] = {}
        # The first delta of the transaction under way: it is there if the transaction was committed.
        self._first: Append | None = None

    def claim(self, namespace: int) -> None:
        """Wait for the lock of a graph, which this thread then has until `close`.

        Raises:
            MemoryLockedError: another process has it for too long.
            StorageError: the server cannot be reached.
        """
        if namespace in self._claimed:
            return
        end = time.monotonic() + self._patience
        # With another lock, this thread may be part of a deadlock, which the server detects in a longer wait.
        while self._meanwhile is not None and not (self._claimed or self._depth):
            patience = min(_WAIT_SECONDS, end - time.monotonic())
            try:
                self._lock(namespace, patience)
            except MemoryLockedError:
                if patience < _WAIT_SECONDS:
                    raise
                self._meanwhile()
            else:
                return
        self._lock(namespace, self._patience)

    def execute(self, statement: LiteralString, values: Sequence[object] = ()) -> list[Row]:
        """Execute a statement and return its rows; see `Server.execute`."""
        try:
            return self._server.execute(self._connected(), statement, values)
        except ConnectionLostError:
            if self._claimed or self._depth:
                raise
            # A restart of the server cut the connection while it was idle. What needs no lock may be done twice.
            self._reconnect()
            return self._server.execute(self._connected(), statement, values)

    def append(self, statement: LiteralString, values: Sequence[object], made: Append) -> list[Row]:
        """Execute a statement that appends a delta, exactly once; return its rows.

        Raises:
            StorageError: nothing was written; the message gives the reason.
        """
        end = self._ends.pop(made.namespace, None)
        try:
            rows = self.execute(statement, values)
        except ConnectionLostError as error:
            if self._depth or not self._is_stored(made, error):
                raise
            return [(made.sequence,)]
        self._first = self._first or made
        if rows and end is not None:
            self._ends[made.namespace] = end._replace(sequence=made.sequence)
        return rows

    def position(self, namespace: int, read: Callable[[], Position]) -> Position:
        """Return the end of a log; while this thread has its lock, it is read once."""
        if namespace not in self._ends:
            found = read()
            if namespace not in self._claimed:
                return found
            self._ends[namespace] = found
        return self._ends[namespace]

    @property
    def is_in_transaction(self) -> bool:
        """Whether a transaction is under way."""
        return self._depth > 0

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block as one transaction, or as a part of the one under way; see `Engine.transaction`."""
        if not self._depth:
            self._first = None
        is_done = False
        self._depth += 1
        try:
            with self._server.translated(connection := self._connected()), connection.transaction():
                yield
                if connection.info.transaction_status == TransactionStatus.INERROR:
                    # The server would answer the commit by a silent rollback.
                    raise StorageError("a write failed and rolled back its whole transaction; begin again")
                is_done = True
        except ConnectionLostError as error:
            if self._depth > 1 or not is_done or self._first is None or not self._is_stored(self._first, error):
                raise
        finally:
            self._depth -= 1
            self._ends = {}

    def close(self) -> None:
        """Release the locks; a connection with an unfinished transaction is closed."""
        with self._lent:
            if self._claimed and self._connection is not None:
                with contextlib.suppress(ConnectionLostError):
                    self.execute(_UNLOCK)

    def _is_stored(self, made: Append, cause: ConnectionLostError) -> bool:
        """Return whether a delta was committed although its connection was lost; take the locks again."""
        claimed, self._claimed = self._claimed, set()
        try:
            self._reconnect()
            for namespace in sorted(claimed):
                self._lock(namespace, self._patience)
            return bool(self.execute(_FIND_APPEND, made))
        except StorageError as error:
            raise ConnectionLostError(f"{error}; whether the last change was stored is unknown") from cause

    def _lock(self, namespace: int, patience: float) -> None:
        name = f"{self._server.address.schema} {namespace}".encode()
        key = int.from_bytes(hashlib.sha256(name).digest()[:8], signed=True)
        whole, now = (f"{max(1, int(seconds * _MILLISECONDS))}ms" for seconds in (self._patience, patience))
        self.execute(_LOCK, (whole, now, key))
        self._claimed.add(namespace)

    def _connected(self) -> Connection:
        if self._connection is None:
            self._connection = self._lent.enter_context(self._server.session())
        return self._connection

    def _reconnect(self) -> None:
        self._lent.close()
        self._connection = None
        self._ends = {}
        self._server.forget()


# A transaction of this process may wait for this thread, so the thread must not wait for the transaction.
_HURRY = "SELECT set_config('lock_timeout', '1s', false)"
_READ_CHECKPOINT = "SELECT sequence, deltas FROM checkpoints WHERE namespace = %s AND epoch = %s"
# The lock on the head row makes a compaction either wait, and then delete this row, or prevent it.
_WRITE_CHECKPOINT = """
    INSERT INTO checkpoints SELECT namespace, epoch, %s, %b FROM heads WHERE namespace = %s AND epoch = %s FOR SHARE
    ON CONFLICT (namespace) DO UPDATE
    SET epoch = excluded.epoch, sequence = excluded.sequence, deltas = excluded.deltas
    WHERE (checkpoints.epoch, checkpoints.sequence) < (excluded.epoch, excluded.sequence)
"""
_TOKEN_BYTES = 16
_CREATE = """
    WITH made AS (INSERT INTO namespaces (name) VALUES (%b) ON CONFLICT DO NOTHING RETURNING namespace)
    INSERT INTO heads (namespace) SELECT namespace FROM made
"""
_FIND = "SELECT namespace FROM namespaces WHERE sha256(name) = sha256(%b)"
_APPEND = """
    WITH head AS (
        UPDATE heads SET sequence = sequence + 1 WHERE namespace = %s AND sequence = %s
        RETURNING namespace, sequence
    )
    INSERT INTO deltas (namespace, sequence, at, uses_only, entry, token, body)
    SELECT namespace, sequence, %s, %s, %s, %b, %b FROM head RETURNING sequence
"""
_HEAD = "SELECT epoch, sequence FROM heads WHERE namespace = %s"
_BODIES = """
    SELECT d.sequence, d.body FROM heads h JOIN deltas d ON d.namespace = h.namespace
    WHERE h.namespace = %s AND h.epoch = %s AND d.sequence >= %s AND d.sequence <= %s ORDER BY d.sequence
"""
_HISTORY = """
    SELECT sequence, at, entry FROM deltas WHERE namespace = %s AND sequence > %s AND sequence <= %s ORDER BY sequence
"""
_REPLACE = "UPDATE deltas SET body = %b WHERE namespace = %s AND sequence = %s"
_COPY = "INSERT INTO copies VALUES (%s) ON CONFLICT DO NOTHING"
_RECORD = """
    INSERT INTO settings SELECT * FROM unnest(%s::text[], %s::text[])
    ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""


class PostgresEngine(DatabaseEngine):
    """The memory in one schema of a database. Each graph has a lock of its own."""

    def __init__(self, place: str, *, from_scratch: bool, read_only: bool, patience: float) -> None:
        """Open the memory at the URL `place`; create it if there is none; a write waits `patience` seconds for others.

        It raises like `PostgresAddress` and `prepare`.
        """
        self.lock = threading.RLock()
        self.server, self.read_only, self.url = Server(PostgresAddress(place), read_only=read_only), read_only, place
        try:
            prepare(self.server, from_scratch=from_scratch)
        except BaseException:
            self.server.close()
            raise
        self._patience = patience
        self._writer: LockedWriter | None = None
        self._writing_thread: int | None = None
        bind_to_process(self, self.lock)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the child cannot use the connections either way
        """Leave the connections to the parent process."""
        self.lock = cast("threading.RLock", InheritedLock())
        self._writer = self._writing_thread = None
        self.server.disown()

    @property
    def writer(self) -> LockedWriter | None:
        """The connection by which this thread writes; None if it does not hold the write lock."""
        return self._writer if self._writing_thread == threading.get_ident() else None

    def fetch(self, statement: LiteralString, values: Sequence[object] = ()) -> list[Row]:
        """Return the rows of a statement that reads; a thread reads its own uncommitted changes."""
        writer = self.writer
        return self.server.fetch(statement, values) if writer is None else writer.execute(statement, values)

    def change(self, statement: LiteralString, values: Sequence[object] = ()) -> None:
        """Execute a statement that changes something, as a part of the transaction if there is one."""
        with self.writing() as writer:
            writer.execute(statement, values)

    def identity(self) -> str:
        # A copy of a database has another number.
        ((identity, database),) = self.fetch(
            "SELECT (SELECT value FROM settings WHERE name = 'identity'), "
            "(SELECT oid::bigint FROM pg_database WHERE datname = current_database())"
        )
        return f"{identity}{database:x}"

    def log(self, namespace: str) -> PostgresLog:
        return PostgresLog(self, namespace)

    def namespaces(self) -> list[str]:
        return [name.decode() for (name,) in self.fetch("SELECT name FROM namespaces ORDER BY namespace")]

    def drop_namespace(self, name: str) -> None:
        with self.transaction(), self.writing() as writer:
            for (namespace,) in self.fetch(_FIND, (name.encode(),)):
                writer.claim(namespace)
                writer.execute("DELETE FROM namespaces WHERE namespace = %s", (namespace,))

    @contextlib.contextmanager
    def writing(self, patience: float | None = None) -> Iterator[LockedWriter]:
        with self.lock:
            if self._writer is not None:
                yield self._writer
                return
            writer = LockedWriter(self.server, self._patience if patience is None else patience, self.while_waiting)
            try:
                self._writer, self._writing_thread = writer, threading.get_ident()
                yield writer
            finally:
                self._writer = self._writing_thread = None
                writer.close()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        with self.writing() as writer, writer.transaction():
            yield

    def claim_all(self) -> None:
        """Lock all graphs, and their table; see `DatabaseEngine`."""
        if (writer := self.writer) is not None and writer.is_in_transaction:
            writer.execute("LOCK TABLE namespaces IN SHARE ROW EXCLUSIVE MODE")
            for (namespace,) in writer.execute("SELECT namespace FROM namespaces ORDER BY namespace"):
                writer.claim(namespace)

    def settings(self) -> dict[str, str]:
        return dict(self.fetch("SELECT name, value FROM settings"))

    def record(self, settings: Mapping[str, str | int | None]) -> None:
        # An empty text stands for no value, so that one statement is enough.
        values = [[name, "" if value is None else str(value)] for name, value in settings.items()]
        self.change(_RECORD, [list(column) for column in zip(*values, strict=True)])

    def copies(self) -> list[str]:
        return sorted(place for (place,) in self.fetch("SELECT place FROM copies"))

    def record_copy(self, place: str, *, exists: bool) -> None:
        self.change(_COPY if exists else "DELETE FROM copies WHERE place = %s", (place,))

    def close(self) -> None:
        self.server.close()


class PostgresLog(DeltaLog):
    """The journal of one graph; see `Log`. Its number is 0 if the memory is read-only and has no such graph."""

    number = 0
    claims = True

    def __init__(self, engine: PostgresEngine, name: str) -> None:
        self.engine: PostgresEngine = engine
        self.name = name
        self._find()

    def _find(self) -> None:
        encoded = self.name.encode()
        if not self.engine.read_only and not self.engine.fetch(_FIND, (encoded,)):
            self.engine.change(_CREATE, (encoded,))
        for (number,) in self.engine.fetch(_FIND, (encoded,)):
            self.number = int(number)

    def claim(self) -> None:
        if not self.engine.read_only:
            with self.engine.writing() as writer:
                writer.claim(self.number)

    def position(self) -> Position:
        writer = self.engine.writer
        return self._read_position() if writer is None else writer.position(self.number, self._read_position)

    def _read_position(self) -> Position:
        if not self.number:
            self._find()
        rows = self.engine.fetch(_HEAD, (self.number,))
        if not rows:
            return GONE if self.number else Position(0, 0)
        return Position(*rows[0])

    def ends_at(self, position: Position) -> bool:
        return self.position() == position

    def append(self, plan: Plan, index: GraphIndex) -> int:
        """Append the delta of a plan; see `Log`.

        Raises:
            StorageError: nothing was written, or the message says that this is unknown.
        """
        delta, last = plan.delta, index.topology.sequence
        made = Append(self.number, last + 1, secrets.token_bytes(_TOKEN_BYTES))
        line = json.dumps(line_of(delta))
        values = to_micros(delta.at), delta.tells_of_uses_only, line, made.token, encode(delta)
        with self.engine.writing() as writer:
            writer.claim(self.number)
            if not writer.append(_APPEND, (self.number, last, *values), made):
                raise StorageError(f"{self.engine.server.address} has other changes than this process; open it again")
        return made.sequence

    def bodies(self, epoch: int, first: int, last: int) -> list[Row]:
        return self.engine.fetch(_BODIES, (self.number, epoch, first, last))

    def lines(self, after: int, up_to: int) -> Iterator[tuple[int, int, Line]]:
        for number, at, line in self.engine.fetch(_HISTORY, (self.number, after, up_to)):
            yield number, at, json.loads(line)

    def erased_up_to(self) -> int:
        rows = self.engine.fetch("SELECT erased_up_to FROM heads WHERE namespace = %s", (self.number,))
        return int(rows[0][0]) if rows else 0

    def record_erased(self, up_to: int) -> None:
        self.engine.change("UPDATE heads SET erased_up_to = %s WHERE namespace = %s", (up_to, self.number))

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        with self.engine.transaction(), self.engine.writing() as writer:
            writer.claim(self.number)
            _, last = self._read_position()
            if last != len(deltas):
                raise StorageError(f"{self.name!r} has {last} changes, so {len(deltas)} cannot take their place")
            for number, delta in enumerate(deltas, start=1):
                writer.execute(_REPLACE, (encode(delta), self.number, number))
            writer.execute("UPDATE heads SET epoch = epoch + 1 WHERE namespace = %s", (self.number,))
            writer.execute("DELETE FROM checkpoints WHERE namespace = %s", (self.number,))

    def read_checkpoint(self, epoch: int) -> tuple[int, Iterable[bytes]]:
        for sequence, deltas in self.engine.fetch(_READ_CHECKPOINT, (self.number, epoch)):
            return sequence, deltas
        return 0, ()

    def write_checkpoint(self, position: Position, deltas: Iterator[bytes]) -> None:
        values, server = (position.sequence, list(deltas), self.number, position.epoch), self.engine.server
        with server.session() as connection:
            server.execute(connection, _HURRY)
            server.execute(connection, _WRITE_CHECKPOINT, values)

    def last_before(self, moment: datetime) -> int:
        ((found,),) = self.engine.fetch(
            "SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = %s AND NOT uses_only AND at <= %s",
            (self.number, to_micros(moment)),
        )
        return int(found)

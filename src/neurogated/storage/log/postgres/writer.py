"""`Writer`: the connection of a thread that writes, with its locks and its transaction."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from typing import LiteralString, NamedTuple

from psycopg.pq import TransactionStatus

from neurogated.errors import MemoryLockedError, StorageError
from neurogated.storage.log.log import Position
from neurogated.storage.log.postgres.server import Connection, ConnectionLostError, Row, Server

_MILLISECONDS = 1000
_WAIT_SECONDS = 0.05
# Later statements of the session have the whole patience.
_LOCK = """
    SELECT set_config('lock_timeout', %s, false), set_config('lock_timeout', %s, true), pg_advisory_lock(%s)
"""
_UNLOCK = "SELECT pg_advisory_unlock_all()"
_FIND = "SELECT 1 FROM deltas WHERE namespace = %s AND sequence = %s AND token = %s"


class Append(NamedTuple):
    """Identifies a delta that this process wrote."""

    namespace: int
    sequence: int
    token: bytes


class Writer:
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
            return bool(self.execute(_FIND, made))
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

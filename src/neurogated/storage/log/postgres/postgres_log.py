"""`PostgresEngine` and `PostgresLog`: the journals of a memory in PostgreSQL, as rows of encoded deltas."""

from __future__ import annotations

import contextlib
import json
import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import LiteralString, cast

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import from_micros, to_micros
from neurogated.core.codec import decode, encode
from neurogated.core.delta import LATEST, Decay, GraphDelta, HistoryEntry, JournalEntry
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.errors import StorageError
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.log.checkpointed import RewrittenError
from neurogated.storage.log.log import Engine, Position
from neurogated.storage.log.memory_log import replayed_past
from neurogated.storage.log.postgres.postgres_follower import GONE, PostgresFollower
from neurogated.storage.log.postgres.server import Row, Server
from neurogated.storage.log.postgres.writer import Append, Writer

_PAGE = 200
_TOKEN_BYTES = 16
_FROZEN, _EMBEDDER, _DIMENSION = "frozen", "embedder", "dimension"
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
_ENTRIES = """
    SELECT h.epoch, d.sequence, d.body FROM heads h JOIN LATERAL (
        SELECT sequence, body FROM deltas
        WHERE namespace = h.namespace AND sequence > %s AND sequence <= %s ORDER BY sequence LIMIT %s
    ) d ON true WHERE h.namespace = %s ORDER BY d.sequence
"""
_HISTORY = """
    SELECT sequence, at, entry FROM deltas WHERE namespace = %s AND sequence > %s AND sequence <= %s ORDER BY sequence
"""
_NUMBERS = "SELECT sequence FROM deltas WHERE namespace = %s ORDER BY sequence"
_REPLACE = "UPDATE deltas SET body = %b WHERE namespace = %s AND sequence = %s"
_SETTING = "SELECT value FROM settings WHERE name = %s"
_RECORD_BOTH = """
    INSERT INTO settings VALUES (%s, %s), (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
_COPY = "INSERT INTO copies VALUES (%s) ON CONFLICT DO NOTHING"
_RECORD = "INSERT INTO settings VALUES (%s, %s) ON CONFLICT (name) DO UPDATE SET value = excluded.value"


class PostgresEngine:
    """The memory in one schema of a database; see `Engine`. Each graph has a lock of its own."""

    def __init__(self, server: Server, patience: float) -> None:
        """Take a server with the tables of a memory, and how many seconds a write waits for other processes."""
        self.lock = threading.RLock()
        self.server = server
        self._patience = patience
        self._writer: Writer | None = None
        self._writing_thread: int | None = None
        self._meanwhile: Callable[[], None] | None = None
        bind_to_process(self, self.lock)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the child cannot use the connections either way
        """Leave the connections to the parent process."""
        self.lock = cast("threading.RLock", InheritedLock())
        self._writer = self._writing_thread = None
        self.server.disown()

    @property
    def writer(self) -> Writer | None:
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

    @property
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

    def while_waiting(self, call: Callable[[], None]) -> None:
        self._meanwhile = call

    @contextlib.contextmanager
    def writing(self, patience: float | None = None) -> Iterator[Writer]:
        with self.lock:
            if self._writer is not None:
                yield self._writer
                return
            writer = Writer(self.server, self._patience if patience is None else patience, self._meanwhile)
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
        """Keep others from writing to any graph and from making one, until the transaction under way ends, if any."""
        if (writer := self.writer) is not None and writer.is_in_transaction:
            writer.execute("LOCK TABLE namespaces IN SHARE ROW EXCLUSIVE MODE")
            for (namespace,) in writer.execute("SELECT namespace FROM namespaces ORDER BY namespace"):
                writer.claim(namespace)

    @property
    def embedder(self) -> tuple[str, int] | None:
        found: dict[str, str] = dict(self.fetch("SELECT name, value FROM settings"))
        return (found[_EMBEDDER], int(found[_DIMENSION])) if _EMBEDDER in found else None

    def record_embedder(self, name: str, dimension: int) -> None:
        self.change(_RECORD_BOTH, (_EMBEDDER, name, _DIMENSION, str(dimension)))

    def is_frozen(self) -> bool:
        return self.fetch(_SETTING, (_FROZEN,)) == [("1",)]

    def record_frozen(self, *, frozen: bool) -> None:
        self.change(_RECORD, (_FROZEN, str(int(frozen))))

    def copies(self) -> list[str]:
        return sorted(place for (place,) in self.fetch("SELECT place FROM copies"))

    def record_copy(self, place: str, *, exists: bool) -> None:
        self.change(_COPY if exists else "DELETE FROM copies WHERE place = %s", (place,))

    def close(self) -> None:
        self.server.close()


class PostgresLog:
    """The journal of one graph; see `Log`."""

    def __init__(self, engine: PostgresEngine, name: str) -> None:
        self._engine = engine
        self.name = name
        self.namespace = self._number()
        """The number of the graph; 0 if the memory is read-only and has no such graph."""

    def _number(self) -> int:
        encoded = self.name.encode()
        if not self._engine.server.read_only and not self._engine.fetch(_FIND, (encoded,)):
            self._engine.change(_CREATE, (encoded,))
        rows = self._engine.fetch(_FIND, (encoded,))
        return int(rows[0][0]) if rows else 0

    def claim(self) -> None:
        """Lock the graph for the block of `Engine.writing` in which this is called; see `SupportsClaiming`."""
        if not self._engine.server.read_only:
            with self._engine.writing() as writer:
                writer.claim(self.namespace)

    def position(self) -> Position:
        writer = self._engine.writer
        return self._read_position() if writer is None else writer.position(self.namespace, self._read_position)

    def _read_position(self) -> Position:
        if not self.namespace:
            self.namespace = self._number()
        rows = self._engine.fetch(_HEAD, (self.namespace,))
        if not rows:
            return GONE if self.namespace else Position(0, 0)
        return Position(*rows[0])

    def append(self, plan: Plan, index: GraphIndex) -> int:
        """Append the delta of a plan; see `Log`.

        Raises:
            StorageError: nothing was written, or the message says that this is unknown.
        """
        delta, last = plan.delta, index.topology.sequence
        made = Append(self.namespace, last + 1, secrets.token_bytes(_TOKEN_BYTES))
        values = to_micros(delta.at), delta.tells_of_uses_only, _line(delta), made.token, encode(delta)
        with self._engine.writing() as writer:
            writer.claim(self.namespace)
            if not writer.append(_APPEND, (self.namespace, last, *values), made):
                raise StorageError(f"{self._engine.server.address} has other changes than this process; open it again")
        return made.sequence

    def entries(self, after: int = 0, up_to: int = LATEST) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`, to `up_to`; see `Log`. Deltas appended meanwhile are left out.

        Raises:
            RewrittenError: another process compacted or dropped the graph meanwhile.
            CorruptMemoryError: a delta is damaged.
        """
        end = self.position()
        return self._entries(after, end._replace(sequence=min(end.sequence, up_to)))

    def _entries(self, after: int, end: Position) -> Iterator[JournalEntry]:
        while after < end.sequence:
            rows = self._engine.fetch(_ENTRIES, (after, end.sequence, _PAGE, self.namespace))
            if not rows or rows[0][0] != end.epoch:
                raise RewrittenError(f"the history of {self.name!r} was rewritten while it was read; read it again")
            for _, number, body in rows:
                yield JournalEntry(number, decode(body))
            after = rows[-1][1]

    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        rows = self._engine.fetch(_HISTORY, (self.namespace, after, up_to))
        return [_entry(*row) for row in rows]

    def erased_up_to(self) -> int:
        rows = self._engine.fetch("SELECT erased_up_to FROM heads WHERE namespace = %s", (self.namespace,))
        return int(rows[0][0]) if rows else 0

    def record_erased(self, up_to: int) -> None:
        self._engine.change("UPDATE heads SET erased_up_to = %s WHERE namespace = %s", (up_to, self.namespace))

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        with self._engine.transaction(), self._engine.writing() as writer:
            writer.claim(self.namespace)
            numbers = writer.execute(_NUMBERS, (self.namespace,))
            for (number,), delta in zip(numbers, deltas, strict=True):
                writer.execute(_REPLACE, (encode(delta), self.namespace, number))
            writer.execute("UPDATE heads SET epoch = epoch + 1 WHERE namespace = %s", (self.namespace,))
            writer.execute("DELETE FROM checkpoints WHERE namespace = %s", (self.namespace,))

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> PostgresFollower:
        return PostgresFollower(self._engine, self, config, current)

    def as_of(
        self, sequence: int, moment: datetime | None, present: Callable[[], GraphState]
    ) -> tuple[Engine, datetime]:
        return replayed_past(self.name, self, sequence, moment, present())

    def last_before(self, moment: datetime) -> int:
        ((found,),) = self._engine.fetch(
            "SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = %s AND NOT uses_only AND at <= %s",
            (self.namespace, to_micros(moment)),
        )
        return int(found)


def _line(delta: GraphDelta) -> str:
    """Return what the history tells of a delta."""
    return json.dumps([delta.reason, delta.changes, [one.to_json() for one in delta.operators]])


def _entry(sequence: int, at: int, line: str) -> HistoryEntry:
    reason, changes, operators = json.loads(line)
    return HistoryEntry(sequence, from_micros(at), reason, changes, tuple(map(Decay.from_json, operators)))

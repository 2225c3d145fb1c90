"""`WriteLease`: the write lock of a memory, held in its database."""

import contextlib
import math
import random
import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from neurogated.core.delta import JournalEntry
from neurogated.errors import MemoryClosedError, MemoryLockedError, StorageError
from neurogated.storage.log.neo4j.connection import COMMITTED, BoltStatement, Connection


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the log of one graph."""

    epoch: int
    sequence: int = 0
    erased: int = 0
    """The number of the last change whose past was erased."""


@dataclass(slots=True)
class Work:
    """The statements of a transaction, and what the database will hold after them.

    The statements are sent when the transaction ends, so a part of it can be rolled back; Bolt has no savepoints.
    """

    holder: str
    """The name of the turn."""
    memory: dict[str, Any]
    """Properties of the memory."""
    look_up: Callable[[str], Head | None]
    """Reads the head of a graph in the database."""
    heads: dict[str, Head | None] = field(default_factory=dict)
    """The heads that were read or written; None for a graph that does not exist."""
    statements: list[BoltStatement] = field(default_factory=list)
    entries: list[tuple[str, JournalEntry]] = field(default_factory=list)
    """The appended and replaced deltas, with their namespaces."""
    is_part: bool = False
    """Whether a transaction is under way."""
    commit: str = field(default_factory=lambda: secrets.token_hex(8))
    """The name of the transaction."""
    first: tuple[str, int] | None = None
    """The namespace and number of the first delta that it appends."""

    def head(self, name: str) -> Head | None:
        """Return the end of the log of a graph; None if the graph does not exist."""
        if name not in self.heads:
            self.heads[name] = self.look_up(name)
        return self.heads[name]

    def add(self, text: str, **values: Any) -> None:  # noqa: ANN401 - values of parameters
        """Add a statement."""
        self.statements.append(BoltStatement(text, values))

    def is_stored(self, connection: Connection) -> bool:
        """Return whether the log has the transaction although it failed: its answer may have been lost.

        Raises:
            StorageError: the server is away, so that this is unknown.
        """
        if self.first is None:
            return False
        namespace, sequence = self.first
        try:
            return bool(connection.read(COMMITTED, namespace=namespace, sequence=sequence, commit=self.commit))
        except StorageError as error:
            raise StorageError(f"{error}; whether the last change was stored is unknown") from error

    @contextlib.contextmanager
    def undone_by_errors(self) -> Iterator[None]:
        """Run a block; if it raises, forget what it wrote."""
        memory, heads, first = dict(self.memory), dict(self.heads), self.first
        statements, entries, is_part = len(self.statements), self.entries.copy(), self.is_part
        try:
            yield
        except BaseException:
            self.memory, self.heads, self.entries, self.is_part = memory, heads, entries, is_part
            self.first = first
            del self.statements[statements:]
            raise


LEASE_SECONDS = 6.0
"""How long others wait for a holder that died; less than the default of `runtime.write_lock_seconds`."""
LEASE = int(1000 * LEASE_SECONDS)
_RENEWAL_SECONDS = 2.0
_KEEP_SECONDS = 0.1
"""How long a process keeps the lock after a write, so that its next write need not ask for it."""
_LOOK_SECONDS = 0.002
_LONGEST_LOOK_SECONDS = 0.05
_RESERVED = 3000
"""Milliseconds for which the lock waits for the process that asked; on a busy machine it may be slow to look again."""

_IS_UNASKED = "(coalesce(m.asked, '') IN ['', $holder] OR coalesce(m.asked_until, 0) < timestamp())"
_IS_FREE = f"(m.until < timestamp() OR m.holder = $holder) AND {_IS_UNASKED}"
# Setting a property takes the lock of the node, where the server has locks; only then is the second condition certain.
_TAKE = (
    f"MATCH (m:NeurogatedMemory {{memory: $memory}}) WHERE {_IS_FREE} SET m.asked = '' WITH m WHERE {_IS_FREE}"
    " SET m.holder = $holder, m.until = timestamp() + $lease RETURN properties(m) AS memory"
)
# A process that has just given the lock back must not ask in the place of one that waits.
_ASK = (
    f"MATCH (m:NeurogatedMemory {{memory: $memory}}) WHERE {_IS_UNASKED}"
    " SET m.asked = $holder, m.asked_until = timestamp() + $reserved RETURN m.asked AS asked"
)
_RENEW = (
    "MATCH (m:NeurogatedMemory {memory: $memory}) WHERE m.holder = $holder SET m.until = timestamp() + $lease"
    " RETURN m.asked AS asked"
)
_RELEASE = "MATCH (m:NeurogatedMemory {memory: $memory}) WHERE m.holder = $holder SET m.until = 0, m.holder = ''"


class WriteLease:
    """The write lock as this process sees it. The database keeps it as a lease, which a thread renews.

    A lease, not a lock of the server: a block may last long, and some servers that speak Bolt have no locks. A process
    keeps the lease for a moment after each write, unless another process asks for it.
    """

    def __init__(self, connection: Connection, look_up: Callable[[str], Head | None]) -> None:
        """Describe a lock that is not held; `look_up` reads the head of a graph in the database."""
        self._connection = connection
        self._look_up = look_up
        self._holder = secrets.token_hex(8)
        self._lock = threading.Lock()
        self._work: Work | None = None
        self._began = self._until = self._used = -math.inf
        self._in_use = self._must_end = False

    @property
    def work(self) -> Work | None:
        """What this process wrote since it took the lock; None if another process may hold it."""
        return self._work if time.monotonic() < self._until else None

    @property
    def began(self) -> float | None:
        """When this process took the lock, by `time.monotonic`; None if another process may hold it."""
        return self._began if self.work is not None else None

    @contextlib.contextmanager
    def held(self, patience: float, meanwhile: Callable[[], None] | None) -> Iterator[Work]:
        """Wait for the lock, calling `meanwhile` again and again, and run a block with it.

        Raises:
            MemoryLockedError: another process holds the lock for longer than `patience` seconds.
        """
        with self._lock:
            if self._work is None or time.monotonic() > self._until - _RENEWAL_SECONDS:
                self._work = self._taken(patience, meanwhile)
            self._in_use, work = True, self._work
        try:
            yield work
        finally:
            with self._lock:
                self._in_use, self._used = False, time.monotonic()
                if self._must_end:
                    self._end()

    def renewed(self, sent: float, *, is_asked_for: bool) -> None:
        """Record that a statement sent at a time extended the lease, and whether another process waits for it."""
        with self._lock:
            # The answer may come after this process gave the lease back.
            if self._work is not None:
                self._until, self._must_end = sent + LEASE_SECONDS, self._must_end or is_asked_for

    def give_up(self) -> None:
        """Give the lock to others after this block: it is unknown what the database holds."""
        self._must_end = True

    def close(self) -> None:
        """Give the lock to others."""
        with self._lock:
            self._end()

    def disown(self) -> None:
        """Leave the lock to the parent process."""
        self._lock, self._work, self._until = threading.Lock(), None, -math.inf

    def _taken(self, patience: float, meanwhile: Callable[[], None] | None) -> Work:
        self._work, self._until, self._must_end = None, -math.inf, False
        begin, pause, asked = time.monotonic(), _LOOK_SECONDS, -math.inf
        while True:
            sent = time.monotonic()
            if rows := self._connection.read(_TAKE, holder=self._holder, lease=LEASE):
                self._began = self._used = time.monotonic()
                self._until = sent + LEASE_SECONDS
                threading.Thread(target=self._keep, args=(self._began,), name="neurogated-turn", daemon=True).start()
                return Work(self._holder, dict(rows[0]["memory"]), self._look_up)
            if sent > begin + patience:
                raise MemoryLockedError(
                    f"another process is writing to {self._connection.address}; try again later, or raise "
                    f"runtime.write_lock_seconds, which is {patience:g} here"
                )
            is_due = sent > asked + _RESERVED / 2000
            if is_due and self._connection.read(_ASK, holder=self._holder, reserved=_RESERVED):
                asked = sent
            if meanwhile is not None:
                meanwhile()
            time.sleep(pause * random.random())  # noqa: S311 - parts contenders
            pause = min(2 * pause, _LONGEST_LOOK_SECONDS)

    def _keep(self, began: float) -> None:
        while True:
            time.sleep(_KEEP_SECONDS)
            with self._lock:
                if self._began != began or self._work is None:
                    return
                if not self._in_use and time.monotonic() > self._used + _KEEP_SECONDS:
                    self._end()
                    return
            if time.monotonic() > self._until - LEASE_SECONDS + _RENEWAL_SECONDS:
                sent = time.monotonic()
                # The next write reports a server that is away.
                with contextlib.suppress(StorageError, MemoryClosedError):
                    for row in self._connection.read(_RENEW, holder=self._holder, lease=LEASE):
                        self.renewed(sent, is_asked_for=bool(row["asked"]))

    def _end(self) -> None:
        if self._work is None:
            return
        self._work, self._until = None, -math.inf
        # What the blocks wrote is committed. If the server is away, the lease ends by itself.
        with contextlib.suppress(StorageError, MemoryClosedError):
            self._connection.read(_RELEASE, holder=self._holder)

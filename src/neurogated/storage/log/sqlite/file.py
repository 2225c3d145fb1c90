"""The SQLite file of the durable store: opening, the write lock, transactions and faults."""

import contextlib
import logging
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import apsw

from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.errors import CorruptMemoryError, ForkedMemoryError, MemoryClosedError, MemoryLockedError, StorageError
from neurogated.storage.files import Presence, ProcessLock
from neurogated.storage.log.sqlite import integrity, schema
from neurogated.storage.log.sqlite.connection import Translated, begun, connect, connect_reader, fetch, os_errors
from neurogated.storage.log.sqlite.file_guard import FileGuard, OpenedFiles, place_of
from neurogated.utils.background import take

_log = logging.getLogger(__name__)

# The block of a thread that has the turn to write, or is in a transaction.
_IN_TURN = contextlib.nullcontext()
_CHECK = "check it, or choose another save_dir"

# Files whose locks SQLite still believes held in this forked process, although only the parent held them.
_busy_at_fork: set[tuple[int, int]] = set()


class SqliteFile:
    """One memory file. Several processes may have it open for writing; they take turns, one transaction at a time.

    A commit is on disk before it returns (write-ahead log, synchronous=FULL). `lock` serialises the threads.
    """

    while_waiting: Callable[[], None] | None = None
    """Called again and again while a thread that holds `lock` waits for its turn to write."""
    connection: apsw.Connection
    """Use it under `lock` and within `translated` or `transaction`."""

    def __init__(self, path: Path, *, from_scratch: bool, read_only: bool, patience: float) -> None:
        """Open or create the file; with `from_scratch`, drop an existing file.

        Args:
            path: the file.
            from_scratch: drop the existing memory; no other process may have it open for writing.
            read_only: never write.
            patience: how many seconds a write waits for the write of another process.

        Raises:
            MemoryLockedError: another process has not finished its write, or has the file to be dropped open.
            CorruptMemoryError: the file is damaged, lacks acknowledged writes, or is not a memory.
            FormatVersionError: the file has an unknown format version.
            StorageError: the file cannot be read or written.
        """
        self.path = path
        self.translated = Translated(path)
        """A block that turns the driver's errors into ours."""
        self.read_only = read_only
        self.lock = threading.RLock()
        self._patience = patience
        self._writing = threading.Lock()
        # Held during a transaction. Only a `with` statement releases it no matter where an interrupt strikes.
        self._changing = threading.Lock()
        self._state_in_turn: tuple[int, int, int] | None = None
        self.turn_began: float | None = None
        """When this process took its turn to write, by `time.monotonic`; None while it has none."""
        self._reader_lock = threading.Lock()
        self._reader: apsw.Connection | None = None
        self._closed = True
        self._files = OpenedFiles(path)
        self._watermark = integrity.CommitWatermark(path.with_suffix(".acknowledged"))
        with os_errors(f"{path} cannot be opened", _CHECK):
            if read_only:
                self._open_for_reading()
            else:
                self._turn = ProcessLock(path.with_suffix(".lock"), f"writes to {path}")
                self._presence = Presence(path)
                self._watch = integrity.CheckpointWatch(path, self._turn)
                self._open_as_writer(from_scratch=from_scratch)
        self._closed = False
        bind_to_process(self, self.lock, self._reader_lock)

    def _open_as_writer(self, *, from_scratch: bool) -> None:
        try:
            self._turn.acquire(self._patience)
            if from_scratch:
                self._presence.require_alone()
            if is_alone := self._presence.enter():
                schema.drop_file(schema.draft_of(self.path))
            self._open_for_writing(from_scratch=from_scratch, is_alone=is_alone)
            with self.translated:
                self._identity, self._sequence = integrity.last_change(self.connection)
            self._watermark.write(self._identity, self._sequence)
            if is_alone:
                self._watch.note()
            self._turn.release()
        except BaseException:
            if hasattr(self, "_guard"):
                with self._guard.released():
                    self.connection.close()
            self._presence.close()
            self._turn.close()
            raise

    def disown(self, *, at_rest: bool) -> None:
        """Leave the file to the parent process: the child neither uses nor closes it."""
        if not self._closed and (not at_rest or self.connection.in_transaction):
            _busy_at_fork.add(self._opened)
        self.lock = cast("threading.RLock", InheritedLock())
        self._closed = True

    def __del__(self) -> None:
        """Close a file that nobody closed, so that the memory can be opened again."""
        # A copy that failed has no attributes.
        if not getattr(self, "_closed", True):
            try:
                warnings.warn(f"{self.path} was not closed; call close()", ResourceWarning, stacklevel=2, source=self)
            finally:
                self.close()

    @contextlib.contextmanager
    def writing(self, patience: float | None = None) -> Iterator[None]:
        """Run the block while no other thread or process writes; blocks may nest.

        It waits `patience` seconds for other processes; the default is the setting.

        Raises:
            MemoryLockedError: another process has not finished its write; the message names it.
        """
        with self.lock:
            if self._writing.locked() or self.read_only or self._closed:
                yield
                return
            # While it is held, this file has the turn to write, no matter where an interrupt strikes.
            with self._writing:
                try:
                    self._state_in_turn = None
                    self._turn.acquire(self._patience if patience is None else patience, self.while_waiting)
                    self.turn_began = time.monotonic()
                    yield
                finally:
                    self.turn_began = None
                    self._turn.release()

    @contextlib.contextmanager
    def transaction(self, *, check_references: bool = True) -> Iterator[apsw.Connection]:
        """Run the block as one transaction: commit it when it ends, roll it back if it raises.

        A nested transaction is a part of the outer one; if only the nested one raises, it alone is rolled back.

        Args:
            check_references: refuse rows whose references lead nowhere; a nested transaction cannot change this.

        Raises:
            StorageError: the file cannot be written, or the outer transaction was already rolled back.
        """
        with self.lock, _IN_TURN if self._writing.locked() else self.writing(), self.translated:
            is_outermost = not self._changing.locked()
            if is_outermost:
                self._files.require_same("nothing was written")
                self._seal()
            elif not self.connection.in_transaction:
                raise StorageError(f"a write to {self.path} failed and rolled back its whole transaction; begin again")
            # SQLite ignores it within a transaction. Each transaction sets it, so an interrupt cannot leave it wrong.
            self.connection.execute(f"PRAGMA foreign_keys = {int(check_references)}")
            with self._changing if is_outermost else _IN_TURN, begun(self.connection, "IMMEDIATE"):
                yield self.connection
                # Read before the commit: a failure after it would make a committed change look rolled back.
                identity, sequence = integrity.last_change(self.connection)
                was_foreign = self._watch.is_foreign()
            if is_outermost:
                if not was_foreign:
                    self._watch.note()
                self._files.require_same("the last change is lost")
                if sequence > self._sequence:
                    self._watermark.write(identity, sequence)
                    self._sequence = sequence

    @contextlib.contextmanager
    def reading(self, *, latest: bool = False) -> Iterator[apsw.Connection]:
        """Run the block on one state of the file while others may write; if `latest`, first reopen a replaced file."""
        if latest:
            self.state()
        with self.lock, self._unclosed():
            if self.connection.in_transaction:
                yield self.connection
                return
            with begun(self.connection, "DEFERRED"):
                yield self.connection

    def fetch(self, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()) -> list[tuple[Any, ...]]:
        """Return all rows of a query, without waiting for a transaction of another thread.

        A thread in a transaction reads its own writes; the other threads read the last commit.
        """
        taken: list[bool] = []
        try:
            if take(self.lock, taken, -1 if self.read_only else 0):
                with self._unclosed():
                    return fetch(self.connection, statement, values)
        finally:
            if True in taken:
                self.lock.release()
        with self._reader_lock, self._unclosed():
            self._reader = self._reader or connect(self.path, read_only=True)
            return fetch(self._reader, statement, values)

    def settings(self) -> dict[str, str]:
        """Return the settings of the memory; see `Engine`."""
        return dict(self.fetch("SELECT name, value FROM settings"))

    def record(self, settings: Mapping[str, str | int | None]) -> None:
        """Record settings; see `Engine`."""
        with self.transaction() as connection:
            connection.executemany("DELETE FROM settings WHERE name = ?", [(name,) for name in settings])
            kept = [(name, str(value)) for name, value in settings.items() if value is not None]
            connection.executemany("INSERT INTO settings VALUES (?, ?)", kept)

    def _unclosed(self) -> contextlib.AbstractContextManager[None]:
        if self._closed:
            raise MemoryClosedError("the memory is closed; open it again to use it")
        return self.translated

    def state(self) -> tuple[int, int, int]:
        """Return a value that changes after a write of another process; a replaced file is reopened.

        Raises:
            StorageError: the file is gone.
        """
        with self.lock, self.translated:
            if self._state_in_turn is not None and self.turn_began is not None:
                return self._state_in_turn
            if self.read_only and self._files.memory() != self._opened:
                _log.info("%s was replaced and is reopened", self.path)
                with self._guard.released():
                    self.connection.close()
                with os_errors(f"{self.path} cannot be opened", _CHECK):
                    self._open_for_reading()
            if not self.read_only and not self._writing.locked():
                # An interrupt may have prevented its release.
                self._turn.release()
            if self.turn_began is not None or not self._writing.locked():
                self._seal()
            ((version,),) = fetch(self.connection, "PRAGMA data_version")
            self._hold_guard(self.connection, self._guard)
            state = *self._opened, int(version)
            # No other process writes before the turn ends, so the value stays valid.
            self._state_in_turn = state if self.turn_began is not None else None
            return state

    def _seal(self) -> None:
        if not self.read_only and self._watch.is_foreign():
            with contextlib.suppress(MemoryLockedError), self.writing(patience=0):
                self._watch.seal(self.connection)

    def problems(self) -> list[str]:
        """Return the faults of the file, one per line; none if it is sound."""
        with self.lock, self.translated:
            return integrity.faults(self.connection)

    def rewrite(self) -> None:
        """Rewrite the file without its deleted rows, and empty its log.

        Raises:
            StorageError: another process is reading, so that the log cannot be emptied.
        """
        with self.lock, self.translated:
            self.connection.execute("VACUUM")
            with self._reader_lock:
                ((busy, *_),) = fetch(self.connection, "PRAGMA wal_checkpoint(TRUNCATE)")
            self._watch.note()
        if busy:
            raise StorageError(f"another process reads {self.path}, so its log cannot be emptied; compact again")

    def size(self) -> int:
        """Return the size of the file and its log on disk in bytes."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Close the file and let other processes write; idempotent."""
        if self._closed:
            return
        try:
            # The write lock keeps others from opening the memory until the log is emptied and the watermark says so.
            # The log stays if another process writes now, or if this thread is in a transaction of another store.
            with self.writing(patience=min(self._patience, 1)), contextlib.ExitStack() as last:
                last.callback(self._close)
                self._seal()
        except MemoryLockedError as error:
            _log.warning("%s is closed without the write lock: %s", self.path, error)
            self._close()

    def _close(self) -> None:
        with self.lock, self._reader_lock, self.translated:
            is_sealed = self._writing.locked() and not self._watch.is_foreign()
            if not self._files.are_same():
                # Other files replaced those that were opened; the old log must not be written into the new file.
                self.connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            with self._guard.released():
                if self._reader is not None:
                    self._reader.close()
                    self._reader = None
                self.connection.close()
        self._closed = True
        if not self.read_only:
            if is_sealed and not self._files.has("-wal"):
                sequence = max(self._sequence, self._watermark.read(self._identity))
                self._watermark.write(self._identity, sequence, closed=True)
            self._watermark.close()
            self._presence.close()
            self._turn.close()

    def _open_for_writing(self, *, from_scratch: bool, is_alone: bool) -> None:
        heritage = schema.heritage_of(self.path) if from_scratch else {}
        if from_scratch and self.path.exists():
            schema.refuse_foreign(self.path)
        if not from_scratch:
            integrity.refuse_missing_file(self.path, self._watermark)
        if from_scratch or not self.path.exists():
            # The watermark of a memory that is gone says nothing about the new one.
            self._watermark.remove()
            schema.create_file(self.path)
        else:
            schema.check_format(self.path)
        # While other processes have the memory open, the watermark says so too, and they use the log.
        was_open = is_alone and self._watermark.says_open()
        try:
            self._attach_for_writing()
        except CorruptMemoryError:
            if not (was_open and integrity.seal_pages(self.path)):
                raise
            self._attach_for_writing()
        else:
            # Another program may have copied pages of the log until now; from now on, none can.
            if was_open:
                integrity.seal_pages(self.path)
        with self.translated:
            schema.keep_incarnation(self.connection, place_of(self.path), heritage)
        self._files.note()

    def _attach_for_writing(self) -> None:
        self._attach(connect, "PRAGMA journal_mode = WAL", "PRAGMA synchronous = FULL")

    def _open_for_reading(self) -> None:
        self._files.memory()
        schema.check_format(self.path)
        if self._watermark.says_open():
            integrity.refuse_unsealed(self.path)
        self._attach(connect_reader)

    def _attach(self, open_connection: Callable[[Path], apsw.Connection], *settings: str) -> None:
        """Open SQLite's connection, guarded against other parts of the process that close the file."""
        if (opened := self._files.memory()) in _busy_at_fork:
            raise ForkedMemoryError(
                f"{self.path} was being written when this process was forked, so it cannot be opened here; fork "
                "before the memory is used, or start processes with the 'spawn' method"
            )
        connection, guard = None, FileGuard(self.path)
        try:
            with self.translated:
                connection = open_connection(self.path)
                for setting in settings:
                    connection.execute(setting)
                integrity.refuse_cut_file(self.path, connection)
                integrity.refuse_lost_changes(self.path, self._watermark, lambda: integrity.last_change(connection))
                self._hold_guard(connection, guard)
        except BaseException:
            with guard.released():
                if connection is not None:
                    # Keep the log for inspection.
                    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
                    connection.close()
            raise
        self.connection, self._guard, self._opened = connection, guard, opened

    def _hold_guard(self, connection: apsw.Connection, guard: FileGuard) -> None:
        # A writer must be able to change the journal mode of a file without a log, such as a snapshot.
        if not guard.is_held and self._files.has("-shm") and fetch(connection, "PRAGMA journal_mode") == [("wal",)]:
            guard.hold()

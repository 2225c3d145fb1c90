"""The SQLite file under the durable store: opening, the writer's lock, transactions, what is wrong with it."""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import apsw

from neurogated.errors import StorageError
from neurogated.storage.acknowledged import AcknowledgedNote
from neurogated.storage.sqlite_connection import connect, connect_reader, fetch, translated
from neurogated.storage.sqlite_making import drop_draft, make_file
from neurogated.storage.sqlite_schema import CHECKS, check_format
from neurogated.storage.sqlite_wholeness import last_change, refuse_cut_file, refuse_lost_changes, refuse_missing_file
from neurogated.storage.writer_lock import WriterLock

__all__ = ["Block", "SqliteFile"]

_log = logging.getLogger(__name__)


@dataclass(slots=True)
class Block:
    """A transaction or a part of one, by which a graph learns what became of the changes that it shows."""

    outer: Block | None
    """The one that it is a part of."""
    under_way: threading.Lock = field(default_factory=threading.Lock)
    """Held as long as it is neither committed nor rolled back."""
    made: bool = False
    """Whether it was committed, or became a part of the outer one."""


class SqliteFile:
    """One memory file; a writer holds it against other writers until `close`, readers hold nothing.

    A commit is on disk before it returns (write-ahead log, synchronous=FULL). Threads take turns by `lock`.
    """

    def __init__(self, path: Path, *, from_scratch: bool = False, read_only: bool = False) -> None:
        """Open or create the file; with `from_scratch` drop the one that is there.

        Raises:
            MemoryLockedError: another process writes to it.
            CorruptMemoryError: it is damaged, or lacks writes that were acknowledged.
            FormatVersionError: it is of a format version that is not known here.
            StorageError: it cannot be read or written.
        """
        self.path = path
        self.read_only = read_only
        self.lock = threading.RLock()
        self._block: Block | None = None
        self._reader_lock = threading.Lock()
        self._reader: apsw.Connection | None = None
        self._acknowledged = AcknowledgedNote(path.with_suffix(".acknowledged"))
        if read_only:
            self._opened = self._which_file()
            self._connection = self._open_for_reading()
            return
        self._writer_lock = WriterLock(path)
        self._writer_lock.acquire()
        try:
            self._connection = self._open_for_writing(from_scratch=from_scratch)
            self._sequence = self._progress(self._connection)[1]
        except BaseException as error:
            self._writer_lock.release()
            if isinstance(error, OSError) and not isinstance(error, StorageError):
                raise StorageError(
                    f"{path} cannot be opened ({error}); check it, or choose another save_dir"
                ) from error
            raise

    @property
    def connection(self) -> apsw.Connection:
        """The connection; use it under `lock` and within `translated` or `transaction`."""
        return self._connection

    @contextlib.contextmanager
    def transaction(self, *, check_references: bool = True) -> Iterator[apsw.Connection]:
        """Run the block as one transaction: committed whole when it ends, rolled back when it raises.

        A transaction within another is a part of it, which is rolled back alone where only the part raises.

        Args:
            check_references: refuse rows whose references lead nowhere; not changed within another transaction.

        Raises:
            StorageError: the file cannot be written, or the transaction around it has been rolled back already.
        """
        with self.lock, self.translated():
            outer = self.block
            if outer is not None and not self._connection.in_transaction:
                raise StorageError(f"a write to {self.path} failed and took back all of its transaction; begin anew")
            block = self._block = Block(outer)
            # Not known within a transaction, and set for each one, so that no interrupt leaves a wrong setting behind.
            self._connection.execute(f"PRAGMA foreign_keys = {int(check_references)}")
            failure = None
            try:
                # The driver begins, commits and rolls back in C, where no interrupt strikes.
                self._connection.transaction_mode = "IMMEDIATE"
                with block.under_way, self._connection:
                    try:
                        yield self._connection
                        # Asked before the commit: what fails after it would be taken for a change that was not made.
                        identity, sequence = self._progress(self._connection)
                    except BaseException as error:
                        failure = error
                        raise
            except apsw.SQLError:
                # Where the disk is full or fails, SQLite has rolled back already, and the driver cannot.
                if failure is None:
                    raise
                raise failure  # noqa: B904 - it came first
            block.made = True
            if outer is None and sequence > self._sequence:
                self._acknowledged.write(identity, sequence)
                self._sequence = sequence

    @property
    def block(self) -> Block | None:
        """The innermost transaction that is under way."""
        block = self._block
        while block is not None and not block.under_way.locked():
            block = block.outer
        return block

    @contextlib.contextmanager
    def reading(self) -> Iterator[apsw.Connection]:
        """Run the block on one state of the file, whatever another process writes meanwhile."""
        with self.lock, self.translated():
            if self._connection.in_transaction:
                yield self._connection
                return
            self._connection.transaction_mode = "DEFERRED"
            with self._connection as connection:
                yield connection

    @contextlib.contextmanager
    def reader(self) -> Iterator[apsw.Connection]:
        """Give a connection for one query, without waiting for a transaction of another thread.

        A thread in a transaction reads what it has written; the others read what was committed last.
        """
        if self.lock.acquire(blocking=self.read_only):
            try:
                if self.read_only or self._connection.in_transaction:
                    with self.translated():
                        yield self._connection
                    return
            finally:
                self.lock.release()
        with self._reader_lock, self.translated():
            if self._reader is None:
                self._reader = connect(self.path, read_only=True)
            yield self._reader

    def translated(self) -> contextlib.AbstractContextManager[None]:
        """Turn the driver's errors into ours."""
        return translated(self.path)

    def state(self) -> tuple[int, int, int]:
        """Return what differs once another process has written; a file that was replaced is opened anew.

        Raises:
            StorageError: the file is gone.
        """
        with self.lock, self.translated():
            file = self._which_file()
            if self.read_only and file != self._opened:
                _log.info("%s was replaced; it is opened again", self.path)
                self._connection.close()
                self._connection, self._opened = self._open_for_reading(), file
            ((version,),) = fetch(self._connection, "PRAGMA data_version")
            return *file, int(version)

    def problems(self) -> list[str]:
        """Return what is wrong in the file, a line each; none if it is sound."""
        with self.lock, self.translated():
            found = [str(row[0]) for row in fetch(self._connection, "PRAGMA integrity_check") if row[0] != "ok"]
            found += [
                f"table {table}, row {row}: refers to a missing row of {parent}"
                for table, row, parent, _ in fetch(self._connection, "PRAGMA foreign_key_check")
            ]
            for what, statement in CHECKS.items():
                ((count,),) = fetch(self._connection, statement)
                if count:
                    found.append(f"{count} × {what}")
        return found

    def rewrite(self) -> None:
        """Write the file anew without what was deleted from it, and empty its log.

        Raises:
            StorageError: another process reads just now, so that the log cannot be emptied.
        """
        with self.lock, self.translated():
            self._connection.execute("VACUUM")
            with self._reader_lock:
                ((busy, *_),) = fetch(self._connection, "PRAGMA wal_checkpoint(TRUNCATE)")
        if busy:
            raise StorageError(f"another process reads {self.path}, so that its log cannot be emptied; compact again")

    def size(self) -> int:
        """Return how many bytes the file and its log take on disk."""
        files = (self.path, self.path.with_name(self.path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def close(self) -> None:
        """Close the file and let other processes write."""
        with self.lock, self._reader_lock, self.translated():
            if self._reader is not None:
                self._reader.close()
            self._connection.close()
        if not self.read_only:
            self._acknowledged.close()
            self._writer_lock.release()

    def _progress(self, connection: apsw.Connection) -> tuple[str, int]:
        """Return the memory's identity and the number of its last delta."""
        with self.translated():
            return last_change(connection)

    def _which_file(self) -> tuple[int, int]:
        try:
            status = self.path.stat()
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be found ({error}); a process that reads only cannot make it, restore a snapshot"
            ) from error
        return status.st_dev, status.st_ino

    def _refuse_loss(self, connection: apsw.Connection) -> None:
        refuse_cut_file(self.path, connection)
        refuse_lost_changes(self.path, self._acknowledged, lambda: self._progress(connection))

    def _open_for_writing(self, *, from_scratch: bool) -> apsw.Connection:
        drop_draft(self.path)
        if not from_scratch:
            refuse_missing_file(self.path, self._acknowledged)
        if from_scratch or not self.path.exists():
            # What was noted about a memory that is gone says nothing about the new one.
            self._acknowledged.remove()
            make_file(self.path)
        else:
            check_format(self.path)
        with self.translated():
            connection = connect(self.path)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                self._refuse_loss(connection)
            except BaseException:
                connection.close()
                raise
        return connection

    def _open_for_reading(self) -> apsw.Connection:
        try:
            check_format(self.path)
        except StorageError:
            raise
        except OSError as error:
            raise StorageError(
                f"{self.path} cannot be opened ({error}); check it, or choose another save_dir"
            ) from error
        with self.translated():
            connection = connect_reader(self.path)
            try:
                self._refuse_loss(connection)
            except BaseException:
                connection.close()
                raise
        return connection

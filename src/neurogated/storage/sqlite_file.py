"""The SQLite file under the durable store: opening, the writer's lock, transactions, translated errors."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from neurogated.errors import CorruptMemoryError, MemoryLockedError, StorageError
from neurogated.storage.sqlite_schema import CHECKS, DDL, check_format

__all__ = ["SqliteFile"]

# The low byte of an extended result code is the primary one.
_PRIMARY_CODE = 0xFF
_CORRUPTION_CODES = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})


class SqliteFile:
    """One memory file, held for writing by this process until `close`.

    A commit is on disk before it returns (write-ahead log, synchronous=FULL). Threads take turns by `lock`.
    """

    def __init__(self, path: Path, *, from_scratch: bool = False) -> None:
        """Open or create the file; with `from_scratch` drop the one that is there."""
        self.path = path
        self.lock = threading.RLock()
        self._make_folder()
        self._writer_lock = FileLock(path.with_suffix(".lock"), thread_local=False)
        self._holder_note = path.with_suffix(".holder")
        self._acquire()
        try:
            if from_scratch:
                self._drop()
            self._connection = self._open()
        except StorageError:
            self._release()
            raise
        except OSError as error:
            self._release()
            raise StorageError(f"{path} cannot be opened ({error}); check it, or choose another save_dir") from error
        except BaseException:
            self._release()
            raise

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection; use it under `lock` and within `translated` or `transaction`."""
        return self._connection

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block as one transaction: committed whole when it ends, rolled back when it raises."""
        with self.lock, self.translated():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back already where the disk is full or fails.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextlib.contextmanager
    def translated(self) -> Iterator[None]:
        """Turn the driver's errors into ours."""
        try:
            yield
        except sqlite3.DatabaseError as error:
            code = getattr(error, "sqlite_errorcode", None)
            if code is not None and code & _PRIMARY_CODE in _CORRUPTION_CODES:
                raise CorruptMemoryError(f"{self.path} is damaged ({error}); restore it from a backup") from error
            raise StorageError(
                f"{self.path} cannot be read or written ({error}); check free space and permissions. "
                "What was stored before is unharmed"
            ) from error

    def problems(self) -> list[str]:
        """Return what is wrong in the file, a line each; none if it is sound."""
        with self.lock, self.translated():
            found = [str(row[0]) for row in self._connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
            found += [
                f"table {table}, row {row}: refers to a missing row of {parent}"
                for table, row, parent, _ in self._connection.execute("PRAGMA foreign_key_check")
            ]
            for what, statement in CHECKS.items():
                (count,) = self._connection.execute(statement).fetchone()
                if count:
                    found.append(f"{count} × {what}")
        return found

    def close(self) -> None:
        """Close the file and let other processes write."""
        with self.lock, self.translated():
            self._connection.close()
        self._release()

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(
                f"cannot make the folder {self.path.parent} ({error}); choose another save_dir"
            ) from error

    def _acquire(self) -> None:
        try:
            self._writer_lock.acquire(blocking=False)
        except Timeout:
            holder = "another process"
            with contextlib.suppress(OSError):
                holder = f"process {self._holder_note.read_text(encoding='utf-8')}"
            raise MemoryLockedError(f"{self.path} is open for writing in {holder}; close it there first") from None
        except OSError as error:
            raise StorageError(f"cannot write in {self.path.parent} ({error}); choose another save_dir") from error
        # The note only serves the error above; a memory can do without it.
        with contextlib.suppress(OSError):
            self._holder_note.write_text(str(os.getpid()), encoding="utf-8")

    def _release(self) -> None:
        with contextlib.suppress(OSError):
            self._holder_note.unlink(missing_ok=True)
        self._writer_lock.release()

    def _open(self) -> sqlite3.Connection:
        if self.path.exists():
            check_format(self.path)
        else:
            self._create()
        with self.translated():
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            try:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = FULL")
                connection.execute("PRAGMA foreign_keys = ON")
            except BaseException:
                connection.close()
                raise
        return connection

    def _drop(self) -> None:
        # The log goes first: a log without its file is nothing, a file without its log is an older memory.
        for suffix in ("-wal", "-shm", ""):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)

    def _create(self) -> None:
        """Make an empty memory beside its final name and move it there, so that a half-made one is never opened."""
        draft = self.path.with_suffix(".draft")
        draft.unlink(missing_ok=True)
        # A log that lost its file belongs to another memory and must not be played into this one.
        self._drop()
        with self.translated(), contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as connection:
            connection.executescript(f"BEGIN; {DDL} COMMIT;")
        draft.replace(self.path)

"""A file of derived values under keys, which may be lost at any time without harm."""

from __future__ import annotations

import logging
import sqlite3
import threading
from collections.abc import Iterable, Mapping
from pathlib import Path

from neurogated.errors import MemoryClosedError, StorageError

__all__ = ["CacheFile"]

_log = logging.getLogger(__name__)

_DDL = "CREATE TABLE IF NOT EXISTS entries (key BLOB PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"
_SELECT = "SELECT value FROM entries WHERE key = ?"


class CacheFile:
    """Bytes under keys in an SQLite file, shared by threads and processes.

    A damaged file is moved aside and begun anew, with a line in the log; a file that cannot be read or written just now
    costs a line in the log and nothing else.
    """

    def __init__(self, path: Path) -> None:
        """Open the file, or begin one.

        Raises:
            StorageError: it can be neither opened nor made.
        """
        self.path = path
        self._lock = threading.Lock()
        self._closed = False
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            self._connection = self._open()
        except (OSError, sqlite3.Error) as error:
            raise StorageError(f"cannot write the cache {path} ({error}); choose another save_dir") from error

    def get(self, keys: Iterable[bytes]) -> dict[bytes, bytes]:
        """Return the values of those keys that have one.

        Raises:
            MemoryClosedError: the cache was closed.
        """
        with self._lock:
            self._require_open()
            try:
                found = {key: self._connection.execute(_SELECT, (key,)).fetchone() for key in dict.fromkeys(keys)}
            except sqlite3.OperationalError as error:
                # Locked or unreadable just now is not damaged.
                _log.warning("cache %s cannot be read: %s", self.path, error)
            except sqlite3.DatabaseError as error:
                self._connection.close()
                self._connection = self._renew(error)
            else:
                return {key: row[0] for key, row in found.items() if row is not None}
        return {}

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values, in the place of those under the same keys."""
        self._change("INSERT OR REPLACE INTO entries VALUES (?, ?)", values.items())

    def remove(self, keys: Iterable[bytes]) -> None:
        """Forget the values of `keys`."""
        self._change("DELETE FROM entries WHERE key = ?", ((key,) for key in keys))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._closed = True
            self._connection.close()

    def _change(self, statement: str, rows: Iterable[tuple[bytes, ...]]) -> None:
        with self._lock:
            self._require_open()
            try:
                with self._connection:
                    self._connection.executemany(statement, rows)
            except sqlite3.Error as error:
                # Without the cache the work goes on.
                _log.warning("cache %s cannot be written: %s", self.path, error)

    def _require_open(self) -> None:
        if self._closed:
            raise MemoryClosedError(f"the cache {self.path} was used after close(); open the memory again")

    def _open(self) -> sqlite3.Connection:
        try:
            return self._connect()
        except sqlite3.OperationalError:
            raise
        except sqlite3.DatabaseError as error:
            return self._renew(error)

    def _renew(self, error: sqlite3.DatabaseError) -> sqlite3.Connection:
        aside = self.path.with_suffix(".damaged")
        _log.warning("cache %s is damaged (%s); moved to %s and begun anew", self.path, error, aside)
        self.path.replace(aside)
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        return self._connect()

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            with connection:
                connection.execute(_DDL)
        except sqlite3.Error:
            connection.close()
            raise
        return connection

"""A file that caches derived values by key. Losing it costs only time."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, closing
from pathlib import Path
from typing import TypeVar, cast

from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.core.reading import epoch_of, reading_since
from neurogated.errors import MemoryClosedError, StorageError

__all__ = ["CacheFile", "UnusedCache"]

T = TypeVar("T")

_log = logging.getLogger(__name__)

_FORMAT = 2
# Rows are in the order of their last use, so eviction needs neither an index nor a time column.
_DDL = (
    "CREATE TABLE entries "
    "(place INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL, checksum INTEGER NOT NULL)"
)
_SELECT = "SELECT value, checksum, place FROM entries WHERE key = ?"
_INSERT = "INSERT OR REPLACE INTO entries (key, value, checksum) VALUES (?, ?, ?)"
_DELETE = "DELETE FROM entries WHERE key = ?"
_MIDDLE = "SELECT (SELECT min(place) FROM entries) + (SELECT max(place) FROM entries)"
_MOVE_TO_END = "UPDATE entries SET place = (SELECT max(place) FROM entries) + 1 WHERE key = ?"
_EVICT = "DELETE FROM entries WHERE place IN (SELECT place FROM entries ORDER BY place LIMIT ?)"
# Eviction runs in short transactions, so that other processes wait little.
_EVICTED_AT_ONCE = 500
# The number of clearings is a signed integer of 32 bits.
_CLEARINGS = 2**31
_NEVER = -1
_OPENED = "opened"
_STEP = 10

_SETTINGS = (
    # Must come first: SQLite fixes it when it creates the file.
    "auto_vacuum = INCREMENTAL",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = ON",
    "cell_size_check = ON",
)

# The errors of a damaged file: SQLite's messages may quote a damaged name that is not valid UTF-8.
_FAULTS = (sqlite3.Error, UnicodeDecodeError)
# The low byte of an SQLite code.
_PRIMARY_CODE = 0xFF
# Transient faults and faults of the environment: they say nothing about the contents of the file.
_PASSING = frozenset({
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH,
})  # fmt: skip


class _OlderFormatError(sqlite3.DatabaseError):
    """The file is a sound cache of an earlier format."""


class CacheFile:
    """Bytes under keys in an SQLite file, shared by threads and processes.

    The size of the file is bounded: beyond the bound, the least recently used values are evicted. Once the file takes
    half of its bound, a hit on a value in the less recently used half moves it to the end. So most hits write nothing.

    Each value has a checksum over its key and value. `get` drops a value that does not match its checksum. A damaged
    file is moved aside, a file of an earlier format is deleted, and an empty cache replaces it. The cache logs these
    faults, and also a file that it cannot read or write now. None of them raises an error.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Open the file; create it if it does not exist. If neither is possible, log it and cache nothing.

        Args:
            path: the file.
            max_bytes: the largest size on disk without the write-ahead log; 0 caches nothing.
        """
        self.path = path
        self._max_bytes = max_bytes
        self._aside = _aside(path)
        self._lock = threading.Lock()
        self._closed = False
        self._hits = self._misses = 0
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        # The operations that failed at their last attempt. Only the first failure is logged until they succeed again.
        self._failing: set[str] = set()
        bind_to_process(self, self._lock)
        self._run(_OPENED, lambda _: None)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the child never uses its copy
        """Leave the file to the parent process. The child must not even close the connection."""
        self._lock = cast("threading.Lock", InheritedLock())
        self._closed = True

    def __del__(self) -> None:
        """Close the file of a cache that was never closed. All its values are on disk."""
        if not getattr(self, "_closed", True):
            self.close()

    def get(self, keys: Iterable[bytes], read: Callable[[bytes], T | None]) -> dict[bytes, T]:
        """Return the values of the keys that are cached. Each key counts as a hit or a miss.

        Args:
            keys: keys; duplicates count once.
            read: decodes the bytes; returns None if they are invalid, and the cache drops them.

        Raises:
            MemoryClosedError: the cache was closed.
        """
        wanted = list(dict.fromkeys(keys))
        with self._lock:
            rows = self._run("read", lambda file: [file.execute(_SELECT, (key,)).fetchone() for key in wanted])
            found: dict[bytes, T] = {}
            places: dict[bytes, int] = {}
            damaged: list[bytes] = []
            for key, row in zip(wanted, rows or (), strict=rows is not None):
                if row is not None:
                    content, checksum, place = row
                    value = read(content) if _is_sound(key, content, checksum) else None
                    if value is None:
                        damaged.append(key)
                    else:
                        found[key], places[key] = value, place
            self._hits += len(found)
            self._misses += len(wanted) - len(found)
            if damaged:
                _log.warning("cache %s: dropped %d damaged values", self.path, len(damaged))
                self._run("written", lambda file: file.executemany(_DELETE, [(key,) for key in damaged]))
            if places:
                self._run("written", lambda file: self._move_to_end(file, places))
        return found

    def epoch(self) -> int:
        """Return how often the file had been cleared when this `reading` began, or is cleared now; -1 if unknown."""
        if (begun := epoch_of(self.path)) is not None:
            return begun
        with self._lock:
            found = self._run("read", _clearings)
        return _NEVER if found is None else found

    def reading(self, *, stale: bool = False) -> AbstractContextManager[None]:
        """Run a block that reads texts and computes values from them; see `SupportsReading`."""
        return reading_since(self.path, _NEVER if stale else self.epoch())

    def put(self, values: Mapping[bytes, bytes], since: int | None = None) -> None:
        """Store values, replacing those with the same keys. Evict other values if the file exceeds its bound.

        Args:
            values: the values.
            since: the `epoch` of the texts from which they were computed. If the file was cleared after it, nothing is
                stored: the texts may be erased. None: the values derive from no text.
        """
        rows = [(key, value, _checksum(key, value)) for key, value in values.items()]

        def work(file: sqlite3.Connection) -> bool:
            file.executemany(_INSERT, rows)
            # The insertion locks the file, so nobody clears it between this look and the commit.
            if since is not None and _clearings(file) != since:
                file.rollback()
                return False
            return self._evict(file)

        with self._lock:
            exceeded = self._run("written", work)
            while exceeded:
                exceeded = self._run("written", self._evict)

    def remove(self, keys: Iterable[bytes]) -> None:
        """Delete the values of `keys`."""
        with self._lock:
            self._run("written", lambda file: file.executemany(_DELETE, [(key,) for key in keys]))

    def clear(self) -> None:
        """Delete all values, erase their bytes from the file, and delete a damaged file that was moved aside.

        Raises:
            StorageError: the file cannot be written, or another process is reading it.
            MemoryClosedError: the cache was closed.
        """
        with self._lock:
            self._require_open()
            try:
                try:
                    _erase(self._connection or self._connect())
                except _FAULTS as error:
                    if self._passes(error):
                        raise
                    self._begin_anew(error)
                self._aside.unlink(missing_ok=True)
            except (OSError, *_FAULTS) as error:
                raise StorageError(f"cannot empty the cache {self.path} ({error}); try again later") from error

    def statistics(self) -> dict[str, int | float]:
        """Return hits, misses and hit rate since the file was opened, and its bytes on disk."""
        with self._lock:
            asked = self._hits + self._misses
            paths = (self.path, self._beside("-wal"), self._aside)
            return {
                "cache hits": self._hits,
                "cache misses": self._misses,
                "cache hit rate": self._hits / asked if asked else 0.0,
                "cache bytes": sum(path.stat().st_size for path in paths if path.is_file()),
            }

    def close(self) -> None:
        """Close the file; a second call does nothing."""
        if self._closed:
            return
        with self._lock:
            self._closed = True
            self._disconnect()

    def _move_to_end(self, file: sqlite3.Connection, places: Mapping[bytes, int]) -> None:
        """Move those of the values to the end that are in the less recently used half."""
        if 2 * _used_bytes(file) <= self._max_bytes:
            return
        (twice_the_middle,) = file.execute(_MIDDLE).fetchone()
        if twice_the_middle is not None:
            file.executemany(_MOVE_TO_END, [(key,) for key, place in places.items() if 2 * place < twice_the_middle])

    def _evict(self, file: sqlite3.Connection) -> bool:
        """Evict a bounded number of values if the file exceeds its bound; return whether more may remain."""
        evicted = 0
        while _used_bytes(file) > self._max_bytes and evicted < _EVICTED_AT_ONCE:
            count = file.execute(_EVICT, (_STEP,)).rowcount
            if not count:
                break
            evicted += count
        # If the bound was lowered, the file shrinks too; otherwise new values reuse the free pages.
        (pages,), (page_size,) = (file.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
        if pages * page_size > self._max_bytes:
            # `execute` takes a single step, which frees a single page; a script runs to the end.
            file.executescript(f"PRAGMA incremental_vacuum({pages - self._max_bytes // page_size})")
        return evicted >= _EVICTED_AT_ONCE

    def _require_open(self) -> None:
        if self._closed:
            raise MemoryClosedError(f"the cache {self.path} was used after close(); open the memory again")

    def _run(self, verb: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of `work` on the file; None if the file fails, since callers can do without the cache."""
        self._require_open()
        try:
            try:
                with self._connection or self._connect() as connection:
                    result = work(connection)
            except _FAULTS as error:
                if self._passes(error):
                    raise
                self._begin_anew(error)
                return None
        except (OSError, *_FAULTS) as error:
            if not self._failing:
                _log.warning("cache %s cannot be %s, so nothing is cached: %s", self.path, verb, error)
            self._failing.add(verb)
            return None
        self._failing -= {verb, _OPENED}
        return result

    def _passes(self, error: Exception) -> bool:
        """Return whether an error says nothing about the contents of the file."""
        code = getattr(error, "sqlite_errorcode", None)
        if code is None or code == sqlite3.SQLITE_IOERR_SHORT_READ:
            return False
        if code & _PRIMARY_CODE == sqlite3.SQLITE_READONLY:
            # SQLite reports a damaged header with the same code.
            return not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK))
        return code & _PRIMARY_CODE in _PASSING

    def _begin_anew(self, reason: Exception) -> None:
        self._disconnect()
        # Another process may have replaced the file already.
        if self._inode == self._inode_now():
            if isinstance(reason, _OlderFormatError):
                _log.info("cache %s is of an earlier format; replaced it by an empty one", self.path)
                self.path.unlink()
            else:
                _log.warning("cache %s is damaged (%s); moved it to %s and replaced it", self.path, reason, self._aside)
                self.path.replace(self._aside)
            for suffix in ("-wal", "-shm"):
                self._beside(suffix).unlink(missing_ok=True)
        self._connect()

    def _inode_now(self) -> int | None:
        """Return the inode of the file at our path, which tells it from its predecessors; None if it is missing."""
        try:
            return self.path.stat().st_ino
        except FileNotFoundError:
            return None

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        connection = sqlite3.connect(self.path, check_same_thread=False)
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        finally:
            self._inode = self._inode_now()
        self._connection = connection
        return connection


class UnusedCache:
    """A cache file that this memory's configuration does not use; it is opened only to be emptied."""

    def __init__(self, path: Path) -> None:
        """Refer to the cache at `path`, which need not exist."""
        self._path = path

    def clear(self) -> None:
        """Delete all values and the file that was moved aside; raises StorageError if that fails."""
        if self._path.exists() or _aside(self._path).exists():
            with closing(CacheFile(self._path, max_bytes=0)) as file:
                file.clear()


def _aside(path: Path) -> Path:
    """Return the path to which a damaged file is moved."""
    return path.with_suffix(".damaged")


def _prepare(connection: sqlite3.Connection) -> None:
    """Configure a connection. Create the table if the file is empty; raise if it has another format."""
    # A damaged text must fail its checksum, not its decoding.
    connection.text_factory = bytes
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    if _described(connection) == (0, []):
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            # Another process may have created the table meanwhile.
            if _described(connection) == (0, []):
                connection.execute(_DDL)
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
    version, statements = _described(connection)
    if 0 < version < _FORMAT:
        raise _OlderFormatError("it is of an earlier format")
    if (version, statements) != (_FORMAT, [(_DDL.encode(),)]):
        raise sqlite3.DatabaseError("it is of another format")


def _described(connection: sqlite3.Connection) -> tuple[int, list[tuple[bytes]]]:
    """Return the format version and the SQL statements of the schema."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version, connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()


def _used_bytes(connection: sqlite3.Connection) -> int:
    """Return how many bytes of the file are in use."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _erase(connection: sqlite3.Connection) -> None:
    with connection:
        connection.execute("DELETE FROM entries")
        connection.execute(f"PRAGMA application_id = {(_clearings(connection) + 1) % _CLEARINGS}")
    connection.execute("VACUUM")
    # The write-ahead log holds the old pages until a checkpoint truncates it.
    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        error = sqlite3.OperationalError("another process is reading it")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error


def _clearings(connection: sqlite3.Connection) -> int:
    # SQLite keeps this number for the application and does not use it.
    return int(connection.execute("PRAGMA application_id").fetchone()[0])


def _checksum(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))


def _is_sound(key: bytes, value: object, checksum: object) -> bool:
    return isinstance(value, bytes) and checksum == _checksum(key, value)

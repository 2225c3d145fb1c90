"""A file of derived values under keys, which may be lost at any time without harm."""

from __future__ import annotations

import logging
import os
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TypeVar, cast

from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.errors import MemoryClosedError, StorageError

__all__ = ["CacheFile", "UnusedCache"]

T = TypeVar("T")

_log = logging.getLogger(__name__)

_FORMAT = 2
# Entries stand in the order of their last use, so that eviction needs neither an index nor a time.
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
# A transaction that evicts is short, so that other processes wait little and the write-ahead log stays small.
_EVICTED_AT_ONCE = 500
_STEP = 10

_SETTINGS = (
    # Must come first: it is fixed when the file is made.
    "auto_vacuum = INCREMENTAL",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = ON",
    "cell_size_check = ON",
)

# What a damaged file may raise: a damaged name comes back in messages that are no text.
_FAULTS = (sqlite3.Error, UnicodeDecodeError)
# The low byte of SQLite's codes; the others refine it.
_PRIMARY_CODE = 0xFF
# Faults of the moment or of the place, which say nothing about what is in the file.
_PASSING = frozenset({
    sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL, sqlite3.SQLITE_INTERRUPT,
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_AUTH,
})  # fmt: skip


class _OlderFormatError(sqlite3.DatabaseError):
    """The file is a sound cache of an earlier format."""


class CacheFile:
    """Bytes under keys in an SQLite file, shared by threads and processes.

    The file is bounded: when it exceeds the bound, the least recently used values are evicted. A hit on a value in the
    less recently used half moves it to the end, once the file takes half of its bound; so most hits write nothing.

    A value comes back as it was put or not at all: beside each stands a checksum of key and value, and what does not
    fit it is dropped. A damaged file, or one of another format, is moved aside and begun anew. Either is a line in the
    log, and so is a file that cannot be read or written just now; none of them is an error.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Open the file, or begin one.

        Args:
            path: the file.
            max_bytes: how many bytes it may take on disk, without its write-ahead log; 0 keeps no values.

        Raises:
            StorageError: it can be neither opened nor made.
        """
        self.path = path
        self._max_bytes = max_bytes
        self._aside = _aside(path)
        self._lock = threading.Lock()
        self._closed = False
        self._hits = self._misses = 0
        self._connection: sqlite3.Connection | None = None
        self._inode: int | None = None
        bind_to_process(self, self._lock)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                self._connect()
            except _FAULTS as error:
                if self._passes(error):
                    raise
                self._begin_anew(error)
        except (OSError, *_FAULTS) as error:
            raise StorageError(f"cannot write the cache {path} ({error}); choose another save_dir") from error

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - what the child has is not used anyway
        """Leave the file to the parent process; its connection is not even closed in the child."""
        self._lock = cast("threading.Lock", InheritedLock())
        self._closed = True

    def __del__(self) -> None:
        """Release the file of a cache that was never closed; all it was given is on disk."""
        if not getattr(self, "_closed", True):
            self.close()

    def get(self, keys: Iterable[bytes], read: Callable[[bytes], T | None]) -> dict[bytes, T]:
        """Return what is kept under those keys that have something, and count each key as a hit or a miss.

        Args:
            keys: keys; each counts once.
            read: makes a value of the bytes; None says that they are none, and they are dropped.

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
                _log.warning("cache %s: %d of its values are damaged and dropped", self.path, len(damaged))
                self._run("written", lambda file: file.executemany(_DELETE, [(key,) for key in damaged]))
            if places:
                self._run("written", lambda file: self._move_to_end(file, places))
        return found

    def put(self, values: Mapping[bytes, bytes]) -> None:
        """Keep values, in the place of those under the same keys, and evict others where the bound is exceeded."""
        rows = [(key, value, _checksum(key, value)) for key, value in values.items()]

        def work(file: sqlite3.Connection) -> bool:
            file.executemany(_INSERT, rows)
            return self._evict(file)

        with self._lock:
            exceeded = self._run("written", work)
            while exceeded:
                exceeded = self._run("written", self._evict)

    def remove(self, keys: Iterable[bytes]) -> None:
        """Forget the values of `keys`."""
        rows = [(key,) for key in keys]
        with self._lock:
            self._run("written", lambda file: file.executemany(_DELETE, rows))

    def clear(self) -> None:
        """Forget everything, so that the file's bytes hold nothing of it; what was moved aside is deleted.

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
                raise StorageError(
                    f"cannot empty the cache {self.path} ({error}); try again once it is free"
                ) from error

    def statistics(self) -> dict[str, int | float]:
        """Return hits, misses and their rate since the file was opened, and the bytes it takes on disk."""
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
        """Close the file; closing twice does no harm."""
        if self._closed:
            return
        with self._lock:
            self._closed = True
            self._disconnect()

    def _move_to_end(self, file: sqlite3.Connection, places: Mapping[bytes, int]) -> None:
        """Move those of the values to the end that are in danger of eviction before long."""
        if 2 * _used_bytes(file) <= self._max_bytes:
            return
        (twice_the_middle,) = file.execute(_MIDDLE).fetchone()
        if twice_the_middle is not None:
            file.executemany(_MOVE_TO_END, [(key,) for key, place in places.items() if 2 * place < twice_the_middle])

    def _evict(self, file: sqlite3.Connection) -> bool:
        """Evict some values where the bound is exceeded; return whether to go on."""
        evicted = 0
        while _used_bytes(file) > self._max_bytes and evicted < _EVICTED_AT_ONCE:
            count = file.execute(_EVICT, (_STEP,)).rowcount
            if not count:
                break
            evicted += count
        # A lowered bound also shrinks the file; otherwise the next values take the free pages.
        (pages,), (page_size,) = (file.execute(f"PRAGMA {name}").fetchone() for name in ("page_count", "page_size"))
        if pages * page_size > self._max_bytes:
            # As a script, since `execute` takes a single step, which is a single page.
            file.executescript(f"PRAGMA incremental_vacuum({pages - self._max_bytes // page_size})")
        return evicted >= _EVICTED_AT_ONCE

    def _require_open(self) -> None:
        if self._closed:
            raise MemoryClosedError(f"the cache {self.path} was used after close(); open the memory again")

    def _run(self, verb: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return what `work` does with the file; None where it cannot, because without the cache the work goes on."""
        self._require_open()
        try:
            with self._connection or self._connect() as connection:
                return work(connection)
        except _FAULTS as error:
            if self._passes(error):
                _log.warning("cache %s cannot be %s: %s", self.path, verb, error)
                return None
            reason = error
        try:
            self._begin_anew(reason)
        except (OSError, *_FAULTS) as error:
            _log.warning("cache %s cannot be begun anew: %s", self.path, error)
        return None

    def _passes(self, error: Exception) -> bool:
        """Return whether an error says nothing about what is in the file."""
        code = getattr(error, "sqlite_errorcode", None)
        if code is None or code == sqlite3.SQLITE_IOERR_SHORT_READ:
            return False
        if code & _PRIMARY_CODE == sqlite3.SQLITE_READONLY:
            # SQLite says the same of a damaged header.
            return not (os.access(self.path, os.W_OK) and os.access(self.path.parent, os.W_OK))
        return code & _PRIMARY_CODE in _PASSING

    def _begin_anew(self, reason: Exception) -> None:
        self._disconnect()
        # Another process may have begun it anew already.
        if self._inode == self._inode_now():
            if isinstance(reason, _OlderFormatError):
                _log.info("cache %s is of an earlier format; deleted and begun anew", self.path)
                self.path.unlink()
            else:
                _log.warning("cache %s is damaged (%s); moved to %s and begun anew", self.path, reason, self._aside)
                self.path.replace(self._aside)
            for suffix in ("-wal", "-shm"):
                self._beside(suffix).unlink(missing_ok=True)
        self._connect()

    def _inode_now(self) -> int | None:
        """Return what tells the file under our name from those that had it before, None where there is none."""
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
    """A cache file that other settings of a memory would use, opened only to be emptied."""

    def __init__(self, path: Path) -> None:
        """Stand for the cache at `path`, which need not be there."""
        self._path = path

    def clear(self) -> None:
        """Forget everything, what was moved aside too; raises StorageError where that cannot be done now."""
        if not (self._path.exists() or _aside(self._path).exists()):
            return
        file = CacheFile(self._path, max_bytes=0)
        try:
            file.clear()
        finally:
            file.close()


def _aside(path: Path) -> Path:
    """Return where a damaged file is moved to."""
    return path.with_suffix(".damaged")


def _prepare(connection: sqlite3.Connection) -> None:
    """Set a connection up, and make the table where there is nothing yet; raises where there is something else."""
    # Damaged texts are judged by their checksum, not by whether they can be decoded.
    connection.text_factory = bytes
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    if _described(connection) == (0, []):
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            # Another process may have been quicker.
            if _described(connection) == (0, []):
                connection.execute(_DDL)
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
    version, statements = _described(connection)
    if 0 < version < _FORMAT:
        raise _OlderFormatError("it is of an earlier format")
    if (version, statements) != (_FORMAT, [(_DDL.encode(),)]):
        raise sqlite3.DatabaseError("it is of another format")


def _described(connection: sqlite3.Connection) -> tuple[int, list[tuple[bytes]]]:
    """Return the number of the format, and the statements that make what is in the file."""
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    return version, connection.execute("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL").fetchall()


def _used_bytes(connection: sqlite3.Connection) -> int:
    """Return how many bytes of the file hold something."""
    pages, free, size = (
        connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "freelist_count", "page_size")
    )
    return int((pages - free) * size)


def _erase(connection: sqlite3.Connection) -> None:
    with connection:
        connection.execute("DELETE FROM entries")
    connection.execute("VACUUM")
    # The log of changes holds the old pages until it is cut off.
    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    if busy:
        error = sqlite3.OperationalError("another process is reading it")
        error.sqlite_errorcode = sqlite3.SQLITE_BUSY
        raise error


def _checksum(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))


def _is_sound(key: bytes, value: object, checksum: object) -> bool:
    return isinstance(value, bytes) and checksum == _checksum(key, value)

"""Files of a memory: only their owner may read them, some survive a crash, and caches of derived values may be lost.

New files and folders are private; existing ones keep their mode. Losing a cache costs only time.
"""

import contextlib
import logging
import os
import secrets
import sqlite3
import threading
import zlib
from collections.abc import Callable, Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import TypeVar, cast

from neurogated.core.contexts import NEVER, epoch_of
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.errors import MemoryClosedError, StorageError

FILE_MODE, _FOLDER_MODE = 0o600, 0o700


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless they exist; raises OSError."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(_FOLDER_MODE, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file, unless it exists, for a library that opens it next and reports errors."""
    with contextlib.suppress(OSError):
        os.close(private(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))


def private(path: str | Path, flags: int) -> int:
    """Open a file; an `opener` of `open`."""
    return os.open(path, flags, FILE_MODE)


def write_text(path: Path, text: str) -> None:
    """Write a whole file as UTF-8; raises OSError."""
    with open(path, "w", encoding="utf-8", opener=private) as file:
        file.write(text)


def sync_folder(folder: Path) -> None:
    """Sync the directory entries of `folder` to disk; raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_file(path: Path, text: str) -> None:
    """Write a private file as UTF-8 in one step: a crash leaves the old file or the new one. Raises OSError."""
    make_folder(path.parent)
    draft = path.with_name(f"{path.name}.new")
    with open(draft, "w", encoding="utf-8", opener=private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


T = TypeVar("T")

_log = logging.getLogger(__name__)

_FORMAT = 3
_TABLE = (
    "CREATE TABLE IF NOT EXISTS entries "
    "(place INTEGER PRIMARY KEY, key BLOB NOT NULL UNIQUE, value BLOB NOT NULL, checksum INTEGER NOT NULL)"
)
# Each step of an eviction drops at least this share of the values, the oldest.
_STEP = (
    "DELETE FROM entries WHERE place IN "
    "(SELECT place FROM entries ORDER BY place LIMIT 1 + (SELECT count(*) / 20 FROM entries))"
)
_SETTINGS = (
    # Must come first: SQLite fixes it when it creates the file.
    "auto_vacuum = INCREMENTAL",
    "journal_mode = WAL",
    "synchronous = NORMAL",
    "secure_delete = ON",
    "cell_size_check = ON",
)
_PAGES = "pragma_page_count, pragma_freelist_count, pragma_page_size"
_SIZES = f"SELECT page_count * page_size, (page_count - freelist_count) * page_size FROM {_PAGES}"  # noqa: S608
"""The bytes of the file, and those without free pages."""
# The number of clearings is a signed integer of 32 bits.
_CLEARINGS = 2**31
# The errors of a damaged file: SQLite's messages may quote a damaged name that is not valid UTF-8.
_FAULTS = (sqlite3.Error, UnicodeDecodeError)
# The low byte of an SQLite code is its primary code; the other bytes refine it.
_PRIMARY_CODE = 0xFF
_DAMAGED = frozenset({sqlite3.SQLITE_ERROR, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CONSTRAINT})


class CacheFile:
    """Bytes under keys in an SQLite file, shared by threads and processes.

    The size of the file is bounded: beyond the bound, the oldest values are evicted. A file that is damaged or of
    another format is deleted, and an empty one replaces it. A file that cannot be read or written now caches nothing.
    Each fault is logged, and none raises an error.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        """Open or create the file of at most `max_bytes` without its log; if that fails, log it and cache nothing."""
        self.path = path
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._closed = False
        self._hits = self._misses = 0
        self._connection: sqlite3.Connection | None = None
        # Whether the last attempt failed. Only the first failure is logged until an attempt succeeds again.
        self._failing = False
        bind_to_process(self, self._lock)
        self._run(lambda _: None)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the child never uses its copy
        """Leave the file to the parent process. The child must not even close the connection."""
        self._lock = cast("threading.Lock", InheritedLock())
        self._closed = True

    def __del__(self) -> None:
        """Close the file of a cache that was never closed. All its values are on disk."""
        if not getattr(self, "_closed", True):
            self.close()

    def get(self, keys: Iterable[bytes], read: Callable[[bytes], T | None]) -> dict[bytes, T]:
        """Return the values of the keys that are cached. Each distinct key counts as a hit or a miss.

        `read` decodes the bytes, and returns None for invalid ones, which count as a miss.

        Raises:
            MemoryClosedError: the cache was closed.
        """
        wanted = list(dict.fromkeys(keys))

        def look(file: sqlite3.Connection) -> dict[bytes, T]:
            found = {}
            for key in wanted:
                row = file.execute("SELECT value, checksum FROM entries WHERE key = ?", (key,)).fetchone()
                if row is None:
                    continue
                if row[1] != _checksum(key, row[0]):
                    raise sqlite3.DatabaseError("a value does not match its checksum")
                if (value := read(row[0])) is not None:
                    found[key] = value
            return found

        with self._lock:
            found = self._run(look) or {}
            self._hits += len(found)
            self._misses += len(wanted) - len(found)
        return found

    def epoch(self) -> int:
        """Return the number of the last clearing when this `reading` began, or else now; -1 if it cannot be read."""
        if (begun := epoch_of(self.path)) is not None:
            return begun
        with self._lock:
            found = self._run(_clearings)
        return NEVER if found is None else found

    def put(self, values: Mapping[bytes, bytes], since: int | None = None) -> None:
        """Store values, replacing those with the same keys. Evict the oldest if the file exceeds its bound.

        `since` is the `epoch` of the texts from which they were computed. If the file was cleared after it, nothing is
        stored: the texts may be erased. None: the values derive from no text.
        """
        rows = [(key, value, _checksum(key, value)) for key, value in values.items()]

        def work(file: sqlite3.Connection) -> bool:
            file.executemany("INSERT OR REPLACE INTO entries (key, value, checksum) VALUES (?, ?, ?)", rows)
            # The insertion locks the file, so nobody clears it between this look and the commit.
            if since is not None and _clearings(file) != since:
                file.rollback()
                return False
            while (sizes := file.execute(_SIZES).fetchone())[1] > self._max_bytes and file.execute(_STEP).rowcount:
                pass
            return bool(sizes[0] > self._max_bytes)

        with self._lock:
            if self._run(work):
                # Without it, new values reuse free pages. A script runs to the end; `execute` would free a single page.
                self._run(lambda file: file.executescript("PRAGMA incremental_vacuum"))

    def remove(self, keys: Iterable[bytes]) -> None:
        """Delete the values of `keys`."""
        rows = [(key,) for key in keys]
        with self._lock:
            self._run(lambda file: file.executemany("DELETE FROM entries WHERE key = ?", rows))

    def clear(self) -> None:
        """Delete all values, and erase their bytes; raises StorageError if the file is busy, and MemoryClosedError."""
        with self._lock:
            self._require_open()
            try:
                try:
                    connection = self._connection or self._connect()
                    with connection:
                        connection.execute("DELETE FROM entries")
                        connection.execute(f"PRAGMA application_id = {(_clearings(connection) + 1) % _CLEARINGS}")
                    connection.execute("VACUUM")
                    # The write-ahead log holds the old pages until a checkpoint truncates it.
                    (busy, *_) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
                except _FAULTS as error:
                    if not _is_damage(error):
                        raise
                    self._delete(error)
                    busy = False
            except (OSError, *_FAULTS) as error:
                raise StorageError(
                    f"cannot empty the cache {self.path} ({error}); try again once it is free"
                ) from error
        if busy:
            raise StorageError(
                f"cannot empty the cache {self.path}: another process reads it; try again once it is free"
            )

    def statistics(self) -> dict[str, int | float]:
        """Return hits, misses and hit rate since the file was opened, and its bytes on disk."""
        with self._lock:
            asked = self._hits + self._misses
            paths = (self.path, self._beside("-wal"))
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

    def _require_open(self) -> None:
        if self._closed:
            raise MemoryClosedError(f"the cache {self.path} was used after close(); open the memory again")

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """Return the result of `work` on the file; None if the file fails, since callers can do without the cache."""
        self._require_open()
        try:
            try:
                with self._connection or self._connect() as connection:
                    result = work(connection)
            except _FAULTS as error:
                if not _is_damage(error):
                    raise
                self._delete(error)
                return None
        except (OSError, *_FAULTS) as error:
            if not self._failing:
                _log.warning("cache %s cannot be used, so nothing is cached: %s", self.path, error)
            self._failing = True
            return None
        self._failing = False
        return result

    def _delete(self, reason: Exception) -> None:
        """Delete a damaged file; the next call begins an empty one."""
        _log.warning("cache %s is damaged or of another format (%s); deleted it", self.path, reason)
        self._disconnect()
        for suffix in ("", "-wal", "-shm"):
            self._beside(suffix).unlink(missing_ok=True)

    def _beside(self, suffix: str) -> Path:
        return self.path.with_name(self.path.name + suffix)

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        make_folder(self.path.parent)
        make_file(self.path)
        connection = sqlite3.connect(self.path, check_same_thread=False)
        try:
            _prepare(connection)
        except BaseException:
            connection.close()
            raise
        self._connection = connection
        return connection


class UnusedCache:
    """A cache file that this memory's configuration does not use; it is opened only to be emptied."""

    def __init__(self, path: Path) -> None:
        """Refer to the cache at `path`, which need not exist."""
        self._path = path

    def clear(self) -> None:
        """Delete all values; raises StorageError if that fails."""
        if self._path.exists():
            with closing(CacheFile(self._path, max_bytes=0)) as file:
                file.clear()


def _prepare(connection: sqlite3.Connection) -> None:
    """Configure a connection. Create the table if the file is empty; raise if it has another format."""
    # A damaged text must fail its checksum, not its decoding.
    connection.text_factory = bytes
    for setting in _SETTINGS:
        connection.execute(f"PRAGMA {setting}")
    if _number(connection, "user_version") == 0 and not connection.execute("SELECT 1 FROM sqlite_schema").fetchone():
        connection.execute("BEGIN IMMEDIATE")
        with connection:
            # Another process may have created the table meanwhile.
            if _number(connection, "user_version") == 0:
                connection.execute(_TABLE)
                # The first number is random: values that were computed before a damaged file was deleted do not fit it.
                connection.execute(f"PRAGMA application_id = {secrets.randbelow(_CLEARINGS)}")
                connection.execute(f"PRAGMA user_version = {_FORMAT}")
    if _number(connection, "user_version") != _FORMAT:
        raise sqlite3.DatabaseError("it is of another format")


def _is_damage(error: Exception) -> bool:
    """Return whether an error speaks of the contents of the file; the others pass, or speak of the environment."""
    code = getattr(error, "sqlite_errorcode", None)
    return code is None or code == sqlite3.SQLITE_IOERR_SHORT_READ or code & _PRIMARY_CODE in _DAMAGED


def _clearings(connection: sqlite3.Connection) -> int:
    # SQLite keeps this number for the application and does not use it.
    return _number(connection, "application_id")


def _number(connection: sqlite3.Connection, setting: str) -> int:
    return int(connection.execute(f"PRAGMA {setting}").fetchone()[0])


def _checksum(key: bytes, value: bytes) -> int:
    return zlib.crc32(value, zlib.crc32(key))

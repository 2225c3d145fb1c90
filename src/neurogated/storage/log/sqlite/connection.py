"""Connections to SQLite files with a checksum on every page, and the translation of SQLite's errors."""

import contextlib
import ctypes
import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import apsw
import apsw.sqlite_extra
import numpy as np
from numpy.typing import DTypeLike, NDArray

from neurogated.core.files import make_file
from neurogated.errors import CorruptMemoryError, StorageError

RESERVED_BYTES = 8
"""The size of the checksum at the end of every page: https://www.sqlite.org/cksumvfs.html"""

RESTORE = "restore a snapshot, as in `neurogated restore --replace FILE`"
"""The remedy for a damaged file."""
_VFS = "cksmvfs"
_EXTENSION = "cksumvfs"
_BUSY_MILLISECONDS = 10_000
_ROWS_AT_ONCE = 100_000
_DAMAGE = (apsw.CorruptError, apsw.NotADBError)
_DAMAGE_CODES = frozenset({apsw.SQLITE_IOERR_DATA, apsw.SQLITE_IOERR_CORRUPTFS, apsw.SQLITE_IOERR_SHORT_READ})


@functools.cache
def _checksums() -> apsw.Connection:
    """Register the checksumming file layer; it stays registered as long as the returned connection lives."""
    connection = apsw.Connection(":memory:")
    if not apsw.sqlite_extra.has(_EXTENSION):
        raise StorageError("this apsw lacks page checksums; pip install --force-reinstall --only-binary :all: apsw")
    apsw.sqlite_extra.load(connection, _EXTENSION)
    return connection


def connect(path: Path, *, read_only: bool = False, create: bool = False) -> apsw.Connection:
    """Return a connection to `path`; reading a page that differs from its checksum raises."""
    _checksums()
    if create:
        # SQLite gives the files beside it the same mode.
        make_file(path)
    flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE
    connection = apsw.Connection(str(path), flags | (apsw.SQLITE_OPEN_CREATE if create else 0), vfs=_VFS)
    connection.set_busy_timeout(_BUSY_MILLISECONDS)
    return connection


def connect_reader(path: Path) -> apsw.Connection:
    """Return a read-only connection to a memory file beside a writer, even in a read-only folder."""
    if not os.access(path.parent, os.W_OK) and not path.with_name(path.name + "-wal").exists():
        # Without a log there is no writer to share it with; a normal connection would have to create files.
        return read_whole_file(path)
    return connect(path, read_only=True)


def read_beginning(path: Path, size: int) -> bytes:
    """Return the first `size` bytes of a file, fewer if it is shorter; SQLite may have it open in this process.

    Closing a descriptor of our own would drop all locks that SQLite holds on the file. SQLite itself closes no
    descriptor while it holds locks.

    Raises:
        OSError: there is no such file, or it cannot be read.
    """
    path.stat()
    try:
        with opened_file(path, checked=False) as file:
            return file.xRead(min(size, file.xFileSize()), 0)
    except apsw.Error as error:
        raise OSError(str(error)) from error


@contextlib.contextmanager
def opened_file(path: Path, *, checked: bool = True, writable: bool = False) -> Iterator[apsw.VFSFile]:
    """Open a file whose pages are verified on read and get checksums on write, or through SQLite's own file layer."""
    _checksums()
    # The checksumming file layer becomes SQLite's default once it is registered.
    layer = _VFS if checked else next(name for name in apsw.vfs_names() if name != _VFS)
    flags = apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY
    # SQLite's file layer does not follow links.
    file = apsw.VFSFile(layer, str(path.resolve()), [flags | apsw.SQLITE_OPEN_MAIN_DB, 0])
    try:
        yield file
    finally:
        file.xClose()


def unchecked(connection: apsw.Connection) -> apsw.Connection:
    """Return a connection that now ignores the checksums of pages, and keeps the log when it is closed."""
    connection.execute("PRAGMA checksum_verification = OFF")
    connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
    return connection


def fetch(
    connection: apsw.Connection, statement: str, values: Sequence[Any] | Mapping[str, Any] = ()
) -> list[tuple[Any, ...]]:
    """Return all rows of a query."""
    return connection.execute(statement, values).fetchall()


def fetch_columns(
    connection: apsw.Connection, statement: str, values: Mapping[str, Any], kinds: Sequence[DTypeLike]
) -> list[NDArray[Any]]:
    """Return the columns of a query of numbers, with the given types; rows are read in batches."""
    parts: list[list[NDArray[Any]]] = [[np.empty(0, dtype=kind)] for kind in kinds]
    # Closed explicitly: an interrupted statement locks its table as long as a traceback refers to it.
    with contextlib.closing(connection.execute(statement, values)) as rows:
        while chunk := list(islice(rows, _ROWS_AT_ONCE)):
            for part, column, kind in zip(parts, zip(*chunk, strict=True), kinds, strict=True):
                part.append(np.fromiter(column, kind, len(chunk)))
    return [np.concatenate(part) for part in parts]


def read_whole_file(path: Path) -> apsw.Connection:
    """Return a connection to a file that nothing writes to, even in a read-only folder."""
    _checksums()
    uri = f"{path.resolve().as_uri()}?immutable=1"
    return apsw.Connection(uri, apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI, vfs=_VFS)


def reserve_checksums(connection: apsw.Connection) -> None:
    """Reserve room for checksums in the pages of an empty file."""
    wanted = ctypes.c_int(RESERVED_BYTES)
    connection.file_control("main", apsw.SQLITE_FCNTL_RESERVE_BYTES, ctypes.addressof(wanted))
    connection.execute("VACUUM")


@contextlib.contextmanager
def begun(connection: apsw.Connection, mode: str) -> Iterator[None]:
    """Run the block as a transaction of the driver, which begins and ends it in C, where no interrupt strikes."""
    connection.transaction_mode = mode
    failure = None
    try:
        with connection:
            try:
                yield
            except BaseException as error:
                failure = error
                raise
    except apsw.SQLError:
        # After a full disk or a disk error, SQLite has already rolled back, so the driver's rollback fails.
        if failure is None:
            raise
        raise failure  # noqa: B904 - the first error, not its consequence


@contextlib.contextmanager
def os_errors(what: str, remedy: str) -> Iterator[None]:
    """Raise StorageError, which says `what` happened and names the remedy, in place of an error of the system."""
    try:
        yield
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"{what} ({error}); {remedy}") from error


class Translated:
    """A block that raises our errors in place of the driver's. Blocks may nest, and one value serves many.

    Raises:
        CorruptMemoryError: the file is damaged.
        StorageError: the file cannot be read or written for another reason.
    """

    def __init__(self, path: Path) -> None:
        self._path = path

    def __enter__(self) -> None:
        """Begin the block."""

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        if not isinstance(error, apsw.Error):
            return
        path = self._path
        code = getattr(error, "extendedresult", None)
        if isinstance(error, _DAMAGE) or code in _DAMAGE_CODES:
            # Another program may have rewritten sound pages without their checksums.
            foreign = "if another program wrote to it, `neurogated check --repair` makes it usable again; otherwise "
            raise CorruptMemoryError(
                f"{path} is damaged ({error}); {foreign * (code == apsw.SQLITE_IOERR_DATA)}{RESTORE}"
            ) from error
        if isinstance(error, apsw.ReadOnlyError):
            raise StorageError(f"{path} is open read-only; open it without read_only to change it") from error
        raise StorageError(
            f"{path} cannot be read or written ({error}); check free space and permissions. "
            "Data stored before is unharmed"
        ) from error

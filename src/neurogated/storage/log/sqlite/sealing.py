"""Checksums for pages that another program wrote.

The pages of a memory file carry checksums; the pages in its log do not. SQLite's checksumming file layer computes them
when it copies pages from the log to the file. After a crash, the next program that opens and closes the file copies
the pages of the log. If that program is not neurogated, the pages are right, but their checksums are wrong. The same
happens when another program empties the log of an open memory (`PRAGMA wal_checkpoint`).
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import apsw

from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.storage.files.process_lock import ProcessLock
from neurogated.storage.log.sqlite.connection import (
    Translated,
    begun,
    checked_file,
    connect,
    plain_file,
    read_whole_file,
    unchecked,
)

_log = logging.getLogger(__name__)

_HEADER_SIZE = 100
_PAGE_SIZE_AT = slice(16, 18)
_PAGES_AT = slice(28, 32)
# The header stores 1 for the one page size that two bytes cannot hold.
_LARGEST_PAGE = 65_536


def seal_pages(path: Path) -> bool:
    """Give every page of a memory file a valid checksum, if the file is sound and has no log.

    Returns:
        Whether a page had no valid checksum.

    Raises:
        CorruptMemoryError: SQLite finds the file damaged.
    """
    with Translated(path):
        log = path.with_name(path.name + "-wal")
        if log.exists() and log.stat().st_size:
            # The log may hold newer pages.
            return False
        unsealed = list(_unsealed(path))
        if unsealed:
            with contextlib.closing(unchecked(read_whole_file(path))) as connection:
                _require_sound(path, connection)
            _seal(path, unsealed)
        return bool(unsealed)


class CheckpointWatch:
    """Notices that another program emptied the log of an open memory, and seals its pages.

    Only a checkpoint of SQLite writes to the memory file. A process of ours checkpoints only while it has the turn to
    write, and then notes the file's modification time.
    """

    def __init__(self, path: Path, turn: ProcessLock) -> None:
        """Watch a memory file; the lock file holds the note."""
        self._path = path
        self._turn = turn
        self._written: int | None = None

    def note(self) -> None:
        """Note that a process of ours wrote the file last; this process must have the turn."""
        written = self._last_written()
        if written is not None and written != self._written:
            self._turn.note(written)
            self._written = written

    def is_foreign(self) -> bool:
        """Return whether another program wrote to the file; while another process has the turn, it may be that one."""
        written = self._last_written()
        if written != self._written and written == self._turn.noted():
            self._written = written
        return written not in {None, self._written}

    def _last_written(self) -> int | None:
        with contextlib.suppress(OSError):
            return self._path.stat().st_mtime_ns
        return None

    def seal(self, connection: apsw.Connection) -> None:
        """Give checksums to the pages that another program wrote; this process must have the turn.

        While another process reads an older state, SQLite cannot copy the whole log; a later call then seals the pages.

        Raises:
            CorruptMemoryError: SQLite finds the file damaged.
        """
        if connection.in_transaction or not self.is_foreign():
            return
        with (
            Translated(self._path),
            contextlib.closing(unchecked(connect(self._path))) as plain,
            begun(plain, "IMMEDIATE"),
        ):
            # Nobody can add to the log now. Once all of it is in the file, no checkpoint writes pages meanwhile.
            in_log, copied = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
            if copied < in_log:
                return
            unsealed = list(_unsealed(self._path))
            if unsealed:
                _require_sound(self._path, plain)
                _seal(self._path, unsealed)
        self.note()


def refuse_unsealed(path: Path) -> None:
    """Raise StorageError if a read-only process would find pages without a valid checksum."""
    with Translated(path):
        log = path.with_name(path.name + "-wal")
        if not (log.exists() and log.stat().st_size) and any(True for _ in _unsealed(path)):
            raise StorageError(
                f"another program wrote to {path} after a crash, so its pages must be checked; open it for writing once"
            )


def was_rewritten(path: Path) -> bool:
    """Return whether another program wrote the file as a whole, so that most pages have no valid checksum.

    A fault of a disk changes few pages, and leaves the checksums of the others right.
    """
    with checked_file(path) as file:
        pages = file.xFileSize() // _page_size(file)
    return 2 * sum(1 for _ in _unsealed(path)) > pages


def _unsealed(path: Path) -> Iterator[int]:
    """Yield the numbers, from 0, of the pages with a wrong checksum."""
    with checked_file(path) as file:
        size = _page_size(file)
        pages, rest = divmod(file.xFileSize(), size)
        if rest or pages < int.from_bytes(file.xRead(_HEADER_SIZE, 0)[_PAGES_AT], "big"):
            # No page of a truncated file may be sealed.
            return
        for number in range(pages):
            try:
                file.xRead(size, number * size)
            except apsw.IOError:
                yield number


def _page_size(file: apsw.VFSFile) -> int:
    size = int.from_bytes(file.xRead(_HEADER_SIZE, 0)[_PAGE_SIZE_AT], "big")
    return _LARGEST_PAGE if size == 1 else size


def _seal(path: Path, unsealed: list[int]) -> None:
    with plain_file(path) as source, checked_file(path, writable=True) as target:
        # Reading the header tells the file layer to compute checksums.
        size = _page_size(target)
        for number in unsealed:
            target.xWrite(source.xRead(size, number * size), number * size)
        target.xSync(apsw.SQLITE_SYNC_NORMAL)
    _log.warning(
        "another program wrote %d pages of %s; they were found sound and have checksums again", len(unsealed), path
    )


def _require_sound(path: Path, connection: apsw.Connection) -> None:
    """Raise CorruptMemoryError if SQLite finds a fault while it ignores checksums."""
    found = [line for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
    if found:
        raise CorruptMemoryError(
            f"{path} is damaged ({found[0]}); restore a snapshot, as in `neurogated restore --replace FILE`"
        )

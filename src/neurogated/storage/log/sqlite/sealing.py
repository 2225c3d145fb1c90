"""Checksums for pages that another program wrote.

The pages of a memory file carry checksums, but those in its log do not: SQLite's checksumming file layer computes them
when it copies pages from the log to the file. After a crash, the next program that opens and closes the file copies
what the log holds. If that program is not neurogated, the pages are right, but their checksums are not.
"""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path

import apsw

from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.storage.log.sqlite.connection import checked_file, plain_file, read_unchecked, translated

__all__ = ["refuse_unsealed", "seal_pages"]

_log = logging.getLogger(__name__)

_HEADER_SIZE = 100
_PAGE_SIZE_AT = slice(16, 18)
_PAGES_AT = slice(28, 32)
# The header has 1 for the one size that two bytes cannot hold.
_LARGEST_PAGE = 65_536


def seal_pages(path: Path) -> bool:
    """Give every page of a memory file a right checksum, where the file is sound and has no log.

    Returns:
        Whether a page lacked it.

    Raises:
        CorruptMemoryError: SQLite finds the file damaged.
    """
    with translated(path):
        unsealed = list(_unsealed(path))
        if not unsealed:
            return False
        _require_sound(path)
        with plain_file(path) as source, checked_file(path, writable=True) as target:
            # By reading the header the file layer learns that it has to compute checksums.
            size = _page_size(target)
            for number in unsealed:
                target.xWrite(source.xRead(size, number * size), number * size)
            target.xSync(apsw.SQLITE_SYNC_NORMAL)
    _log.warning(
        "another program wrote %d pages of %s after a crash; they were found sound and have checksums again",
        len(unsealed),
        path,
    )
    return True


def refuse_unsealed(path: Path) -> None:
    """Raise StorageError where a process that only reads would find pages without a right checksum."""
    with translated(path):
        if any(True for _ in _unsealed(path)):
            raise StorageError(
                f"another program wrote to {path} after a crash, so its pages must be checked; open it for writing once"
            )


def _unsealed(path: Path) -> Iterator[int]:
    """Yield the numbers, from 0, of the pages whose checksum is wrong; none where newer pages are in a log."""
    log = path.with_name(path.name + "-wal")
    if log.exists() and log.stat().st_size:
        return
    with checked_file(path) as file:
        size = _page_size(file)
        pages, rest = divmod(file.xFileSize(), size)
        if rest or pages < int.from_bytes(file.xRead(_HEADER_SIZE, 0)[_PAGES_AT], "big"):
            # Of a file that was cut short nothing is to be accepted.
            return
        for number in range(pages):
            try:
                file.xRead(size, number * size)
            except apsw.IOError:
                yield number


def _page_size(file: apsw.VFSFile) -> int:
    size = int.from_bytes(file.xRead(_HEADER_SIZE, 0)[_PAGE_SIZE_AT], "big")
    return _LARGEST_PAGE if size == 1 else size


def _require_sound(path: Path) -> None:
    """Raise CorruptMemoryError where SQLite, without regard to checksums, finds a fault."""
    with contextlib.closing(read_unchecked(path)) as connection:
        found = [line for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
    if found:
        raise CorruptMemoryError(
            f"{path} is damaged ({found[0]}); restore a snapshot, as in `python main.py restore FILE`"
        )

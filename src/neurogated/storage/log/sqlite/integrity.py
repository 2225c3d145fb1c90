"""Find damage in a memory file: lost pages, lost writes at the end of its log, and pages without checksums."""

import contextlib
import logging
import os
import re
import struct
import zlib
from collections.abc import Callable, Sequence
from pathlib import Path

import apsw

from neurogated.core.files import private
from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.storage.files import ProcessLock
from neurogated.storage.log.sqlite.connection import (
    RESTORE,
    Translated,
    begun,
    connect,
    fetch,
    opened_file,
    read_whole_file,
    unchecked,
)
from neurogated.storage.log.sqlite.schema import CHECKS

_log = logging.getLogger(__name__)

# Longer than any note; no more of a damaged file is read.
_LONGEST = 1024
# All notes of a memory have the same length, so that a new one covers the old one.
_NOTE = re.compile(rb"((?P<identity>\S+) (?P<sequence>\d{20}) (?P<state>open|shut)) (?P<checksum>[0-9a-f]{8})\s")


class CommitWatermark:
    """One line: the memory's identity, the number of its last delta, whether its log was emptied, and a checksum.

    It is written after each commit and need not reach the disk with it: an older note claims less.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def read(self, identity: str | None = None) -> int:
        """Return the last acknowledged number of the memory `identity`, or of any; 0 without a sound note about it."""
        noted = self._noted()
        return int(noted["sequence"]) if noted and identity in (None, noted["identity"].decode()) else 0

    def says_open(self) -> bool:
        """Return whether a sound note says that the memory was not closed with an empty log."""
        noted = self._noted()
        return noted is not None and noted["state"] == b"open"

    def _noted(self) -> re.Match[bytes] | None:
        try:
            with self._path.open("rb") as file:
                noted = _NOTE.fullmatch(file.read(_LONGEST))
        except OSError:
            return None
        if noted is None or int(noted["checksum"], 16) != zlib.crc32(noted[1]):
            _log.warning("%s is damaged; the next change rewrites it", self._path)
            return None
        return noted

    def write(self, identity: str, sequence: int, *, closed: bool = False) -> None:
        """Record that the delta `sequence` is on disk; `closed` means that the log is empty."""
        line = b"%s %020d %s" % (identity.encode() or b"-", sequence, b"shut" if closed else b"open")
        try:
            if self._descriptor is None:
                self._descriptor = private(self._path, os.O_WRONLY | os.O_CREAT)
            os.pwrite(self._descriptor, b"%s %08x\n" % (line, zlib.crc32(line)), 0)
        except OSError as error:
            # The write itself is safe in the memory file; only a later loss might go unnoticed.
            _log.warning("%s cannot be written: %s", self._path, error)

    def remove(self) -> None:
        """Delete the note, before another memory replaces this one."""
        self.close()
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Release the file."""
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None


# The headers of the log and of a frame in it, of which the salts and the page are read:
# https://www.sqlite.org/fileformat.html#the_write_ahead_log
_LOG_HEADER, _FRAME_HEADER = struct.Struct(">16x8s8x"), struct.Struct(">II8s8x")


def page_faults(connection: apsw.Connection) -> list[str]:
    """Return the faults that SQLite finds in the pages of a file, which it reads all, one per line."""
    return [str(line) for (line,) in fetch(connection, "PRAGMA integrity_check") if line != "ok"]


def refuse_faults(path: Path, found: Sequence[str], remedy: str = RESTORE) -> None:
    """Raise CorruptMemoryError, which names the first of some faults, if there are any."""
    if found:
        raise CorruptMemoryError(f"{path} is damaged ({found[0]}); {remedy}")


def faults(connection: apsw.Connection) -> list[str]:
    """Return the faults of a file, one per line; none if it is sound."""
    found = page_faults(connection)
    found += [
        f"table {table}, row {row}: refers to a missing row of {parent}"
        for table, row, parent, _ in fetch(connection, "PRAGMA foreign_key_check")
    ]
    for what, statement in CHECKS.items():
        ((count,),) = fetch(connection, statement)
        if count:
            found.append(f"{count} × {what}")
    return found


def refuse_lost_changes(path: Path, note: CommitWatermark, progress: Callable[[], tuple[str, int]]) -> None:
    """Raise CorruptMemoryError if the file lacks acknowledged changes.

    `progress` returns the memory's identity and its last delta. It is called again after the note is read, because
    another process may write meanwhile.
    """
    identity, _ = progress()
    acknowledged = note.read(identity)
    _, sequence = progress()
    if acknowledged > sequence:
        raise CorruptMemoryError(
            f"{path} ends with change {sequence}, but changes up to {acknowledged} were acknowledged: "
            f"its log is damaged or missing. {_remedy(path, 'without the lost changes')}"
        )


def refuse_missing_file(path: Path, note: CommitWatermark) -> None:
    """Raise CorruptMemoryError if the memory file is missing, but its note tells of changes."""
    acknowledged = note.read()
    if acknowledged and not path.exists():
        raise CorruptMemoryError(
            f"{path} is gone, but changes up to {acknowledged} were acknowledged. {_remedy(path, 'with an empty one')}"
        )


def last_change(connection: apsw.Connection) -> tuple[str, int]:
    """Return a memory's identity and the number of its last delta."""
    ((identity, sequence),) = fetch(
        connection,
        "SELECT (SELECT value FROM settings WHERE name = 'identity'), "
        "coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'deltas'), 0)",
    )
    return str(identity), int(sequence)


def refuse_cut_file(path: Path, connection: apsw.Connection, *, called: Path | None = None) -> None:
    """Raise CorruptMemoryError if pages are missing at the end of the file and are not in its log either.

    SQLite would read them as zeros, which carry a valid checksum. `called` replaces the path in the message.
    """
    connection.execute("BEGIN")
    try:
        ((wanted, page_size),) = connection.execute("SELECT * FROM pragma_page_count, pragma_page_size")
        whole = path.stat().st_size // page_size
        missing = set(range(whole + 1, wanted + 1))
        if missing and missing - _pages_in_log(path.with_name(path.name + "-wal"), page_size):
            raise CorruptMemoryError(f"{called or path} is damaged: it has {whole} of its {wanted} pages; {RESTORE}")
    finally:
        connection.execute("ROLLBACK")


def _pages_in_log(log: Path, page_size: int) -> set[int]:
    found: set[int] = set()
    begun: set[int] = set()
    with contextlib.suppress(FileNotFoundError, struct.error), log.open("rb") as file:
        (salts,) = _LOG_HEADER.unpack(file.read(_LOG_HEADER.size))
        while True:
            page, size_after_commit, present = _FRAME_HEADER.unpack(file.read(_FRAME_HEADER.size))
            if present != salts:
                break
            begun.add(page)
            if size_after_commit:
                found |= begun
                begun = set()
            file.seek(page_size, 1)
    return found


def _remedy(path: Path, how: str) -> str:
    return (
        f"Restore a snapshot, as in `neurogated restore --replace FILE`; or, to continue {how}, delete "
        f"{path.with_suffix('.acknowledged')}"
    )


# The size of a page, and how many there are. The size 1 stands for the one that two bytes cannot hold.
_HEADER, _LARGEST_PAGE = struct.Struct(">16xH10xI68x"), 65_536


def seal_pages(path: Path) -> bool:
    """Give every page of a memory file a valid checksum, if the file is sound and has no log.

    Returns:
        Whether a page had no valid checksum.

    Raises:
        CorruptMemoryError: SQLite finds the file damaged.
    """
    with Translated(path):
        # The log may hold newer pages.
        unsealed = [] if _has_log(path) else _unsealed(path)
        if unsealed:
            with contextlib.closing(unchecked(read_whole_file(path))) as connection:
                refuse_faults(path, page_faults(connection))
            _seal(path, unsealed)
        return bool(unsealed)


class CheckpointWatch:
    """Notices that another program emptied the log of an open memory, and seals its pages.

    Only a checkpoint of SQLite writes to the memory file. A process of ours checkpoints only while it has the turn to
    write, and then notes the file's modification time.
    """

    def __init__(self, path: Path, turn: ProcessLock) -> None:
        """Watch a memory file; the lock file holds the note."""
        self._path, self._location = path, str(path)
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
        try:
            return os.stat(self._location).st_mtime_ns  # noqa: PTH116 - several times at every write
        except OSError:
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
            if unsealed := _unsealed(self._path):
                refuse_faults(self._path, page_faults(plain))
                _seal(self._path, unsealed)
        self.note()


def refuse_unsealed(path: Path) -> None:
    """Raise StorageError if a read-only process would find pages without a valid checksum."""
    with Translated(path):
        if not _has_log(path) and _unsealed(path):
            raise StorageError(
                f"another program wrote to {path} after a crash, so its pages must be checked; open it for writing once"
            )


def was_rewritten(path: Path) -> bool:
    """Return whether another program wrote the file as a whole, so that most pages have no valid checksum.

    A fault of a disk changes few pages, and leaves the checksums of the others right.
    """
    with opened_file(path) as file:
        pages = file.xFileSize() // _pages(file)[0]
    return 2 * len(_unsealed(path)) > pages


def _has_log(path: Path) -> bool:
    log = path.with_name(path.name + "-wal")
    return log.exists() and log.stat().st_size > 0


def _unsealed(path: Path) -> list[int]:
    """Return the numbers, from 0, of the pages with a wrong checksum; none of a truncated file may be sealed."""
    found = []
    with opened_file(path) as file:
        size, wanted = _pages(file)
        pages, rest = divmod(file.xFileSize(), size)
        for number in range(pages) if not rest and pages >= wanted else ():
            try:
                file.xRead(size, number * size)
            except apsw.IOError:
                found.append(number)
    return found


def _pages(file: apsw.VFSFile) -> tuple[int, int]:
    """Return the size of a page, and how many pages the header of a file tells of."""
    size, count = _HEADER.unpack(file.xRead(_HEADER.size, 0))
    return _LARGEST_PAGE if size == 1 else size, count


def _seal(path: Path, unsealed: list[int]) -> None:
    with opened_file(path, checked=False) as source, opened_file(path, writable=True) as target:
        # Reading the header tells the file layer to compute checksums.
        size, _ = _pages(target)
        for number in unsealed:
            target.xWrite(source.xRead(size, number * size), number * size)
        target.xSync(apsw.SQLITE_SYNC_NORMAL)
    _log.warning(
        "another program wrote %d pages of %s; they were found sound and have checksums again", len(unsealed), path
    )

"""Damage that SQLite does not notice: a log that ended too early, and a memory file that is truncated or missing."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import apsw

from neurogated.errors import CorruptMemoryError
from neurogated.storage.log.sqlite.commit_watermark import CommitWatermark
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.schema import CHECKS

# The format of the log: https://www.sqlite.org/fileformat.html#the_write_ahead_log
_LOG_HEADER = 32
_SALTS_AT = 16
_SALTS_SIZE = 8
_FRAME_HEADER = 24
_FRAME_SALTS_AT = 8


def faults(connection: apsw.Connection) -> list[str]:
    """Return the faults of a file, one per line; none if it is sound."""
    found = [str(row[0]) for row in fetch(connection, "PRAGMA integrity_check") if row[0] != "ok"]
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
    acknowledged = note.last()
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
            raise CorruptMemoryError(
                f"{called or path} is damaged: it has {whole} of its {wanted} pages; restore a snapshot, as in "
                "`neurogated restore --replace FILE`"
            )
    finally:
        connection.execute("ROLLBACK")


def _pages_in_log(log: Path, page_size: int) -> set[int]:
    """Return the page numbers of the committed frames of a log."""
    found: set[int] = set()
    begun: set[int] = set()
    try:
        file = log.open("rb")
    except FileNotFoundError:
        return found
    with file:
        salts = file.read(_LOG_HEADER)[_SALTS_AT : _SALTS_AT + _SALTS_SIZE]
        while len(header := file.read(_FRAME_HEADER)) == _FRAME_HEADER:
            if header[_FRAME_SALTS_AT : _FRAME_SALTS_AT + _SALTS_SIZE] != salts:
                break
            page, size_after_commit = struct.unpack_from(">II", header)
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

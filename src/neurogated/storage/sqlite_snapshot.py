"""Snapshots of a memory file: taking one while it is in use, and putting one in its place."""

from __future__ import annotations

import contextlib
import logging
import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw

from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.storage.acknowledged import AcknowledgedNote
from neurogated.storage.sqlite_connection import connect, fetch, translated
from neurogated.storage.sqlite_making import drop_file, drop_log, replace_file
from neurogated.storage.sqlite_schema import check_format
from neurogated.storage.writer_lock import WriterLock

__all__ = ["restore_snapshot", "take_snapshot"]

_log = logging.getLogger(__name__)


def take_snapshot(path: Path, target: Path) -> None:
    """Copy a memory file as it is at this moment; writes go on meanwhile.

    Raises:
        StorageError: `target` exists or cannot be written.
    """
    if target.exists():
        raise StorageError(f"{target} exists already; choose another name for the snapshot")
    with _draft_of(target) as draft:
        with (
            translated(target),
            contextlib.closing(connect(path, read_only=True)) as source,
            contextlib.closing(connect(draft, create=True)) as copy,
        ):
            with copy.backup("main", source, "main") as backup:
                backup.step(-1)
            # A copy that is a single file, without a log beside it.
            copy.execute("PRAGMA journal_mode = DELETE")
        replace_file(draft, target)


def restore_snapshot(snapshot: Path, path: Path) -> None:
    """Put a snapshot in the place of a memory file, sound or not, or where there is none.

    Raises:
        MemoryLockedError: a process has the memory open for writing.
        CorruptMemoryError: the snapshot is damaged; the memory is unharmed.
        StorageError: it cannot be read, or the memory not be written.
    """
    lock = WriterLock(path)
    lock.acquire()
    try:
        with _draft_of(path) as draft:
            shutil.copyfile(snapshot, draft)
            check_format(draft)
            _require_sound(draft, snapshot)
            _settle(path)
            AcknowledgedNote(path.with_suffix(".acknowledged")).remove()
            replace_file(draft, path)
    finally:
        lock.release()


@contextlib.contextmanager
def _draft_of(target: Path) -> Iterator[Path]:
    """Give a file beside `target` that is gone afterwards unless it was moved; faults of the disk are translated."""
    draft = target.with_name(target.name + ".draft")
    try:
        drop_file(draft)
        yield draft
    except OSError as error:
        if isinstance(error, StorageError):
            raise
        raise StorageError(f"{target} cannot be written ({error}); check the place and free space") from error
    finally:
        with contextlib.suppress(OSError):
            drop_file(draft)


def _require_sound(draft: Path, snapshot: Path) -> None:
    with translated(snapshot), contextlib.closing(connect(draft)) as connection:
        # Reading every page checks every page.
        found = [str(line) for (line,) in fetch(connection, "PRAGMA integrity_check") if line != "ok"]
    if found:
        raise CorruptMemoryError(f"{snapshot} is damaged ({found[0]}); take another snapshot, nothing was restored")


def _settle(path: Path) -> None:
    """Bring what is only in the log into a memory file and drop the log, so that none meets another file."""
    if path.exists():
        try:
            with contextlib.closing(connect(path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except apsw.Error as error:
            _log.warning("%s is damaged (%s); the snapshot takes its place", path, error)
    drop_log(path)

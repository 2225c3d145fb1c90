"""Snapshots of a memory file: take one while the file is in use, and restore one; repair a file by a copy of it."""

import contextlib
import logging
import shutil
from collections.abc import Callable
from pathlib import Path

import apsw

from neurogated.core.files import make_file
from neurogated.errors import CorruptMemoryError, StorageError
from neurogated.storage.checkpoint import Checkpoints
from neurogated.storage.files import opened_alone
from neurogated.storage.log.sqlite import integrity
from neurogated.storage.log.sqlite.connection import (
    RESTORE,
    Translated,
    connect,
    connect_reader,
    os_errors,
    read_whole_file,
    reserve_checksums,
    unchecked,
)
from neurogated.storage.log.sqlite.file_guard import place_of
from neurogated.storage.log.sqlite.schema import (
    LOG_SUFFIXES,
    check_format,
    drafted,
    drop_log,
    heritage_of,
    keep_incarnation,
    replace_file,
)

_log = logging.getLogger(__name__)

_MEMORY_SUFFIX = ".db"


def take_snapshot(path: Path, target: Path) -> None:
    """Copy the present state of a memory file while writes continue.

    Raises:
        StorageError: `target` exists, has a name that belongs to the memory, or cannot be written.
        CorruptMemoryError: the finished copy is damaged; it is deleted.
    """
    if target.exists():
        raise StorageError(f"{target} exists already; choose another name for the snapshot")
    if target.name.startswith(f"{path.stem}.") and target.resolve().parent == path.resolve().parent:
        raise StorageError(
            f"{target} has a name that belongs to the memory beside it; choose another name or folder for the snapshot"
        )
    with drafted(target) as draft:
        with Translated(target), contextlib.closing(connect_reader(path)) as source:
            _write_copy(source, draft)
        _require_sound(draft, target, "no snapshot was taken; run `check` on the memory, and check the disk")
        replace_file(draft, target)


def restore_snapshot(snapshot: Path, path: Path, *, replace: bool = False) -> None:
    """Create a memory file from a snapshot, or with `replace` overwrite a sound or damaged one.

    The file of another memory is also accepted; its log is restored with it. The snapshot is not changed. The old file
    stays until the new one is complete and checked; then one rename replaces it.

    Raises:
        MemoryLockedError: a process has the memory open for writing.
        CorruptMemoryError: the snapshot is damaged; the memory is unchanged.
        StorageError: the snapshot is the memory's own file or cannot be read, the memory cannot be written, or it
            exists and `replace` is not set.
    """
    path = path.resolve()
    remedy = "give the file that `snapshot` wrote"
    with os_errors(f"the snapshot {snapshot} cannot be read", remedy):
        if not snapshot.exists():
            raise StorageError(f"there is no snapshot {snapshot}; {remedy}")
        check_format(snapshot)
    if path.exists() and path.samefile(snapshot):
        raise StorageError(f"{snapshot} is the memory itself, not a snapshot of it; {remedy}")
    with opened_alone(path), drafted(path) as draft:
        if path.exists() and not replace:
            raise StorageError(
                f"there is a memory in {path} already; choose another save_dir, or replace that memory: "
                "`restore --replace`, in Python `replace=True`"
            )
        with Translated(snapshot):
            _copy(snapshot, draft)
        with Translated(path), contextlib.closing(connect(draft)) as copy:
            keep_incarnation(copy, place_of(draft), heritage_of(path))
        _require_sound(draft, snapshot, "take another snapshot, nothing was restored")
        _settle(path)
        integrity.CommitWatermark(path.with_suffix(".acknowledged")).remove()
        Checkpoints(path).drop()
        replace_file(draft, path)


def repair_file(path: Path, check: Callable[[Path], list[str]]) -> None:
    """Give the pages of a memory file checksums again, after another program rewrote them, as by `VACUUM`.

    The file is copied without regard to checksums, and the copy takes its place if `check` finds no faults in it.

    Raises:
        MemoryLockedError: a process has the memory open for writing.
        CorruptMemoryError: more than the checksums is wrong; the file is unchanged.
        StorageError: the file cannot be read or written.
    """
    path = path.resolve()
    check_format(path)
    with opened_alone(path), drafted(path) as draft:
        with Translated(path), contextlib.closing(unchecked(connect(path))) as source:
            # The file has all changes before its log is dropped.
            source.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            _refuse_loss(path, source, path)
            if not integrity.was_rewritten(path):
                # Without their checksums, other words in a page would pass for the right ones.
                raise CorruptMemoryError(
                    f"most pages of {path} have right checksums, so no other program rewrote it; if it cannot be "
                    f"opened, {RESTORE}"
                )
            _write_copy(source, draft)
        _require_sound(draft, path, RESTORE)
        integrity.refuse_faults(path, check(draft))
        drop_log(path)
        Checkpoints(path).drop()
        replace_file(draft, path)


def _copy(snapshot: Path, draft: Path) -> None:
    """Copy a snapshot and its log into a single file, without writing anything beside the snapshot."""
    beside = [suffix for suffix in LOG_SUFFIXES if snapshot.with_name(snapshot.name + suffix).exists()]
    if not beside or "-shm" in beside:
        # A process, perhaps this one, may have it open. Only SQLite can read a consistent state and keep its locks.
        with contextlib.closing(connect(snapshot, read_only=True) if beside else read_whole_file(snapshot)) as source:
            _refuse_loss(snapshot, source, snapshot)
            _write_copy(source, draft)
        return
    for suffix in ("", *beside):
        copied = draft.with_name(draft.name + suffix)
        make_file(copied)
        shutil.copyfile(snapshot.with_name(snapshot.name + suffix), copied)
    with contextlib.closing(connect(draft)) as copy:
        _refuse_loss(draft, copy, snapshot)
        copy.execute("PRAGMA journal_mode = DELETE")


def _write_copy(source: apsw.Connection, draft: Path) -> None:
    with contextlib.closing(connect(draft, create=True)) as copy:
        # Without room for checksums on disk, a full page cache would write pages that have none.
        reserve_checksums(copy)
        with copy.backup("main", source, "main") as backup:
            backup.step(-1)
        copy.execute("PRAGMA journal_mode = DELETE")


def _refuse_loss(file: Path, connection: apsw.Connection, snapshot: Path) -> None:
    """Raise CorruptMemoryError if `file`, the snapshot or its copy, lacks pages or acknowledged changes."""
    integrity.refuse_cut_file(file, connection, called=snapshot)
    # A snapshot has no watermark. A copied memory may have one, which reveals a log that was not copied.
    if snapshot.suffix == _MEMORY_SUFFIX:
        note = integrity.CommitWatermark(snapshot.with_suffix(".acknowledged"))
        integrity.refuse_lost_changes(snapshot, note, lambda: integrity.last_change(connection))


def _require_sound(draft: Path, called: Path, consequence: str) -> None:
    """Raise CorruptMemoryError if a finished copy has a fault; messages call it `called`."""
    with Translated(called), contextlib.closing(read_whole_file(draft)) as connection:
        integrity.refuse_cut_file(draft, connection, called=called)
        # Every page is read, which verifies every checksum.
        found = integrity.page_faults(connection)
    integrity.refuse_faults(called, found, consequence)


def _settle(path: Path) -> None:
    if path.exists():
        try:
            with contextlib.closing(connect(path)) as connection:
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except apsw.Error as error:
            _log.warning("%s is damaged (%s); the snapshot replaces it", path, error)
    drop_log(path)

"""Making memory files and putting one in the place of another, so that a half-made one is never opened."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

import apsw

from neurogated.core.durable import sync_folder
from neurogated.storage.log.sqlite.connection import connect, reserve_checksums, translated
from neurogated.storage.log.sqlite.schema import DDL

__all__ = ["LOG_SUFFIXES", "drop_draft", "drop_file", "drop_log", "make_file", "replace_file"]

LOG_SUFFIXES = ("-wal", "-shm", "-journal")
"""What the names of the files end in that SQLite puts beside a file."""


def make_file(path: Path) -> None:
    """Make an empty memory in the place of whatever there is.

    Raises:
        StorageError: it cannot be written.
    """
    draft = _draft_of(path)
    drop_file(draft)
    with translated(path), contextlib.closing(connect(draft, create=True)) as connection:
        _lay_out(connection)
    # A new file must not meet an old log.
    drop_file(path)
    replace_file(draft, path)


def drop_file(path: Path) -> None:
    """Delete a memory file with its log."""
    # A log without its file is nothing; a file without its log is an older memory, or half of one.
    path.unlink(missing_ok=True)
    drop_log(path)


def drop_log(path: Path) -> None:
    """Delete the log of a memory file; a process that still reads the old file keeps the old log."""
    for suffix in LOG_SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def drop_draft(path: Path) -> None:
    """Delete what a crash left of a file that was to take the place of a memory; it may hold what was deleted since."""
    drop_file(_draft_of(path))
    drop_file(path.with_name(path.name + ".draft"))


def replace_file(draft: Path, path: Path) -> None:
    """Let a finished file take its final name, on disk before this returns."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)


def _draft_of(path: Path) -> Path:
    return path.with_suffix(".draft")


def _lay_out(connection: apsw.Connection) -> None:
    reserve_checksums(connection)
    connection.execute(f"BEGIN; {DDL}")
    connection.execute("INSERT INTO settings VALUES ('identity', ?), ('generation', '0')", (secrets.token_hex(),))
    connection.execute("COMMIT")

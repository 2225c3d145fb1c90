"""Create and replace memory files atomically, so that no process opens a partial file."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

import apsw

from neurogated.core.files import sync_folder
from neurogated.storage.log.sqlite.connection import Translated, connect, reserve_checksums
from neurogated.storage.log.sqlite.schema import DDL

LOG_SUFFIXES = ("-wal", "-shm", "-journal")
"""The suffixes of the files that SQLite puts beside a file."""


def make_file(path: Path) -> None:
    """Create an empty memory file; it replaces an existing file.

    Raises:
        StorageError: the file cannot be written.
    """
    draft = _draft_of(path)
    drop_file(draft)
    with Translated(path), contextlib.closing(connect(draft, create=True)) as connection:
        _lay_out(connection)
    # A new file must not meet an old log.
    drop_file(path)
    replace_file(draft, path)


def drop_file(path: Path) -> None:
    """Delete a memory file with its log."""
    # The file goes first: a log without its file is harmless, but a file without its log lacks recent writes.
    path.unlink(missing_ok=True)
    drop_log(path)


def drop_log(path: Path) -> None:
    """Delete the log of a memory file; a process that still reads the old file keeps the old log."""
    for suffix in LOG_SUFFIXES:
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def drop_draft(path: Path) -> None:
    """Delete the drafts that a crash left beside a memory; they may hold data deleted since."""
    drop_file(_draft_of(path))
    drop_file(path.with_name(path.name + ".draft"))


def replace_file(draft: Path, path: Path) -> None:
    """Move a finished file to its final name; the move is on disk when the call returns."""
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

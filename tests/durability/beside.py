"""Forked processes, and those beside a writer, which open the memory file and close it repeatedly."""

import contextlib
import os
import sqlite3
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path

from neurogated.errors import StorageError
from neurogated.storage.sqlite_store import SqliteStore

__all__ = ["read_in_this_process", "read_with_plain_sqlite", "run_child"]

_PAUSE_SECONDS = 0.02


_MEMORY = Path("out", "memory", "memory.db")


def read_in_this_process(folder: Path) -> None:
    """Read the memory in a thread, and close descriptors of its files, until this process is killed."""
    path = folder / _MEMORY

    def read() -> None:
        while True:
            # Another process may be creating or dropping the memory.
            with contextlib.suppress(StorageError), SqliteStore.open(path, read_only=True) as store:
                store.view()
            for suffix in ("", "-wal", "-shm"):
                with contextlib.suppress(FileNotFoundError):
                    path.with_name(path.name + suffix).open("rb").close()
            time.sleep(_PAUSE_SECONDS)

    threading.Thread(target=read, daemon=True).start()


def read_with_plain_sqlite(folder: Path) -> None:
    """Read the memory with plain SQLite, and close it, until this process is killed.

    If no other process has the file open, closing copies the log into the file.
    """
    uri = f"{(folder / _MEMORY).as_uri()}?mode=rw"
    while True:
        with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(uri, uri=True)) as connection:
            connection.execute("SELECT count(*) FROM nodes").fetchone()
        time.sleep(_PAUSE_SECONDS)


def run_child(work: Callable[[int], None]) -> tuple[int, int]:
    """Fork a child that does `work` and writes to a pipe. Return its process and the read end of the pipe."""
    read, write = os.pipe()
    child = os.fork()
    if child:
        os.close(write)
        return child, read
    try:
        os.close(read)
        work(write)
    except BaseException:  # noqa: BLE001 - it has to be told, and the child must not run on as its parent
        traceback.print_exc()
        sys.stderr.flush()
        os._exit(1)
    os._exit(0)

"""The lock that keeps a memory file to one writing process."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

from filelock import FileLock, Timeout

from neurogated.errors import MemoryLockedError, StorageError

__all__ = ["WriterLock"]


class WriterLock:
    """Held from `acquire` to `release`; the system releases it when the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = FileLock(path.with_suffix(".lock"), thread_local=False)
        self._holder_note = path.with_suffix(".holder")

    def acquire(self) -> None:
        """Take the lock.

        Raises:
            MemoryLockedError: another process has it; says which.
            StorageError: the folder cannot be made or written.
        """
        folder = self._path.parent
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"cannot make the folder {folder} ({error}); choose another save_dir") from error
        try:
            self._lock.acquire(blocking=False)
        except Timeout:
            holder = "another process"
            with contextlib.suppress(OSError):
                holder = f"process {self._holder_note.read_text(encoding='utf-8', errors='replace')}"
            raise MemoryLockedError(
                f"{self._path} is open for writing in {holder}; close it there first, or open it with read_only"
            ) from None
        except OSError as error:
            raise StorageError(
                f"cannot write in {folder} ({error}); choose another save_dir, or open it with read_only"
            ) from error
        # The note only serves the error above; a memory can do without it.
        with contextlib.suppress(OSError):
            self._holder_note.write_text(str(os.getpid()), encoding="utf-8")

    def release(self) -> None:
        """Let another process have it."""
        with contextlib.suppress(OSError):
            self._holder_note.unlink(missing_ok=True)
        self._lock.release()

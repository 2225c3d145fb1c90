"""Which files are at the paths of a memory: the memory itself, its log and the shared memory."""

from __future__ import annotations

import os
from pathlib import Path

from neurogated.errors import StorageError

__all__ = ["FileIdentity", "OpenedFiles"]

FileIdentity = tuple[int, int]
"""Device and inode."""

_SUFFIXES = ("", "-wal", "-shm")


class OpenedFiles:
    """Notices that another program deleted or replaced files that are open."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # Where SQLite puts the files beside it, also where the path is a link.
        self._location = str(path.resolve())
        self._noted: list[FileIdentity | None] = []

    def note(self) -> None:
        """Note which files there are; these are the ones that are written to."""
        self._noted = self._found()

    def are_same(self) -> bool:
        """Return whether the files are those that were noted, if any were."""
        return not self._noted or self._found() == self._noted

    def require_same(self, consequence: str) -> None:
        """Raise StorageError instead of acknowledging what went to files that nobody will read."""
        if not self.are_same():
            raise StorageError(
                f"another program deleted or replaced {self._path} or its log while it was open, and {consequence}; "
                "close the memory, and put back what belongs there, as with `python main.py restore FILE`"
            )

    def memory(self) -> FileIdentity:
        """Return which file is the memory; raises StorageError where there is none."""
        try:
            status = self._path.stat()
        except OSError as error:
            raise StorageError(
                f"{self._path} cannot be found ({error}); a process that reads only cannot make it, restore a snapshot"
            ) from error
        return status.st_dev, status.st_ino

    def size(self) -> int:
        """Return how many bytes the memory and its log take."""
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def has(self, suffix: str) -> bool:
        """Return whether there is a file beside the memory whose name ends in `suffix`."""
        return os.path.exists(self._location + suffix)  # noqa: PTH110 - twice a commit

    def _found(self) -> list[FileIdentity | None]:
        found: list[FileIdentity | None] = []
        for suffix in _SUFFIXES:
            try:
                status = os.stat(self._location + suffix)  # noqa: PTH116 - twice a commit
            except OSError:
                found.append(None)
            else:
                found.append((status.st_dev, status.st_ino))
        return found

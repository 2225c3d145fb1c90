"""The identities of the files of a memory: the memory itself, its log and the shared memory."""

from __future__ import annotations

import os
from pathlib import Path

from neurogated.errors import StorageError

FileIdentity = tuple[int, int]
"""Device and inode."""

_SUFFIXES = ("", "-wal", "-shm")


def place_of(path: Path) -> str:
    """Return a text that a file keeps when it is renamed, and that a copy of it does not have; raises OSError."""
    # The number of a device may change when the system starts again; that of a file system does not.
    return f"{os.statvfs(path).f_fsid}:{path.stat().st_ino}"


class OpenedFiles:
    """Notices that another program deleted or replaced open files."""

    def __init__(self, path: Path) -> None:
        self._path = path
        # SQLite puts its files beside the target of a link, not beside the link.
        self._location = str(path.resolve())
        self._noted: list[FileIdentity | None] = []

    def note(self) -> None:
        """Record the identities of the files that are open for writing."""
        self._noted = self._found()

    def are_same(self) -> bool:
        """Return whether the files are those recorded, if any were."""
        return not self._noted or self._found() == self._noted

    def require_same(self, consequence: str) -> None:
        """Raise StorageError instead of acknowledging a write to files that nobody will read."""
        if not self.are_same():
            raise StorageError(
                f"another program deleted or replaced {self._path} or its log while it was open, and {consequence}; "
                "close the memory, and put the right files back, as with `neurogated restore --replace FILE`"
            )

    def memory(self) -> FileIdentity:
        """Return the identity of the memory file; raises StorageError if there is none."""
        try:
            status = self._path.stat()
        except OSError as error:
            raise StorageError(
                f"{self._path} cannot be found ({error}); a read-only process cannot create it; restore a snapshot"
            ) from error
        return status.st_dev, status.st_ino

    def size(self) -> int:
        """Return the size of the memory and its log in bytes."""
        files = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(file.stat().st_size for file in files if file.exists())

    def has(self, suffix: str) -> bool:
        """Return whether a file exists beside the memory whose name ends in `suffix`."""
        return os.path.exists(self._location + suffix)  # noqa: PTH110 - runs twice per commit

    def _found(self) -> list[FileIdentity | None]:
        found: list[FileIdentity | None] = []
        for suffix in _SUFFIXES:
            try:
                status = os.stat(self._location + suffix)  # noqa: PTH116 - runs twice per commit
            except OSError:
                found.append(None)
            else:
                found.append((status.st_dev, status.st_ino))
        return found

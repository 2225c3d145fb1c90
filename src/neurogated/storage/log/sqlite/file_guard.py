"""Locks on a memory file that survive when another part of the process closes the file.

SQLite marks a file as in use with POSIX locks. The system drops all of them when the process closes any descriptor of
the file, as a copy of the folder or another SQLite library does. The next process that closes the file then believes it
is the last one, and deletes a log that is still in use. A lock of an open file description stays until its own
descriptor is closed.
"""

import contextlib
import errno
import fcntl
import logging
import os
import struct
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from neurogated.core.forking import ForkSafeLock
from neurogated.errors import StorageError

FileIdentity = tuple[int, int]
"""Device and inode."""


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

    def has(self, suffix: str) -> bool:
        """Return whether a file exists beside the memory whose name ends in `suffix`."""
        return os.path.exists(self._location + suffix)  # noqa: PTH110 - runs twice per commit

    def _found(self) -> list[FileIdentity | None]:
        found: list[FileIdentity | None] = []
        for suffix in ("", "-wal", "-shm"):
            try:
                status = os.stat(self._location + suffix)  # noqa: PTH116 - runs twice per commit
            except OSError:
                found.append(None)
            else:
                found.append((status.st_dev, status.st_ino))
        return found


_log = logging.getLogger(__name__)

# The bytes that SQLite locks: those that all readers of a file share (https://www.sqlite.org/src/file/src/os.h), and
# the byte of the shared memory that tells whether a process uses it (UNIX_SHM_DMS in os_unix.c).
_SHARED_FIRST, _SHARED_SIZE = 0x40000002, 510
_IN_USE_AT = 128
# Elsewhere than on Linux, `struct flock` has another layout, and few systems have locks of open file descriptions.
_SET_LOCK: int = getattr(fcntl, "F_OFD_SETLK", 0) if sys.platform == "linux" else 0
# struct flock: type, whence, start, length, process.
_FLOCK = "hhqqi4x"
_HELD_ELSEWHERE = frozenset({errno.EAGAIN, errno.EACCES})


@dataclass(eq=False)
class _Shared:
    """The state that the guards of one file share."""

    users: int = 0
    descriptors: list[int] = field(default_factory=list)
    """Descriptors of the file, the first one with the lock; closing one of them would drop SQLite's locks."""
    shared_memory: int | None = None
    """A descriptor of SQLite's shared memory."""
    lock: threading.RLock = field(default_factory=threading.RLock)


_shared: dict[FileIdentity, _Shared] = {}
_lock = ForkSafeLock()


class FileGuard:
    """Marks a memory file as in use by this process, while at least one guard of the file is held.

    Where the system has no such locks, it does nothing. SQLite's own locks do not change.

    Attributes:
        is_held: whether `hold` was called.
    """

    def __init__(self, path: Path) -> None:
        """Open the file before SQLite opens it; raises OSError."""
        self._path = path.resolve()
        self._file: _Shared | None = None
        self.is_held = False
        if _SET_LOCK:
            with _lock:
                status = path.stat()
                found = _shared.get((status.st_dev, status.st_ino))
                if found is None:
                    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
                    # Meanwhile the path may name another file, which this process may already use.
                    status = os.fstat(descriptor)
                    found = _shared.setdefault((status.st_dev, status.st_ino), _Shared())
                    found.descriptors.append(descriptor)
                found.users += 1
                self._file = found

    def hold(self) -> None:
        """Take the locks; call it after SQLite has opened the file with a write-ahead log.

        Raises:
            StorageError: another process has an exclusive lock on the file.
        """
        if self._file is None or self.is_held:
            return
        with self._file.lock:
            _lock_bytes(self._path, self._file.descriptors[0], fcntl.F_RDLCK, _SHARED_FIRST, _SHARED_SIZE)
            path, held = self._path.with_name(self._path.name + "-shm"), self._file.shared_memory
            if held is not None and not os.path.samestat(os.fstat(held), path.stat()):
                # It was replaced.
                os.close(held)
                held = None
            self._file.shared_memory = os.open(path, os.O_RDONLY | os.O_CLOEXEC) if held is None else held
            _lock_bytes(self._path, self._file.shared_memory, fcntl.F_RDLCK, _IN_USE_AT, 1)
        self.is_held = True

    @contextlib.contextmanager
    def released(self) -> Iterator[None]:
        """Run the block, which closes SQLite's connection; the last guard releases the locks first."""
        file, self._file, self.is_held = self._file, None, False
        if file is None:
            yield
            return
        with file.lock:
            if file.users == 1 and file.shared_memory is not None:
                # Take SQLite's own lock again, if it was dropped, so that the file never seems unused in between.
                with contextlib.suppress(OSError):
                    fcntl.lockf(file.descriptors[0], fcntl.LOCK_SH | fcntl.LOCK_NB, _SHARED_SIZE, _SHARED_FIRST)
                _lock_bytes(self._path, file.descriptors[0], fcntl.F_UNLCK, _SHARED_FIRST, _SHARED_SIZE)
                _lock_bytes(self._path, file.shared_memory, fcntl.F_UNLCK, _IN_USE_AT, 1)
            try:
                yield
            finally:
                with _lock:
                    file.users -= 1
                    if not file.users:
                        _forget(file)


def _lock_bytes(path: Path, descriptor: int, kind: int, start: int, length: int) -> None:
    try:
        fcntl.fcntl(descriptor, _SET_LOCK, struct.pack(_FLOCK, kind, os.SEEK_SET, start, length, 0))
    except OSError as error:
        if error.errno in _HELD_ELSEWHERE:
            raise StorageError(f"another process has locked {path} exclusively; open it again later") from error
        _log.debug("%s cannot be guarded against processes that close it (%s)", path, error)


def _forget(file: _Shared) -> None:
    for key in [key for key, value in _shared.items() if value is file]:
        del _shared[key]
    for descriptor in (*file.descriptors, file.shared_memory):
        if descriptor is not None:
            os.close(descriptor)


def _forget_all() -> None:
    """Close the parent's files in a forked child; the parent's locks stay until the parent releases them."""
    for file in list(_shared.values()):
        _forget(file)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)

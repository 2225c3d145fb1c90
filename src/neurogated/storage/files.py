"""Files of a memory: locks between processes, and arrays in files, of which large ones are mapped."""

import contextlib
import errno
import fcntl
import os
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.files import make_file, make_folder, private
from neurogated.core.forking import bind_to_process
from neurogated.errors import MemoryLockedError, StorageError

_HELD_ELSEWHERE = frozenset({errno.EAGAIN, errno.EACCES})
# Seconds between two tries to take a lock that another process holds: short at first, because most writes are short.
_FIRST_PAUSE, _LONGEST_PAUSE = 0.0005, 0.01
_DIGITS = 20


class _LockFile:
    """A file to lock; it names the process that took the lock last."""

    # A class attribute, because `__del__` also runs for an object whose creation was interrupted.
    _descriptor: int | None = None

    def __init__(self, path: Path) -> None:
        self._path, self._location = path, str(path)
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - the parent owns the lock either way
        """Leave the lock to the parent process: a forked child closes its copy of the descriptor."""
        self._close()

    def __del__(self) -> None:
        self._close()

    def try_lock(self, *, shared: bool = False) -> bool:
        """Try to take the lock or to change its mode, without waiting; return whether it succeeded.

        Raises:
            StorageError: the file cannot be opened, or its file system has no locks.
        """
        while True:
            descriptor = self._open()
            try:
                fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
            except OSError as error:
                if error.errno in _HELD_ELSEWHERE:
                    return False
                raise StorageError(
                    f"{self._path} cannot be locked ({error}); choose a save_dir on a file system that has locks"
                ) from error
            try:
                named, opened = os.stat(self._location), os.fstat(descriptor)  # noqa: PTH116 - at every write
                if (named.st_ino, named.st_dev) == (opened.st_ino, opened.st_dev):
                    return True
            except FileNotFoundError:
                pass
            # Another process deleted the file; the others lock the file that replaced it.
            self._close()

    def sign(self) -> None:
        """Record that this process has the lock; only error messages use it."""
        with contextlib.suppress(OSError):
            os.pwrite(self._open(), str(os.getpid()).ljust(_DIGITS).encode(), 0)

    def holder(self) -> str:
        """Return the process that signed last, as text for a message."""
        with contextlib.suppress(OSError):
            noted = os.pread(self._open(), _DIGITS, 0).decode("ascii", "replace").strip()
            if noted.isdigit():
                return "another memory of this process, " * (int(noted) == os.getpid()) + f"process {noted}"
        return "another process"

    def note(self, number: int) -> None:
        """Store a number in the file for other holders; the caller holds the lock."""
        with contextlib.suppress(OSError):
            os.pwrite(self._open(), str(number).ljust(_DIGITS).encode(), _DIGITS)

    def noted(self) -> int | None:
        """Return the number that a holder stored last; None if there is none."""
        with contextlib.suppress(OSError, ValueError):
            return int(os.pread(self._open(), _DIGITS, _DIGITS))
        return None

    def release(self) -> None:
        """Release the lock."""
        if self._descriptor is not None:
            try:
                fcntl.flock(self._descriptor, fcntl.LOCK_UN)
            except OSError:
                # Its file system has no locks, so there is none to release.
                return

    def close(self) -> None:
        """Release the lock and close the file."""
        self.release()
        self._close()

    def _close(self) -> None:
        if self._descriptor is not None:
            with contextlib.suppress(OSError):
                os.close(self._descriptor)
            self._descriptor = None

    def _open(self) -> int:
        if self._descriptor is None:
            folder = self._path.parent
            try:
                make_folder(folder)
            except OSError as error:
                raise StorageError(f"cannot create the folder {folder} ({error}); choose another save_dir") from error
            try:
                self._descriptor = private(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
            except OSError as error:
                raise StorageError(
                    f"cannot write in {folder} ({error}); choose another save_dir, or open it with read_only"
                ) from error
        return self._descriptor


class ProcessLock(_LockFile):
    """A lock with one holder at a time, among all processes and all objects of a process.

    A waiting thread holds a second lock, the queue. The holder needs the queue to take the first lock again, so a
    process that writes all the time cannot starve the others.
    """

    def __init__(self, path: Path, what: str) -> None:
        """Lock the file `path`, which is created; error messages name the holder's work as `what`."""
        super().__init__(path)
        self._queue = _LockFile(path.with_name(path.name + "-queue"))
        self._what = what

    def acquire(self, patience: float, meanwhile: Callable[[], None] | None = None) -> None:
        """Take the lock, idempotent while it is held; wait `patience` seconds at most, and call `meanwhile` the while.

        Raises:
            MemoryLockedError: another process holds the lock; the message names it.
            StorageError: the folder cannot be created or written.
        """
        deadline = time.monotonic() + patience
        try:
            for file in (self._queue, self):
                pause = _FIRST_PAUSE
                while not file.try_lock():
                    if time.monotonic() >= deadline:
                        raise MemoryLockedError(
                            f"{self.holder()} {self._what}, and has not finished within {patience:g} seconds; "
                            "try again later, or end the process, which loses no acknowledged write"
                        )
                    if meanwhile is not None:
                        meanwhile()
                    time.sleep(pause)
                    pause = min(2 * pause, _LONGEST_PAUSE)
            self.sign()
        finally:
            self._queue.release()

    def close(self) -> None:
        """Release the lock and close its files."""
        super().close()
        self._queue.close()


class Presence(_LockFile):
    """Tells other processes that a store has a memory open for writing; several stores may."""

    def __init__(self, memory: Path) -> None:
        super().__init__(memory.with_suffix(".open"))
        self._memory = memory

    def enter(self) -> bool:
        """Record that the memory is open; return whether no other store has it open for writing.

        The caller holds the write lock, so that two processes opening it cannot both be the first.
        """
        alone = self.try_lock()
        self.try_lock(shared=True)
        self.sign()
        return alone

    def require_alone(self) -> None:
        """Raise MemoryLockedError if another store has the memory open for writing."""
        holder = self.holder()
        if not self.try_lock():
            raise MemoryLockedError(
                f"{self._memory} is open for writing in {holder}; close it there first, because it is to be replaced"
            )


@contextlib.contextmanager
def opened_alone(memory: Path, patience: float = MemoryConfig().runtime.write_lock_seconds) -> Iterator[None]:
    """Run a block while no other store has a memory open for writing or can open it.

    Raises:
        MemoryLockedError: another store has it open; the message names a process.
        StorageError: the folder cannot be created or written.
    """
    lock, presence = ProcessLock(memory.with_suffix(".lock"), f"writes to {memory}"), Presence(memory)
    try:
        lock.acquire(patience)
        presence.require_alone()
        yield
    finally:
        presence.close()
        lock.close()


_WORTH_MAPPING = 1 << 20


Write = Callable[[Path, Path | None], None]
"""Writes one state of a derived part into a folder, which is empty, while the part changes; raises OSError.

Unchanged files may be linked from the second folder, that of an earlier state of the same part.
"""


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write an array to a `.npy` file; raises OSError."""
    values = np.ascontiguousarray(values)
    with open(path, "wb", opener=private) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(values))
        # `np.save` and `tofile` silently lose the last bytes on a full disk.
        file.write(values.data)


def load_array(path: Path) -> NDArray[Any]:
    """Return the array in a `.npy` file, read-only, and memory-mapped if it is large.

    Raises:
        OSError: the file cannot be read.
        EOFError: the file is empty.
        ValueError: the file has another content.
    """
    mode: Literal["r"] | None = "r" if _is_worth_mapping(path) else None
    # Converted to a plain array, because each access to a memmap takes ten times as long.
    values = np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False)).view(np.ndarray)
    values.setflags(write=False)
    return values


def load_bytes(path: Path) -> NDArray[np.uint8]:
    """Return the content of a file, read-only, and memory-mapped if it is large; raises OSError."""
    mapped = _is_worth_mapping(path)
    content = np.memmap(path, np.uint8, "r").view(np.ndarray) if mapped else np.fromfile(path, np.uint8)
    content.setflags(write=False)
    return content


def _is_worth_mapping(path: Path) -> bool:
    # Every mapping takes one of the few file descriptors of a process.
    return path.stat().st_size >= _WORTH_MAPPING


def save_arrays(folder: Path, name: str, values: object) -> None:
    """Write each array field of a dataclass to `name.field.npy`; raises OSError."""
    for field in _array_fields(type(values)):
        save_array(folder / f"{name}.{field}.npy", getattr(values, field))


def load_arrays(folder: Path, name: str, kind: type[Any]) -> dict[str, Any]:
    """Load the array fields of a dataclass that `save_arrays` wrote; raises like `load_array`."""
    return {field: load_array(folder / f"{name}.{field}.npy") for field in _array_fields(kind)}


def link_arrays(source: Path, folder: Path, name: str) -> bool:
    """Hard-link the files of `name` in `source` into `folder`; return whether there are any.

    They are copied where the file system has no hard links; raises OSError.
    """
    files = sorted(source.glob(f"{name}.*.npy"))
    for file in files:
        if not linked(file, folder / file.name):
            # If linking failed because the file is missing, the copy raises the error.
            make_file(folder / file.name)
            shutil.copyfile(file, folder / file.name)
    return bool(files)


def linked(old: Path, new: Path) -> bool:
    """Make `new` a hard link to the file `old`; return whether that was possible."""
    try:
        new.hardlink_to(old)
    except OSError:  # `old` is missing or on another disk, or the file system has no hard links
        return False
    return True


def _array_fields(kind: type[Any]) -> list[str]:
    return [name for name, hint in get_type_hints(kind).items() if get_origin(hint) is np.ndarray]

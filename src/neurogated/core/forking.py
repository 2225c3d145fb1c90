"""Objects that belong to one process, and how a forked child treats the copies that it inherits.

A fork copies locks that other threads hold, thread pools without their threads, and descriptors that share file locks
with the parent. Waiting for such a lock or thread is a deadlock. Closing such a file can release the parent's lock.
"""

from __future__ import annotations

import ctypes
import os
import threading
import time
import weakref
from typing import TYPE_CHECKING, NoReturn, Protocol

from neurogated.errors import ForkedMemoryError

# How long a fork waits for running writes of other threads.
_PATIENCE_SECONDS = 10


class ProcessBound(Protocol):
    """An object that a forked child must not use unchanged."""

    def disown(self, *, at_rest: bool) -> None:
        """Prepare the copy in the child, before all else; `at_rest`: no other thread was using the object."""


class InheritedLock:
    """Replaces a lock in a forked child if the object that it protects is unusable there."""

    def acquire(self, blocking: bool = True, timeout: float = -1) -> NoReturn:  # noqa: ARG002, FBT001, FBT002 - as RLock
        """Raise ForkedMemoryError."""
        raise ForkedMemoryError(
            "this memory was opened before the process was forked, and only the parent can use it; open it in the "
            "child, with read_only while the parent writes, or start processes by the 'spawn' method"
        )

    def release(self) -> None:
        """Do nothing: a block that began before the fork may end in the child."""

    def __enter__(self) -> NoReturn:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()


class ForkSafeLock:
    """A reentrant lock for the whole process. In a forked child it is free, even if a thread of the parent held it."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - free either way
        """Replace the lock by a free one. The object stays bound for the child's own forks."""
        self._lock = threading.RLock()

    def __enter__(self) -> None:
        self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()


if TYPE_CHECKING:
    _Lock = threading.Lock | threading.RLock

_bound: weakref.WeakKeyDictionary[ProcessBound, tuple[_Lock, ...]] = weakref.WeakKeyDictionary()
# The locks that each forking thread holds; several threads may fork at once.
_held: dict[int, list[_Lock]] = {}


def bind_to_process(thing: ProcessBound, *locks: _Lock) -> None:
    """Call `thing.disown` in every forked child while `thing` lives. A fork waits some time for `locks`, in order."""
    _bound[thing] = locks


def _before_fork() -> None:
    deadline = time.monotonic() + _PATIENCE_SECONDS
    held = _held.setdefault(threading.get_ident(), [])
    for locks in list(_bound.values()):
        for lock in locks:
            if lock.acquire(timeout=max(0, deadline - time.monotonic())):
                held.append(lock)


def _after_fork() -> None:
    for lock in _held.pop(threading.get_ident(), []):
        lock.release()


def _after_fork_in_child() -> None:
    held = _held.get(threading.get_ident(), [])
    for thing, locks in list(_bound.items()):
        # Nothing of the parent is finalised here, even at the interpreter's exit.
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(thing))
        thing.disown(at_rest=all(lock in held for lock in locks))
        _bound[thing] = ()
    _held.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before_fork, after_in_parent=_after_fork, after_in_child=_after_fork_in_child)

"""Taking a lock that may be busy. A `with` statement is simpler where a thread may wait for the lock."""

import threading


def take(lock: threading.RLock, taken: list[bool], seconds: float = -1) -> bool:
    """Wait up to so many seconds for a lock, for ever if they are negative, and append whether it was taken to `taken`.

    Python may deliver an interrupt after any call. One that strikes between taking a lock and the next statement leaves
    it locked for ever. Here, the call that takes the lock also notes it. So call this in a `try` block that ends with
    `finally: if True in taken: lock.release()`.
    """
    taken.extend(map(lock.acquire, (True,), (seconds,)))
    return taken[-1]


def is_free(lock: threading.RLock, seconds: float) -> bool:
    """Return whether this thread could take a lock within so many seconds."""
    taken: list[bool] = []
    try:
        return take(lock, taken, seconds)
    finally:
        if True in taken:
            lock.release()

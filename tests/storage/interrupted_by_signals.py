"""Interrupt each action on a store again and again: `python interrupted_by_signals.py FILE ROUNDS`."""

import signal
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random
from types import FrameType

from neurogated import MemoryNode
from neurogated.storage.sqlite_store import SqliteStore

# Seconds between two interrupts: as long as a few calls
_SHORTEST, _LONGEST = 1e-5, 3e-4


def _exclude(store: SqliteStore) -> None:
    with store.exclusively(patience=60):
        pass


def _put(store: SqliteStore) -> None:
    store.add_node(MemoryNode("a", "word", [1.0, 0.5]))


_ACTIONS: tuple[Callable[[SqliteStore], object], ...] = SqliteStore.view, SqliteStore.history, _exclude, _put


def main() -> None:
    """Run the rounds of the command line. After each, another thread must be able to take the lock."""
    path, rounds = Path(sys.argv[1]), int(sys.argv[2])
    random, struck = Random(0), threading.Event()

    def interrupt(_: int, __: FrameType | None) -> None:
        struck.set()
        raise KeyboardInterrupt

    signal.signal(signal.SIGALRM, interrupt)
    with SqliteStore.open(path) as store, ThreadPoolExecutor(1) as another_thread:
        store.bind_embedder("model", 2)
        _put(store)
        for action in [one for one in _ACTIONS for _ in range(rounds)]:
            struck.clear()
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, random.uniform(_SHORTEST, _LONGEST))
                # Python ignores an interrupt that strikes in a finalizer.
                while not struck.is_set():
                    action(store)
            lock = store.graph.lock
            assert another_thread.submit(lock.acquire, timeout=10).result(), "an interrupt left the store locked"
            another_thread.submit(lock.release).result()
        assert store.check() == []


if __name__ == "__main__":
    main()

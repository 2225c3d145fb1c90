"""After an interrupt at any moment, as by Ctrl-C, the lock of a store is free for other threads."""

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest

from neurogated.storage.sqlite_store import SqliteStore
from tests.storage.test_interrupts_anywhere import make, node

_INTERRUPTS = 300
# Seconds between two interrupts: as long as a few calls
_SHORTEST, _LONGEST = 1e-5, 3e-4


def _exclude(store: SqliteStore) -> None:
    with store.exclusively(patience=60):
        pass


def _put(store: SqliteStore) -> None:
    store.add_node(node("a"))


@pytest.mark.parametrize("action", [SqliteStore.view, SqliteStore.history, _exclude, _put])
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
def test_an_interrupt_at_any_moment_leaves_the_lock_free(
    tmp_path: Path, action: Callable[[SqliteStore], object]
) -> None:
    random, before = Random(0), signal.getsignal(signal.SIGALRM)
    with make(tmp_path / "memory.db") as store, ThreadPoolExecutor(1) as another_thread:
        for _ in range(_INTERRUPTS):
            with suppress(KeyboardInterrupt):
                signal.signal(signal.SIGALRM, signal.default_int_handler)
                signal.setitimer(signal.ITIMER_REAL, random.uniform(_SHORTEST, _LONGEST))
                while True:
                    action(store)
            lock = store.graph.lock
            assert another_thread.submit(lock.acquire, timeout=10).result()
            another_thread.submit(lock.release).result()
        signal.signal(signal.SIGALRM, before)
        assert store.check() == []

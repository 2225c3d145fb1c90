"""The log warns about work without progress and names its stage. No thread remains afterwards."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextvars import copy_context

import pytest

from neurogated.core.watchdog import Watchdog, stage

# Long enough for the slowest machine. The test waits this long only if it fails.
PATIENCE = 60.0
Watchdogs = Callable[[], list[threading.Thread]]


class Warnings(logging.Handler):
    """Collects warnings and lets a test wait for the next."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.lines: list[str] = []
        self._arrived = threading.Semaphore(0)

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(record.getMessage())
        self._arrived.release()

    def next(self) -> str:
        assert self._arrived.acquire(timeout=PATIENCE)
        return self.lines[-1]


@pytest.fixture
def warnings() -> Iterator[Warnings]:
    handler = Warnings()
    logger = logging.getLogger("neurogated.core.watchdog")
    logger.addHandler(handler)
    yield handler
    logger.removeHandler(handler)


@pytest.fixture
def build() -> Iterator[Callable[[float], Watchdog]]:
    built: list[Watchdog] = []

    def new(patience: float) -> Watchdog:
        built.append(Watchdog(patience))
        return built[-1]

    yield new
    for watchdog in built:
        watchdog.close()


def test_a_stall_that_lasts_is_told_again_and_again(build: Callable[[float], Watchdog], warnings: Warnings) -> None:
    with build(0.02).watch("indexing"):
        for _ in range(3):
            warnings.next()


def test_threads_in_a_copy_of_the_context_belong_to_the_work(
    build: Callable[[float], Watchdog], warnings: Warnings
) -> None:
    noted, go = threading.Event(), threading.Event()

    def embed() -> None:
        stage("embedding")
        noted.set()
        go.wait(PATIENCE)
        stage(None)

    with build(0.02).watch("indexing"):
        thread = threading.Thread(target=copy_context().run, args=(embed,), name="embedding_0")
        thread.start()
        assert noted.wait(PATIENCE)
        stage("waiting")
        told = warnings.next()
        while "waiting" not in told:
            told = warnings.next()
        assert "indexing: embedding [embedding_0], waiting [MainThread]" in told
        go.set()
        thread.join()
        while "embedding" in warnings.next():
            pass


def test_all_work_shares_one_thread_and_without_patience_there_is_none(
    watchdogs: Watchdogs, build: Callable[[float], Watchdog]
) -> None:
    watchdog = build(PATIENCE)
    with watchdog.watch("indexing"), watchdog.watch("recalling"):
        assert len(watchdogs()) == 1
    watchdog.close()
    with build(0.0).watch("indexing"):
        assert not watchdogs()

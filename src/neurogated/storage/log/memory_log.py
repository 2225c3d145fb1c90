"""The log of a store in memory: lists of deltas, which end with the process."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Self

from neurogated.core.delta import GraphDelta, HistoryEntry, JournalEntry
from neurogated.errors import UnknownIdError
from neurogated.storage.log.log import Position

__all__ = ["MemoryLog"]


class _Engine:
    """What the logs of one memory share."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.logs: dict[str, MemoryLog] = {}
        self.embedder: tuple[str, int] | None = None


class MemoryLog:
    """A log in memory; see `Log`."""

    def __init__(self, namespace: str = "default", *, engine: _Engine | None = None) -> None:
        self._engine = _Engine() if engine is None else engine
        self._engine.logs[namespace] = self
        self.deltas: list[GraphDelta] = []
        """All there are, oldest first."""
        self._history: list[HistoryEntry] = []
        self._epoch = 0

    @classmethod
    def of(cls, deltas: Iterable[GraphDelta], history: Iterable[HistoryEntry]) -> Self:
        """Return a log of a graph that deltas have made."""
        log = cls()
        log.deltas, log._history = list(deltas), list(history)
        return log

    def take_back(self, count: int) -> None:
        """Forget all deltas but the first `count`."""
        del self.deltas[count:], self._history[count:]

    def position(self) -> Position:
        """Return how far the log has come; see `Log`."""
        return Position(self._epoch, len(self.deltas))

    def append(self, delta: GraphDelta) -> int:
        """Add a delta; see `Log`."""
        self.deltas.append(delta)
        number = len(self.deltas)
        self._history.append(HistoryEntry(number, delta.at, delta.reason, delta.changes, delta.operators))
        return number

    def entries(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`; see `Log`."""
        return (JournalEntry(number, delta) for number, delta in enumerate(self.deltas[after:], start=after + 1))

    def history(self) -> list[HistoryEntry]:
        """Return a line for every delta; see `Log`."""
        return list(self._history)

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        """Put others in the place of all deltas; see `Log`."""
        self.deltas, self._epoch = list(deltas), self._epoch + 1

    def writing(self, patience: float | None = None) -> AbstractContextManager[object]:  # noqa: ARG002 - nobody else has it
        """Run a block in which nobody else writes; see `Log`."""
        return self._engine.lock

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Run a block whose deltas are appended whole or not at all; see `Log`."""
        engine = self._engine
        before = {name: (log, len(log.deltas)) for name, log in engine.logs.items()}
        embedder = engine.embedder
        try:
            yield
        except BaseException:
            for log, count in before.values():
                log.take_back(count)
            engine.logs, engine.embedder = {name: log for name, (log, _) in before.items()}, embedder
            raise

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder; see `Log`."""
        return self._engine.embedder

    def record_embedder(self, name: str, dimension: int) -> None:
        """Keep the embedder's name and dimension."""
        self._engine.embedder = name, dimension

    def in_namespace(self, name: str) -> MemoryLog:
        """Return the log of another graph; see `Log`."""
        return self._engine.logs.get(name) or MemoryLog(name, engine=self._engine)

    def namespaces(self) -> list[str]:
        """Return the names of all graphs; see `Log`."""
        return list(self._engine.logs)

    def drop_namespace(self, name: str) -> None:
        """Erase another graph; raises UnknownIdError."""
        if self._engine.logs.pop(name, None) is None:
            raise UnknownIdError(f"there is no namespace {name!r}; there are {self.namespaces()}")

    def close(self) -> None:
        """Hold nothing that has to be released."""

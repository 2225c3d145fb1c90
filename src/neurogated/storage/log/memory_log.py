"""The engine of a store in memory: lists of deltas that end with the process."""

import secrets
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import Self

import numpy as np

from neurogated.core.clock import from_micros, utc_now
from neurogated.core.delta import LATEST, Access, GraphDelta, HistoryEntry, JournalEntry
from neurogated.core.model import ACCESSED
from neurogated.core.view import GraphView
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.log.log import Engine, Log, Position


class MemoryLog(Log):
    """A log in memory."""

    def __init__(self, entries: Iterable[JournalEntry] = (), history: Iterable[HistoryEntry] = ()) -> None:
        self._deltas = [entry.delta for entry in entries]
        self._history = list(history)
        self._epoch = 0
        self._erased = 0

    def take_back(self, count: int) -> None:
        """Forget all deltas except the first `count`."""
        del self._deltas[count:], self._history[count:]

    def position(self) -> Position:
        return Position(self._epoch, len(self._deltas))

    def append(self, plan: Plan, index: GraphIndex) -> int:  # noqa: ARG002 - this log needs only the delta
        delta, number = plan.delta, len(self._deltas) + 1
        self._history.append(HistoryEntry(number, delta.at, delta.reason, delta.changes, delta.operators))
        self._deltas.append(delta)
        return number

    def entries(self, after: int = 0, up_to: int = LATEST) -> Iterator[JournalEntry]:
        return (JournalEntry(number, delta) for number, delta in enumerate(self._deltas[after:up_to], start=after + 1))

    def history(self, after: int = 0, up_to: int = LATEST) -> list[HistoryEntry]:
        return self._history[after : min(len(self._deltas), up_to)]

    def rewrite(self, deltas: Sequence[GraphDelta]) -> None:
        self._deltas, self._epoch = list(deltas), self._epoch + 1

    def erased_up_to(self) -> int:
        return self._erased

    def record_erased(self, up_to: int) -> None:
        self._erased = up_to


class MemoryEngine(Engine):
    """An engine in memory."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self._identity = secrets.token_hex()
        self._settings: dict[str, str | int] = {}
        self._logs: dict[str, MemoryLog] = {}

    @classmethod
    def of(cls, namespace: str, log: MemoryLog, embedder: tuple[str, int] | None) -> Self:
        """Return an engine with one graph."""
        engine = cls()
        engine._logs[namespace] = log
        if embedder is not None:
            engine._settings = dict(zip(("embedder", "dimension"), embedder, strict=True))
        return engine

    def identity(self) -> str:
        return self._identity

    def log(self, namespace: str) -> MemoryLog:
        return self._logs.setdefault(namespace, MemoryLog())

    def namespaces(self) -> list[str]:
        return list(self._logs)

    def drop_namespace(self, name: str) -> None:
        del self._logs[name]

    def writing(self, patience: float | None = None) -> AbstractContextManager[object]:  # noqa: ARG002 - one process
        return self.lock

    @contextmanager
    def transaction(self) -> Iterator[None]:
        before = {name: (log, log.position().sequence) for name, log in self._logs.items()}
        settings = self._settings
        try:
            yield
        except BaseException:
            for log, count in before.values():
                log.take_back(count)
            self._logs = {name: log for name, (log, _) in before.items()}
            self._settings = settings
            raise

    def settings(self) -> Mapping[str, str | int]:
        return self._settings

    def record(self, settings: Mapping[str, str | int | None]) -> None:
        self._settings = {name: value for name, value in {**self._settings, **settings}.items() if value is not None}


def replayed_past(
    namespace: str, log: Log, sequence: int, moment: datetime | None, present: GraphState
) -> tuple[Engine, datetime]:
    """Return an engine in memory with the first `sequence` deltas, and the time of that state.

    Its nodes have their present accesses: the journal has no past accesses, and they outlive the removal of a node.
    """
    entries = list(islice(log.entries(), sequence))
    made = [entry.delta.at for entry in entries if not entry.delta.tells_of_uses_only]
    entries = [JournalEntry(entry.sequence, _used(entry.delta, present.view)) for entry in entries]
    past = MemoryLog(entries, log.history(up_to=sequence))
    return MemoryEngine.of(namespace, past, present.embedder), moment or (made[-1] if made else utc_now())


def _used(delta: GraphDelta, present: GraphView) -> GraphDelta:
    """Return a delta whose nodes have their present use counts and last uses, and which adds no uses of nodes."""
    if not (delta.nodes or delta.touch.nodes or delta.touch.charges):
        return delta
    rows = np.array([present.rows_by_id[node.id] for node in delta.nodes], dtype=np.int64)
    columns = [getattr(present, name).take(rows).tolist() for name in ACCESSED]
    nodes = (
        replace(node, last_accessed=from_micros(used), uses=uses, charge=charge, charged_at=from_micros(charged))
        for node, used, uses, charge, charged in zip(delta.nodes, *columns, strict=True)
    )
    return replace(delta, nodes=tuple(nodes), touch=Access(edges=delta.touch.edges))

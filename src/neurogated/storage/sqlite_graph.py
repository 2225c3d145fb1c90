"""What is read from the memory file of one namespace, as it is now or as it was."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from datetime import datetime
from typing import cast
from weakref import WeakValueDictionary

import apsw
import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, to_micros
from neurogated.core.delta import HistoryEntry, JournalEntry
from neurogated.core.edge_type import EdgeType
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.journal import SqliteJournal
from neurogated.storage.log.sqlite.rows import SqliteRecords
from neurogated.storage.resolve import Plan

__all__ = ["SqliteGraph", "register_types"]


class SqliteGraph(GraphStore):
    """One namespace of a memory file: the graph index in memory, texts and journal on disk."""

    def __init__(
        self, file: SqliteFile, name: str, namespace: int, *, config: MemoryConfig | None, clock: Clock
    ) -> None:
        self._file = file
        self._name = name
        self._namespace = namespace
        self._node_keys = Column(np.int64)
        self._edge_keys = Column(np.int64)
        super().__init__(namespace=name, config=config, clock=clock)
        # The graphs of a file and looks at their past share a connection, and take turns by its lock: with locks of
        # their own, a rollback in one graph and a write in another would wait for each other.
        self._lock = file.lock
        # What another process has written is to be taken in before it is read.
        self._waits = file.read_only
        # A cycle would keep the file open, and locked for other processes, until the garbage collector runs.
        self._family = WeakValueDictionary({name: self})
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - what the child has is not used anyway
        """Leave the graph to the parent process: every call in the child says so."""
        self._lock = self._searching = cast("threading.RLock", InheritedLock())
        self._closed = True

    def history(self) -> list[HistoryEntry]:
        """Return every delta that changed the graph, oldest first; uses are left out."""
        with self._lock, self._one_state() as connection:
            return [entry for entry in self._journal(connection).history() if entry.sequence <= self._sequence]

    def journal(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield every delta numbered above `after`, oldest first, as far as compaction left it.

        Deltas are read one by one; those that are made meanwhile are left out.
        """
        for sequence in self._sequences(after):
            with self._lock, self._one_state() as connection:
                entries = list(self._journal(connection).entries(sequence - 1, up_to=sequence))
            # Handed out when nothing is held any more, or whoever takes them could not write in between.
            yield from entries

    def _one_state(self) -> AbstractContextManager[apsw.Connection]:
        """Return one state of the file, of a graph that is open; a file that was replaced is opened first."""
        self._require_open()
        return self._file.reading()

    @property
    def _sequence(self) -> int:
        """The number of the last delta that is known here."""
        return self._form.topology.sequence

    def _sequences(self, after: int) -> list[int]:
        with self._lock, self._one_state() as connection:
            return self._journal(connection).sequences(after, self._sequence)

    def _journal(self, connection: apsw.Connection) -> SqliteJournal:
        return SqliteJournal(connection, self._namespace, register_types(connection))

    def _last_before(self, moment: datetime) -> int:
        with self._file.reading() as connection:
            ((sequence,),) = fetch(
                connection,
                "SELECT coalesce(max(sequence), 0) FROM deltas "
                "WHERE namespace = ? AND sequence <= ? AND at <= ? AND changes IS NOT NULL",
                (self._namespace, self._sequence, to_micros(moment)),
            )
        return int(sequence)

    def _catch_up(self) -> None:
        """Follow no `Log`: SqlitePresent follows the file, and a look at the past follows the present."""

    def _keep_records(self, plan: Plan) -> None:
        """Keep nothing in memory: the file has it."""

    def _records(self) -> SqliteRecords:
        return SqliteRecords(self._file, self._node_keys.values, self._edge_keys.values, self._sequence)

    @contextmanager
    def _steady(self) -> Iterator[None]:
        # A file that was replaced is opened again, which must not happen while it is read.
        self._file.state()
        with self._file.reading():
            yield


def register_types(connection: apsw.Connection) -> Mapping[int, EdgeType]:
    """Return the file's edge types by their number, registering those that this process has not met."""
    rows = fetch(connection, "SELECT type, name, value, plastic, both_ways FROM edge_types")
    return {
        code: EdgeType.register(name, value, plastic=bool(plastic), both_ways=bool(both_ways))
        for code, name, value, plastic, both_ways in rows
    }

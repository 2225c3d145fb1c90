"""What is read from the memory file of one namespace, as it is now or as it was."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any, cast
from weakref import WeakValueDictionary

import apsw
import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, from_micros, to_micros
from neurogated.core.delta import HistoryEntry, JournalEntry
from neurogated.core.edge_type import EdgeType
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.core.view import Rows
from neurogated.storage.columns import Column
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.records import EdgeRecord, NodeRecord
from neurogated.storage.sqlite_connection import fetch
from neurogated.storage.sqlite_file import SqliteFile
from neurogated.storage.sqlite_journal import SqliteJournal, moment_or_none
from neurogated.storage.sqlite_loading import HOLDS

__all__ = ["SqliteGraph", "register_types"]

_RECORD = "v.node, v.content, v.metadata, v.created_at, v.valid_from, v.valid_to, v.expires_at"


class SqliteGraph(GraphStore):
    """One namespace of a memory file: the working form in memory, texts and journal on disk."""

    def __init__(
        self, file: SqliteFile, name: str, namespace: int, *, config: MemoryConfig | None, clock: Clock
    ) -> None:
        super().__init__(namespace=name, config=config, clock=clock)
        # The graphs of a file and looks at their past share a connection, and take turns by its lock: with locks of
        # their own, a rollback in one graph and a write in another would wait for each other.
        self._lock = file.lock
        # A cycle would keep the file open, and locked for other processes, until the garbage collector runs.
        self._family = WeakValueDictionary({name: self})
        self._file = file
        self._name = name
        self._namespace = namespace
        self._node_keys = Column(np.int64)
        self._edge_keys = Column(np.int64)
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - what the child has is not used anyway
        """Leave the graph to the parent process: every call in the child says so."""
        self._lock = self._searching = cast("threading.RLock", InheritedLock())
        self._closed = True

    def history(self) -> list[HistoryEntry]:
        """Return every delta that changed the graph, oldest first; marks of use are left out."""
        with self._lock, self._file.reading() as connection:
            self._require_open()
            return [entry for entry in self._journal(connection).history() if entry.sequence <= self._sequence]

    def journal(self, after: int = 0) -> Iterator[JournalEntry]:
        """Yield every delta numbered above `after`, oldest first, as far as compaction left it.

        Deltas are read one by one; those that are made meanwhile are left out.
        """
        sequences = [sequence for sequence in self._sequences() if sequence > after]
        for sequence in sequences:
            with self._lock, self._file.reading() as connection:
                self._require_open()
                entries = list(self._journal(connection).entries(sequence - 1, up_to=sequence))
            # Handed out when nothing is held any more, or whoever takes them could not write in between.
            yield from entries

    @property
    def _sequence(self) -> int:
        """The number of the last delta that is known here."""
        return self._form.topology.sequence

    def _sequences(self) -> list[int]:
        with self._lock, self._file.reading() as connection:
            self._require_open()
            rows = fetch(
                connection,
                "SELECT sequence FROM deltas WHERE namespace = ? AND sequence <= ? ORDER BY sequence",
                (self._namespace, self._sequence),
            )
            return [sequence for (sequence,) in rows]

    def _journal(self, connection: apsw.Connection) -> SqliteJournal:
        return SqliteJournal(connection, self._namespace, register_types(connection))

    def _last_before(self, moment: datetime) -> int:
        with self._file.reading() as connection:
            ((sequence,),) = fetch(
                connection,
                "SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = ? AND sequence <= ? AND at <= ?",
                (self._namespace, self._sequence, to_micros(moment)),
            )
        return int(sequence)

    def _node_records(self, rows: Rows) -> list[NodeRecord]:
        found = self._select(
            f"SELECT {_RECORD} FROM node_versions v "
            f"WHERE {HOLDS.format('v')} AND v.node IN (SELECT value FROM json_each(:keys))",
            self._node_keys.values[rows],
        )
        return [
            NodeRecord(content, json.loads(metadata), from_micros(created), *map(moment_or_none, times))
            for content, metadata, created, *times in found
        ]

    def _edge_records(self, rows: Rows) -> list[EdgeRecord]:
        found = self._select(
            "SELECT edge, created_at, valid_from, valid_to FROM edges "
            "WHERE edge IN (SELECT value FROM json_each(:keys))",
            self._edge_keys.values[rows],
        )
        return [EdgeRecord(from_micros(created), *map(moment_or_none, times)) for created, *times in found]

    def _select(self, statement: str, keys: NDArray[np.int64]) -> list[list[Any]]:
        """Return what `statement` finds for `keys`, in their order; its first column is the key."""
        values: dict[str, Any] = {"keys": json.dumps(keys.tolist())}
        if ":now" in statement:
            values["now"] = self._sequence
        with self._file.lock, self._file.translated():
            rows = fetch(self._file.connection, statement, values)
        by_key = {key: rest for key, *rest in rows}
        return [by_key[key] for key in keys.tolist()]


def register_types(connection: apsw.Connection) -> Mapping[int, EdgeType]:
    """Return the file's edge types by their number, registering those that this process has not met."""
    rows = fetch(connection, "SELECT type, name, value, plastic, both_ways FROM edge_types")
    return {
        code: EdgeType.register(name, value, plastic=bool(plastic), both_ways=bool(both_ways))
        for code, name, value, plastic, both_ways in rows
    }

"""`SqliteEngine` and `SqliteLog`: the journals of a memory file, reconstructed from the rows that the deltas wrote."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from datetime import datetime

import apsw
import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import from_micros, to_micros
from neurogated.core.delta import HistoryEntry, JournalEntry
from neurogated.errors import InputError, MemoryLockedError
from neurogated.storage.checkpoint.checkpoints import Checkpoints
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.log.log import Engine, Position
from neurogated.storage.log.sqlite.append import PlanWriter
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.file_follower import FileFollower
from neurogated.storage.log.sqlite.journal import SqliteJournal
from neurogated.storage.log.sqlite.loading import NOW
from neurogated.storage.log.sqlite.opened_files import place_of
from neurogated.storage.log.sqlite.past import Past
from neurogated.storage.log.sqlite.purge import erase_namespace, erase_removed
from neurogated.storage.log.sqlite.settings import (
    find_namespace,
    namespace_names,
    note_copy,
    note_erased,
    note_frozen,
    read_copies,
    read_embedder,
    read_erased,
    read_frozen,
    read_incarnation,
)

_log = logging.getLogger(__name__)


class SqliteEngine:
    """A memory file and its checkpoints; see `Engine`."""

    def __init__(self, file: SqliteFile) -> None:
        self.file = file
        self.checkpoints = Checkpoints(file.path)

    @property
    def lock(self) -> threading.RLock:
        """The lock of the file: its graphs share a connection."""
        return self.file.lock

    @property
    def identity(self) -> str:
        with self.file.reading() as connection:
            return read_incarnation(connection, place_of(self.file.path))

    def log(self, namespace: str) -> SqliteLog:
        return SqliteLog(self, namespace)

    def namespaces(self) -> list[str]:
        with self.file.lock, self.file.translated():
            return list(namespace_names(self.file.connection).values())

    def drop_namespace(self, name: str) -> None:
        with self.file.reading() as connection:
            number = find_namespace(connection, name)
        self.checkpoints.drop(number)
        erase_namespace(self.file, name)

    def writing(self, patience: float | None = None) -> AbstractContextManager[object]:
        return self.file.writing(patience)

    def while_waiting(self, call: Callable[[], None]) -> None:
        self.file.while_waiting = call

    def transaction(self) -> AbstractContextManager[object]:
        return self.file.transaction()

    @property
    def embedder(self) -> tuple[str, int] | None:
        with self.file.reading() as connection:
            return read_embedder(connection)

    def record_embedder(self, name: str, dimension: int) -> None:
        with self.file.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO settings VALUES (?, ?)", [("embedder", name), ("dimension", str(dimension))]
            )

    def is_frozen(self) -> bool:
        with self.file.reader() as connection:
            return read_frozen(connection)

    def record_frozen(self, *, frozen: bool) -> None:
        with self.file.transaction() as connection:
            note_frozen(connection, frozen=frozen)

    def copies(self) -> list[str]:
        with self.file.reading() as connection:
            return read_copies(connection)

    def record_copy(self, place: str, *, exists: bool) -> None:
        with self.file.transaction() as connection:
            note_copy(connection, place, exists=exists)

    def erase_removed(self, *, history: bool) -> int:
        """Erase removed nodes, and leave no trace of them on disk; see `SupportsErasure`.

        Raises:
            StorageError: another process is reading; the nodes are erased, but traces remain on disk.
        """
        # Checkpoints contain words of the erased nodes.
        self.checkpoints.drop()
        erased = erase_removed(self.file, history=history)
        self.file.rewrite()
        _log.info("%s was compacted: %d nodes erased", self.file.path, erased)
        return erased

    def erasing(self) -> AbstractContextManager[object]:
        return self.checkpoints.exclusively()

    def tidy(self, namespace: str) -> None:
        """Remove obsolete checkpoints of a graph and all checkpoints of unknown graphs."""
        if self.file.read_only:
            return
        with self.file.reading() as connection:
            names = namespace_names(connection)
        try:
            with self.checkpoints.exclusively(patience=0):
                self.checkpoints.sweep(names)
                for number, name in names.items():
                    if name == namespace:
                        self.checkpoints.tidy(number)
        except MemoryLockedError:
            # Another process is writing a checkpoint, and then removes obsolete ones itself.
            pass
        except OSError as error:
            _log.warning("obsolete checkpoints cannot be removed (%s); remove them", error)

    def close(self) -> None:
        """Close the file; it holds every acknowledged write."""
        self.file.close()


class SqliteLog:
    """The journal of one graph of a memory file; see `Log`. Its rows fill the columns of an index directly."""

    def __init__(self, engine: SqliteEngine, name: str) -> None:
        self.file = engine.file
        self._checkpoints = engine.checkpoints
        self.name = name
        self.namespace = self._number()
        """The file's number of the graph; 0 if a read-only file has no such graph."""

    def _number(self) -> int:
        with self.file.reading() as connection:
            number = find_namespace(connection, self.name)
        if number or self.file.read_only:
            return number
        with self.file.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO namespaces (name) VALUES (?)", (self.name,))
            return find_namespace(connection, self.name)

    def find(self, connection: apsw.Connection) -> bool:
        """Return whether the graph still exists; in a read-only file, another process may create or drop it."""
        number = find_namespace(connection, self.name)
        if self.file.read_only:
            self.namespace = number
        return number == self.namespace

    def position(self) -> Position:
        with self.file.reading() as connection:
            ((epoch, sequence),) = fetch(
                connection,
                "SELECT (SELECT value FROM settings WHERE name = 'generation'), "
                "(SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = ?)",
                (self.namespace,),
            )
        return Position(int(epoch), int(sequence))

    def append(self, plan: Plan, index: GraphIndex) -> int:
        """Write the rows of a plan as one transaction; see `Log`.

        Raises:
            InputError: metadata is not JSON, or the file has vectors of another dimension.
        """
        with self.file.transaction() as connection:
            _check_dimension(connection, plan, index)
            written = PlanWriter(connection, self.namespace, index).write(plan)
        index.node_keys.extend(written.new_nodes)
        index.edge_keys.extend(written.new_edges)
        return written.sequence

    def entries(self, after: int = 0, up_to: int = NOW) -> Iterator[JournalEntry]:
        """Yield deltas; see `Log`. Deltas appended meanwhile are left out."""
        with self.file.reading() as connection:
            sequences = SqliteJournal(connection, self.namespace).sequences(after, up_to)
        yield from self._entries_at(sequences)

    def entries_of(self, node_id: str) -> Iterator[JournalEntry]:
        with self.file.reading() as connection:
            sequences = SqliteJournal(connection, self.namespace).sequences_of(node_id)
        yield from self._entries_at(sequences)

    def _entries_at(self, sequences: Iterable[int]) -> Iterator[JournalEntry]:
        for sequence in sequences:
            with self.file.reading() as connection:
                entries = list(SqliteJournal(connection, self.namespace).entries(sequence - 1, up_to=sequence))
            # Yield after the lock is released, so that the caller can write between two entries.
            yield from entries

    def history(self, after: int = 0, up_to: int = NOW) -> list[HistoryEntry]:
        with self.file.reading() as connection:
            return SqliteJournal(connection, self.namespace).history(after, up_to)

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> FileFollower:
        return FileFollower(self, self._checkpoints, config, current)

    def as_of(
        self, sequence: int, moment: datetime | None, present: Callable[[], GraphState]
    ) -> tuple[Engine, datetime]:
        return Past(self, sequence, present), moment or from_micros(self.last_change(sequence)[1])

    def erased_up_to(self) -> int:
        with self.file.reading() as connection:
            return self.last_change(read_erased(connection, self.namespace))[0]

    def record_erased(self, up_to: int) -> None:
        with self.file.transaction() as connection:
            note_erased(connection, self.namespace, up_to)

    def last_before(self, moment: datetime, up_to: int = NOW) -> int:
        with self.file.reading() as connection:
            rows = fetch(
                connection,
                "SELECT sequence FROM deltas WHERE namespace = ? AND changes IS NOT NULL AND sequence <= ? AND at <= ? "
                "ORDER BY sequence DESC LIMIT 1",
                (self.namespace, up_to, to_micros(moment)),
            )
        return int(rows[0][0]) if rows else 0

    def last_change(self, up_to: int) -> tuple[int, int]:
        """Return number and time of the last delta, up to a number, that changed the graph; (0, 0) if there is none."""
        with self.file.reading() as connection:
            rows = fetch(
                connection,
                "SELECT sequence, at FROM deltas WHERE namespace = ? AND changes IS NOT NULL AND sequence <= ? "
                "ORDER BY sequence DESC LIMIT 1",
                (self.namespace, up_to),
            )
        return rows[0] if rows else (0, 0)


def _check_dimension(connection: apsw.Connection, plan: Plan, index: GraphIndex) -> None:
    """Refuse vectors whose dimension differs from those of past states and of other namespaces."""
    given = next((node for node in plan.delta.nodes if node.embedding is not None), None)
    if given is None or given.embedding is None or index.vectors.dimension is not None:
        return
    found = fetch(connection, "SELECT vector FROM vectors LIMIT 1")
    dimensions = {len(given.embedding), *(np.frombuffer(vector, "<f4").size for (vector,) in found)}
    if len(dimensions) > 1:
        raise InputError(
            f"with the embedding of node {given.id!r}, this file would hold dimensions {sorted(dimensions)}, "
            "in its past or in another namespace; use the embedder the memory was built with"
        )

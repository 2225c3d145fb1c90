"""`SqliteEngine` and `SqliteLog`: the journals of a memory file, as rows; and `FileFollower`, which follows them."""

from __future__ import annotations

import logging
import math
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import NoReturn, Self

import apsw
import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import from_micros, to_micros
from neurogated.core.delta import HistoryEntry, JournalEntry
from neurogated.errors import InputError, MemoryLockedError
from neurogated.storage.checkpoint import (
    INDEX_FOLDER,
    Checkpointer,
    Checkpoints,
    Follower,
    IndexSnapshot,
    StateReplacedError,
)
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.log.log import Engine, Log, Position
from neurogated.storage.log.sqlite import schema
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.file_guard import place_of
from neurogated.storage.log.sqlite.graph_follower import GraphFollower, PastFollower
from neurogated.storage.log.sqlite.journal import PlanWriter, SqliteJournal
from neurogated.storage.log.sqlite.purge import erase_namespace, erase_removed
from neurogated.storage.log.sqlite.rows import NOW, GraphLoader, SqliteRecords
from neurogated.utils.background import while_alive

_log = logging.getLogger(__name__)


class SqliteEngine(SqliteFile, Engine):
    """A memory file with its checkpoints and logs; see `SqliteFile` for the arguments."""

    erases = True

    def __init__(self, place: str, *, from_scratch: bool, read_only: bool, patience: float) -> None:
        # Two names of one file must share one lock.
        super().__init__(Path(place).resolve(), from_scratch=from_scratch, read_only=read_only, patience=patience)
        self.checkpoints = Checkpoints(self.path)
        if from_scratch:
            try:
                self.checkpoints.drop()
            except BaseException:
                self.close()
                raise

    def identity(self) -> str:
        with self.reading() as connection:
            return schema.read_incarnation(connection, place_of(self.path))

    def log(self, namespace: str) -> SqliteLog:
        return SqliteLog(self, namespace)

    def namespaces(self) -> list[str]:
        with self.lock, self.translated:
            return list(schema.namespace_names(self.connection).values())

    def drop_namespace(self, name: str) -> None:
        with self.reading() as connection:
            number = schema.find_namespace(connection, name)
        self.checkpoints.drop(number)
        erase_namespace(self, name)

    def erase_removed(self, *, history: bool) -> int:
        """Erase removed nodes, and leave no trace of them on disk.

        Raises:
            StorageError: another process is reading; the nodes are erased, but traces remain on disk.
        """
        # Checkpoints contain words of the erased nodes.
        self.checkpoints.drop()
        erased = erase_removed(self, history=history)
        self.rewrite()
        _log.info("%s was compacted: %d nodes erased", self.path, erased)
        return erased

    def erasing(self) -> AbstractContextManager[object]:
        return self.checkpoints.exclusively()

    def tidy(self, namespace: int) -> None:
        """Remove obsolete checkpoints of a graph and all checkpoints of unknown graphs."""
        if self.read_only:
            return
        with self.reading() as connection:
            names = schema.namespace_names(connection)
        try:
            with self.checkpoints.exclusively(patience=0):
                self.checkpoints.sweep(names)
                self.checkpoints.tidy(namespace)
        except MemoryLockedError:
            # Another process is writing a checkpoint, and then removes obsolete ones itself.
            pass
        except OSError as error:
            _log.warning("obsolete checkpoints cannot be removed (%s); remove them", error)


class SqliteLog(Log):
    """The journal of one graph of a memory file. Its rows fill the columns of an index directly."""

    last = NOW
    """The number of the last delta that it shows."""
    latest: Callable[[], GraphState] | None = None
    """Returns the present state, for the log of a past graph."""

    def __init__(self, engine: SqliteEngine, name: str) -> None:
        self.engine, self.name = engine, name
        with engine.reading() as connection:
            self.namespace = schema.find_namespace(connection, name)
            """The file's number of the graph; 0 if a read-only file has no such graph."""
        if not (self.namespace or self.engine.read_only):
            with self.engine.transaction() as connection:
                connection.execute("INSERT OR IGNORE INTO namespaces (name) VALUES (?)", (name,))
                self.namespace = schema.find_namespace(connection, name)

    def find(self, connection: apsw.Connection) -> bool:
        """Return whether the graph still exists; in a read-only file, another process may create or drop it."""
        number = schema.find_namespace(connection, self.name)
        if self.engine.read_only:
            self.namespace = number
        return number == self.namespace

    def position(self) -> Position:
        with self.engine.reading() as connection:
            ((epoch, sequence),) = fetch(
                connection,
                "SELECT (SELECT value FROM settings WHERE name = 'generation'), "
                "(SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = ?)",
                (self.namespace,),
            )
        return Position(int(epoch), min(int(sequence), self.last))

    def append(self, plan: Plan, index: GraphIndex) -> int:
        """Write the rows of a plan as one transaction; see `Log`.

        Raises:
            InputError: metadata is not JSON, or the file has vectors of another dimension.
        """
        with self.engine.transaction() as connection:
            _check_dimension(connection, plan, index)
            sequence, new_nodes, new_edges = PlanWriter(connection, self.namespace, index).write(plan)
        index.node_keys.extend(new_nodes)
        index.edge_keys.extend(new_edges)
        return sequence

    def entries(self, after: int = 0, up_to: int = NOW) -> Iterator[JournalEntry]:
        """Yield deltas; see `Log`. Deltas appended meanwhile are left out."""
        with self.engine.reading() as connection:
            sequences = SqliteJournal(connection, self.namespace).sequences(after, min(up_to, self.last))
        yield from self._entries_at(sequences)

    def entries_of(self, node_id: str) -> Iterator[JournalEntry]:
        with self.engine.reading() as connection:
            sequences = SqliteJournal(connection, self.namespace).sequences_of(node_id)
        yield from self._entries_at(one for one in sequences if one <= self.last)

    def _entries_at(self, sequences: Iterable[int]) -> Iterator[JournalEntry]:
        for sequence in sequences:
            with self.engine.reading() as connection:
                entries = list(SqliteJournal(connection, self.namespace).entries(sequence - 1, up_to=sequence))
            # Yield after the lock is released, so that the caller can write between two entries.
            yield from entries

    def history(self, after: int = 0, up_to: int = NOW) -> list[HistoryEntry]:
        with self.engine.reading() as connection:
            return SqliteJournal(connection, self.namespace).history(after, up_to)

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> Follower:
        if self.latest is None:
            return FileFollower(self, config, current)
        return PastFollower(self.engine, self.namespace, self.last, self.latest, config)

    def as_of(
        self, sequence: int, moment: datetime | None, present: Callable[[], GraphState]
    ) -> tuple[Engine, datetime]:
        return Past(self, sequence, self.latest or present), moment or from_micros(self.last_change(sequence)[1])

    def erased_up_to(self) -> int:
        return self.last_change(int(self.engine.settings().get(f"erased {self.namespace}", 0)))[0]

    def record_erased(self, up_to: int) -> None:
        self.engine.record({f"erased {self.namespace}": up_to or None})

    def last_before(self, moment: datetime) -> int:
        with self.engine.reading() as connection:
            rows = fetch(
                connection,
                "SELECT sequence FROM deltas WHERE namespace = ? AND changes IS NOT NULL AND sequence <= ? AND at <= ? "
                "ORDER BY sequence DESC LIMIT 1",
                (self.namespace, self.last, to_micros(moment)),
            )
        return int(rows[0][0]) if rows else 0

    def last_change(self, up_to: int) -> tuple[int, int]:
        """Return number and time of the last delta, up to a number, that changed the graph; (0, 0) if there is none."""
        with self.engine.reading() as connection:
            rows = fetch(
                connection,
                "SELECT sequence, at FROM deltas WHERE namespace = ? AND changes IS NOT NULL AND sequence <= ? "
                "ORDER BY sequence DESC LIMIT 1",
                (self.namespace, up_to),
            )
        return rows[0] if rows else (0, 0)


def _check_dimension(connection: apsw.Connection, plan: Plan, index: GraphIndex) -> None:
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


class Past(SqliteLog, Engine):
    """One graph of a memory file after a past delta: a log, and an engine that has only this log. It is read-only."""

    # A past graph is asked to erase, and refuses.
    erases = True

    def __init__(self, present: SqliteLog, sequence: int, latest: Callable[[], GraphState]) -> None:
        """Take the log of the graph, the number of the delta, and what returns the present state."""
        self.engine, self.name, self.namespace = present.engine, present.name, present.namespace
        self.last, self.latest = sequence, latest

    @property
    def lock(self) -> threading.RLock:  # type: ignore[override]
        """The lock of the present graph, of which a forked child gets another one."""
        return self.engine.lock

    def identity(self) -> str:
        return self.engine.identity()

    def log(self, namespace: str) -> Self:
        if namespace != self.name:
            raise InputError(f"this is the graph as of delta {self.last}; ask the present one for other namespaces")
        return self

    def namespaces(self) -> list[str]:
        return [self.name]

    def nothing(self, patience: float | None = None) -> AbstractContextManager[object]:  # noqa: ARG002 - no wait
        """Run a block whose writes will be refused; see `Engine`."""
        return nullcontext()

    writing = transaction = nothing

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse to write."""
        raise InputError(f"this is the graph as of delta {self.last}, which cannot be changed; use undo")

    record_erased = append = drop_namespace = record = erase_removed = refuse

    def settings(self) -> dict[str, str]:
        """Return the present settings: past vectors are re-embedded, too. A past graph learns nothing."""
        return {**self.engine.settings(), "frozen": "1"}


class FileFollower(Follower):
    """Fills the index of one graph from its file, and writes checkpoints beside the file."""

    checkpointer: Checkpointer[IndexSnapshot]

    def __init__(self, log: SqliteLog, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> None:
        """Follow a log; `current` returns the index in use, or None if it is stale."""
        self._log, self._file = log, log.engine
        self._checkpoints, self._config, self._current = log.engine.checkpoints, config, current
        # A read-only process publishes no state: every read must first apply the writes of other processes.
        self.shares = not self._file.read_only
        # The state of the file when it was last read, and its generation then.
        self._state: tuple[int, ...] = ()
        self._frozen: weakref.ref[GraphIndex] | None = None
        self._generation, self._frozen_of, self._coded = "", "", 0
        self.checkpointer = Checkpointer(
            graph_lock=self._file.lock,
            freeze=while_alive(self.freeze),
            is_current=while_alive(self.is_current),
            finish=while_alive(self._finish),
            write=self._checkpoints.write,
            exclusively=self._checkpoints.exclusively,
            least=config.runtime.checkpoint_changes,
        )

    # Following

    def load(self) -> GraphIndex | None:
        """Return an index from the checkpoint and the later rows of the file; see `Follower`."""
        while True:
            state = self._file.state()
            with self._file.reading() as connection:
                if not self._log.find(connection):
                    return None
                _, generation = schema.read_states(connection)
                try:
                    index = self._load_kept(connection)
                except StateReplacedError as error:
                    _log.info("%s was replaced while it was read", error)
                    continue
                kept = index.size
                self._take_in(connection, index)
                if kept:
                    nodes = index.topology.view().live_nodes()
                    index.load_outcomes(nodes, nodes[:0], self.records(index))
            self.checkpointer.add_backlog(index.size - kept, index.size)
            self._state, self._generation = state, generation
            return index

    def is_behind(self, index: GraphIndex) -> bool:  # noqa: ARG002 - it holds the writes of this process
        """Return whether another process has written."""
        return self._file.state() != self._state

    def follow(self, index: GraphIndex) -> bool:
        """Apply the later rows of the file; return False if past rows changed or another file replaced it."""
        state = self._file.state()
        # Another file may be an older state of the same memory with other later changes.
        if state[:-1] != self._state[:-1] or not self._log.namespace:
            return False
        with self._file.reading() as connection:
            if schema.read_states(connection)[1] != self._generation:
                return False
            before = index.size
            self._take_in(connection, index)
        self.checkpointer.add_backlog(index.size - before, index.size)
        self._state = state
        return True

    def _load_kept(self, connection: apsw.Connection) -> GraphIndex:
        # The checkpoint names edge types, which must be registered before it is read.
        schema.register_types(connection)
        namespace = self._log.namespace
        load, made_at = partial(GraphIndex.load, config=self._config), partial(_made_at, connection, namespace)
        index = self._checkpoints.load(load, schema.read_states(connection)[0], namespace, made_at)
        if index is None:
            return GraphIndex(self._config)
        self._coded = index.vectors.indexed
        loader = GraphLoader(connection, namespace, {}, index.topology.sequence)
        loader.load_node_validity(index.validity, index.node_keys.values)
        loader.load_edge_validity(index.validity, index.edge_keys.values)
        return index

    def _take_in(self, connection: apsw.Connection, index: GraphIndex) -> None:
        namespace, types = self._log.namespace, schema.register_types(connection)
        GraphFollower(connection, namespace, types, NOW, self.records).follow(index)
        index.pending, index.embedder = schema.read_pending(connection, namespace), self._log.engine.embedder

    # Reading

    def records(self, index: GraphIndex) -> SqliteRecords:
        """Return the records of an index; they are read from the file on demand."""
        return SqliteRecords(self._file, index.node_keys.values, index.edge_keys.values, index.topology.sequence)

    def steady(self) -> AbstractContextManager[object]:
        """Read one state of the file within the block."""
        return self._file.reading(latest=True)

    def unchanged_since(self) -> float:
        """Return when this process took its turn to write, or else the present."""
        return self._file.turn_began or time.monotonic()

    # Checkpoints

    def note(self, plan: Plan, index: GraphIndex) -> None:
        """Write a checkpoint after many changes."""
        self.checkpointer.note(plan.size, len(plan.delta.operators), index.size)

    def start(self, index: GraphIndex) -> None:
        """Start a checkpoint if there are many changes, or codes of vectors that each opening would compute again."""
        # Without a text index, a checkpoint would first have to read all texts, so none is started.
        if not self._file.read_only and index.made_texts is not None:
            if index.vectors.indexed != self._coded:
                self.checkpointer.add_backlog(math.inf, index.size)
            self.checkpointer.checkpoint()

    def freeze(self) -> IndexSnapshot | None:
        """Return a snapshot of the index; None if it cannot be checkpointed."""
        index = self._current()
        if index is None:
            return None
        self._coded = index.vectors.indexed
        namespace, sequence = self._log.namespace, index.topology.sequence
        with self._file.reading() as connection:
            at, (derivation, generation) = _made_at(connection, namespace, sequence), schema.read_states(connection)
        # If another process erased records, the index may still hold them.
        if at is None or generation != self._generation:
            return None
        self._frozen, self._frozen_of = weakref.ref(index), generation
        frozen = index.freeze(self.records(index).nodes)
        return IndexSnapshot(
            derivation, namespace, sequence, at, frozen, index.node_keys.values, index.edge_keys.values
        )

    def is_current(self) -> bool:
        """Return whether the last snapshotted index is still in use and nothing was erased since."""
        index = self._current()
        if self._frozen is None or index is None or self._frozen() is not index:
            return False
        with self._file.reading() as connection:
            return self._frozen_of == schema.read_states(connection)[1]

    def _finish(self, folder: Path) -> None:
        index = self._current()
        if index is not None and self.is_current():
            index.remap(folder / INDEX_FOLDER)


def _made_at(connection: apsw.Connection, namespace: int, sequence: int) -> int | None:
    """Return the time of the last change of a graph up to a delta, in microseconds; None if there is no such delta yet.

    Deltas with uses only are ignored, because the next such delta replaces them.
    """
    rows = fetch(
        connection,
        "SELECT at FROM deltas WHERE sequence <= :now AND namespace = :namespace AND changes IS NOT NULL "
        "AND :now <= (SELECT max(sequence) FROM deltas WHERE namespace = :namespace) ORDER BY sequence DESC LIMIT 1",
        {"now": sequence, "namespace": namespace},
    )
    return int(rows[0][0]) if rows else None

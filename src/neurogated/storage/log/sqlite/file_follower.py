"""How a graph index follows a memory file, starting from a checkpoint."""

from __future__ import annotations

import logging
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import partial
from pathlib import Path
from typing import Protocol

import apsw

from neurogated.config.memory_config import MemoryConfig
from neurogated.storage.checkpoint.checkpointer import Checkpointer
from neurogated.storage.checkpoint.checkpoints import (
    INDEX_FOLDER,
    Checkpoints,
    IndexSnapshot,
    Stamp,
    StateReplacedError,
)
from neurogated.storage.index.follower import Follower
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.sqlite.catch_up import GraphFollower
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.loading import GraphLoader
from neurogated.storage.log.sqlite.rows import SqliteRecords
from neurogated.storage.log.sqlite.settings import (
    read_derivation,
    read_embedder,
    read_generation,
    read_pending,
    register_types,
)
from neurogated.utils.background import while_alive

_log = logging.getLogger(__name__)


class _GraphOfFile(Protocol):
    """The log of a graph; see `SqliteLog`."""

    file: SqliteFile
    namespace: int

    def find(self, connection: apsw.Connection) -> bool: ...


class FileFollower(Follower):
    """Fills the index of one graph from its file, and writes checkpoints beside the file."""

    def __init__(
        self,
        log: _GraphOfFile,
        checkpoints: Checkpoints,
        config: MemoryConfig,
        current: Callable[[], GraphIndex | None],
    ) -> None:
        """Follow a log; `current` returns the index in use, or None if it is stale."""
        self._log, self._file = log, log.file
        self._checkpoints = checkpoints
        self._config = config
        self._current = current
        # A read-only process publishes no state: every read must first apply the writes of other processes.
        self.shares = not self._file.read_only
        # The state of the file when it was last read, and its generation then.
        self._state: tuple[int, ...] = ()
        self._generation = ""
        self._frozen: weakref.ref[GraphIndex] | None = None
        self._frozen_of = ""
        self._trained_on = 0
        self.checkpointer = Checkpointer(
            checkpoints,
            graph_lock=self._file.lock,
            freeze=while_alive(self.freeze),
            remap=while_alive(self._remap),
            is_current=while_alive(self.is_current),
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
                generation = read_generation(connection)
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
            if read_generation(connection) != self._generation:
                return False
            before = index.size
            self._take_in(connection, index)
        self.checkpointer.add_backlog(index.size - before, index.size)
        self._state = state
        return True

    def _load_kept(self, connection: apsw.Connection) -> GraphIndex:
        """Return the index from the checkpoint; an empty one if there is none."""
        # The checkpoint names edge types, which must be registered before it is read.
        register_types(connection)
        namespace = self._log.namespace
        load, made_at = partial(GraphIndex.load, config=self._config), partial(_made_at, connection, namespace)
        index = self._checkpoints.load(load, read_derivation(connection), namespace, made_at)
        if index is None:
            return GraphIndex(self._config)
        self._trained_on = index.vectors.trained_on
        loader = GraphLoader(connection, namespace, {}, index.topology.sequence)
        loader.load_node_validity(index.validity, index.node_keys.values)
        loader.load_edge_validity(index.validity, index.edge_keys.values)
        loader.load_relations(index.relations, index.edge_keys.values)
        return index

    def _take_in(self, connection: apsw.Connection, index: GraphIndex) -> None:
        namespace, types = self._log.namespace, register_types(connection)
        GraphFollower(connection, namespace, types, self.records).follow(index)
        index.pending, index.embedder = read_pending(connection, namespace), read_embedder(connection)

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

    def may_unload(self, index: GraphIndex) -> bool:
        """Return whether no search uses the index and a checkpoint holds its costly parts."""
        if not self._file.read_only and self._has_trained(index) and index.made_texts is not None:
            self.checkpointer.checkpoint(at_once=True)
        return not (self.checkpointer.busy or index.vectors.busy)

    def wait(self, index: GraphIndex) -> None:
        """Wait for the checkpoint; start one if there are many changes or newly trained vector lists."""
        index.vectors.wait()
        # Without a text index, a checkpoint would first have to read all texts, so none is started.
        if not self._file.read_only and index.made_texts is not None:
            self.checkpointer.checkpoint(at_once=self._has_trained(index))
        self.checkpointer.wait()

    def cancel(self) -> None:
        """Cancel the running checkpoint."""
        self.checkpointer.cancel()

    def freeze(self) -> IndexSnapshot | None:
        """Return a snapshot of the index; None if it cannot be checkpointed."""
        index = self._current()
        if index is None:
            return None
        namespace, sequence = self._log.namespace, index.topology.sequence
        with self._file.reading() as connection:
            at, derivation = _made_at(connection, namespace, sequence), read_derivation(connection)
            generation = read_generation(connection)
        # If another process erased records, the index may still hold them.
        if at is None or generation != self._generation:
            return None
        self._frozen, self._frozen_of = weakref.ref(index), generation
        self._trained_on = index.vectors.trained_on
        frozen = index.freeze(self.records(index).nodes)
        stamp = Stamp(derivation, namespace, sequence, at)
        return IndexSnapshot(stamp, frozen, index.node_keys.values, index.edge_keys.values)

    def is_current(self) -> bool:
        """Return whether the last snapshotted index is still in use and nothing was erased since."""
        index = self._current()
        if self._frozen is None or index is None or self._frozen() is not index:
            return False
        with self._file.reading() as connection:
            return self._frozen_of == read_generation(connection)

    def _remap(self, folder: Path) -> None:
        index = self._current()
        if index is not None and self.is_current():
            index.remap(folder / INDEX_FOLDER)

    def _has_trained(self, index: GraphIndex) -> bool:
        return index.vectors.trained_on != self._trained_on


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

"""How a graph index follows a memory file, from the checkpoint beside it on."""

from __future__ import annotations

import logging
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import apsw

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.forking import InheritedLock, bind_to_process
from neurogated.storage.background import while_alive
from neurogated.storage.checkpoint.checkpointer import Checkpointer
from neurogated.storage.checkpoint.checkpoints import (
    INDEX_FOLDER,
    Checkpoints,
    IndexSnapshot,
    Stamp,
    StateReplacedError,
)
from neurogated.storage.follower import Follower
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.sqlite.catch_up import GraphFollower
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.loading import GraphLoader
from neurogated.storage.log.sqlite.rows import SqliteRecords
from neurogated.storage.log.sqlite.settings import (
    read_derivation,
    read_embedder,
    read_generation,
    read_pending,
    register_types,
)
from neurogated.storage.open_graphs import Uses
from neurogated.storage.resolve import Plan

if TYPE_CHECKING:
    from neurogated.storage.log.sqlite.sqlite_log import SqliteLog

__all__ = ["FileFollower"]

_log = logging.getLogger(__name__)


class FileFollower(Follower):
    """Fills the index of one graph with columns of its file, and keeps it beside the file."""

    def __init__(
        self,
        log: SqliteLog,
        checkpoints: Checkpoints,
        config: MemoryConfig,
        current: Callable[[], GraphIndex | None],
    ) -> None:
        """Follow a log; `current` returns the index in use where it is right."""
        self._log, self._file = log, log.file
        self._checkpoints = checkpoints
        self._config = config
        self._current = current
        # A process that only reads publishes nothing: what another one has written is to be taken in first.
        self.shares = not self._file.read_only
        self.searching = self._searches = Uses()
        # What differed when the file was last looked at, and then its generation.
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
        bind_to_process(self)

    def disown(self, *, at_rest: bool) -> None:  # noqa: ARG002 - what the child has is not used anyway
        """Leave the index to the parent process: a search in the child says so."""
        self.searching = InheritedLock()

    # Following

    def load(self) -> GraphIndex | None:
        """Return an index of what is kept beside the file and what the file has gained since; see `Follower`."""
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
                kept = 0 if index.lacks_vectors else index.size
                self._take_in(connection, index)
            self.checkpointer.add_backlog(index.size - kept, index.size)
            self._state, self._generation = state, generation
            return index

    def is_behind(self, index: GraphIndex) -> bool:  # noqa: ARG002 - it has what this process wrote
        """Return whether another process has written."""
        return self._file.state() != self._state

    def follow(self, index: GraphIndex) -> bool:
        """Take in what the file has gained; False where rows of the past have changed, or it is another file."""
        state = self._file.state()
        # Another file may be an older state of the same memory, that went on otherwise.
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
        """Return the index that is kept beside the file, an empty one if there is none."""
        # It names edge types, which must be known when it is read.
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
        GraphFollower(connection, namespace, types, lambda rows: self.records(index).nodes(rows)).follow(index)
        index.pending, index.embedder = read_pending(connection, namespace), read_embedder(connection)

    # Reading

    def records(self, index: GraphIndex) -> SqliteRecords:
        """Return what the file holds beside the columns of an index."""
        return SqliteRecords(self._file, index.node_keys.values, index.edge_keys.values, index.topology.sequence)

    @contextmanager
    def steady(self) -> Iterator[None]:
        """Read one state of the file within the block."""
        # A file that was replaced is opened again, which must not happen while it is read.
        self._file.state()
        with self._file.reading():
            yield

    def is_worth_waiting(self) -> bool:
        """Return whether no thread writes by this file."""
        return not self._file.is_writing

    # Keeping

    def note(self, plan: Plan, index: GraphIndex) -> None:
        """Keep the index on disk when much of it has changed."""
        self.checkpointer.note(plan.size, len(plan.delta.operators), index.size)

    def may_unload(self, index: GraphIndex) -> bool:
        """Return whether nobody uses an index, and it is kept on disk with what took its time."""
        if self._searches:
            return False
        if not self._file.read_only and self._has_trained(index) and index.made_texts is not None:
            self.checkpointer.checkpoint(at_once=True)
        return not (self.checkpointer.busy or index.vectors.busy)

    def wait(self, index: GraphIndex) -> None:
        """Wait until what was begun is kept, with the lists of the vectors where that has taken its time."""
        index.vectors.wait()
        # A memory whose texts were not needed is not read for this alone.
        if not self._file.read_only and index.made_texts is not None:
            self.checkpointer.checkpoint(at_once=self._has_trained(index))
        self.checkpointer.wait()

    def cancel(self) -> None:
        """Stop what was begun."""
        self.checkpointer.cancel()

    def freeze(self) -> IndexSnapshot | None:
        """Return the index as it is now, None if it cannot be kept."""
        index = self._current()
        if index is None:
            return None
        namespace, sequence = self._log.namespace, index.topology.sequence
        with self._file.reading() as connection:
            at, derivation = _made_at(connection, namespace, sequence), read_derivation(connection)
            generation = read_generation(connection)
        # What another process erased, the index may still hold.
        if at is None or generation != self._generation:
            return None
        self._frozen, self._frozen_of = weakref.ref(index), generation
        self._trained_on = index.vectors.trained_on
        frozen = index.freeze(self.records(index).nodes)
        stamp = Stamp(derivation, namespace, sequence, at)
        return IndexSnapshot(stamp, frozen, index.node_keys.values, index.edge_keys.values)

    def is_current(self) -> bool:
        """Return whether the index that was frozen last is in use, and nothing was erased since."""
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
    """Return when a graph was last changed up to a delta, in microseconds; None where there is no such delta yet.

    Deltas that told of uses only are passed over, because the next one replaces them.
    """
    rows = fetch(
        connection,
        "SELECT at FROM deltas WHERE sequence <= :now AND namespace = :namespace AND changes IS NOT NULL "
        "AND :now <= (SELECT max(sequence) FROM deltas WHERE namespace = :namespace) ORDER BY sequence DESC LIMIT 1",
        {"now": sequence, "namespace": namespace},
    )
    return int(rows[0][0]) if rows else None

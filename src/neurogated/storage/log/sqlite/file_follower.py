"""How a graph index follows a memory file, starting from a checkpoint."""

from __future__ import annotations

import json
import logging
import math
import time
import weakref
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.columns import contained
from neurogated.core.view import Rows
from neurogated.storage.checkpoint import (
    INDEX_FOLDER,
    Checkpointer,
    Checkpoints,
    Follower,
    IndexSnapshot,
    StateReplacedError,
)
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph.topology import Column
from neurogated.storage.index.graph_index import GraphIndex, Records
from neurogated.storage.log.sqlite import schema
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.rows import (
    NOW,
    UNCHANGED,
    GraphLoader,
    SqliteRecords,
    last_of_each,
    rows_of,
    since_index,
    vectors_of,
)
from neurogated.utils.background import while_alive

if TYPE_CHECKING:
    from neurogated.storage.log.sqlite.sqlite_log import SqliteLog

_VECTORS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class GraphFollower(GraphLoader):
    """Adds to a graph index the changes of one namespace after the last delta of the index.

    An empty index is filled from the beginning. Nodes and edges are read in the order in which they were added, so that
    sums over them are the same to the last bit as in the process that wrote them.
    """

    records: Callable[[GraphIndex], Records]
    """Returns the records of an index."""

    def follow(self, index: GraphIndex) -> None:
        """Bring an index up to date; the file must not change meanwhile."""
        since = index.topology.sequence
        if since == (sequence := self.last_sequence()):
            return
        changed, removed = self._follow_nodes(index, since)
        (gone,) = self.columns(
            "SELECT e.edge FROM edges e INDEXED BY edges_until JOIN nodes n ON n.node = e.source "
            "WHERE e.until > :since AND e.edge <= :last AND n.namespace = :namespace ORDER BY e.edge",
            np.int64,
            since=since,
            last=_last(index.edge_keys),
        )
        known = index.edge_keys.values
        removed_edges = np.searchsorted(known, gone[contained(known, gone)])
        index.topology.set(removed_edges, weight=np.nan)
        index.validity.remove(np.concatenate((changed, removed)), removed_edges)
        self.load_node_validity(index.validity, index.node_keys.values, since)
        self._follow_weights(index, since)
        self.load_edge_validity(index.validity, index.edge_keys.values, since)
        self._follow_vectors(index, since)
        index.topology.sequence = sequence
        index.load_outcomes(changed, removed, self.records(index))
        index.renew_texts(changed, removed, self.records(index).nodes)

    def _follow_nodes(self, index: GraphIndex, since: int) -> tuple[Rows, Rows]:
        """Add new nodes, and apply changes and removals; return the rows of the changed and of the removed nodes."""
        topology, known = index.topology, len(index.node_keys)
        found = self.query(
            "SELECT node, id FROM nodes NOT INDEXED WHERE namespace = :namespace AND node > :last ORDER BY node",
            last=_last(index.node_keys),
        )
        index.node_keys.extend([key for key, _ in found])
        condition = "n.namespace = :namespace AND v.since > :since AND v.until IS NULL"
        key, columns = self.node_columns(topology, since_index("node_versions", since), condition, since=since)
        changed, ended = rows_of(key, index.node_keys.values), self._ended(index, "node_versions", since)
        new = np.arange(known, len(index.node_keys))
        rows = np.union1d(new, changed)
        spread = {name: np.zeros(rows.size, dtype=column.dtype) for name, column in columns.items()}
        # A node that was removed since it was put also gets a row, because its id still belongs to its user.
        gone, last = self.node_columns(
            topology,
            "",
            "v.node IN (SELECT value FROM json_each(:keys)) "
            "AND v.since = (SELECT max(w.since) FROM node_versions w WHERE w.node = v.node)",
            keys=json.dumps(index.node_keys.values[np.setdiff1d(new, changed)].tolist()),
        )
        for place, found_columns in ((changed, columns), (rows_of(gone, index.node_keys.values), last)):
            for name, column in found_columns.items():
                spread[name][np.searchsorted(rows, place)] = column
        ids = topology.ids
        names = [ids[row] for row in rows[rows < known].tolist()] + [name for _, name in found]
        topology.set_nodes(names, rows, spread)
        condition = "n.namespace = :namespace AND c.since > :since AND v.until IS NULL"
        later = self.changes(condition, since_index("node_changes", since), since=since)
        for name, (nodes, new_values) in later.items():
            topology.set(rows_of(nodes, index.node_keys.values), **{name: new_values})
        removed = np.setdiff1d(np.union1d(new, ended), changed)
        topology.set(removed, alive=False)
        if since:
            key, moment, uses, charge, charged_at = self.columns(
                "SELECT a.node, a.last_accessed, a.uses, a.charge, coalesce(a.charged_at, :unchanged) "
                "FROM accesses a INDEXED BY accesses_since "
                "JOIN nodes n ON n.node = a.node WHERE a.since > :since AND n.namespace = :namespace ORDER BY a.node",
                *(np.int64, np.int64, np.int32, np.float64, np.int64),
                since=since,
                unchanged=UNCHANGED,
            )
            rows, charged = rows_of(key, index.node_keys.values), charged_at != UNCHANGED
            topology.set(rows, last_accessed=moment, uses=uses)
            topology.set(rows[charged], charge=charge[charged], charged_at=charged_at[charged])
        return changed, removed

    def _follow_weights(self, index: GraphIndex, since: int) -> None:
        topology = index.topology
        last = _last(index.edge_keys)
        # The delta that set the weight of each edge.
        weighed = np.full(len(index.edge_keys), since, dtype=np.int64)
        if weighed.size:
            key, moment, weight, activated = self.columns(
                "SELECT w.edge, w.since, w.weight, coalesce(w.last_activated, :unchanged) "
                "FROM edge_weights w INDEXED BY edge_weights_since "
                "CROSS JOIN edges e ON e.edge = w.edge JOIN nodes n ON n.node = e.source "
                "WHERE w.since > :since AND e.edge <= :last AND e.until IS NULL AND n.namespace = :namespace "
                "ORDER BY w.edge, w.since",
                *(np.int64, np.int64, np.float64, np.int64),
                since=since,
                last=last,
                unchanged=UNCHANGED,
            )
            latest = last_of_each(key)
            rows = np.searchsorted(index.edge_keys.values, key[latest])
            topology.set(rows, weight=weight[latest])
            used = activated[latest] != UNCHANGED
            topology.set(rows[used], last_activated=activated[latest][used])
            weighed[rows] = moment[latest]
        new, since_new = self.append_edges(topology, index.node_keys.values, f"AND e.edge > {last}")
        index.edge_keys.extend(new)
        keys = index.edge_keys.values
        self.replay_operators(np.concatenate((weighed, since_new)), topology, keys, since)
        self.load_uses(topology, keys, since)

    def _follow_vectors(self, index: GraphIndex, since: int) -> None:
        statement = (
            f"SELECT v.node, v.vector FROM vectors v {since_index('vectors', since)} JOIN nodes n ON n.node = v.node "
            "WHERE n.namespace = :namespace AND v.since > :since AND v.until IS NULL ORDER BY v.node"
        )
        values = {"namespace": self.namespace, "since": since}
        keys = index.node_keys.values
        with closing(self.connection.execute(statement, values)) as found:
            batches = iter(lambda: list(islice(found, _VECTORS_AT_ONCE)), [])
            # One atomic change for concurrent searches: a replaced vector has also ended.
            index.vectors.change(self._ended(index, "vectors", since), (vectors_of(keys, one) for one in batches))

    def _ended(self, index: GraphIndex, table: str, since: int) -> Rows:
        if not since:
            return np.empty(0, dtype=np.int64)
        (keys,) = self.columns(
            f"SELECT DISTINCT v.node FROM {table} v INDEXED BY {table}_until JOIN nodes n ON n.node = v.node "
            "WHERE v.until > :since AND n.namespace = :namespace ORDER BY v.node",
            np.int64,
            since=since,
        )
        return rows_of(keys, index.node_keys.values)


def _last(keys: Column) -> int:
    return int(keys.values[-1]) if len(keys) else 0


_log = logging.getLogger(__name__)


class FileFollower(Follower):
    """Fills the index of one graph from its file, and writes checkpoints beside the file."""

    checkpointer: Checkpointer[IndexSnapshot]

    def __init__(
        self,
        log: SqliteLog,
        checkpoints: Checkpoints,
        config: MemoryConfig,
        current: Callable[[], GraphIndex | None],
    ) -> None:
        """Follow a log; `current` returns the index in use, or None if it is stale."""
        self._log, self._file = log, log.engine
        self._checkpoints = checkpoints
        self._config = config
        self._current = current
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
            write=checkpoints.write,
            exclusively=checkpoints.exclusively,
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

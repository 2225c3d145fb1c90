"""`SqliteEngine` and `SqliteLog`: the journals of a memory file, reconstructed from the rows that the deltas wrote."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from pathlib import Path
from typing import Any, NoReturn, Self

import apsw
import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import from_micros, to_micros
from neurogated.core.columns import NODE_COLUMNS
from neurogated.core.delta import HistoryEntry, JournalEntry
from neurogated.core.view import GraphView, Rows
from neurogated.errors import InputError, MemoryLockedError
from neurogated.storage.checkpoint import Checkpoints, Follower
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph.topology import Column, Topology
from neurogated.storage.index.graph_index import GraphIndex, ReadTexts, put_texts
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.log.log import Engine, Log, Position
from neurogated.storage.log.sqlite import schema
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.file_follower import FileFollower
from neurogated.storage.log.sqlite.file_guard import place_of
from neurogated.storage.log.sqlite.journal import PlanWriter, SqliteJournal
from neurogated.storage.log.sqlite.purge import erase_namespace, erase_removed
from neurogated.storage.log.sqlite.rows import (
    HOLDS,
    NOW,
    GraphLoader,
    Keys,
    SqliteRecords,
    vectors_of,
)

_log = logging.getLogger(__name__)


class SqliteEngine(SqliteFile, Engine):
    """A memory file with its checkpoints and logs; see `SqliteFile` for the arguments."""

    erases = True

    def __init__(self, path: Path, *, from_scratch: bool = False, read_only: bool = False, patience: float) -> None:
        super().__init__(path, from_scratch=from_scratch, read_only=read_only, patience=patience)
        self.checkpoints = Checkpoints(path)
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

    def tidy(self, namespace: str) -> None:
        """Remove obsolete checkpoints of a graph and all checkpoints of unknown graphs."""
        if self.read_only:
            return
        with self.reading() as connection:
            names = schema.namespace_names(connection)
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


class SqliteLog(Log):
    """The journal of one graph of a memory file. Its rows fill the columns of an index directly."""

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
        return Position(int(epoch), int(sequence))

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
            sequences = SqliteJournal(connection, self.namespace).sequences(after, up_to)
        yield from self._entries_at(sequences)

    def entries_of(self, node_id: str) -> Iterator[JournalEntry]:
        with self.engine.reading() as connection:
            sequences = SqliteJournal(connection, self.namespace).sequences_of(node_id)
        yield from self._entries_at(sequences)

    def _entries_at(self, sequences: Iterable[int]) -> Iterator[JournalEntry]:
        for sequence in sequences:
            with self.engine.reading() as connection:
                entries = list(SqliteJournal(connection, self.namespace).entries(sequence - 1, up_to=sequence))
            # Yield after the lock is released, so that the caller can write between two entries.
            yield from entries

    def history(self, after: int = 0, up_to: int = NOW) -> list[HistoryEntry]:
        with self.engine.reading() as connection:
            return SqliteJournal(connection, self.namespace).history(after, up_to)

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> FileFollower:
        return FileFollower(self, self.engine.checkpoints, config, current)

    def as_of(
        self, sequence: int, moment: datetime | None, present: Callable[[], GraphState]
    ) -> tuple[Engine, datetime]:
        return Past(self, sequence, present), moment or from_micros(self.last_change(sequence)[1])

    def erased_up_to(self) -> int:
        return self.last_change(int(self.engine.settings().get(f"erased {self.namespace}", 0)))[0]

    def record_erased(self, up_to: int) -> None:
        self.engine.record({f"erased {self.namespace}": up_to or None})

    def last_before(self, moment: datetime, up_to: int = NOW) -> int:
        with self.engine.reading() as connection:
            rows = fetch(
                connection,
                "SELECT sequence FROM deltas WHERE namespace = ? AND changes IS NOT NULL AND sequence <= ? AND at <= ? "
                "ORDER BY sequence DESC LIMIT 1",
                (self.namespace, up_to, to_micros(moment)),
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


_CHANGED_SINCE = (
    "SELECT {0}.node FROM {1} {0} INDEXED BY {1}_since WHERE {0}.since > ? "
    "UNION SELECT {0}.node FROM {1} {0} INDEXED BY {1}_until WHERE {0}.until > ?"
)

# Nodes with a version that ended later, or whose energy or importance changed later.
_CHANGED_NODES = (
    "SELECT w.node FROM node_versions w INDEXED BY node_versions_until WHERE w.until > :now "
    "UNION SELECT c.node FROM node_changes c INDEXED BY node_changes_since WHERE c.since > :now"
)

_ENDED_VECTORS = (
    "SELECT v.node, v.vector FROM vectors v INDEXED BY vectors_until JOIN nodes n ON n.node = v.node "
    f"WHERE n.namespace = :namespace AND {HOLDS.format('v')} AND v.until > :now ORDER BY v.node"
)
_OPERATORS_SINCE = (
    "SELECT 1 FROM deltas WHERE namespace = :namespace AND sequence > :now AND spared IS NOT NULL LIMIT 1"
)
# Edges of the past state that ended, were used or changed their weight later.
_EDGES_CHANGED_SINCE = (
    "SELECT edge FROM edges INDEXED BY edges_until WHERE until > :now AND since <= :now UNION "
    "SELECT edge FROM edge_uses WHERE since > :now UNION "
    "SELECT w.edge FROM edge_weights w INDEXED BY edge_weights_since CROSS JOIN edges c ON c.edge = w.edge "
    "WHERE w.since > :now AND c.since <= :now"
)


class Past(SqliteLog, Engine):
    """One graph of a memory file after a past delta: a log, and an engine that has only this log. It is read-only."""

    # A past graph is asked to erase, and refuses.
    erases = True

    def __init__(self, present: SqliteLog, sequence: int, latest: Callable[[], GraphState]) -> None:
        """Take the log of the graph, the number of the delta, and what returns the present state."""
        self.present, self.sequence, self.latest = present, sequence, latest
        self.engine, self.name, self.namespace = present.engine, present.name, present.namespace

    @property
    def lock(self) -> threading.RLock:  # type: ignore[override]
        """The lock of the present graph, of which a forked child gets another one."""
        return self.engine.lock

    def identity(self) -> str:
        return self.engine.identity()

    def log(self, namespace: str) -> Self:
        if namespace != self.name:
            raise InputError(f"this is the graph as of delta {self.sequence}; ask the present one for other namespaces")
        return self

    def namespaces(self) -> list[str]:
        return [self.name]

    def nothing(self, patience: float | None = None) -> AbstractContextManager[object]:  # noqa: ARG002 - no wait
        """Run a block whose writes will be refused; see `Engine`."""
        return nullcontext()

    writing = transaction = nothing

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse to write."""
        raise InputError(f"this is the graph as of delta {self.sequence}, which cannot be changed; use undo")

    record_erased = append = drop_namespace = record = erase_removed = refuse

    def settings(self) -> dict[str, str]:
        """Return the present settings: past vectors are re-embedded, too. A past graph learns nothing."""
        return {**self.engine.settings(), "frozen": "1"}

    def position(self) -> Position:
        return super().position()._replace(sequence=self.sequence)

    def entries(self, after: int = 0, up_to: int = NOW) -> Iterator[JournalEntry]:
        return super().entries(after, min(self.sequence, up_to))

    def entries_of(self, node_id: str) -> Iterator[JournalEntry]:
        return (entry for entry in super().entries_of(node_id) if entry.sequence <= self.sequence)

    def history(self, after: int = 0, up_to: int = NOW) -> list[HistoryEntry]:
        return super().history(after, min(self.sequence, up_to))

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> Follower:  # type: ignore[override]  # noqa: ARG002
        return PastFollower(self, config)

    def as_of(
        self,
        sequence: int,
        moment: datetime | None,
        present: Callable[[], GraphState],  # noqa: ARG002 - the present state does not depend on it
    ) -> tuple[Engine, datetime]:
        return self.present.as_of(sequence, moment, self.latest)

    def last_before(self, moment: datetime, up_to: int = NOW) -> int:
        return super().last_before(moment, min(self.sequence, up_to))


class PastFollower(Follower):
    """Builds an index of a past state.

    The columns are read from the file. Vectors and texts are forks of those of the present index, in which the nodes
    that changed later have their past ones. So the cost depends on the number of later changes, not on the size of the
    graph. Rows are those of the present index.
    """

    shares = False
    borrows = True

    def __init__(self, past: Past, config: MemoryConfig) -> None:
        self._past = past
        self._file, self._namespace = past.engine, past.namespace
        self._config = config
        self._as_of = past.sequence
        self._seen: GraphIndex | None = None

    def load(self) -> GraphIndex:
        """Read the past state, and find the vectors and texts that changed later."""
        with self.steady():
            present, connection = self._past.latest(), self._file.connection
            keys, index = present.form.node_keys.values.copy(), GraphIndex(self._config)
            loader = GraphLoader(connection, self._namespace, schema.register_types(connection), self._as_of)
            self._load_nodes(loader, index, present.view, keys)
            edge_keys = self._load_edges(loader, index, present, keys)
            index.vectors = present.form.vectors.forked()
            ended = vectors_of(keys, loader.query(_ENDED_VECTORS))
            index.vectors.change(self._changed_since("vectors", keys), [ended])
            index.node_keys, index.edge_keys = Column.of(keys), Column.of(edge_keys)
            index.fork_texts, index.embedder = self._texts, present.embedder
            nodes = index.topology.view().live_nodes()
            index.load_outcomes(nodes, nodes[:0], self.records(index))
            self._seen = present.form
        return index

    def is_behind(self, index: GraphIndex) -> bool:  # noqa: ARG002 - `_seen` tells it
        """Return whether the present index was reloaded; a compaction may have erased records of the past."""
        return self._seen is not self._past.latest().form

    def follow(self, index: GraphIndex) -> bool:  # noqa: ARG002 - it is reloaded
        """Return False: the past state must be read again."""
        return False

    def records(self, index: GraphIndex) -> SqliteRecords:
        """Return the records of the past state."""
        return SqliteRecords(self._file, index.node_keys.values, index.edge_keys.values, self._as_of)

    def steady(self) -> AbstractContextManager[object]:
        """Read one state of the file within the block."""
        return self._file.reading(latest=True)

    def _load_nodes(self, loader: GraphLoader, form: GraphIndex, now: GraphView, keys: Keys) -> None:
        """Write the past node columns; copy those that did not change from the present."""
        alive = now.alive.all()
        alive[self._changed_since("node_versions", keys)] = False
        columns = {name: getattr(now, name).all() for name in NODE_COLUMNS}
        columns["kind"] = form.topology.kind_codes(now.kinds)[columns["kind"]]
        columns["scope"] = form.topology.scope_codes(now.scopes)[columns["scope"]]
        # Each delta that puts a node ends the previous version, so each node has at most one version at a time.
        held = f"n.namespace = :namespace AND {HOLDS.format('v')}"
        held += f" AND v.node IN ({_CHANGED_NODES})"
        old, before = loader.node_columns(form.topology, "", held)
        known = np.isin(old, keys)
        rows = np.searchsorted(keys, old[known])
        alive[rows] = True
        for name, column in before.items():
            columns[name][rows] = column[known]
        ids = list(now.ids)
        form.topology.set_nodes(ids, np.arange(len(ids)), columns)
        for name, (nodes, values) in loader.changes(f"{held} AND c.since <= :now").items():
            known = np.isin(nodes, keys)
            form.topology.set(np.searchsorted(keys, nodes[known]), **{name: values[known]})
        form.topology.set(np.flatnonzero(~alive.astype(np.bool_)), alive=False)
        form.topology.sequence = loader.last_sequence()
        loader.load_node_validity(form.validity, keys)

    def _load_edges(self, loader: GraphLoader, form: GraphIndex, present: GraphState, keys: Keys) -> Keys:
        """Append the past edges; copy those that did not change from the present."""
        ((first_new,),) = loader.query("SELECT min(edge) FROM edges INDEXED BY edges_since WHERE since > :now")
        changed = np.array([key for (key,) in loader.query(_EDGES_CHANGED_SINCE)], dtype=np.int64)
        among = f"AND (e.edge IN ({_EDGES_CHANGED_SINCE})"
        now, now_keys = present.view, present.form.edge_keys.values
        kept = (now_keys < (NOW if first_new is None else first_new)) & ~np.isin(now_keys, changed)
        if loader.query(_OPERATORS_SINCE):
            # Every plastic edge may have faded later.
            among += " OR e.type IN (SELECT type FROM edge_types WHERE plastic)"
            kept &= ~np.array([kind.plastic for kind in now.edge_types], dtype=np.bool_)[now.edge_type]
        scratch = Topology()
        old_keys = loader.load_weights(scratch, keys, f"{among})")
        old, same = scratch.view(), np.flatnonzero(kept)
        edge_keys = np.concatenate((now_keys[same], old_keys))
        order = np.argsort(edge_keys)

        def joined(present: NDArray[Any], past: NDArray[Any]) -> NDArray[Any]:
            return np.concatenate((present, past))[order]

        topology = form.topology
        codes = [topology.type_codes(view.edge_types) for view in (now, old)]
        topology.append_edges(
            (joined(now.edge_source[same], old.edge_source), joined(now.edge_target[same], old.edge_target)),
            joined(codes[0][now.edge_type[same]], codes[1][old.edge_type]),
            joined(now.weight.take(same), old.weight.all()),
            joined(now.last_activated.take(same), old.last_activated.all()),
        )
        loader.load_edge_validity(form.validity, edge_keys[order])
        return edge_keys[order]

    def _changed_since(self, table: str, keys: Keys) -> Rows:
        statement = _CHANGED_SINCE.format("v", table)
        found = fetch(self._file.connection, statement, (self._as_of, self._as_of))
        changed = np.array(sorted(key for (key,) in found), dtype=np.int64)
        rows: Rows = np.searchsorted(keys, changed[np.isin(changed, keys)])
        return rows

    def _texts(self, view: GraphView, read: ReadTexts) -> LexicalStore:
        present = self._past.latest()
        texts = present.form.texts(present.view, present.records.nodes).isolated()
        changed = self._changed_since("node_versions", present.form.node_keys.values)
        texts.remove(changed)
        known = changed[changed < view.node_count]
        rows = known[view.alive.take(known).astype(np.bool_)]
        put_texts(texts, rows, read(rows))
        return texts

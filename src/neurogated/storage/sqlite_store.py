"""`SqliteStore`: the durable embedded default. One SQLite transaction is the commit of a delta."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, from_micros, to_micros, utc_now
from neurogated.core.delta import GraphDelta, HistoryEntry, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.core.view import Rows
from neurogated.errors import InputError
from neurogated.storage.columns import Column
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.planning import Plan
from neurogated.storage.records import EdgeRecord, NodeRecord
from neurogated.storage.sqlite_file import SqliteFile
from neurogated.storage.sqlite_loading import HOLDS, NOW, GraphLoader, operators_from_json, operators_to_json
from neurogated.storage.lifetimes import micros_or_none
from neurogated.storage.topology import weight_times

__all__ = ["SqliteStore"]


class SqliteStore(GraphStore):
    """One namespace of a memory file: a `GraphStore` whose texts, vectors and journal are on disk.

    What `apply` returned from is there after `kill -9`.
    """

    def __init__(
        self,
        file: SqliteFile,
        namespace: str = MemoryConfig().namespace,
        *,
        overlay_edges: int = MemoryConfig().OVERLAY_EDGES,
        clock: Clock = utc_now,
        as_of: int = NOW,
    ) -> None:
        super().__init__(namespace=namespace, overlay_edges=overlay_edges, clock=clock)
        self._file = file
        self._name = namespace
        self._as_of = as_of
        self._node_keys = Column(np.int64)
        self._edge_keys = Column(np.int64)
        with file.transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO namespaces (name) VALUES (?)", (namespace,))
            (self._namespace,) = connection.execute(
                "SELECT namespace FROM namespaces WHERE name = ?", (namespace,)
            ).fetchone()
            types = _register_types(connection)
            settings = dict(connection.execute("SELECT name, value FROM settings"))
            if settings:
                self._embedder = (settings["embedder"], int(settings["dimension"]))
            loader = GraphLoader(connection, self._namespace, types, as_of)
            node_keys, edge_keys = loader.load(self._form.topology, self._form.vectors)
            self._pending = dict.fromkeys(_read_pending(connection, self._namespace))
        self._node_keys.extend(node_keys)
        self._edge_keys.extend(edge_keys)

    @classmethod
    def open(
        cls,
        path: str | Path,
        namespace: str = MemoryConfig().namespace,
        *,
        overlay_edges: int = MemoryConfig().OVERLAY_EDGES,
        clock: Clock = utc_now,
        from_scratch: bool = False,
    ) -> Self:
        """Open or create the memory file at `path` for writing; with `from_scratch` drop what it holds first.

        Raises:
            MemoryLockedError: another process writes to it.
            CorruptMemoryError: it is damaged or holds something else.
            FormatVersionError: it is of another format version.
            StorageError: it cannot be read or written.
        """
        file = SqliteFile(Path(path), from_scratch=from_scratch)
        try:
            return cls(file, namespace, overlay_edges=overlay_edges, clock=clock)
        except BaseException:
            file.close()
            raise

    def namespaces(self) -> list[str]:
        """Return the names of all graphs in the file, in the order they were made."""
        with self._file.lock, self._file.translated():
            rows = self._file.connection.execute("SELECT name FROM namespaces ORDER BY namespace").fetchall()
        return [name for (name,) in rows]

    def check(self) -> list[str]:
        """Return what is wrong with the memory on disk, a line each; none if it is sound."""
        view = self.view()
        edges = view.live_edges()
        ends = np.stack([view.edge_source[edges], view.edge_target[edges]])
        keys = np.concatenate([ends, view.edge_type[edges][np.newaxis]])
        found = {
            "an edge one of whose nodes is gone": int((~view.alive.take(ends.ravel().astype(np.int64))).sum()),
            "two edges of one type between the same nodes": edges.size - np.unique(keys, axis=1).shape[1],
        }
        return self._file.problems() + [f"{count} × {what}" for what, count in found.items() if count]

    def history(self) -> list[HistoryEntry]:
        """Return every delta that changed the graph, oldest first; marks of use are left out."""
        with self._file.lock, self._file.translated():
            rows = self._file.connection.execute(
                "SELECT sequence, at, reason, changes, operators FROM deltas "
                "WHERE namespace = ? AND (changes <> '{}' OR operators IS NOT NULL) ORDER BY sequence",
                (self._namespace,),
            ).fetchall()
        return [
            HistoryEntry(number, from_micros(at), reason, json.loads(changes), operators_from_json(operators or "[]"))
            for number, at, reason, changes, operators in rows
        ]

    def as_of(self, sequence: int) -> SqliteStore:
        """Return the graph as it was after the delta number `sequence`, to be read only; 0 is the empty graph.

        Raises:
            InputError: there is no such delta yet.
        """
        with self._lock:
            self._require_past(sequence)
            return SqliteStore(
                self._file, self._name, overlay_edges=self._overlay_edges, clock=self._clock, as_of=sequence
            )

    def apply(self, delta: GraphDelta) -> int:
        """Make the change whole or not at all; see GraphStore.

        Raises:
            InputError: the store shows the past, which cannot be changed.
        """
        if self._as_of != NOW:
            raise InputError(f"this is the graph as of delta {self._as_of}, which cannot be changed; use undo")
        return super().apply(delta)

    def close(self) -> None:
        """Close the file with all its namespaces; every acknowledged write is in it."""
        if self._as_of != NOW:
            # The file belongs to the present.
            self._closed = True
        elif not self.closed:
            super().close()
            self._file.close()

    # What GraphStore leaves to the durable store

    def _open_namespace(self, namespace: str) -> Self:
        if self._as_of != NOW:
            raise InputError(f"this is the graph as of delta {self._as_of}; ask the present one for other namespaces")
        return type(self)(self._file, namespace, overlay_edges=self._overlay_edges, clock=self._clock)

    def _record_embedder(self, name: str, dimension: int) -> None:
        with self._file.transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO settings VALUES (?, ?)", [("embedder", name), ("dimension", str(dimension))]
            )

    def _persist(self, plan: Plan) -> int:
        with self._file.transaction() as connection:
            sequence = self._journal(connection, plan)
            new_nodes = self._new_node_keys(connection, plan)
            new_edges = _next_keys(connection, "edges", "edge", len(plan.edge_rows))
            node_keys = np.concatenate((self._node_keys.values, new_nodes))
            self._end_removed(connection, plan, sequence)
            self._write_nodes(connection, plan, node_keys[plan.node_rows], sequence)
            self._write_edges(connection, plan, new_edges, node_keys, sequence)
            self._write_uses(connection, plan, node_keys, sequence)
            self._write_pending(connection, plan.delta)
        self._node_keys.extend(new_nodes)
        self._edge_keys.extend(new_edges)
        return sequence

    def _node_records(self, rows: Rows) -> list[NodeRecord]:
        found = self._select(
            "SELECT v.node, v.content, v.metadata, v.created_at, v.valid_from, v.valid_to FROM node_versions v "
            f"WHERE {HOLDS.format('v')} AND v.node IN (SELECT value FROM json_each(:keys))",
            self._node_keys.values[rows],
        )
        return [
            NodeRecord(content, json.loads(metadata), from_micros(created), *map(_moment, validity))
            for content, metadata, created, *validity in found
        ]

    def _edge_records(self, rows: Rows) -> list[EdgeRecord]:
        found = self._select(
            "SELECT edge, created_at, valid_from, valid_to FROM edges "
            "WHERE edge IN (SELECT value FROM json_each(:keys))",
            self._edge_keys.values[rows],
        )
        return [EdgeRecord(from_micros(created), *map(_moment, validity)) for created, *validity in found]

    # Reading

    def _select(self, statement: str, keys: NDArray[Any]) -> list[tuple[Any, ...]]:
        """Return the row of each key, without the key, in the order of `keys`."""
        with self._file.lock, self._file.translated():
            values = {"keys": json.dumps(keys.tolist()), "now": self._as_of}
            rows = self._file.connection.execute(statement, values).fetchall()
        by_key = {key: rest for key, *rest in rows}
        return [by_key[key] for key in keys.tolist()]

    # Writing

    def _journal(self, connection: sqlite3.Connection, plan: Plan) -> int:
        delta = plan.delta
        operators = operators_to_json(delta.operators) if delta.operators else None
        cursor = connection.execute(
            "INSERT INTO deltas (namespace, at, reason, changes, operators) VALUES (?, ?, ?, ?, ?)",
            (self._namespace, to_micros(delta.at), delta.reason, json.dumps(delta.changes), operators),
        )
        return int(cursor.lastrowid or 0)

    def _new_node_keys(self, connection: sqlite3.Connection, plan: Plan) -> NDArray[np.int64]:
        new = [
            node.id
            for node, row in zip(plan.delta.nodes, plan.node_rows.tolist(), strict=True)
            if row >= len(self._node_keys)
        ]
        keys = _next_keys(connection, "nodes", "node", len(new))
        connection.executemany(
            "INSERT INTO nodes VALUES (?, ?, ?)", zip(keys.tolist(), [self._namespace] * len(new), new, strict=True)
        )
        return keys

    def _end_removed(self, connection: sqlite3.Connection, plan: Plan, sequence: int) -> None:
        nodes = self._node_keys.values[plan.removed_nodes].tolist()
        _end(connection, "node_versions", "node", nodes, sequence)
        _end(connection, "vectors", "node", nodes, sequence)
        _end(connection, "edges", "edge", self._edge_keys.values[plan.removed_edges].tolist(), sequence)

    def _write_nodes(self, connection: sqlite3.Connection, plan: Plan, keys: NDArray[np.int64], sequence: int) -> None:
        nodes = list(zip(plan.delta.nodes, plan.node_rows.tolist(), keys.tolist(), strict=True))
        replaced = [key for _, row, key in nodes if row < len(self._node_keys)]
        _end(connection, "node_versions", "node", replaced, sequence)
        connection.executemany(
            "INSERT INTO node_versions VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?)",
            ((key, sequence, *_node_values(node)) for node, _, key in nodes),
        )
        # An unchanged vector keeps its row, so that new metadata does not store it twice.
        changed = [(node, key) for node, row, key in nodes if not self._has_vector_of(row, node, plan)]
        _end(connection, "vectors", "node", [key for _, key in changed], sequence)
        connection.executemany(
            "INSERT INTO vectors VALUES (?, ?, NULL, ?)",
            (
                (key, sequence, np.asarray(node.embedding, dtype="<f4").tobytes())
                for node, key in changed
                if node.embedding is not None
            ),
        )
        connection.executemany(
            "INSERT OR REPLACE INTO accesses VALUES (?, ?)",
            ((key, to_micros(node.last_accessed)) for node, _, key in nodes),
        )

    def _has_vector_of(self, row: int, node: MemoryNode, plan: Plan) -> bool:
        if row in plan.removed_nodes:
            return False
        stored = self._form.vectors.get(row)
        if stored is None or node.embedding is None:
            return stored is None and node.embedding is None
        return np.array_equal(stored, node.embedding)

    def _write_edges(
        self,
        connection: sqlite3.Connection,
        plan: Plan,
        edge_keys: NDArray[np.int64],
        node_keys: NDArray[np.int64],
        sequence: int,
    ) -> None:
        sources, targets = (node_keys[rows].tolist() for rows in plan.edge_ends)
        codes = _type_codes(connection, [edge.type for edge in plan.delta.edges])
        edges = list(zip(edge_keys.tolist(), sources, targets, codes, plan.delta.edges, strict=True))
        connection.executemany(
            "INSERT INTO edges VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?)",
            (
                (key, source, target, code, sequence, to_micros(edge.created_at),
                 micros_or_none(edge.valid_from), micros_or_none(edge.valid_to))
                for key, source, target, code, edge in edges
            ),
        )  # fmt: skip
        connection.executemany(
            "INSERT INTO strengths VALUES (?, ?, ?, ?)",
            (
                (key, sequence, edge.weight, to_micros(edge.last_activated or edge.created_at))
                for key, *_, edge in edges
            ),
        )

    def _write_uses(
        self, connection: sqlite3.Connection, plan: Plan, node_keys: NDArray[np.int64], sequence: int
    ) -> None:
        at = to_micros(plan.delta.at)
        touched = self._form.topology.view().weight.take(plan.touched_edges)
        rows = np.concatenate((plan.weight_rows, plan.touched_edges))
        weights = [change.weight for change in plan.delta.weights] + touched.tolist()
        times = weight_times(plan.delta) + [at] * touched.size
        connection.executemany(
            "INSERT INTO strengths VALUES (?, ?, ?, ?)",
            zip(self._edge_keys.values[rows].tolist(), [sequence] * rows.size, weights, times, strict=True),
        )
        connection.executemany(
            "UPDATE accesses SET last_accessed = ? WHERE node = ?",
            ((at, key) for key in node_keys[plan.touched_nodes].tolist()),
        )

    def _write_pending(self, connection: sqlite3.Connection, delta: GraphDelta) -> None:
        for statement, tasks in (
            ("INSERT OR IGNORE INTO pending (namespace, kind, nodes) VALUES (?, ?, ?)", delta.queued),
            ("DELETE FROM pending WHERE namespace = ? AND kind = ? AND nodes = ?", delta.settled),
        ):
            connection.executemany(statement, ((self._namespace, task.kind, json.dumps(task.nodes)) for task in tasks))


def _read_pending(connection: sqlite3.Connection, namespace: int) -> list[PendingTask]:
    rows = connection.execute("SELECT kind, nodes FROM pending WHERE namespace = ? ORDER BY task", (namespace,))
    return [PendingTask(kind, tuple(json.loads(nodes))) for kind, nodes in rows]


def _register_types(connection: sqlite3.Connection) -> dict[int, EdgeType]:
    """Return the file's edge types by their number, registering those that this process has not met."""
    rows = connection.execute("SELECT type, name, value, plastic, both_ways FROM edge_types")
    return {
        code: EdgeType.register(name, value, plastic=bool(plastic), both_ways=bool(both_ways))
        for code, name, value, plastic, both_ways in rows
    }


def _type_codes(connection: sqlite3.Connection, types: Sequence[EdgeType]) -> list[int]:
    """Return the file's number of each type, entering those that are new to it."""
    codes = dict(connection.execute("SELECT value, type FROM edge_types"))
    for edge_type in dict.fromkeys(types):
        if edge_type.value not in codes:
            cursor = connection.execute(
                "INSERT INTO edge_types (name, value, plastic, both_ways) VALUES (?, ?, ?, ?)",
                (edge_type.name, edge_type.value, edge_type.plastic, edge_type.both_ways),
            )
            codes[edge_type.value] = cursor.lastrowid
    return [codes[edge_type.value] for edge_type in types]


def _next_keys(connection: sqlite3.Connection, table: str, column: str, count: int) -> NDArray[np.int64]:
    (last,) = connection.execute(f"SELECT coalesce(max({column}), 0) FROM {table}").fetchone()
    return np.arange(last + 1, last + 1 + count, dtype=np.int64)


def _end(connection: sqlite3.Connection, table: str, column: str, keys: Iterable[int], sequence: int) -> None:
    """Let the current versions of `keys` end with the delta `sequence`."""
    connection.executemany(
        f"UPDATE {table} SET until = ? WHERE {column} = ? AND until IS NULL",
        ((sequence, key) for key in keys),
    )


def _node_values(node: MemoryNode) -> tuple[object, ...]:
    return (
        node.content,
        json.dumps(dict(node.metadata), ensure_ascii=False),
        node.base_energy,
        to_micros(node.created_at),
        micros_or_none(node.valid_from),
        micros_or_none(node.valid_to),
    )


def _moment(micros: int | None) -> Any:  # noqa: ANN401
    return None if micros is None else from_micros(micros)

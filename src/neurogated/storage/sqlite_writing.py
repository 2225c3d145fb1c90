"""Writing a planned delta into the rows of the memory file."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import apsw
import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import to_micros
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode, checked_text
from neurogated.core.view import Rows
from neurogated.errors import InputError
from neurogated.storage.lifetimes import micros_or_none
from neurogated.storage.planning import Plan
from neurogated.storage.sqlite_connection import fetch
from neurogated.storage.sqlite_loading import Keys, operators_to_json
from neurogated.storage.topology import weight_times
from neurogated.storage.working_form import WorkingForm

__all__ = ["PlanWriter", "Written"]


class Written(NamedTuple):
    """The numbers the file gave."""

    sequence: int
    new_nodes: Keys
    new_edges: Keys


@dataclass(frozen=True, slots=True)
class PlanWriter:
    """Writes plans for one namespace, within a transaction of the caller's."""

    connection: apsw.Connection
    namespace: int
    form: WorkingForm
    node_keys: Keys
    """The file's number of every node row."""
    edge_keys: Keys
    """The file's number of every edge row."""

    def write(self, plan: Plan) -> Written:
        """Write all rows of a plan."""
        sequence = self._journal(plan)
        new_nodes = self._new_node_keys(plan)
        new_edges = _next_keys(self.connection, "edges", "edge", len(plan.edge_rows))
        self._end_removed(plan, sequence)
        self._write_nodes(plan, self._keys_of(plan.node_rows, new_nodes), sequence)
        ends = [self._keys_of(rows, new_nodes) for rows in plan.edge_ends]
        self._write_edges(plan, new_edges, ends, sequence)
        self._write_uses(plan, self._keys_of(plan.touched_nodes, new_nodes), sequence)
        self._write_pending(plan)
        return Written(sequence, new_nodes, new_edges)

    def _journal(self, plan: Plan) -> int:
        delta = plan.delta
        operators = operators_to_json(delta.operators) if delta.operators else None
        self.connection.execute(
            "INSERT INTO deltas (namespace, at, reason, changes, operators) VALUES (?, ?, ?, ?, ?)",
            (self.namespace, to_micros(delta.at), delta.reason, json.dumps(delta.changes), operators),
        )
        return self.connection.last_insert_rowid()

    def _new_node_keys(self, plan: Plan) -> NDArray[np.int64]:
        new = [
            node.id
            for node, row in zip(plan.delta.nodes, plan.node_rows.tolist(), strict=True)
            if row >= len(self.node_keys)
        ]
        keys = _next_keys(self.connection, "nodes", "node", len(new))
        self.connection.executemany(
            "INSERT INTO nodes VALUES (?, ?, ?)", zip(keys.tolist(), [self.namespace] * len(new), new, strict=True)
        )
        return keys

    def _keys_of(self, rows: Rows, new: Keys) -> Keys:
        """Return the file's numbers of node rows, `new` those of the rows that are added."""
        known = len(self.node_keys)
        keys: Keys = np.where(rows < known, self.node_keys[np.minimum(rows, known - 1)] if known else 0, 0)
        keys[rows >= known] = new[rows[rows >= known] - known]
        return keys

    def _end_removed(self, plan: Plan, sequence: int) -> None:
        nodes = self.node_keys[plan.removed_nodes].tolist()
        _end(self.connection, "node_versions", "node", nodes, sequence)
        _end(self.connection, "vectors", "node", nodes, sequence)
        _end(self.connection, "edges", "edge", self.edge_keys[plan.removed_edges].tolist(), sequence)

    def _write_nodes(self, plan: Plan, keys: NDArray[np.int64], sequence: int) -> None:
        nodes = list(zip(plan.delta.nodes, plan.node_rows.tolist(), keys.tolist(), strict=True))
        replaced = [key for _, row, key in nodes if row < len(self.node_keys)]
        _end(self.connection, "node_versions", "node", replaced, sequence)
        self.connection.executemany(
            "INSERT INTO node_versions VALUES (?, ?, NULL, ?, ?, ?, ?, ?, ?, ?)",
            ((key, sequence, *_node_values(node)) for node, _, key in nodes),
        )
        # An unchanged vector keeps its row, so that new metadata does not store it twice.
        changed = [(node, key) for node, row, key in nodes if not self._has_vector_of(row, node, plan)]
        _end(self.connection, "vectors", "node", [key for _, key in changed], sequence)
        self.connection.executemany(
            "INSERT INTO vectors VALUES (?, ?, NULL, ?)",
            (
                (key, sequence, np.asarray(node.embedding, dtype="<f4").tobytes())
                for node, key in changed
                if node.embedding is not None
            ),
        )
        self.connection.executemany(
            "INSERT OR REPLACE INTO accesses VALUES (?, ?, ?)",
            ((key, to_micros(node.last_accessed), sequence) for node, _, key in nodes),
        )

    def _has_vector_of(self, row: int, node: MemoryNode, plan: Plan) -> bool:
        if row in plan.removed_nodes:
            return False
        if node.embedding is None:
            return self.form.vectors.get(row) is None
        return self.form.vectors.matches(row, node.embedding)

    def _write_edges(
        self,
        plan: Plan,
        edge_keys: NDArray[np.int64],
        ends: Sequence[Keys],
        sequence: int,
    ) -> None:
        sources, targets = (keys.tolist() for keys in ends)
        codes = _type_codes(self.connection, [edge.type for edge in plan.delta.edges])
        edges = list(zip(edge_keys.tolist(), sources, targets, codes, plan.delta.edges, strict=True))
        self.connection.executemany(
            "INSERT INTO edges VALUES (?, ?, ?, ?, ?, NULL, ?, ?, ?)",
            (
                (key, source, target, code, sequence, to_micros(edge.created_at),
                 micros_or_none(edge.valid_from), micros_or_none(edge.valid_to))
                for key, source, target, code, edge in edges
            ),
        )  # fmt: skip
        self.connection.executemany(
            "INSERT INTO strengths VALUES (?, ?, ?, ?)",
            (
                (key, sequence, edge.weight, to_micros(edge.last_activated or edge.created_at))
                for key, *_, edge in edges
            ),
        )

    def _write_uses(self, plan: Plan, touched_nodes: Keys, sequence: int) -> None:
        at = to_micros(plan.delta.at)
        touched = self.form.topology.view().weight.take(plan.touched_edges)
        rows = np.concatenate((plan.weight_rows, plan.touched_edges))
        weights = [change.weight for change in plan.delta.weights] + touched.tolist()
        times = weight_times(plan.delta) + [at] * touched.size
        self.connection.executemany(
            "INSERT INTO strengths VALUES (?, ?, ?, ?)",
            zip(self.edge_keys[rows].tolist(), [sequence] * rows.size, weights, times, strict=True),
        )
        self.connection.executemany(
            "UPDATE accesses SET last_accessed = ?, since = ? WHERE node = ?",
            ((at, sequence, key) for key in touched_nodes.tolist()),
        )

    def _write_pending(self, plan: Plan) -> None:
        for statement, tasks in (
            ("INSERT OR IGNORE INTO pending (namespace, kind, nodes) VALUES (?, ?, ?)", plan.delta.queued),
            ("DELETE FROM pending WHERE namespace = ? AND kind = ? AND nodes = ?", plan.delta.settled),
        ):
            self.connection.executemany(
                statement, ((self.namespace, task.kind, json.dumps(task.nodes)) for task in tasks)
            )


def _type_codes(connection: apsw.Connection, types: Sequence[EdgeType]) -> list[int]:
    """Return the file's number of each type, entering those that are new to it."""
    codes = dict(fetch(connection, "SELECT value, type FROM edge_types"))
    for edge_type in dict.fromkeys(types):
        if edge_type.value not in codes:
            connection.execute(
                "INSERT INTO edge_types (name, value, plastic, both_ways) VALUES (?, ?, ?, ?)",
                (edge_type.name, edge_type.value, edge_type.plastic, edge_type.both_ways),
            )
            codes[edge_type.value] = connection.last_insert_rowid()
    return [codes[edge_type.value] for edge_type in types]


def _next_keys(connection: apsw.Connection, table: str, column: str, count: int) -> NDArray[np.int64]:
    ((last,),) = fetch(connection, f"SELECT coalesce(max({column}), 0) FROM {table}")
    return np.arange(last + 1, last + 1 + count, dtype=np.int64)


def _end(connection: apsw.Connection, table: str, column: str, keys: Iterable[int], sequence: int) -> None:
    """Let the current versions of `keys` end with the delta `sequence`."""
    connection.executemany(
        f"UPDATE {table} SET until = ? WHERE {column} = ? AND until IS NULL",
        ((sequence, key) for key in keys),
    )


def _node_values(node: MemoryNode) -> tuple[object, ...]:
    try:
        metadata = json.dumps(dict(node.metadata), ensure_ascii=False, allow_nan=False)
        checked_text("metadata", metadata)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the metadata of node {node.id!r} was changed and is no longer JSON ({error})") from None
    return (
        node.content,
        metadata,
        node.base_energy,
        to_micros(node.created_at),
        micros_or_none(node.valid_from),
        micros_or_none(node.valid_to),
        micros_or_none(node.expires_at),
    )

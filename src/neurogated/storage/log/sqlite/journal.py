"""The journal of a memory file: the rows that a delta writes, and deltas reconstructed from their rows."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import repeat
from typing import Any

import apsw
import numpy as np

from neurogated.core.clock import MICROS_A_DAY, from_micros, to_micros
from neurogated.core.delta import Access, Decay, GraphDelta, HistoryEntry, JournalEntry, NodeChange, WeightChange
from neurogated.core.model import MOST_COUNTED, EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.node_kind import register_kind
from neurogated.core.view import Rows
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph.validity import micros_or_none
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.sqlite.connection import fetch, fetch_columns
from neurogated.storage.log.sqlite.rows import (
    NOW,
    RECORD,
    VALUES,
    Keys,
    NodeNumbers,
    keys_from_blob,
    keys_to_blob,
    moment_or_none,
    node_values,
    operators_from_json,
    records_of,
    scope_from_json,
)
from neurogated.storage.log.sqlite.schema import register_types

# How many values a row of `node_versions` has.
_WIDTH = 2 + len(VALUES.split(", "))


class PlanWriter:
    """Writes a plan for one namespace, within a transaction of the caller."""

    def __init__(self, connection: apsw.Connection, namespace: int, index: GraphIndex) -> None:
        """Take the index, which holds the file's number of every row."""
        self.connection, self.namespace, self.index = connection, namespace, index
        self.node_keys: Keys = index.node_keys.values
        self.edge_keys: Keys = index.edge_keys.values

    def write(self, plan: Plan) -> tuple[int, Keys, Keys]:
        """Write all rows of a plan; return the numbers that the file gave to the delta, its new nodes and new edges."""
        sequence = self._journal(plan)
        new_nodes = self._new_node_keys(plan)
        new_edges = new_nodes[:0]
        if plan.removed_nodes.size or plan.removed_edges.size:
            nodes, edges = self.node_keys[plan.removed_nodes].tolist(), self.edge_keys[plan.removed_edges].tolist()
            self._end("node_versions", "node", nodes, sequence)
            self._end("vectors", "node", nodes, sequence)
            self._end("edges", "edge", edges, sequence)
            self._each("DELETE FROM edge_uses WHERE edge = ?", [(key,) for key in edges])
        if plan.node_rows.size:
            self._write_nodes(plan, self._keys_of(plan.node_rows, new_nodes).tolist(), sequence)
        if plan.edge_rows.size:
            self._write_edges(plan, self._keys_of(np.concatenate(plan.edge_ends), new_nodes).tolist(), sequence)
            new_edges = self._last_keys(plan.edge_rows.size)
        if plan.weight_rows.size:
            self._write_weights(plan, sequence)
        if plan.changed_nodes.size:
            changes = zip(self.node_keys[plan.changed_nodes].tolist(), plan.delta.node_changes, strict=True)
            self._each(
                "INSERT INTO node_changes VALUES (?, ?, ?, ?, ?)",
                ((key, sequence, one.energy, micros_or_none(one.energy_at), one.importance) for key, one in changes),
            )
        if plan.delta.touch:
            self._write_uses(plan, new_nodes, sequence)
        for statement, tasks in (
            ("INSERT OR IGNORE INTO pending (namespace, kind, nodes) VALUES (?, ?, ?)", plan.delta.queued),
            ("DELETE FROM pending WHERE namespace = ? AND kind = ? AND nodes = ?", plan.delta.settled),
        ):
            if tasks:
                self._each(statement, ((self.namespace, task.kind, json.dumps(task.nodes)) for task in tasks))
        return sequence, new_nodes, new_edges

    def _journal(self, plan: Plan) -> int:
        delta = plan.delta
        counts = delta.changes
        tells_of_uses_only = not any((counts, delta.operators, delta.queued, delta.settled))
        changes = None if tells_of_uses_only else json.dumps(counts)
        if changes is None:
            self.connection.execute("DELETE FROM deltas WHERE namespace = ? AND changes IS NULL", (self.namespace,))
        operators, spared = None, None
        if delta.operators:
            operators = json.dumps([operator.to_json() for operator in delta.operators])
            spared = keys_to_blob([self._spared(*one) for one in zip(delta.operators, plan.spared, strict=True)])
        self.connection.execute(
            "INSERT INTO deltas (namespace, at, reason, changes, operators, spared) VALUES (?, ?, ?, ?, ?, ?)",
            (self.namespace, to_micros(delta.at), delta.reason, changes, operators, spared),
        )
        return self.connection.last_insert_rowid()

    def _spared(self, operator: Decay, named: Rows) -> Keys:
        """Return the file's numbers of the edges that an operator spares: those it names and those used recently."""
        (used,) = fetch_columns(
            self.connection,
            "SELECT u.edge FROM edge_uses u JOIN edges e ON e.edge = u.edge JOIN nodes n ON n.node = e.source "
            "WHERE u.last_activated >= :idle_before AND e.until IS NULL AND n.namespace = :namespace",
            {"idle_before": to_micros(operator.idle_before), "namespace": self.namespace},
            (np.int64,),
        )
        return np.union1d(self.edge_keys[named], used)

    def _new_node_keys(self, plan: Plan) -> Keys:
        known, rows = self.node_keys.size, plan.node_rows.tolist()
        new = [node.id for node, row in zip(plan.delta.nodes, rows, strict=True) if row >= known]
        if not new:
            return np.empty(0, dtype=np.int64)
        self._each("INSERT INTO nodes VALUES (NULL, ?, ?)", zip(repeat(self.namespace), new))
        return self._last_keys(len(new))

    def _last_keys(self, count: int) -> Keys:
        """Return the numbers of the rows that were inserted last: SQLite takes the next ones after the highest."""
        end = self.connection.last_insert_rowid() + 1
        return np.arange(end - count, end, dtype=np.int64)

    def _keys_of(self, rows: Rows, new: Keys) -> Keys:
        """Return the file's numbers of node rows; `new` holds those of the added rows."""
        known, present = self.node_keys.size, self.node_keys
        keys: Keys = np.where(rows < known, present[np.minimum(rows, known - 1)] if known else 0, 0)
        keys[rows >= known] = new[rows[rows >= known] - known]
        return keys

    def _write_nodes(self, plan: Plan, keys: Sequence[int], sequence: int) -> None:
        nodes = list(zip(plan.delta.nodes, plan.node_rows.tolist(), keys, strict=True))
        numbers, known = NodeNumbers(self.connection), self.node_keys.size
        replaced = [key for _, row, key in nodes if row < known]
        self._end("node_versions", "node", replaced, sequence)
        self._each(
            f"INSERT INTO node_versions (node, since, {VALUES}) VALUES ({', '.join('?' * _WIDTH)})",
            [(key, sequence, *node_values(node, numbers)) for node, _, key in nodes],
        )
        # An unchanged vector keeps its row, so that new metadata does not store it twice.
        changed = [(node, key) for node, row, key in nodes if row >= known or not self._has_vector_of(row, node, plan)]
        if replaced:
            self._end("vectors", "node", [key for _, key in changed], sequence)
        vectors = [(key, node.embedding) for node, key in changed if node.embedding is not None]
        self._each(
            "INSERT INTO vectors VALUES (?, ?, NULL, ?)",
            [(key, sequence, np.asarray(vector, dtype="<f4").tobytes()) for key, vector in vectors],
        )
        self._each(
            "INSERT OR REPLACE INTO accesses VALUES (?, ?, ?, ?, ?, ?)",
            [
                (
                    *(key, to_micros(node.last_accessed), node.uses, sequence, node.charge),
                    None if node.charged_at == node.created_at else micros_or_none(node.charged_at),
                )
                for node, _, key in nodes
            ],
        )

    def _has_vector_of(self, row: int, node: MemoryNode, plan: Plan) -> bool:
        if row in plan.removed_nodes:
            return False
        if node.embedding is None:
            return self.index.vectors.get(row) is None
        return self.index.vectors.matches(row, node.embedding)

    def _write_edges(self, plan: Plan, ends: Sequence[int], sequence: int) -> None:
        sources, targets = ends[: len(ends) // 2], ends[len(ends) // 2 :]
        codes = dict(fetch(self.connection, "SELECT value, type FROM edge_types"))
        for kind in dict.fromkeys([edge.type for edge in plan.delta.edges]):
            if kind.value not in codes:
                self.connection.execute(
                    "INSERT INTO edge_types (name, value, plastic, both_ways) VALUES (?, ?, ?, ?)",
                    (kind.name, kind.value, kind.plastic, kind.both_ways),
                )
                codes[kind.value] = self.connection.last_insert_rowid()
        at, kinds = plan.delta.at, [codes[edge.type.value] for edge in plan.delta.edges]
        self._each(
            "INSERT INTO edges VALUES (NULL, ?, ?, ?, ?, NULL, ?, ?, ?, ?, ?, ?)",
            [
                (source, target, kind, sequence, edge.weight, None, None, None, None, edge.relation)
                if edge.created_at == edge.last_activated == at and edge.valid_from is edge.valid_to is None
                else (source, target, kind, sequence, edge.weight, *_edge_times(edge, at), edge.relation)
                for source, target, kind, edge in zip(sources, targets, kinds, plan.delta.edges, strict=True)
            ],
        )

    def _write_weights(self, plan: Plan, sequence: int) -> None:
        keys, times = self.edge_keys[plan.weight_rows].tolist(), plan.weight_times.tolist()
        changes = list(zip(keys, plan.delta.weights, times, strict=True))
        self._each(
            "INSERT INTO edge_weights VALUES (?, ?, ?, ?)",
            [(key, sequence, change.weight, None if change.derived else used) for key, change, used in changes],
        )
        # The new row of `edge_weights` now holds the last use of the edge.
        learned = [(key,) for key, change, _ in changes if not change.derived]
        self._each("DELETE FROM edge_uses WHERE edge = ?", learned)

    def _write_uses(self, plan: Plan, new_nodes: Keys, sequence: int) -> None:
        at, touched = to_micros(plan.delta.at), self._keys_of(plan.touched_nodes, new_nodes).tolist()
        self._each(
            f"UPDATE accesses SET last_accessed = ?, uses = min(uses + ?, {MOST_COUNTED}), since = ? WHERE node = ?",
            zip(repeat(at), plan.touched_counts.tolist(), repeat(sequence), touched),
        )
        keys = self.edge_keys[plan.touched_edges[plan.touched_times == at]].tolist()
        self._each("INSERT OR REPLACE INTO edge_uses VALUES (?, ?, ?)", ((key, at, sequence) for key in keys))
        if touched or keys:
            self.connection.execute(
                "INSERT INTO daily_uses VALUES (?, ?, ?, ?) ON CONFLICT (namespace, day) "
                "DO UPDATE SET nodes = nodes + excluded.nodes, edges = edges + excluded.edges",
                (self.namespace, at // MICROS_A_DAY, int(plan.touched_counts.sum()), len(keys)),
            )
        charged = self._keys_of(plan.charged_nodes, new_nodes).tolist()
        self._each(
            "UPDATE accesses SET charge = ?, charged_at = ?, since = ? WHERE node = ?",
            zip(plan.charges.tolist(), plan.charge_times.tolist(), repeat(sequence), charged),
        )

    def _end(self, table: str, column: str, keys: Iterable[int], sequence: int) -> None:
        statement = f"UPDATE {table} SET until = ? WHERE {column} = ? AND until IS NULL"
        self._each(statement, [(sequence, key) for key in keys])

    def _each(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        if given := list(rows):
            self.connection.executemany(statement, given)


def _edge_times(edge: MemoryEdge, at: datetime) -> tuple[int | None, ...]:
    created = None if edge.created_at == at else to_micros(edge.created_at)
    used = None if edge.last_activated in (None, edge.created_at) else micros_or_none(edge.last_activated)
    if edge.valid_from is None and edge.valid_to is None:
        return created, used, None, None
    return created, used, micros_or_none(edge.valid_from), micros_or_none(edge.valid_to)


_REMOVED_NODES = "nodes removed"
_REMOVED_EDGES = "edges removed"

# Deltas that changed the graph, and deltas that recorded the last use of an edge.
_ENTRIES = """
    SELECT sequence, at, reason, changes, operators, spared FROM deltas
    WHERE sequence > :after AND sequence <= :up_to AND namespace = :namespace AND changes IS NOT NULL
    UNION ALL
    SELECT u.since, u.last_activated, 'touch', '{}', NULL, NULL FROM edge_uses u
    JOIN edges e ON e.edge = u.edge JOIN nodes n ON n.node = e.source
    WHERE u.since > :after AND u.since <= :up_to AND n.namespace = :namespace
    AND NOT EXISTS (SELECT 1 FROM deltas d WHERE d.sequence = u.since AND d.changes IS NOT NULL)
    GROUP BY u.since"""


_NODE = (
    *("id", "embedding", "base_energy", "energy_at", "importance", "uses", "charge", "charged_at", "last_accessed"),
    *("kind", "scope"),
)
"""The first columns of a node, before those of its record."""

# CROSS JOIN keeps the order of the tables; SQLite would begin with all nodes of the namespace.
_TOUCHED = """
    SELECT id, max(sequence) FROM (
        SELECT n.id AS id, v.since AS sequence FROM node_versions v
        CROSS JOIN nodes n ON n.node = v.node JOIN kinds k ON k.number = v.kind
        WHERE v.since > :after AND v.since <= :up_to AND n.namespace = :namespace AND k.name = :kind
        UNION ALL
        SELECT n.id, v.until FROM node_versions v
        CROSS JOIN nodes n ON n.node = v.node JOIN kinds k ON k.number = v.kind
        WHERE v.until > :after AND v.until <= :up_to AND n.namespace = :namespace AND k.name = :kind
        UNION ALL
        SELECT n.id, e.since FROM edges e CROSS JOIN nodes n ON n.node = e.source JOIN edge_types t ON t.type = e.type
        WHERE e.since > :after AND e.since <= :up_to AND n.namespace = :namespace AND t.value = :edge_type
        UNION ALL
        SELECT n.id, e.until FROM edges e CROSS JOIN nodes n ON n.node = e.source JOIN edge_types t ON t.type = e.type
        WHERE e.until > :after AND e.until <= :up_to AND n.namespace = :namespace AND t.value = :edge_type
    ) GROUP BY id"""


class SqliteJournal:
    """Reconstructs the deltas of one namespace, without erased data.

    Uses and queued judgements have only current values. The journal holds the last use of each edge, under the number
    of the delta that recorded it. An operator names the edges that it spared because they had been used.
    """

    def __init__(self, connection: apsw.Connection, namespace: int) -> None:
        self._connection, self._namespace, self._types = connection, namespace, register_types(connection)

    def entries(self, after: int, up_to: int = NOW) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`, oldest first; the file must not change meanwhile."""
        for row in self._rows(f"{_ENTRIES} ORDER BY sequence", after=after, up_to=up_to):
            sequence, at, reason, changes, operators, spared = row
            yield self._entry(sequence, at, reason, json.loads(changes), self._operators(operators, spared))

    def sequences(self, after: int, up_to: int) -> list[int]:
        """Return the numbers of the deltas above `after`, oldest first."""
        found = self._rows(f"SELECT sequence FROM ({_ENTRIES}) ORDER BY sequence", after=after, up_to=up_to)
        return [sequence for (sequence,) in found]

    def sequences_of(self, node_id: str) -> list[int]:
        """Return the numbers of the deltas that put or removed a node, oldest first."""
        found = self._rows(
            "SELECT v.since, v.until FROM nodes n JOIN node_versions v ON v.node = n.node "
            "WHERE n.namespace = :namespace AND n.id = :id",
            id=node_id,
        )
        return sorted({sequence for version in found for sequence in version if sequence is not None})

    def touched(self, kind: str, edge_type: str, after: int, up_to: int) -> dict[str, int]:
        """Return changed nodes and the numbers of their last changes; see `SupportsTouched`."""
        return dict(self._rows(_TOUCHED, after=after, up_to=up_to, kind=kind, edge_type=edge_type))

    def history(self, after: int, up_to: int) -> list[HistoryEntry]:
        """Return the entries above `after`, to `up_to`, that changed the graph, oldest first; uses are left out."""
        rows = self._rows(
            "SELECT sequence, at, reason, changes, operators FROM deltas "
            "WHERE namespace = :namespace AND sequence > :after AND sequence <= :up_to "
            "AND (changes <> '{}' OR operators IS NOT NULL) ORDER BY sequence",
            after=after,
            up_to=up_to,
        )
        return [
            HistoryEntry(number, from_micros(at), reason, json.loads(changes), operators_from_json(operators))
            for number, at, reason, changes, operators in rows
        ]

    def _rows(self, statement: str, **values: object) -> list[tuple[Any, ...]]:
        return fetch(self._connection, statement, {"namespace": self._namespace, **values})

    def _entry(
        self, sequence: int, at: int, reason: str, changes: Mapping[str, int], operators: tuple[Decay, ...]
    ) -> JournalEntry:
        nodes, edges = self._nodes(sequence), self._edges(sequence)
        removed_nodes = self._removed_nodes(sequence, changes.get(_REMOVED_NODES, 0))
        changed = self._rows(
            "SELECT n.id, c.energy, c.energy_at, c.importance FROM node_changes c JOIN nodes n ON n.node = c.node "
            "WHERE c.since = :now ORDER BY c.node",
            now=sequence,
        )
        put, gone = {edge.key for edge in edges}, set(removed_nodes)
        ended = self._keys("e.until = :value", sequence)
        implied = [key for key in ended if key in put or gone & {key.source_id, key.target_id}]
        removed_edges = [key for key in ended if key not in implied]
        # The file holds only the number of named edges. Edges removed for another reason fill the list up to it.
        removed_edges += implied[: max(changes.get(_REMOVED_EDGES, 0) - len(removed_edges), 0)]
        used = self._keys("e.edge IN (SELECT edge FROM edge_uses WHERE since = :value)", sequence)
        delta = GraphDelta(
            removed_edges=tuple(removed_edges),
            removed_nodes=tuple(removed_nodes),
            nodes=tuple(nodes),
            edges=tuple(edges),
            weights=tuple(self._weights(sequence)),
            node_changes=tuple(
                NodeChange(name, energy, moment_or_none(at), rated) for name, energy, at, rated in changed
            ),
            operators=operators,
            touch=Access(edges=frozenset(used)),
            reason=reason,
            at=from_micros(at),
        )
        return JournalEntry(sequence, delta)

    def _nodes(self, sequence: int) -> Iterator[MemoryNode]:
        for row in self._rows(
            "SELECT n.id, x.vector, v.base_energy, coalesce(v.energy_at, v.created_at), v.importance, "
            "coalesce(a.uses, 0), coalesce(a.charge, 0), coalesce(a.charged_at, v.created_at), "
            f"coalesce(a.last_accessed, 0), k.name, s.name, {RECORD} "
            "FROM node_versions v JOIN nodes n ON n.node = v.node JOIN kinds k ON k.number = v.kind "
            "LEFT JOIN scopes s ON s.number = v.scope LEFT JOIN accesses a ON a.node = v.node "
            "LEFT JOIN vectors x ON x.node = v.node AND x.since <= v.since AND (x.until IS NULL OR x.until > v.since) "
            "WHERE v.since = :now ORDER BY v.node",
            now=sequence,
        ):
            values = dict(zip(_NODE, row, strict=False))
            values |= {name: from_micros(values[name]) for name in ("energy_at", "charged_at", "last_accessed")}
            values |= {"kind": register_kind(values["kind"]), "scope": scope_from_json(values["scope"])}
            if values["embedding"] is not None:
                values["embedding"] = vector = np.frombuffer(values["embedding"], dtype="<f4").astype(np.float32)
                vector.setflags(write=False)
            yield MemoryNode.restored(**values, **records_of([row[len(_NODE) :]])[0].fields())

    def _removed_nodes(self, sequence: int, count: int) -> list[str]:
        ended = self._rows(
            "SELECT n.id, v.node, EXISTS (SELECT 1 FROM node_versions w WHERE w.node = v.node AND w.since = :now) "
            "FROM node_versions v JOIN nodes n ON n.node = v.node WHERE v.until = :now ORDER BY v.node",
            now=sequence,
        )
        kept = (
            "SELECT 1 FROM edges WHERE (source = :node OR target = :node) AND since < :now "
            "AND (until IS NULL OR until > :now) LIMIT 1"
        )
        removed = [name for name, _, put in ended if not put]
        if count > len(removed):
            # A node removed and put again in one delta equals a replaced node, unless an edge of it stayed.
            again = [name for name, key, put in ended if put and not self._rows(kept, node=key, now=sequence)]
            removed += again[: count - len(removed)]
        return removed

    def _edges(self, sequence: int) -> list[MemoryEdge]:
        rows = self._rows(
            "SELECT s.id, t.id, e.type, e.weight, coalesce(e.created_at, d.at), "
            "coalesce(e.last_activated, e.created_at, d.at), e.valid_from, e.valid_to, e.relation "
            "FROM edges e JOIN nodes s ON s.node = e.source JOIN nodes t ON t.node = e.target "
            "JOIN deltas d ON d.sequence = e.since WHERE e.since = :now ORDER BY e.edge",
            now=sequence,
        )
        return [
            MemoryEdge(
                source,
                target,
                self._types[code],
                weight,
                created_at=from_micros(created),
                last_activated=from_micros(used),
                valid_from=moment_or_none(begin),
                valid_to=moment_or_none(end),
                relation=relation,
            )
            for source, target, code, weight, created, used, begin, end, relation in rows
        ]

    def _weights(self, sequence: int) -> Iterator[WeightChange]:
        for source, target, code, weight, used in self._rows(
            "SELECT s.id, t.id, e.type, w.weight, w.last_activated FROM edge_weights w JOIN edges e ON e.edge = w.edge "
            "JOIN nodes s ON s.node = e.source JOIN nodes t ON t.node = e.target "
            "WHERE w.since = :now AND e.since < w.since ORDER BY e.edge",
            now=sequence,
        ):
            key = EdgeKey(source, target, self._types[code])
            if key.type.plastic:
                yield WeightChange(key, weight, from_micros(used))
            else:
                yield WeightChange(key, weight, derived=True)

    def _operators(self, text: str | None, blob: bytes | None) -> tuple[Decay, ...]:
        if text is None or blob is None:
            return ()
        operators = zip(operators_from_json(text), keys_from_blob(blob), strict=True)
        listed = "e.edge IN (SELECT value FROM json_each(:value))"
        return tuple(
            replace(operator, spared=frozenset(self._keys(listed, json.dumps(spared.tolist()))))
            for operator, spared in operators
        )

    def _keys(self, condition: str, value: object) -> list[EdgeKey]:
        rows = self._rows(
            "SELECT s.id, t.id, e.type FROM edges e JOIN nodes s ON s.node = e.source "
            f"JOIN nodes t ON t.node = e.target WHERE {condition} ORDER BY e.edge",
            value=value,
        )
        return [EdgeKey(source, target, self._types[code]) for source, target, code in rows]

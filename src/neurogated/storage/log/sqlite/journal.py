"""The journal of a memory file: deltas reconstructed from the rows that they wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import apsw
import numpy as np

from neurogated.core.clock import from_micros
from neurogated.core.delta import Access, Decay, GraphDelta, HistoryEntry, JournalEntry, NodeChange, WeightChange
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.node_kind import register_kind
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.loading import NOW, Keys, keys_from_blob, operators_from_json
from neurogated.storage.log.sqlite.node_rows import RECORD, moment_or_none, record_of, scope_from_json
from neurogated.storage.log.sqlite.settings import register_types

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
        self._connection = connection
        self._namespace = namespace
        self._types = register_types(connection)

    def entries(self, after: int, up_to: int = NOW) -> Iterator[JournalEntry]:
        """Yield the deltas numbered above `after`, oldest first; the file must not change meanwhile."""
        rows = fetch(self._connection, f"{_ENTRIES} ORDER BY sequence", self._values(after, up_to))
        for sequence, at, reason, changes, operators, spared in rows:
            yield self._entry(sequence, at, reason, json.loads(changes), self._operators(operators, spared))

    def sequences(self, after: int, up_to: int) -> list[int]:
        """Return the numbers of the deltas above `after`, oldest first."""
        found = fetch(
            self._connection, f"SELECT sequence FROM ({_ENTRIES}) ORDER BY sequence", self._values(after, up_to)
        )
        return [sequence for (sequence,) in found]

    def sequences_of(self, node_id: str) -> list[int]:
        """Return the numbers of the deltas that put or removed a node, oldest first."""
        found = fetch(
            self._connection,
            "SELECT v.since, v.until FROM nodes n JOIN node_versions v ON v.node = n.node "
            "WHERE n.namespace = ? AND n.id = ?",
            (self._namespace, node_id),
        )
        return sorted({sequence for version in found for sequence in version if sequence is not None})

    def touched(self, kind: str, edge_type: str, after: int, up_to: int) -> dict[str, int]:
        """Return changed nodes and the numbers of their last changes; see `SupportsTouched`."""
        values = {**self._values(after, up_to), "kind": kind, "edge_type": edge_type}
        return dict(fetch(self._connection, _TOUCHED, values))

    def _values(self, after: int, up_to: int) -> dict[str, int]:
        return {"namespace": self._namespace, "after": after, "up_to": up_to}

    def history(self, after: int, up_to: int) -> list[HistoryEntry]:
        """Return the entries above `after`, to `up_to`, that changed the graph, oldest first; uses are left out."""
        rows = fetch(
            self._connection,
            "SELECT sequence, at, reason, changes, operators FROM deltas "
            "WHERE namespace = :namespace AND sequence > :after AND sequence <= :up_to "
            "AND (changes <> '{}' OR operators IS NOT NULL) ORDER BY sequence",
            self._values(after, up_to),
        )
        return [
            HistoryEntry(number, from_micros(at), reason, json.loads(changes), operators_from_json(operators))
            for number, at, reason, changes, operators in rows
        ]

    def _entry(
        self, sequence: int, at: int, reason: str, changes: Mapping[str, int], operators: tuple[Decay, ...]
    ) -> JournalEntry:
        nodes, edges = self._nodes(sequence), self._edges(sequence)
        removed_nodes = self._removed_nodes(sequence, changes.get(_REMOVED_NODES, 0))
        put, gone = {edge.key for edge in edges}, set(removed_nodes)
        ended = self._removed_edges(sequence)
        implied = [key for key in ended if key in put or gone & {key.source_id, key.target_id}]
        removed_edges = [key for key in ended if key not in implied]
        # The file holds only the number of named edges. Edges removed for another reason fill the list up to it.
        removed_edges += implied[: max(changes.get(_REMOVED_EDGES, 0) - len(removed_edges), 0)]
        delta = GraphDelta(
            removed_edges=tuple(removed_edges),
            removed_nodes=tuple(removed_nodes),
            nodes=tuple(nodes),
            edges=tuple(edges),
            weights=tuple(self._weights(sequence)),
            node_changes=tuple(self._changes(sequence)),
            operators=operators,
            touch=Access(edges=frozenset(self._used(sequence))),
            reason=reason,
            at=from_micros(at),
        )
        return JournalEntry(sequence, delta)

    def _nodes(self, sequence: int) -> list[MemoryNode]:
        rows = fetch(
            self._connection,
            "SELECT n.id, x.vector, v.base_energy, coalesce(v.energy_at, v.created_at), v.importance, "
            "coalesce(a.uses, 0), coalesce(a.charge, 0), coalesce(a.charged_at, v.created_at), "
            f"coalesce(a.last_accessed, 0), k.name, s.name, {RECORD} "
            "FROM node_versions v JOIN nodes n ON n.node = v.node JOIN kinds k ON k.number = v.kind "
            "LEFT JOIN scopes s ON s.number = v.scope LEFT JOIN accesses a ON a.node = v.node "
            "LEFT JOIN vectors x ON x.node = v.node AND x.since <= v.since AND (x.until IS NULL OR x.until > v.since) "
            "WHERE v.since = ? ORDER BY v.node",
            (sequence,),
        )
        return list(map(_node, rows))

    def _changes(self, sequence: int) -> Iterator[NodeChange]:
        rows = fetch(
            self._connection,
            "SELECT n.id, c.energy, c.energy_at, c.importance FROM node_changes c JOIN nodes n ON n.node = c.node "
            "WHERE c.since = ? ORDER BY c.node",
            (sequence,),
        )
        return (NodeChange(name, energy, moment_or_none(at), importance) for name, energy, at, importance in rows)

    def _removed_nodes(self, sequence: int, count: int) -> list[str]:
        ended = fetch(
            self._connection,
            "SELECT n.id, v.node, EXISTS (SELECT 1 FROM node_versions w WHERE w.node = v.node AND w.since = :now) "
            "FROM node_versions v JOIN nodes n ON n.node = v.node WHERE v.until = :now ORDER BY v.node",
            {"now": sequence},
        )
        removed = [name for name, _, put in ended if not put]
        if count > len(removed):
            # A node removed and put again in one delta equals a replaced node, unless an edge of it stayed.
            again = [name for name, key, put in ended if put and not self._kept_an_edge(key, sequence)]
            removed += again[: count - len(removed)]
        return removed

    def _kept_an_edge(self, node: int, sequence: int) -> bool:
        rows = fetch(
            self._connection,
            "SELECT 1 FROM edges WHERE (source = :node OR target = :node) AND since < :now "
            "AND (until IS NULL OR until > :now) LIMIT 1",
            {"node": node, "now": sequence},
        )
        return bool(rows)

    def _edges(self, sequence: int) -> list[MemoryEdge]:
        rows = fetch(
            self._connection,
            "SELECT s.id, t.id, e.type, e.weight, coalesce(e.created_at, d.at), "
            "coalesce(e.last_activated, e.created_at, d.at), e.valid_from, e.valid_to, e.relation "
            "FROM edges e JOIN nodes s ON s.node = e.source JOIN nodes t ON t.node = e.target "
            "JOIN deltas d ON d.sequence = e.since WHERE e.since = ? ORDER BY e.edge",
            (sequence,),
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

    def _removed_edges(self, sequence: int) -> list[EdgeKey]:
        rows = fetch(
            self._connection,
            "SELECT s.id, t.id, e.type FROM edges e JOIN nodes s ON s.node = e.source "
            "JOIN nodes t ON t.node = e.target WHERE e.until = ? ORDER BY e.edge",
            (sequence,),
        )
        return [EdgeKey(source, target, self._types[code]) for source, target, code in rows]

    def _weights(self, sequence: int) -> Iterator[WeightChange]:
        rows = fetch(
            self._connection,
            "SELECT s.id, t.id, e.type, w.weight, w.last_activated FROM edge_weights w JOIN edges e ON e.edge = w.edge "
            "JOIN nodes s ON s.node = e.source JOIN nodes t ON t.node = e.target "
            "WHERE w.since = ? AND e.since < w.since ORDER BY e.edge",
            (sequence,),
        )
        for source, target, code, weight, used in rows:
            key = EdgeKey(source, target, self._types[code])
            if key.type.plastic:
                yield WeightChange(key, weight, from_micros(used))
            else:
                yield WeightChange(key, weight, derived=True)

    def _used(self, sequence: int) -> Iterator[EdgeKey]:
        rows = fetch(
            self._connection,
            "SELECT s.id, t.id, e.type FROM edge_uses u JOIN edges e ON e.edge = u.edge "
            "JOIN nodes s ON s.node = e.source JOIN nodes t ON t.node = e.target WHERE u.since = ?",
            (sequence,),
        )
        return (EdgeKey(source, target, self._types[code]) for source, target, code in rows)

    def _operators(self, text: str | None, blob: bytes | None) -> tuple[Decay, ...]:
        if text is None or blob is None:
            return ()
        operators = zip(operators_from_json(text), keys_from_blob(blob), strict=True)
        return tuple(replace(operator, spared=self._edge_keys(spared)) for operator, spared in operators)

    def _edge_keys(self, keys: Keys) -> frozenset[EdgeKey]:
        rows = fetch(
            self._connection,
            "SELECT s.id, t.id, e.type FROM edges e JOIN nodes s ON s.node = e.source "
            "JOIN nodes t ON t.node = e.target WHERE e.edge IN (SELECT value FROM json_each(?))",
            (json.dumps(keys.tolist()),),
        )
        return frozenset(EdgeKey(source, target, self._types[code]) for source, target, code in rows)


def _node(row: Sequence[Any]) -> MemoryNode:
    """Return the node from the columns `_NODE` and those of its record."""
    values = dict(zip(_NODE, row, strict=False))
    values |= {name: from_micros(values[name]) for name in ("energy_at", "charged_at", "last_accessed")}
    values |= {"kind": register_kind(values["kind"]), "scope": scope_from_json(values["scope"])}
    values["embedding"] = _vector(values["embedding"])
    return MemoryNode.restored(**values, **record_of(row[len(_NODE) :]).fields())


def _vector(blob: bytes | None) -> Any:  # noqa: ANN401 - a vector, or None
    if blob is None:
        return None
    vector = np.frombuffer(blob, dtype="<f4").astype(np.float32)
    vector.setflags(write=False)
    return vector

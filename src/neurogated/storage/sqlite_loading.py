"""Reading a graph's working form out of the memory file, as it is or as it was."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.delta import Decay
from neurogated.core.edge_type import EdgeType
from neurogated.core.ports import VectorIndex
from neurogated.errors import CorruptMemoryError
from neurogated.storage.topology import Topology

__all__ = ["HOLDS", "NOW", "GraphLoader", "operators_from_json", "operators_to_json"]

Keys = NDArray[np.int64]

NOW = 2**63 - 1
"""A delta number beyond all others, the largest that SQLite holds."""
HOLDS = "{0}.since <= :now AND ({0}.until IS NULL OR {0}.until > :now)"
"""SQL condition that a version, of the table with alias {0}, holds after the delta `:now`."""


@dataclass(frozen=True, slots=True)
class GraphLoader:
    """Reads one namespace as it was after the delta number `as_of`; `NOW` stands for the last one.

    Nodes and edges come in the order in which they were added, so that sums over them are the same to the last bit as
    before closing.
    """

    connection: sqlite3.Connection
    namespace: int
    types: Mapping[int, EdgeType]
    as_of: int

    def load(self, topology: Topology, vectors: VectorIndex) -> tuple[Keys, Keys]:
        """Fill `topology` and `vectors`, and return the file's number of every node row and of every edge row."""
        node_keys = self._load_nodes(topology)
        self._load_vectors(node_keys, vectors)
        edge_keys = self._load_edges(node_keys, topology)
        (topology.sequence,) = self._query(
            "SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = :namespace AND sequence <= :now"
        ).fetchone()
        return node_keys, edge_keys

    def _query(self, statement: str) -> sqlite3.Cursor:
        return self.connection.execute(statement, {"namespace": self.namespace, "now": self.as_of})

    def _columns(self, statement: str) -> list[tuple[Any, ...]]:
        """Return what a query finds by columns, empty ones where it finds nothing."""
        cursor = self._query(statement)
        return list(zip(*cursor, strict=True)) or [()] * len(cursor.description)

    def _load_nodes(self, topology: Topology) -> Keys:
        keys, ids, alive, energies, accessed = self._columns(
            "SELECT n.node, n.id, v.node IS NOT NULL, coalesce(v.base_energy, 0), coalesce(a.last_accessed, 0) "
            f"FROM nodes n LEFT JOIN node_versions v ON v.node = n.node AND {HOLDS.format('v')} "
            "LEFT JOIN accesses a ON a.node = n.node WHERE n.namespace = :namespace ORDER BY n.node"
        )
        topology.set_nodes(ids, np.arange(len(ids)), energies, accessed)
        topology.mark_removed(np.flatnonzero(~np.array(alive, dtype=np.bool_)))
        return np.array(keys, dtype=np.int64)

    def _load_vectors(self, node_keys: Keys, vectors: VectorIndex) -> None:
        keys, blobs = self._columns(
            "SELECT v.node, v.vector FROM vectors v JOIN nodes n ON n.node = v.node "
            f"WHERE n.namespace = :namespace AND {HOLDS.format('v')} ORDER BY v.node"
        )
        if not blobs:
            return
        if len({len(blob) for blob in blobs}) > 1:
            raise CorruptMemoryError("the memory holds vectors of different lengths; restore it from a backup")
        matrix = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)
        vectors.put(np.searchsorted(node_keys, np.array(keys, dtype=np.int64)), matrix.astype(np.float32))

    def _load_edges(self, node_keys: Keys, topology: Topology) -> Keys:
        columns = self._columns(
            "SELECT e.edge, e.source, e.target, e.type, s.since, s.weight, s.last_activated "
            "FROM edges e JOIN nodes n ON n.node = e.source JOIN strengths s ON s.edge = e.edge "
            f"WHERE n.namespace = :namespace AND {HOLDS.format('e')} AND s.since <= :now ORDER BY e.edge, s.since"
        )
        edge, source, target, code, since, weight, activated = (np.array(column) for column in columns)
        # Of an edge's versions the last one holds.
        current = np.append(edge[1:] != edge[:-1], np.ones(min(1, edge.size), dtype=np.bool_)).astype(np.bool_)
        codes = topology.type_codes(self.types[value] for value in code[current].tolist())
        ends = np.searchsorted(node_keys, source[current]), np.searchsorted(node_keys, target[current])
        topology.append_edges(ends, codes, weight[current], activated[current])
        self._replay_operators(since[current], topology)
        return edge[current].astype(np.int64)

    def _replay_operators(self, since: NDArray[Any], topology: Topology) -> None:
        """Evaluate the journaled operators over the weights that are older than each."""
        rows = self._query(
            "SELECT sequence, operators FROM deltas "
            "WHERE namespace = :namespace AND sequence <= :now AND operators IS NOT NULL ORDER BY sequence"
        ).fetchall()
        for sequence, operators in rows:
            for operator in operators_from_json(operators):
                topology.decay(operator, among=since < sequence)


def operators_to_json(operators: Iterable[Decay]) -> str:
    """Return the operators of a delta as the journal keeps them."""
    return json.dumps(
        [
            {"kind": "decay", "factor": op.factor, "idle_before": to_micros(op.idle_before), "floor": op.floor}
            for op in operators
        ]
    )


def operators_from_json(text: str) -> tuple[Decay, ...]:
    """Return the operators that `operators_to_json` wrote."""
    return tuple(_operator(values) for values in json.loads(text))


def _operator(values: Mapping[str, Any]) -> Decay:
    if values["kind"] != "decay":
        raise CorruptMemoryError(f"the journal holds an operator of unknown kind {values['kind']!r}")
    return Decay(values["factor"], from_micros(values["idle_before"]), values["floor"])

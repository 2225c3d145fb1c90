"""Reading a graph's working form out of the memory file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import from_micros
from neurogated.core.delta import Decay
from neurogated.core.edge_type import EdgeType
from neurogated.core.ports import VectorIndex
from neurogated.errors import CorruptMemoryError
from neurogated.storage.topology import Topology

__all__ = ["load_graph"]

Keys = NDArray[np.int64]


def load_graph(
    connection: sqlite3.Connection,
    namespace: int,
    types: Mapping[int, EdgeType],
    topology: Topology,
    vectors: VectorIndex,
) -> tuple[Keys, Keys]:
    """Fill `topology` and `vectors`, and return the file's number of every node row and edge row.

    Nodes and edges come in the order in which they were added, so that sums over them are the same to the last bit
    as before closing.
    """
    node_keys = _load_nodes(connection, namespace, topology)
    _load_vectors(connection, namespace, node_keys, vectors)
    edge_keys = _load_edges(connection, namespace, types, node_keys, topology)
    (last,) = connection.execute(
        "SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = ?", (namespace,)
    ).fetchone()
    topology.sequence = last
    return node_keys, edge_keys


def _columns(cursor: sqlite3.Cursor) -> list[tuple[Any, ...]]:
    """Return what a query finds by columns, empty ones where it finds nothing."""
    return list(zip(*cursor, strict=True)) or [()] * len(cursor.description)


def _load_nodes(connection: sqlite3.Connection, namespace: int, topology: Topology) -> Keys:
    found = connection.execute(
        "SELECT n.node, n.id, v.node IS NOT NULL, coalesce(v.base_energy, 0), coalesce(a.last_accessed, 0) "
        "FROM nodes n LEFT JOIN node_versions v ON v.node = n.node AND v.until IS NULL "
        "LEFT JOIN accesses a ON a.node = n.node WHERE n.namespace = ? ORDER BY n.node",
        (namespace,),
    )
    keys, ids, alive, energies, accessed = _columns(found)
    topology.set_nodes(ids, np.arange(len(ids)), energies, accessed)
    topology.mark_removed(np.flatnonzero(~np.array(alive, dtype=np.bool_)))
    return np.array(keys, dtype=np.int64)


def _load_vectors(connection: sqlite3.Connection, namespace: int, node_keys: Keys, vectors: VectorIndex) -> None:
    found = connection.execute(
        "SELECT v.node, v.vector FROM vectors v JOIN nodes n ON n.node = v.node "
        "WHERE n.namespace = ? AND v.until IS NULL ORDER BY v.node",
        (namespace,),
    )
    keys, blobs = _columns(found)
    if not blobs:
        return
    if len({len(blob) for blob in blobs}) > 1:
        raise CorruptMemoryError("the memory holds vectors of different lengths; restore it from a backup")
    matrix = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)
    vectors.put(np.searchsorted(node_keys, np.array(keys, dtype=np.int64)), matrix.astype(np.float32))


def _load_edges(
    connection: sqlite3.Connection,
    namespace: int,
    types: Mapping[int, EdgeType],
    node_keys: Keys,
    topology: Topology,
) -> Keys:
    found = connection.execute(
        "SELECT e.edge, e.source, e.target, e.type, s.since, s.weight, s.last_activated "
        "FROM edges e JOIN nodes n ON n.node = e.source JOIN strengths s ON s.edge = e.edge "
        "WHERE n.namespace = ? AND e.until IS NULL ORDER BY e.edge, s.since",
        (namespace,),
    )
    edge, source, target, code, since, weight, activated = (np.array(column) for column in _columns(found))
    # Of an edge's versions the last one holds.
    current = np.append(edge[1:] != edge[:-1], np.ones(min(1, edge.size), dtype=np.bool_)).astype(np.bool_)
    codes = topology.type_codes(types[value] for value in code[current].tolist())
    ends = tuple(np.searchsorted(node_keys, column[current]) for column in (source, target))
    topology.append_edges((ends[0], ends[1]), codes, weight[current], activated[current])
    _replay_operators(connection, namespace, since[current], topology)
    return edge[current].astype(np.int64)


def _replay_operators(connection: sqlite3.Connection, namespace: int, since: NDArray[Any], topology: Topology) -> None:
    """Evaluate the journaled operators over the weights that are older than each."""
    rows = connection.execute(
        "SELECT sequence, operators FROM deltas WHERE namespace = ? AND operators IS NOT NULL ORDER BY sequence",
        (namespace,),
    ).fetchall()
    for sequence, operators in rows:
        for values in json.loads(operators):
            topology.decay(_operator_from_json(values), among=since < sequence)


def _operator_from_json(values: Mapping[str, Any]) -> Decay:
    if values["kind"] != "decay":
        raise CorruptMemoryError(f"the journal holds an operator of unknown kind {values['kind']!r}")
    return Decay(values["factor"], from_micros(values["idle_before"]), values["floor"])

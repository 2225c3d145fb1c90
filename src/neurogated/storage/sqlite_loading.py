"""Reading parts of a graph out of the memory file, as they were after a delta."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import apsw
import numpy as np
from numpy.typing import DTypeLike, NDArray

from neurogated.core.clock import from_micros, to_micros
from neurogated.core.delta import Decay
from neurogated.core.edge_type import EdgeType
from neurogated.errors import CorruptMemoryError
from neurogated.storage.lifetimes import Lifetimes
from neurogated.storage.sqlite_connection import fetch, fetch_columns
from neurogated.storage.topology import Topology

__all__ = ["HOLDS", "NOW", "GraphLoader", "Keys", "operators_from_json", "operators_to_json", "put_vectors"]

Keys = NDArray[np.int64]

NOW = 2**63 - 1
"""A delta number beyond all others, the largest that SQLite holds."""
HOLDS = "{0}.since <= :now AND ({0}.until IS NULL OR {0}.until > :now)"
"""SQL condition that a version, of the table with alias {0}, holds after the delta `:now`."""


@dataclass(frozen=True, slots=True)
class GraphLoader:
    """Reads one namespace as it was after the delta number `as_of`.

    Edges come in the order in which they were added, so that sums over them are the same to the last bit as then.
    """

    connection: apsw.Connection
    namespace: int
    types: Mapping[int, EdgeType]
    as_of: int

    def load_strengths(self, topology: Topology, node_keys: Keys, among: str = "") -> Keys:
        """Append the edges, with the weights they had, and return the file's number of each row.

        Args:
            topology: one without edges, that they are appended to.
            node_keys: the file's number of every node row.
            among: a condition in SQL on the edge `e`; all edges when left out.
        """
        edge_keys, since = self.append_edges(topology, node_keys, among)
        self.replay_operators(since, topology)
        return edge_keys

    def append_edges(self, topology: Topology, node_keys: Keys, among: str) -> tuple[Keys, Keys]:
        """Append the edges with their last recorded weights; return the file's number of each and that weight's delta.

        See `load_strengths`.
        """
        edge, source, target, code, since, weight, activated = self._columns(
            "SELECT e.edge, e.source, e.target, e.type, s.since, s.weight, s.last_activated "
            "FROM edges e JOIN nodes n ON n.node = e.source JOIN strengths s ON s.edge = e.edge "
            f"WHERE n.namespace = :namespace AND {HOLDS.format('e')} AND s.since <= :now {among} "
            "ORDER BY e.edge, s.since",
            (np.int64, np.int64, np.int64, np.int64, np.int64, np.float64, np.int64),
        )
        # Of an edge's versions the last one holds.
        current = np.append(edge[1:] != edge[:-1], np.ones(min(1, edge.size), dtype=np.bool_)).astype(np.bool_)
        file_codes, places = np.unique(code[current], return_inverse=True)
        codes = topology.type_codes(self.types[value] for value in file_codes.tolist())[places]
        ends = _rows_of(source[current], node_keys), _rows_of(target[current], node_keys)
        topology.append_edges(ends, codes, weight[current], activated[current])
        return edge[current], since[current]

    def load_edge_lifetimes(self, lifetimes: Lifetimes, edge_keys: Keys, after: int = 0) -> None:
        """Take in when the edges hold that were added after the delta `after`.

        `edge_keys` are the file's numbers of all rows, ascending.
        """
        for key, begin, end in self._query(
            "SELECT e.edge, e.valid_from, e.valid_to "
            "FROM edges e INDEXED BY edges_lasting JOIN nodes n ON n.node = e.source "
            f"WHERE (e.valid_from IS NOT NULL OR e.valid_to IS NOT NULL) AND n.namespace = :namespace "
            f"AND {HOLDS.format('e')} AND e.since > {after}"
        ):
            lifetimes.put_edge(int(np.searchsorted(edge_keys, key)), begin, end)

    def _query(self, statement: str) -> list[tuple[Any, ...]]:
        return fetch(self.connection, statement, {"namespace": self.namespace, "now": self.as_of})

    def _columns(self, statement: str, kinds: tuple[DTypeLike, ...]) -> list[NDArray[Any]]:
        """Return what a query of numbers finds by columns."""
        values = {"namespace": self.namespace, "now": self.as_of}
        return fetch_columns(self.connection, statement, values, kinds)

    def last_sequence(self) -> int:
        """Return the number of the last delta of the namespace."""
        ((sequence,),) = self._query(
            "SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = :namespace AND sequence <= :now"
        )
        return int(sequence)

    def load_node_lifetimes(self, lifetimes: Lifetimes, node_keys: Keys, after: int = 0) -> None:
        """Take in when the nodes hold, and when they expire, that have changed after the delta `after`."""
        for key, begin, end, expires in self._query(
            "SELECT v.node, v.valid_from, v.valid_to, v.expires_at "
            "FROM node_versions v INDEXED BY node_versions_lasting JOIN nodes n ON n.node = v.node "
            "WHERE (v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL OR v.expires_at IS NOT NULL) "
            f"AND n.namespace = :namespace AND {HOLDS.format('v')} AND v.since > {after}"
        ):
            lifetimes.put_node(int(np.searchsorted(node_keys, key)), begin, end, expires)

    def replay_operators(self, since: Keys, topology: Topology, after: int = 0) -> None:
        """Evaluate the operators journaled after the delta `after` over the weights that are older than each.

        `since` (edges,) says from which delta each weight is.
        """
        rows = self._query(
            "SELECT sequence, operators FROM deltas WHERE namespace = :namespace AND sequence <= :now "
            f"AND sequence > {after} AND operators IS NOT NULL ORDER BY sequence"
        )
        operators = [(number, operator) for number, text in rows for operator in operators_from_json(text)]
        topology.decay(operators, since)


class _TakesVectors(Protocol):
    """An index of vectors, or a change of one."""

    def put(self, keys: Keys, vectors: NDArray[np.float32]) -> None:
        """Add or replace vectors."""


def put_vectors(index: _TakesVectors, node_keys: Keys, vectors: list[tuple[int, bytes]]) -> None:
    """File vectors of the file's nodes under the rows of `node_keys`.

    Raises:
        CorruptMemoryError: they differ in length.
    """
    if not vectors:
        return
    keys, blobs = zip(*vectors, strict=True)
    if len({len(blob) for blob in blobs}) > 1:
        raise CorruptMemoryError("the memory holds vectors of different lengths; restore it from a snapshot")
    matrix = np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), -1)
    index.put(_rows_of(np.array(keys, dtype=np.int64), node_keys), matrix.astype(np.float32, copy=False))


def _rows_of(keys: Keys, node_keys: Keys) -> Keys:
    rows: Keys = np.searchsorted(node_keys, keys)
    return rows


def operators_to_json(operators: Iterable[Decay]) -> str:
    """Return the operators of a delta as the journal keeps them."""
    return json.dumps(
        [
            {"kind": "decay", "factor": op.factor, "idle_before": to_micros(op.idle_before), "floor": op.floor}
            for op in operators
        ]
    )


def operators_from_json(text: str | None) -> tuple[Decay, ...]:
    """Return the operators that `operators_to_json` wrote, none for None."""
    return tuple(_operator(values) for values in json.loads(text or "[]"))


def _operator(values: Mapping[str, Any]) -> Decay:
    if values["kind"] != "decay":
        raise CorruptMemoryError(f"the journal holds an operator of unknown kind {values['kind']!r}")
    return Decay(values["factor"], from_micros(values["idle_before"]), values["floor"])

"""Read parts of a graph from the memory file, as of a delta."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import apsw
import numpy as np
from numpy.typing import DTypeLike, NDArray

from neurogated.core.delta import LATEST, Decay
from neurogated.core.edge_type import EdgeType
from neurogated.errors import CorruptMemoryError
from neurogated.storage.index.graph.topology import Fading, Topology
from neurogated.storage.index.graph.validity import Validity
from neurogated.storage.index.vectors.embedding_store import EmbeddingStore
from neurogated.storage.index.vectors.state import VectorChange
from neurogated.storage.log.sqlite.connection import fetch, fetch_columns
from neurogated.storage.log.sqlite.node_rows import given_micros, last_of_each

Keys = NDArray[np.int64]

NOW = LATEST
"""A delta number greater than all others, the largest that SQLite holds."""
UNCHANGED = -(2**63)
"""Marks a time that a change does not set."""
HOLDS = "{0}.since <= :now AND ({0}.until IS NULL OR {0}.until > :now)"
"""SQL condition: the version in the table with alias {0} is current after the delta `:now`."""


@dataclass(frozen=True, slots=True)
class GraphLoader:
    """Reads one namespace as of the delta `as_of`.

    Edges are read in the order in which they were added, so that sums over them are the same to the last bit.
    """

    connection: apsw.Connection
    namespace: int
    types: Mapping[int, EdgeType]
    as_of: int

    def load_weights(self, topology: Topology, node_keys: Keys, among: str = "") -> Keys:
        """Append the edges with their weights at that time, and return the file's number of each row.

        Args:
            topology: a topology without edges, which receives them.
            node_keys: the file's number of every node row.
            among: an SQL condition on the edge `e`; empty for all edges.
        """
        edge_keys, since = self.append_edges(topology, node_keys, among)
        self.replay_operators(since, topology, edge_keys)
        self.load_uses(topology, edge_keys)
        return edge_keys

    def append_edges(self, topology: Topology, node_keys: Keys, among: str) -> tuple[Keys, Keys]:
        """Append the edges with their last recorded weights; return each edge's number and the delta of its weight.

        See `load_weights`.
        """
        edge, source, target, code, since, weight, activated = self._columns(
            "SELECT e.edge, e.source, e.target, e.type, coalesce(w.since, e.since), coalesce(w.weight, e.weight), "
            "coalesce(w.last_activated, e.last_activated, e.created_at, d.at) "
            "FROM edges e JOIN nodes n ON n.node = e.source JOIN deltas d ON d.sequence = e.since "
            "LEFT JOIN edge_weights w ON w.edge = e.edge AND w.since <= :now "
            f"WHERE n.namespace = :namespace AND {HOLDS.format('e')} {among} ORDER BY e.edge, w.since",
            (np.int64, np.int64, np.int64, np.int64, np.int64, np.float64, np.int64),
        )
        # The last recorded weight of an edge is current.
        current = last_of_each(edge)
        file_codes, places = np.unique(code[current], return_inverse=True)
        codes = topology.type_codes(self.types[value] for value in file_codes.tolist())[places]
        ends = _rows_of(source[current], node_keys), _rows_of(target[current], node_keys)
        topology.append_edges(ends, codes, weight[current], activated[current])
        return edge[current], since[current]

    def load_edge_validity(self, validity: Validity, edge_keys: Keys, after: int = 0) -> None:
        """Load the validity of the edges added after the delta `after`.

        `edge_keys` are the file's numbers of all rows, ascending.
        """
        for key, begin, end in self._query(
            "SELECT e.edge, e.valid_from, e.valid_to "
            "FROM edges e INDEXED BY edges_lasting JOIN nodes n ON n.node = e.source "
            f"WHERE (e.valid_from IS NOT NULL OR e.valid_to IS NOT NULL) AND n.namespace = :namespace "
            f"AND {HOLDS.format('e')} AND e.since > {after}"
        ):
            validity.put_edge(int(np.searchsorted(edge_keys, key)), begin, end)

    def load_relations(self, relations: dict[str, list[int]], edge_keys: Keys, after: int = 0) -> None:
        """Load the relations of the edges added after the delta `after`; see `load_edge_validity`."""
        for key, relation in self._query(
            "SELECT e.edge, e.relation FROM edges e INDEXED BY edges_related JOIN nodes n ON n.node = e.source "
            f"WHERE e.relation IS NOT NULL AND n.namespace = :namespace AND {HOLDS.format('e')} AND e.since > {after} "
            "ORDER BY e.edge"
        ):
            relations.setdefault(relation, []).append(int(np.searchsorted(edge_keys, key)))

    def _query(self, statement: str) -> list[tuple[Any, ...]]:
        return fetch(self.connection, statement, {"namespace": self.namespace, "now": self.as_of})

    def _columns(self, statement: str, kinds: tuple[DTypeLike, ...]) -> list[NDArray[Any]]:
        """Return the columns of a query of numbers."""
        values = {"namespace": self.namespace, "now": self.as_of}
        return fetch_columns(self.connection, statement, values, kinds)

    def last_sequence(self) -> int:
        """Return the number of the last delta of the namespace."""
        ((sequence,),) = self._query(
            "SELECT coalesce(max(sequence), 0) FROM deltas WHERE namespace = :namespace AND sequence <= :now"
        )
        return int(sequence)

    def load_node_validity(self, validity: Validity, node_keys: Keys, after: int = 0) -> None:
        """Load the validity and the expiry of the nodes changed after the delta `after`."""
        for key, begin, end, expires, found in self._query(
            "SELECT v.node, v.valid_from, v.valid_to, v.expires_at, CASE WHEN v.found LIKE '%given%' THEN v.found END "
            "FROM node_versions v INDEXED BY node_versions_lasting JOIN nodes n ON n.node = v.node "
            "WHERE (v.valid_from IS NOT NULL OR v.valid_to IS NOT NULL OR v.expires_at IS NOT NULL) "
            f"AND n.namespace = :namespace AND {HOLDS.format('v')} AND v.since > {after}"
        ):
            since, until = (begin, end) if found is None else given_micros(found, (begin, end))
            validity.put_node(int(np.searchsorted(node_keys, key)), since, until, expires)

    def replay_operators(self, since: Keys, topology: Topology, edge_keys: Keys, after: int = 0) -> None:
        """Apply the operators journaled after the delta `after` to the weights that are older than each.

        Args:
            since: (edges,) the delta that set each weight.
            topology: holds the edges.
            edge_keys: (edges,) the file's number of each edge, ascending.
            after: the number of a delta.
        """
        rows = self._query(
            "SELECT sequence, operators, spared FROM deltas WHERE namespace = :namespace AND sequence <= :now "
            f"AND sequence > {after} AND spared IS NOT NULL ORDER BY sequence"
        )
        fadings = [
            Fading(number, operator, _known_rows(spared, edge_keys))
            for number, text, blob in rows
            for operator, spared in zip(operators_from_json(text), keys_from_blob(blob), strict=True)
        ]
        topology.decay(fadings, since)

    def load_uses(self, topology: Topology, edge_keys: Keys, after: int = 0) -> None:
        """Load the last uses of edges that deltas after `after` recorded.

        Replay the operators first: each operator lists the edges that had been used.
        """
        keys, moments = self._columns(
            "SELECT u.edge, u.last_activated FROM edge_uses u JOIN edges e ON e.edge = u.edge "
            "JOIN nodes n ON n.node = e.source "
            f"WHERE u.since > {after} AND u.since <= :now AND n.namespace = :namespace ORDER BY u.edge",
            (np.int64, np.int64),
        )
        known = np.isin(keys, edge_keys)
        topology.use_edges(np.searchsorted(edge_keys, keys[known]), moments[known])


def put_vectors(index: EmbeddingStore | VectorChange, node_keys: Keys, vectors: list[tuple[int, bytes]]) -> None:
    """Put vectors of the file's nodes into an index under their rows in `node_keys`.

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


def _known_rows(keys: Keys, edge_keys: Keys) -> Keys:
    return _rows_of(keys[np.isin(keys, edge_keys)], edge_keys)


def keys_to_blob(lists: Iterable[Keys]) -> bytes:
    """Return lists of ascending numbers as the journal stores them: lengths and differences, compressed."""
    parts = [np.concatenate(([keys.size], np.diff(keys, prepend=0))) for keys in lists]
    return zlib.compress(np.concatenate(parts).astype("<i8").tobytes())


def keys_from_blob(blob: bytes) -> list[Keys]:
    """Return the lists that `keys_to_blob` wrote."""
    numbers, lists = np.frombuffer(zlib.decompress(blob), dtype="<i8"), []
    while numbers.size:
        lists.append(np.cumsum(numbers[1 : 1 + numbers[0]]))
        numbers = numbers[1 + numbers[0] :]
    return lists


def operators_to_json(operators: Iterable[Decay]) -> str:
    """Return the operators of a delta as the journal stores them."""
    return json.dumps([operator.to_json() for operator in operators])


def operators_from_json(text: str | None) -> tuple[Decay, ...]:
    """Return the operators that `operators_to_json` wrote, none for None.

    Raises:
        CorruptMemoryError: an operator has an unknown kind.
    """
    try:
        return tuple(map(Decay.from_json, json.loads(text or "[]")))
    except ValueError as error:
        raise CorruptMemoryError(f"the journal holds {error}") from error

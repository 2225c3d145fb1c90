"""Bring a graph index up to date with the memory file, one table at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

import apsw
import numpy as np
from numpy.typing import NDArray

from neurogated.core.edge_type import EdgeType
from neurogated.core.view import Rows
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.index.records import Records
from neurogated.storage.log.sqlite.connection import fetch, fetch_columns
from neurogated.storage.log.sqlite.loading import NOW, UNCHANGED, GraphLoader, Keys, put_vectors
from neurogated.storage.log.sqlite.node_rows import Columns, last_of_each, read_changes, read_columns

_VECTORS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class GraphFollower:
    """Adds to a graph index the changes of one namespace after the last delta of the index.

    An empty index is filled from the beginning. Nodes and edges are read in the order in which they were added, so that
    sums over them are the same to the last bit as in the process that wrote them.
    """

    connection: apsw.Connection
    namespace: int
    types: Mapping[int, EdgeType]
    records: Callable[[GraphIndex], Records]
    """Returns the records of an index."""

    def follow(self, index: GraphIndex) -> None:
        """Bring an index up to date; the file must not change meanwhile."""
        since = index.topology.sequence
        loader = GraphLoader(self.connection, self.namespace, self.types, NOW)
        if since == (sequence := loader.last_sequence()):
            return
        changed, removed = self._follow_nodes(index, since)
        index.validity.remove(np.concatenate((changed, removed)), self._follow_removed_edges(index, since))
        loader.load_node_validity(index.validity, index.node_keys.values, since)
        self._follow_weights(index, since, loader)
        loader.load_edge_validity(index.validity, index.edge_keys.values, since)
        loader.load_relations(index.relations, index.edge_keys.values, since)
        self._follow_vectors(index, since)
        index.topology.sequence = sequence
        index.load_outcomes(changed, removed, self.records(index))
        index.renew_texts(changed, removed, self.records(index).nodes)

    def _follow_nodes(self, index: GraphIndex, since: int) -> tuple[Rows, Rows]:
        """Add new nodes, and apply changes and removals; return the rows of the changed and of the removed nodes."""
        topology, known = index.topology, len(index.node_keys)
        found = self._query(
            "SELECT node, id FROM nodes WHERE namespace = :namespace AND node > :last ORDER BY node",
            last=_last(index.node_keys),
        )
        index.node_keys.extend([key for key, _ in found])
        values = {"namespace": self.namespace, "since": since}
        key, columns = read_columns(
            self.connection,
            topology,
            _since_index("node_versions", since),
            "n.namespace = :namespace AND v.since > :since AND v.until IS NULL",
            values,
        )
        changed, ended = _rows_of(index, key), self._ended(index, "node_versions", since)
        new = np.arange(known, len(index.node_keys))
        rows = np.union1d(new, changed)
        spread = {name: np.zeros(rows.size, dtype=column.dtype) for name, column in columns.items()}
        # A node that was removed since it was put also gets a row, because its id still belongs to its user.
        gone, last = self._last_columns(index, np.setdiff1d(new, changed))
        for place, found_columns in ((changed, columns), (gone, last)):
            for name, column in found_columns.items():
                spread[name][np.searchsorted(rows, place)] = column
        ids = topology.ids
        names = [ids[row] for row in rows[rows < known].tolist()] + [name for _, name in found]
        topology.set_nodes(names, rows, spread)
        condition = "n.namespace = :namespace AND c.since > :since AND v.until IS NULL"
        for name, (nodes, new_values) in read_changes(self.connection, condition, values).items():
            topology.set_node_column(name, _rows_of(index, nodes), new_values)
        removed = np.setdiff1d(np.union1d(new, ended), changed)
        topology.mark_removed(removed)
        self._follow_marks(index, since)
        return changed, removed

    def _last_columns(self, index: GraphIndex, removed: Rows) -> tuple[Rows, Columns]:
        """Return the rows of removed nodes with their last columns."""
        keys, columns = read_columns(
            self.connection,
            index.topology,
            "",
            "v.node IN (SELECT value FROM json_each(:keys)) "
            "AND v.since = (SELECT max(w.since) FROM node_versions w WHERE w.node = v.node)",
            {"keys": json.dumps(index.node_keys.values[removed].tolist())},
        )
        return _rows_of(index, keys), columns

    def _follow_marks(self, index: GraphIndex, since: int) -> None:
        """Apply when and how often nodes were used."""
        if since:
            key, moment, uses, charge, charged_at = self._columns(
                "SELECT a.node, a.last_accessed, a.uses, a.charge, coalesce(a.charged_at, :unchanged) "
                "FROM accesses a INDEXED BY accesses_since "
                "JOIN nodes n ON n.node = a.node WHERE a.since > :since AND n.namespace = :namespace ORDER BY a.node",
                (np.int64, np.int64, np.int32, np.float64, np.int64),
                since=since,
                unchanged=UNCHANGED,
            )
            rows, charged = _rows_of(index, key), charged_at != UNCHANGED
            index.topology.touch(rows, moment, uses)
            index.topology.charge(rows[charged], charge[charged], charged_at[charged])

    def _follow_removed_edges(self, index: GraphIndex, since: int) -> Rows:
        """Mark removed edges and return their rows."""
        (gone,) = self._columns(
            "SELECT e.edge FROM edges e INDEXED BY edges_until JOIN nodes n ON n.node = e.source "
            "WHERE e.until > :since AND e.edge <= :last AND n.namespace = :namespace ORDER BY e.edge",
            (np.int64,),
            since=since,
            last=_last(index.edge_keys),
        )
        known = index.edge_keys.values
        rows: Rows = np.searchsorted(known, gone[np.isin(gone, known)])
        index.topology.remove_edges(rows)
        return rows

    def _follow_weights(self, index: GraphIndex, since: int, loader: GraphLoader) -> None:
        """Add new edges and changed weights, and replay decay operators."""
        topology = index.topology
        last = _last(index.edge_keys)
        # The delta that set the weight of each edge.
        weighed = np.full(len(index.edge_keys), since, dtype=np.int64)
        if weighed.size:
            key, moment, weight, activated = self._columns(
                "SELECT w.edge, w.since, w.weight, coalesce(w.last_activated, :unchanged) "
                "FROM edge_weights w INDEXED BY edge_weights_since "
                "CROSS JOIN edges e ON e.edge = w.edge JOIN nodes n ON n.node = e.source "
                "WHERE w.since > :since AND e.edge <= :last AND e.until IS NULL AND n.namespace = :namespace "
                "ORDER BY w.edge, w.since",
                (np.int64, np.int64, np.float64, np.int64),
                since=since,
                last=last,
                unchanged=UNCHANGED,
            )
            latest = last_of_each(key)
            rows = np.searchsorted(index.edge_keys.values, key[latest])
            topology.set_weights(rows, weight[latest])
            used = activated[latest] != UNCHANGED
            topology.use_edges(rows[used], activated[latest][used])
            weighed[rows] = moment[latest]
        new, since_new = loader.append_edges(topology, index.node_keys.values, f"AND e.edge > {last}")
        index.edge_keys.extend(new)
        keys = index.edge_keys.values
        loader.replay_operators(np.concatenate((weighed, since_new)), topology, keys, since)
        loader.load_uses(topology, keys, since)

    def _follow_vectors(self, index: GraphIndex, since: int) -> None:
        """Add new vectors in batches, and remove ended ones."""
        statement = (
            f"SELECT v.node, v.vector FROM vectors v {_since_index('vectors', since)} JOIN nodes n ON n.node = v.node "
            "WHERE n.namespace = :namespace AND v.since > :since AND v.until IS NULL ORDER BY v.node"
        )
        values = {"namespace": self.namespace, "since": since}
        # One atomic change for concurrent searches: a replaced vector has also ended.
        with closing(self.connection.execute(statement, values)) as found, index.vectors.changing() as change:
            change.remove(self._ended(index, "vectors", since))
            while chunk := list(islice(found, _VECTORS_AT_ONCE)):
                put_vectors(change, index.node_keys.values, chunk)

    def _ended(self, index: GraphIndex, table: str, since: int) -> Rows:
        """Return the rows of the nodes with an ended version in `table`."""
        if not since:
            return np.empty(0, dtype=np.int64)
        (keys,) = self._columns(
            f"SELECT DISTINCT v.node FROM {table} v INDEXED BY {table}_until JOIN nodes n ON n.node = v.node "
            "WHERE v.until > :since AND n.namespace = :namespace ORDER BY v.node",
            (np.int64,),
            since=since,
        )
        return _rows_of(index, keys)

    def _query(self, statement: str, **values: int) -> list[tuple[Any, ...]]:
        return fetch(self.connection, statement, {"namespace": self.namespace, **values})

    def _columns(self, statement: str, kinds: tuple[type, ...], **values: int) -> list[NDArray[Any]]:
        return fetch_columns(self.connection, statement, {"namespace": self.namespace, **values}, kinds)


def _rows_of(index: GraphIndex, keys: Keys) -> Rows:
    """Return the rows of nodes from the file's numbers; the index knows all of them."""
    rows: Rows = np.searchsorted(index.node_keys.values, keys)
    return rows


def _since_index(table: str, since: int) -> str:
    """Return which SQL index finds rows later than a delta; a table read from the beginning needs none."""
    return f"INDEXED BY {table}_since" if since else "NOT INDEXED"


def _last(keys: Column) -> int:
    return int(keys.values[-1]) if len(keys) else 0

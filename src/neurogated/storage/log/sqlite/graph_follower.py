"""Bring the index of a graph up to date from the rows of its file, or build the index of a past state from them."""

import json
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.columns import NODE_COLUMNS, contained
from neurogated.core.view import GraphView, Rows
from neurogated.storage.checkpoint import Follower
from neurogated.storage.index.graph.topology import Column, Topology
from neurogated.storage.index.graph_index import GraphIndex, ReadTexts, Records, put_texts
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.log.sqlite import schema
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.rows import (
    HOLDS,
    NOW,
    UNCHANGED,
    GraphLoader,
    Keys,
    SqliteRecords,
    last_of_each,
    rows_of,
    since_index,
    vectors_of,
)

_VECTORS_AT_ONCE = 10_000


@dataclass(frozen=True, slots=True)
class GraphFollower(GraphLoader):
    """Adds to a graph index the changes of one namespace after the last delta of the index.

    An empty index is filled from the beginning. Nodes and edges are read in the order in which they were added, so that
    sums over them are the same to the last bit as in the process that wrote them.
    """

    records: Callable[[GraphIndex], Records]
    """Returns the records of an index."""

    def follow(self, index: GraphIndex) -> None:
        """Bring an index up to date; the file must not change meanwhile."""
        since = index.topology.sequence
        if since == (sequence := self.last_sequence()):
            return
        changed, removed = self._follow_nodes(index, since)
        (gone,) = self.columns(
            "SELECT e.edge FROM edges e INDEXED BY edges_until JOIN nodes n ON n.node = e.source "
            "WHERE e.until > :since AND e.edge <= :last AND n.namespace = :namespace ORDER BY e.edge",
            np.int64,
            since=since,
            last=_last(index.edge_keys),
        )
        known = index.edge_keys.values
        removed_edges = np.searchsorted(known, gone[contained(known, gone)])
        index.topology.set(removed_edges, weight=np.nan)
        index.validity.remove(np.concatenate((changed, removed)), removed_edges)
        self.load_node_validity(index.validity, index.node_keys.values, since)
        self._follow_weights(index, since)
        self.load_edge_validity(index.validity, index.edge_keys.values, since)
        self._follow_vectors(index, since)
        index.topology.sequence = sequence
        index.load_outcomes(changed, removed, self.records(index))
        index.renew_texts(changed, removed, self.records(index).nodes)

    def _follow_nodes(self, index: GraphIndex, since: int) -> tuple[Rows, Rows]:
        """Add new nodes, and apply changes and removals; return the rows of the changed and of the removed nodes."""
        topology, known = index.topology, len(index.node_keys)
        found = self.query(
            "SELECT node, id FROM nodes NOT INDEXED WHERE namespace = :namespace AND node > :last ORDER BY node",
            last=_last(index.node_keys),
        )
        index.node_keys.extend([key for key, _ in found])
        condition = "n.namespace = :namespace AND v.since > :since AND v.until IS NULL"
        key, columns = self.node_columns(topology, since_index("node_versions", since), condition, since=since)
        changed, ended = rows_of(key, index.node_keys.values), self._ended(index, "node_versions", since)
        new = np.arange(known, len(index.node_keys))
        rows = np.union1d(new, changed)
        spread = {name: np.zeros(rows.size, dtype=column.dtype) for name, column in columns.items()}
        # A node that was removed since it was put also gets a row, because its id still belongs to its user.
        gone, last = self.node_columns(
            topology,
            "",
            "v.node IN (SELECT value FROM json_each(:keys)) "
            "AND v.since = (SELECT max(w.since) FROM node_versions w WHERE w.node = v.node)",
            keys=json.dumps(index.node_keys.values[np.setdiff1d(new, changed)].tolist()),
        )
        for place, found_columns in ((changed, columns), (rows_of(gone, index.node_keys.values), last)):
            for name, column in found_columns.items():
                spread[name][np.searchsorted(rows, place)] = column
        ids = topology.ids
        names = [ids[row] for row in rows[rows < known].tolist()] + [name for _, name in found]
        topology.set_nodes(names, rows, spread)
        condition = "n.namespace = :namespace AND c.since > :since AND v.until IS NULL"
        later = self.changes(condition, since_index("node_changes", since), since=since)
        for name, (nodes, new_values) in later.items():
            topology.set(rows_of(nodes, index.node_keys.values), **{name: new_values})
        removed = np.setdiff1d(np.union1d(new, ended), changed)
        topology.set(removed, alive=False)
        if since:
            key, moment, uses, charge, charged_at = self.columns(
                "SELECT a.node, a.last_accessed, a.uses, a.charge, coalesce(a.charged_at, :unchanged) "
                "FROM accesses a INDEXED BY accesses_since "
                "JOIN nodes n ON n.node = a.node WHERE a.since > :since AND n.namespace = :namespace ORDER BY a.node",
                *(np.int64, np.int64, np.int32, np.float64, np.int64),
                since=since,
                unchanged=UNCHANGED,
            )
            rows, charged = rows_of(key, index.node_keys.values), charged_at != UNCHANGED
            topology.set(rows, last_accessed=moment, uses=uses)
            topology.set(rows[charged], charge=charge[charged], charged_at=charged_at[charged])
        return changed, removed

    def _follow_weights(self, index: GraphIndex, since: int) -> None:
        topology = index.topology
        last = _last(index.edge_keys)
        # The delta that set the weight of each edge.
        weighed = np.full(len(index.edge_keys), since, dtype=np.int64)
        if weighed.size:
            key, moment, weight, activated = self.columns(
                "SELECT w.edge, w.since, w.weight, coalesce(w.last_activated, :unchanged) "
                "FROM edge_weights w INDEXED BY edge_weights_since "
                "CROSS JOIN edges e ON e.edge = w.edge JOIN nodes n ON n.node = e.source "
                "WHERE w.since > :since AND e.edge <= :last AND e.until IS NULL AND n.namespace = :namespace "
                "ORDER BY w.edge, w.since",
                *(np.int64, np.int64, np.float64, np.int64),
                since=since,
                last=last,
                unchanged=UNCHANGED,
            )
            latest = last_of_each(key)
            rows = np.searchsorted(index.edge_keys.values, key[latest])
            topology.set(rows, weight=weight[latest])
            used = activated[latest] != UNCHANGED
            topology.set(rows[used], last_activated=activated[latest][used])
            weighed[rows] = moment[latest]
        new, since_new = self.append_edges(topology, index.node_keys.values, f"AND e.edge > {last}")
        index.edge_keys.extend(new)
        keys = index.edge_keys.values
        self.replay_operators(np.concatenate((weighed, since_new)), topology, keys, since)
        self.load_uses(topology, keys, since)

    def _follow_vectors(self, index: GraphIndex, since: int) -> None:
        statement = (
            f"SELECT v.node, v.vector FROM vectors v {since_index('vectors', since)} JOIN nodes n ON n.node = v.node "
            "WHERE n.namespace = :namespace AND v.since > :since AND v.until IS NULL ORDER BY v.node"
        )
        values = {"namespace": self.namespace, "since": since}
        keys = index.node_keys.values
        with closing(self.connection.execute(statement, values)) as found:
            batches = iter(lambda: list(islice(found, _VECTORS_AT_ONCE)), [])
            # One atomic change for concurrent searches: a replaced vector has also ended.
            index.vectors.change(self._ended(index, "vectors", since), (vectors_of(keys, one) for one in batches))

    def _ended(self, index: GraphIndex, table: str, since: int) -> Rows:
        if not since:
            return np.empty(0, dtype=np.int64)
        (keys,) = self.columns(
            f"SELECT DISTINCT v.node FROM {table} v INDEXED BY {table}_until JOIN nodes n ON n.node = v.node "
            "WHERE v.until > :since AND n.namespace = :namespace ORDER BY v.node",
            np.int64,
            since=since,
        )
        return rows_of(keys, index.node_keys.values)


def _last(keys: Column) -> int:
    return int(keys.values[-1]) if len(keys) else 0


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


class PastFollower(Follower):
    """Builds an index of a past state.

    The columns are read from the file. Vectors and texts are forks of those of the present index, in which the nodes
    that changed later have their past ones. So the cost depends on the number of later changes, not on the size of the
    graph. Rows are those of the present index.
    """

    shares = False
    borrows = True

    def __init__(
        self, file: SqliteFile, namespace: int, as_of: int, latest: Callable[[], GraphState], config: MemoryConfig
    ) -> None:
        """Take the file, its number of the graph, that of a delta, and what returns the present state."""
        self._file, self._namespace, self._as_of, self._latest, self._config = file, namespace, as_of, latest, config
        self._seen: GraphIndex | None = None

    def load(self) -> GraphIndex:
        """Read the past state, and find the vectors and texts that changed later."""
        with self.steady():
            present, connection = self._latest(), self._file.connection
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
        return self._seen is not self._latest().form

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
        present = self._latest()
        texts = present.form.texts(present.view, present.records.nodes).isolated()
        changed = self._changed_since("node_versions", present.form.node_keys.values)
        texts.remove(changed)
        known = changed[changed < view.node_count]
        rows = known[view.alive.take(known).astype(np.bool_)]
        put_texts(texts, rows, read(rows))
        return texts

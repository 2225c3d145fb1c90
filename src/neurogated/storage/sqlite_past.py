"""The graph of a memory file as it was known after an earlier delta."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import from_micros
from neurogated.core.column_view import NODE_COLUMNS
from neurogated.core.view import Rows
from neurogated.errors import InputError
from neurogated.storage.graph_state import GraphState
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.graph.topology import Topology
from neurogated.storage.index.graph_index import GraphIndex, put_texts
from neurogated.storage.index.text.lexical_store import OverlaidLexicalStore
from neurogated.storage.index.vectors.embedding_store import OverlaidEmbeddingStore
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.loading import HOLDS, NOW, GraphLoader, Keys, put_vectors
from neurogated.storage.log.sqlite.node_rows import read_changes, read_columns
from neurogated.storage.resolve import Plan
from neurogated.storage.sqlite_graph import SqliteGraph, register_types

__all__ = ["HistoricalStore"]

_Answer = TypeVar("_Answer")

_CHANGED_SINCE = (
    "SELECT {0}.node FROM {1} {0} INDEXED BY {1}_since WHERE {0}.since > ? "
    "UNION SELECT {0}.node FROM {1} {0} INDEXED BY {1}_until WHERE {0}.until > ?"
)

# Nodes of which a version has ended since, and those whose energy or importance has changed since.
_CHANGED_NODES = (
    "SELECT w.node FROM node_versions w INDEXED BY node_versions_until WHERE w.until > :now "
    "UNION SELECT c.node FROM node_changes c INDEXED BY node_changes_since WHERE c.since > :now"
)

_ENDED_VECTORS = "FROM vectors v INDEXED BY vectors_until"
_VECTORS_OF = "FROM json_each(:keys) k JOIN vectors v ON v.node = k.value"

_OPERATORS_SINCE = (
    "SELECT 1 FROM deltas WHERE namespace = :namespace AND sequence > :now AND spared IS NOT NULL LIMIT 1"
)
# Edges there were then that have ended, been used or changed their weight since.
_EDGES_CHANGED_SINCE = (
    "SELECT edge FROM edges INDEXED BY edges_until WHERE until > :now AND since <= :now UNION "
    "SELECT edge FROM edge_uses WHERE since > :now UNION "
    "SELECT w.edge FROM edge_weights w INDEXED BY edge_weights_since CROSS JOIN edges c ON c.edge = w.edge "
    "WHERE w.since > :now AND c.since <= :now"
)


class HistoricalStore(SqliteGraph):
    """A store of the past, to be read only.

    Its graph is read from the file; vectors and texts are those of the present but for the nodes that have changed
    since, so that looking back costs what has changed, and not what there is. Rows are those of the present.
    """

    def __init__(self, present: SqliteGraph, sequence: int, moment: datetime | None) -> None:
        """Look at `present` as it was after the delta `sequence`; what expired by `moment` is hidden.

        Without a moment, the time of that delta counts.
        """
        file = present._file
        then = moment or _time_of(present, sequence)
        super().__init__(file, present._name, present._namespace, config=present._config, clock=lambda: then)
        # Looking back asks the present while it holds the file, as the present does: in the same order.
        self._lock = present._lock
        # The present's indexes are searched for what they held then, which a write in between would change.
        self._searching, self._waits = self._lock, True
        self._present = present
        self._as_of = sequence
        self._embedder = present.embedder
        self._seen: tuple[GraphIndex, int] | None = None
        self._overlaid: OverlaidLexicalStore | None = None
        self._require_open()

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder the vectors come from; old vectors follow the present embedder too."""
        return self._present.embedder

    def close(self) -> None:
        """Forget the past; the file belongs to the present."""
        self._closed = True

    def _require_open(self) -> None:
        super()._require_open()
        with self._steady():
            # A process that reads along learns by this that what it knows of the past may have been erased.
            self._present._latest()
            form, sequence = self._present._form, self._present._sequence
            if self._seen is None or self._seen[0] is not form:
                self._look_back()
            elif self._seen[1] != sequence:
                after, self._seen = self._seen[1], None
                self._follow(after)
            self._seen = form, sequence

    @contextmanager
    def _steady(self) -> Iterator[None]:
        self._present._require_unclosed()
        with super()._steady():
            yield

    def _read(self, question: Callable[[GraphState], _Answer]) -> _Answer:
        with self._lock:
            return super()._read(question)

    def as_of(self, moment: int | datetime) -> HistoricalStore:
        """Return the graph as it was known earlier still.

        Raises:
            InputError: there was no such delta yet.
        """
        with self._lock:
            sequence = self._sequence_at(moment)
            return HistoricalStore(self._present, sequence, moment if isinstance(moment, datetime) else None)

    def _look_back(self) -> None:
        """Read the graph as it was, and find out which vectors and texts have changed since."""
        present = self._present
        self._namespace = present._namespace
        with present._lock, self._file.reading() as connection:
            keys = present._node_keys.values.copy()
            form = GraphIndex(self._config)
            loader = GraphLoader(connection, self._namespace, register_types(connection), self._as_of)
            self._changed_texts = self._changed_since("node_versions", keys, self._as_of)
            self._load_nodes(loader, form, keys)
            edge_keys = self._load_edges(loader, form, keys)
            self._vectors = OverlaidEmbeddingStore(
                present._form.vectors, self._changed_since("vectors", keys, self._as_of)
            )
            form.vectors = self._vectors
            put_vectors(form.vectors, keys, self._old_vectors(_ENDED_VECTORS))
        self._form, self._overlaid = form, None
        self._node_keys, self._edge_keys = Column.of(keys), Column.of(edge_keys)

    def _load_nodes(self, loader: GraphLoader, form: GraphIndex, keys: Keys) -> None:
        """Write the node columns as they were; those that have not changed since are taken from the present."""
        now = self._present._form.topology.view()
        alive = now.alive.all()
        alive[self._changed_texts] = False
        columns = {name: getattr(now, name).all() for name in NODE_COLUMNS}
        columns["kind"] = form.topology.kind_codes(now.kinds)[columns["kind"]]
        columns["scope"] = form.topology.scope_codes(now.scopes)[columns["scope"]]
        # One delta after the other ends a version, so that of those which held then there is one a node.
        then = {"namespace": self._namespace, "now": self._as_of}
        held = f"n.namespace = :namespace AND {HOLDS.format('v')}"
        held += f" AND v.node IN ({_CHANGED_NODES})"
        old, before = read_columns(loader.connection, form.topology, "", held, then)
        known = np.isin(old, keys)
        rows = np.searchsorted(keys, old[known])
        alive[rows] = True
        for name, column in before.items():
            columns[name][rows] = column[known]
        ids = list(self._present._form.topology.ids)
        form.topology.set_nodes(ids, np.arange(len(ids)), columns)
        for name, (nodes, values) in read_changes(loader.connection, f"{held} AND c.since <= :now", then).items():
            known = np.isin(nodes, keys)
            form.topology.set_node_column(name, np.searchsorted(keys, nodes[known]), values[known])
        form.topology.mark_removed(np.flatnonzero(~alive.astype(np.bool_)))
        form.topology.sequence = loader.last_sequence()
        loader.load_node_lifetimes(form.lifetimes, keys)

    def _load_edges(self, loader: GraphLoader, form: GraphIndex, keys: Keys) -> Keys:
        """Append the edges as they were; those that have not changed since are taken from the present."""
        since = {"namespace": self._namespace, "now": self._as_of}
        ((first_new,),) = fetch(
            loader.connection, "SELECT min(edge) FROM edges INDEXED BY edges_since WHERE since > ?", (self._as_of,)
        )
        changed = np.array([key for (key,) in fetch(loader.connection, _EDGES_CHANGED_SINCE, since)], dtype=np.int64)
        among = f"AND (e.edge IN ({_EDGES_CHANGED_SINCE})"
        now, now_keys = self._present._form.topology.view(), self._present._edge_keys.values
        kept = (now_keys < (NOW if first_new is None else first_new)) & ~np.isin(now_keys, changed)
        if fetch(loader.connection, _OPERATORS_SINCE, since):
            # Whatever can fade may have faded since.
            among += " OR e.type IN (SELECT type FROM edge_types WHERE plastic)"
            kept &= ~np.array([kind.plastic for kind in now.edge_types], dtype=np.bool_)[now.edge_type]
        scratch = Topology(self._config.OVERLAY_EDGES)
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
        loader.load_edge_lifetimes(form.lifetimes, edge_keys[order])
        loader.load_relations(form.relations, edge_keys[order])
        return edge_keys[order]

    def _follow(self, after: int) -> None:
        """Keep what the present has changed since the delta `after` as it was; the graph here is a copy of its own."""
        present = self._present
        with self._file.reading():
            keys = present._node_keys.values.copy()
            vectors = self._changed_since("vectors", keys, after)
            self._vectors.hide(vectors)
            known = json.dumps(keys[vectors[vectors < len(self._node_keys)]].tolist())
            put_vectors(self._vectors, keys, self._old_vectors(_VECTORS_OF, known))
            texts = self._changed_since("node_versions", keys, after)
            self._changed_texts = np.union1d(self._changed_texts, texts)
            if self._overlaid is not None:
                self._overlaid.hide(texts)
                self._put_old_texts(self._overlaid, texts)

    def _changed_since(self, table: str, keys: Keys, after: int) -> Rows:
        """Return the rows of the nodes whose rows in `table` are not those they were after the delta `after`."""
        statement = _CHANGED_SINCE.format("v", table)
        found = fetch(self._file.connection, statement, (after, after))
        changed = np.array(sorted(key for (key,) in found), dtype=np.int64)
        rows: Rows = np.searchsorted(keys, changed[np.isin(changed, keys)])
        return rows

    def _old_vectors(self, source: str, keys: str = "[]") -> list[tuple[Any, ...]]:
        """Return the file's numbers and the vectors, as they were, of nodes that `source` tells."""
        statement = (
            f"SELECT v.node, v.vector {source} JOIN nodes n ON n.node = v.node "
            f"WHERE n.namespace = :namespace AND {HOLDS.format('v')} AND v.until > :now ORDER BY v.node"
        )
        values = {"namespace": self._namespace, "now": self._as_of, "keys": keys}
        return fetch(self._file.connection, statement, values)

    def _text_state(self) -> tuple[GraphState, OverlaidLexicalStore]:
        with self._lock, self._steady():
            state = self._search_state()
            if self._overlaid is None:
                present = self._present._search_state()
                index = present.form.texts(present.view, present.records.nodes).overlaid(self._changed_texts)
                self._put_old_texts(index, self._changed_texts)
                self._overlaid = index
            return state, self._overlaid

    def _put_old_texts(self, index: OverlaidLexicalStore, changed: Rows) -> None:
        known = changed[changed < len(self._node_keys)]
        rows = known[self._form.topology.view().alive.take(known).astype(np.bool_)]
        put_texts(index, rows, self._records().nodes(rows))

    # What cannot be done to the past

    def compact(self, *, history: bool = False) -> int:  # noqa: ARG002 - of whatever
        """Refuse: the past is erased by compacting the present."""
        raise self._refusal()

    def _persist(self, plan: Plan) -> int:  # noqa: ARG002 - whatever the plan
        raise self._refusal()

    def _erase_namespace(self, namespace: str) -> None:  # noqa: ARG002 - whichever
        raise self._refusal()

    def _record_embedder(self, name: str, dimension: int) -> None:  # noqa: ARG002 - whichever
        raise self._refusal()

    def _open_namespace(self, namespace: str) -> Self:  # noqa: ARG002 - whichever
        raise InputError(f"this is the graph as of delta {self._as_of}; ask the present one for other namespaces")

    def _refusal(self) -> InputError:
        return InputError(f"this is the graph as of delta {self._as_of}, which cannot be changed; use undo")


def _time_of(present: SqliteGraph, sequence: int) -> datetime:
    """Return when the graph was last changed up to a delta, which may be one of another namespace."""
    with present._file.reading() as connection:
        rows = fetch(
            connection,
            "SELECT at FROM deltas WHERE namespace = ? AND sequence <= ? AND changes IS NOT NULL "
            "ORDER BY sequence DESC LIMIT 1",
            (present._namespace, sequence),
        )
    return from_micros(rows[0][0] if rows else 0)

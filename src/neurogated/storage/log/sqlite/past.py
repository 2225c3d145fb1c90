"""A past state of the graph of a memory file."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NoReturn, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.columns import NODE_COLUMNS
from neurogated.core.delta import HistoryEntry, JournalEntry
from neurogated.core.view import GraphView, Rows
from neurogated.errors import InputError
from neurogated.storage.index.follower import Follower
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.graph.topology import Topology
from neurogated.storage.index.graph_index import GraphIndex, ReadTexts, put_texts
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.log.log import Engine, Log, Position
from neurogated.storage.log.sqlite.connection import fetch
from neurogated.storage.log.sqlite.file import SqliteFile
from neurogated.storage.log.sqlite.loading import HOLDS, NOW, GraphLoader, Keys, put_vectors
from neurogated.storage.log.sqlite.node_rows import read_changes, read_columns
from neurogated.storage.log.sqlite.opened_files import place_of
from neurogated.storage.log.sqlite.rows import SqliteRecords
from neurogated.storage.log.sqlite.settings import read_copies, read_incarnation, register_types

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


class _Present(Log, Protocol):
    """The log of the present graph; see `SqliteLog`."""

    file: SqliteFile
    name: str
    namespace: int

    def as_of(
        self, sequence: int, moment: datetime | None, present: Callable[[], GraphState]
    ) -> tuple[Engine, datetime]: ...

    def last_before(self, moment: datetime, up_to: int = NOW) -> int: ...


@dataclass(frozen=True, slots=True)
class Past:
    """One graph of a memory file after a past delta: a log, and an engine that has only this log. It is read-only."""

    present: _Present
    """The log of the graph."""
    sequence: int
    """The number of the delta."""
    latest: Callable[[], GraphState]
    """Returns the present state of the graph."""

    @property
    def lock(self) -> threading.RLock:
        """The lock of the present graph, which this graph reads while it holds the file."""
        return self.present.file.lock

    def erased_up_to(self) -> int:
        return self.present.erased_up_to()

    @property
    def identity(self) -> str:
        with self.present.file.reading() as connection:
            return read_incarnation(connection, place_of(self.present.file.path))

    def log(self, namespace: str) -> Self:
        if namespace != self.present.name:
            raise InputError(f"this is the graph as of delta {self.sequence}; ask the present one for other namespaces")
        return self

    def namespaces(self) -> list[str]:
        return [self.present.name]

    def nothing(self, patience: float | None = None) -> AbstractContextManager[object]:  # noqa: ARG002 - no wait
        """Run a block whose writes will be refused; see `Engine` and `SupportsErasure`."""
        return nullcontext()

    writing = transaction = erasing = nothing

    def refuse(self, *_: object, **__: object) -> NoReturn:
        """Refuse to write."""
        raise InputError(f"this is the graph as of delta {self.sequence}, which cannot be changed; use undo")

    record_erased = append = drop_namespace = record_embedder = record_frozen = record_copy = erase_removed = refuse

    @property
    def embedder(self) -> tuple[str, int] | None:
        """Name and dimension of the embedder; past vectors are also re-embedded, so it is the present one."""
        return self.latest().embedder

    def is_frozen(self) -> bool:
        """Return True: a past graph learns nothing."""
        return True

    def copies(self) -> list[str]:
        """Return the places that have received texts by now."""
        with self.present.file.reading() as connection:
            return read_copies(connection)

    def close(self) -> None:
        """Do nothing: the file belongs to the present graph."""

    def position(self) -> Position:
        return self.present.position()._replace(sequence=self.sequence)

    def entries(self, after: int = 0, up_to: int = NOW) -> Iterator[JournalEntry]:
        return self.present.entries(after, min(self.sequence, up_to))

    def history(self, after: int = 0, up_to: int = NOW) -> list[HistoryEntry]:
        return self.present.history(after, min(self.sequence, up_to))

    def follower(self, config: MemoryConfig, current: Callable[[], GraphIndex | None]) -> Follower:  # noqa: ARG002
        return PastFollower(self, config)

    def as_of(
        self,
        sequence: int,
        moment: datetime | None,
        present: Callable[[], GraphState],  # noqa: ARG002 - the present state does not depend on it
    ) -> tuple[Engine, datetime]:
        return self.present.as_of(sequence, moment, self.latest)

    def last_before(self, moment: datetime) -> int:
        return self.present.last_before(moment, up_to=self.sequence)


class PastFollower(Follower):
    """Builds an index of a past state.

    The columns are read from the file. Vectors and texts are forks of those of the present index, in which the nodes
    that changed later have their past ones. So the cost depends on the number of later changes, not on the size of the
    graph. Rows are those of the present index.
    """

    shares = False
    borrows = True

    def __init__(self, past: Past, config: MemoryConfig) -> None:
        self._past = past
        self._file = past.present.file
        self._config = config
        self._as_of = past.sequence
        self._seen: GraphIndex | None = None

    def load(self) -> GraphIndex:
        """Read the past state."""
        with self.steady():
            present = self._past.latest()
            index = self._look_back(present)
            self._seen = present.form
        return index

    def is_behind(self, index: GraphIndex) -> bool:  # noqa: ARG002 - `_seen` tells it
        """Return whether the present index was reloaded; a compaction may have erased records of the past."""
        return self._seen is not self._past.latest().form

    def follow(self, index: GraphIndex) -> bool:  # noqa: ARG002 - it is reloaded
        """Return False: the past state must be read again."""
        return False

    def records(self, index: GraphIndex) -> SqliteRecords:
        """Return the records of the past state."""
        return SqliteRecords(self._file, index.node_keys.values, index.edge_keys.values, self._as_of)

    def steady(self) -> AbstractContextManager[object]:
        """Read one state of the file within the block."""
        return self._file.reading(latest=True)

    def _look_back(self, present: GraphState) -> GraphIndex:
        """Read the past state, and find the vectors and texts that changed later."""
        keys, index, connection = present.form.node_keys.values.copy(), GraphIndex(self._config), self._file.connection
        loader = GraphLoader(connection, self._namespace, register_types(connection), self._as_of)
        self._load_nodes(loader, index, present.view, keys)
        edge_keys = self._load_edges(loader, index, present, keys)
        index.vectors = present.form.vectors.forked()
        index.vectors.remove(self._changed_since("vectors", keys))
        old = fetch(connection, _ENDED_VECTORS, {"namespace": self._namespace, "now": self._as_of})
        put_vectors(index.vectors, keys, old)
        index.node_keys, index.edge_keys = Column.of(keys), Column.of(edge_keys)
        index.fork_texts, index.embedder = self._texts, present.embedder
        nodes = index.topology.view().live_nodes()
        index.load_outcomes(nodes, nodes[:0], self.records(index))
        return index

    def _load_nodes(self, loader: GraphLoader, form: GraphIndex, now: GraphView, keys: Keys) -> None:
        """Write the past node columns; copy those that did not change from the present."""
        alive = now.alive.all()
        alive[self._changed_since("node_versions", keys)] = False
        columns = {name: getattr(now, name).all() for name in NODE_COLUMNS}
        columns["kind"] = form.topology.kind_codes(now.kinds)[columns["kind"]]
        columns["scope"] = form.topology.scope_codes(now.scopes)[columns["scope"]]
        # Each delta that puts a node ends the previous version, so each node has at most one version at a time.
        then = {"namespace": self._namespace, "now": self._as_of}
        held = f"n.namespace = :namespace AND {HOLDS.format('v')}"
        held += f" AND v.node IN ({_CHANGED_NODES})"
        old, before = read_columns(loader.connection, form.topology, "", held, then)
        known = np.isin(old, keys)
        rows = np.searchsorted(keys, old[known])
        alive[rows] = True
        for name, column in before.items():
            columns[name][rows] = column[known]
        ids = list(now.ids)
        form.topology.set_nodes(ids, np.arange(len(ids)), columns)
        for name, (nodes, values) in read_changes(loader.connection, f"{held} AND c.since <= :now", then).items():
            known = np.isin(nodes, keys)
            form.topology.set_node_column(name, np.searchsorted(keys, nodes[known]), values[known])
        form.topology.mark_removed(np.flatnonzero(~alive.astype(np.bool_)))
        form.topology.sequence = loader.last_sequence()
        loader.load_node_validity(form.validity, keys)

    def _load_edges(self, loader: GraphLoader, form: GraphIndex, present: GraphState, keys: Keys) -> Keys:
        """Append the past edges; copy those that did not change from the present."""
        since = {"namespace": self._namespace, "now": self._as_of}
        ((first_new,),) = fetch(
            loader.connection, "SELECT min(edge) FROM edges INDEXED BY edges_since WHERE since > ?", (self._as_of,)
        )
        changed = np.array([key for (key,) in fetch(loader.connection, _EDGES_CHANGED_SINCE, since)], dtype=np.int64)
        among = f"AND (e.edge IN ({_EDGES_CHANGED_SINCE})"
        now, now_keys = present.view, present.form.edge_keys.values
        kept = (now_keys < (NOW if first_new is None else first_new)) & ~np.isin(now_keys, changed)
        if fetch(loader.connection, _OPERATORS_SINCE, since):
            # Every plastic edge may have faded later.
            among += " OR e.type IN (SELECT type FROM edge_types WHERE plastic)"
            kept &= ~np.array([kind.plastic for kind in now.edge_types], dtype=np.bool_)[now.edge_type]
        scratch = Topology(self._config.runtime.overlay_edges)
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
        loader.load_relations(form.relations, edge_keys[order])
        return edge_keys[order]

    def _changed_since(self, table: str, keys: Keys) -> Rows:
        """Return the rows of the nodes whose rows in `table` changed later."""
        statement = _CHANGED_SINCE.format("v", table)
        found = fetch(self._file.connection, statement, (self._as_of, self._as_of))
        changed = np.array(sorted(key for (key,) in found), dtype=np.int64)
        rows: Rows = np.searchsorted(keys, changed[np.isin(changed, keys)])
        return rows

    def _texts(self, view: GraphView, read: ReadTexts) -> LexicalStore:
        """Return the past keywords and tags; see `GraphIndex.fork_texts`."""
        present = self._past.latest()
        texts = present.form.texts(present.view, present.records.nodes).isolated()
        changed = self._changed_since("node_versions", present.form.node_keys.values)
        texts.remove(changed)
        known = changed[changed < view.node_count]
        rows = known[view.alive.take(known).astype(np.bool_)]
        put_texts(texts, rows, read(rows))
        return texts

    @property
    def _namespace(self) -> int:
        return self._past.present.namespace

"""The graph of a memory file as it was known after an earlier delta."""

from __future__ import annotations

from datetime import datetime
from typing import Self

import numpy as np

from neurogated.core.clock import from_micros
from neurogated.core.view import Rows
from neurogated.errors import InputError
from neurogated.storage.columns import Column
from neurogated.storage.embedding_store import OverlaidEmbeddingStore
from neurogated.storage.planning import Plan
from neurogated.storage.sqlite_connection import fetch
from neurogated.storage.sqlite_file import SqliteFile
from neurogated.storage.sqlite_graph import SqliteGraph, register_types
from neurogated.storage.sqlite_loading import HOLDS, GraphLoader, Keys, put_vectors
from neurogated.storage.text_index import TextIndex
from neurogated.storage.working_form import WorkingForm

__all__ = ["PastStore"]

_CHANGED_SINCE = (
    "SELECT {0}.node FROM {1} {0} WHERE {0}.since > ? UNION SELECT {0}.node FROM {1} {0} WHERE {0}.until > ?"
)


class PastStore(SqliteGraph):
    """A store of the past, to be read only.

    Its graph is read from the file; vectors and texts are those of the present but for the nodes that have changed
    since, so that looking back costs what has changed, and not what there is. Rows are those of the present.
    """

    def __init__(self, present: SqliteGraph, sequence: int, moment: datetime | None) -> None:
        """Look at `present` as it was after the delta `sequence`; what expired by `moment` is hidden.

        Without a moment, the time of that delta counts.
        """
        file = present._file
        then = moment or _time_of(file, sequence)
        super().__init__(
            file, present._name, present._namespace, overlay_edges=present._overlay_edges, clock=lambda: then
        )
        # Looking back asks the present while it holds the file, as the present does: in the same order.
        self._lock = present._lock
        self._present = present
        self._as_of = sequence
        self._embedder = present.embedder
        self._seen: tuple[object, int] | None = None
        self._overlaid: TextIndex | None = None
        self._require_open()

    def close(self) -> None:
        """Forget the past; the file belongs to the present."""
        self._closed = True

    def _require_open(self) -> None:
        super()._require_open()
        self._present._require_open()
        state = self._present._form, self._present._sequence
        if self._seen != state:
            self._look_back()
            self._seen = state

    def _look_back(self) -> None:
        """Read the graph as it was, and find out which vectors and texts have changed since."""
        present = self._present
        with present._lock, self._file.reading() as connection:
            keys = present._node_keys.values.copy()
            form = WorkingForm(self._overlay_edges)
            loader = GraphLoader(connection, self._namespace, register_types(connection), self._as_of)
            loader.load_graph(form, keys, list(present._form.topology.ids))
            edge_keys = loader.load_edges(form, keys)
            changed = self._changed_since("vectors", keys)
            form.vectors = OverlaidEmbeddingStore(present._form.vectors, changed)
            old = fetch(
                connection,
                "SELECT v.node, v.vector FROM vectors v JOIN nodes n ON n.node = v.node "
                f"WHERE n.namespace = :namespace AND {HOLDS.format('v')} AND v.until > :now ORDER BY v.node",
                {"namespace": self._namespace, "now": self._as_of},
            )
            put_vectors(form.vectors, keys, old)
            self._changed_texts = self._changed_since("node_versions", keys)
        self._form, self._overlaid = form, None
        self._node_keys, self._edge_keys = Column.of(keys), Column.of(edge_keys)

    def _changed_since(self, table: str, keys: Keys) -> Rows:
        """Return the rows of the nodes whose rows in `table` are not those they were."""
        statement = _CHANGED_SINCE.format("v", table)
        found = fetch(self._file.connection, statement, (self._as_of, self._as_of))
        changed = np.array(sorted(key for (key,) in found), dtype=np.int64)
        rows: Rows = np.searchsorted(keys, changed[np.isin(changed, keys)])
        return rows

    def _texts(self) -> TextIndex:
        if self._overlaid is None:
            index = self._present._texts().overlaid(self._changed_texts)
            alive = self._form.topology.view().alive.take(self._changed_texts).astype(np.bool_)
            rows = self._changed_texts[alive]
            index.put(rows, self._node_records(rows))
            self._overlaid = index
        return self._overlaid

    # What cannot be done to the past

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


def _time_of(file: SqliteFile, sequence: int) -> datetime:
    with file.reading() as connection:
        row = connection.execute("SELECT at FROM deltas WHERE sequence = ?", (sequence,)).fetchone()
    return from_micros(row[0] if row else 0)

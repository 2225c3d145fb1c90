"""What a store finds by vectors, keywords and marks, for the rows of its views."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated.core.model import Vector
from neurogated.core.view import GraphView, Rows
from neurogated.storage.base_store import BaseStore
from neurogated.storage.text_index import OverlaidTextIndex, TextIndex
from neurogated.storage.working_form import WorkingForm

__all__ = ["SearchableStore"]


class SearchableStore(BaseStore):
    """Searches the vector index and the text index of a store under its lock."""

    _form: WorkingForm

    @abstractmethod
    def _texts(self) -> TextIndex | OverlaidTextIndex:
        """Return keywords and marks of the nodes, made on first use."""

    def nearest(self, query: Vector, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and cosines of the `k` most similar nodes, best first, ties in order of id.

        Args:
            query: a vector of the memory's dimension.
            k: how many.
            view: a view of this store; what it hides does not count.
        """
        with self._lock:
            seen = self.view() if view is None else view
            # Where the rows are comes first: asking may number them anew, and the indexes with them.
            left_out = self._left_out(seen)
            keys, scores = self._form.vectors.search(query, k, left_out)
            return self._ranked(keys, scores, k)

    def similarities(self, query: Vector, view: GraphView, rows: Rows) -> NDArray[np.float32]:
        """Return the cosine of the nodes at `rows` of `view`, a view of this store, with the query.

        A node without embedding, or removed meanwhile, has 0.
        """
        with self._lock:
            current = self._rows_now(view, rows)
            return self._form.vectors.similarities(query, current)

    def keyword_search(self, query: str, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and keyword scores > 0 of the `k` nodes that fit best, best first, ties in order of id.

        `view` as in `nearest`.
        """
        with self._lock:
            seen = self.view() if view is None else view
            left_out = self._left_out(seen)
            keys, scores = self._texts().keywords.search(query, k, left_out)
            return self._ranked(keys, scores, k)

    def keyword_scores(self, query: str, view: GraphView, rows: Rows) -> NDArray[np.float64]:
        """Return the keyword score of the nodes at `rows` of `view`, 0 for a node that shares no keyword."""
        with self._lock:
            current = self._rows_now(view, rows)
            return self._texts().keywords.scores(query, current)

    def carriers(self, marks: Collection[str], view: GraphView, rows: Rows) -> NDArray[np.bool_]:
        """Return whether the nodes at `rows` of `view` carry one of `marks`; see `core.rendering`."""
        with self._lock:
            current = self._rows_now(view, rows)
            return self._texts().marks.carriers(marks, current)

    def carried(self, marks: Iterable[str], view: GraphView | None = None) -> frozenset[str]:
        """Return those of `marks` that some node carries; `view` as in `nearest`."""
        with self._lock:
            seen = self.view() if view is None else view
            hidden = self._rows_now(seen, seen.hidden)
            return self._texts().marks.carried(marks, hidden)

    def holders(self, marks: Collection[str], limit: int | None = None) -> list[str]:
        """Return the ids of the nodes that carry all of `marks`, in the order they were added.

        Args:
            marks: see `core.rendering`; no marks are carried by no node.
            limit: how many at most; all when left out.
        """
        with self._lock:
            self._require_open()
            ids = self._form.topology.ids
            return [ids[row] for row in self._texts().marks.holders(marks)[:limit].tolist()]

    def marks_of(self, node_ids: Sequence[str]) -> list[frozenset[str]]:
        """Return the marks of each node, in the order of their ids; raises UnknownIdError."""
        with self._lock:
            rows = self._whole().rows(node_ids)
            index = self._texts().marks
            return [index.marks_of(row) for row in rows.tolist()]

    def _left_out(self, view: GraphView) -> Rows:
        """Return the rows here of what `view` does not show: what it hides, and what is later than it."""
        hidden = self._rows_now(view, view.hidden)
        now = self._form.topology.view()
        if view.sequence == now.sequence:
            return hidden
        if view.ids is not now.ids:
            later = [row for row in now.live_nodes().tolist() if view.find(now.ids[row]) is None]
            return np.union1d(hidden, np.array(later, dtype=np.int64))
        gone = np.flatnonzero(~view.alive.all()[: view.node_count].astype(np.bool_))
        return np.concatenate((np.union1d(hidden, gone), np.arange(view.node_count, now.node_count)))

    def _rows_now(self, view: GraphView, rows: Rows) -> Rows:
        self._require_open()
        return self._form.rows_now(view, rows)

    @abstractmethod
    def _require_open(self) -> None:
        """Raise MemoryClosedError where the store can no longer be used."""

    def _ranked(self, keys: Rows, scores: NDArray[np.float64], k: int) -> list[tuple[str, float]]:
        ids = self._form.topology.ids
        found = [(ids[key], score) for key, score in zip(keys.tolist(), scores.tolist(), strict=True)]
        return sorted(found, key=lambda pair: (-pair[1], pair[0]))[:k]

"""What a store finds by vectors, keywords and marks, for the rows of its views."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

from neurogated.core.model import Vector
from neurogated.core.view import GraphView, Rows
from neurogated.storage.base_store import BaseStore
from neurogated.storage.text_index import OverlaidTextIndex, TextIndex
from neurogated.storage.working_form import WorkingForm

__all__ = ["SearchableStore"]


Found = tuple[Rows, NDArray[np.float64]]
"""Rows or keys that a search found and their scores, both (n,), best first."""


class SearchableStore(BaseStore):
    """Searches the vector index and the text index of a store.

    Where to look is settled under the store's lock; the search itself, which takes long, holds `_searching` alone, so
    that questions and writes go on beside it.
    """

    _form: WorkingForm
    _searching: AbstractContextManager[object] = nullcontext()
    """Held while indexes are searched; a lock where they do not bear a write meanwhile."""

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
        seen = self.view() if view is None else view
        (found,) = self.nearest_rows([query], k, seen)
        return _named(seen, found)

    def nearest_rows(self, queries: Sequence[Vector], k: int, view: GraphView) -> list[Found]:
        """Return for each query the rows in `view`, and cosines, of what `nearest` finds.

        The queries are searched for together.
        """

        def search(left_out: Rows) -> list[Found]:
            return self._form.vectors.search_batch(queries, k, left_out)

        return self._searched(search, k, view)

    def similarities(self, query: Vector, view: GraphView, rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of the nodes at `rows` of `view`, a view of this store, with the query.

        A node without embedding, or removed meanwhile, has 0.
        """
        with self._searching:
            with self._lock:
                current, vectors = self._rows_now(view, rows), self._form.vectors
            return vectors.similarities(query, current)

    def keyword_search(self, query: str, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and keyword scores > 0 of the `k` nodes that fit best, best first, ties in order of id.

        `view` as in `nearest`.
        """
        seen = self.view() if view is None else view
        return _named(seen, self.keyword_rows(query, k, seen))

    def keyword_rows(self, query: str, k: int, view: GraphView) -> Found:
        """Return the rows in `view`, and scores, of what `keyword_search` finds."""

        def search(left_out: Rows) -> list[Found]:
            with self._lock:
                keywords = self._texts().keywords
            return [keywords.search(query, k, left_out)]

        (found,) = self._searched(search, k, view)
        return found

    def keyword_scores(self, query: str, view: GraphView, rows: Rows) -> NDArray[np.float64]:
        """Return the keyword score of the nodes at `rows` of `view`, 0 for a node that shares no keyword."""
        with self._searching:
            with self._lock:
                current, keywords = self._rows_now(view, rows), self._texts().keywords
            return keywords.scores(query, current)

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
            return [ids[row] for row in self._texts().marks.holders(marks, limit).tolist()]

    def few_holders(self, limits: Mapping[str, int]) -> dict[str, list[str]]:
        """Return who `holders` says carry each mark, but for the marks that more nodes carry than their limit.

        Many marks are asked for together, and what many nodes carry costs next to nothing.
        """
        with self._lock:
            self._require_open()
            ids = self._form.topology.ids
            few = self._texts().marks.few_holders(limits)
            return {mark: [ids[row] for row in rows.tolist()] for mark, rows in few.items()}

    def marks_of(self, node_ids: Sequence[str], at_most: int | None = None) -> list[frozenset[str]]:
        """Return the marks of each node, in the order of their ids; raises UnknownIdError.

        Args:
            node_ids: ids of nodes that exist.
            at_most: leave out the marks that more nodes carry; these cost next to nothing.
        """
        with self._lock:
            rows = self._whole().rows(node_ids)
            index = self._texts().marks
            return [index.marks_of(row, at_most) for row in rows.tolist()]

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

    def _searched(self, search: Callable[[Rows], list[Found]], k: int, view: GraphView) -> list[Found]:
        """Return the `k` best of what `search` finds but for the keys it is given, as rows of `view`."""
        with self._searching:
            while True:
                with self._lock:
                    form, left_out = self._form, self._left_out(view)
                    ids, known = form.topology.ids, len(form.topology.ids)
                found = search(left_out)
                # What was written meanwhile may stand in the place of another; the next search leaves it out.
                if form is self._form and all(keys.max(initial=-1) < known for keys, _ in found):
                    return [_cut(_seen(view, ids, each), k, view.ids) for each in found]


def _seen(view: GraphView, ids: Sequence[str], found: Found) -> Found:
    """Return what was found under the numbers of `ids` as rows of the view."""
    if view.ids is ids:
        return found
    keys, scores = found
    return view.rows(ids[key] for key in keys.tolist()), scores


def _cut(found: Found, k: int, ids: Sequence[str]) -> Found:
    """Return the first `k`, best first, ties in order of id."""
    rows, scores = found
    tied = (scores[1:] == scores[:-1]).nonzero()[0]
    if tied.size:
        places = np.union1d(tied, tied + 1)
        in_order = sorted(places.tolist(), key=lambda place: (-scores[place], ids[int(rows[place])]))
        rows = rows.copy()
        rows[places] = rows[in_order]
    return rows[:k], scores[:k]


def _named(view: GraphView, found: Found) -> list[tuple[str, float]]:
    rows, scores = found
    return list(zip((view.ids[row] for row in rows.tolist()), scores.tolist(), strict=True))

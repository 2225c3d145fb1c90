"""What a store finds by vectors, keywords and tags, for the rows of its views."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext

import numpy as np
from numpy.typing import NDArray

from neurogated.core.column_view import ColumnView
from neurogated.core.filters import Condition, Filter
from neurogated.core.model import Vector
from neurogated.core.rendering import own_tag
from neurogated.core.view import GraphView, Rows
from neurogated.storage.base_store import BaseStore
from neurogated.storage.graph_state import GraphState
from neurogated.storage.index.text.lexical_store import LexicalStore, OverlaidLexicalStore

__all__ = ["SearchableStore"]


_READ_AT_ONCE = 1000

Found = tuple[Rows, NDArray[np.float64]]
"""Rows or keys that a search found and their scores, both (n,), best first."""


class SearchableStore(BaseStore):
    """Searches the vector index and the text index of a store.

    A search takes a state of the graph and then holds `_searching` alone, so that questions and writes go on beside it.
    """

    _searching: AbstractContextManager[object] = nullcontext()
    """Held while indexes are searched; a lock where they do not bear a write meanwhile."""

    @abstractmethod
    def _search_state(self) -> GraphState:
        """Return what this thread may search, without asking what other processes have written."""

    @abstractmethod
    def _text_state(self) -> tuple[GraphState, LexicalStore | OverlaidLexicalStore]:
        """Return what this thread may search and its keywords and tags, made on first use."""

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
        with self._searching:
            state = self._search_state()
            vectors = state.form.vectors
            among = state.among(view)
            return _searched(state, lambda left_out: vectors.search_batch(queries, k, left_out, among), k, view)

    def similarities(self, query: Vector, view: GraphView, rows: Rows) -> NDArray[np.float64]:
        """Return the cosine of the nodes at `rows` of `view`, a view of this store, with the query.

        A node without embedding, or removed meanwhile, has 0.
        """
        with self._searching:
            state = self._search_state()
            return state.form.vectors.similarities(query, state.rows_of(view, rows))

    def keyword_search(self, query: str, k: int, view: GraphView | None = None) -> list[tuple[str, float]]:
        """Return ids and keyword scores > 0 of the `k` nodes that fit best, best first, ties in order of id.

        `view` as in `nearest`.
        """
        seen = self.view() if view is None else view
        return _named(seen, self.keyword_rows(query, k, seen))

    def keyword_rows(self, query: str, k: int, view: GraphView) -> Found:
        """Return the rows in `view`, and scores, of what `keyword_search` finds."""
        with self._searching:
            state, texts = self._text_state()
            among = state.among(view)
            (found,) = _searched(state, lambda left_out: [texts.search(query, k, left_out, among)], k, view)
            return found

    def keyword_scores(self, query: str, view: GraphView, rows: Rows) -> NDArray[np.float64]:
        """Return the keyword score of the nodes at `rows` of `view`, 0 for a node that shares no keyword."""
        with self._searching:
            state, texts = self._text_state()
            return texts.scores(query, state.rows_of(view, rows), state.among(view))

    def has_any_tag(self, tags: Collection[str], view: GraphView, rows: Rows) -> NDArray[np.bool_]:
        """Return whether the nodes at `rows` of `view` have one of `tags`; see `core.rendering`."""
        with self._searching:
            state, texts = self._text_state()
            return texts.has_any(tags, state.rows_of(view, rows))

    def existing_tags(self, tags: Iterable[str], view: GraphView | None = None) -> frozenset[str]:
        """Return those of `tags` that some node has; `view` as in `nearest`."""
        seen = self.view() if view is None else view
        with self._searching:
            state, texts = self._text_state()
            return texts.existing(tags, state.rows_of(seen, seen.hidden), state.among(seen))

    def nodes_with(self, terms: Collection[str], limit: int | None = None, view: GraphView | None = None) -> list[str]:
        """Return the ids of the nodes that have all of `terms`, in the order they were added.

        Args:
            terms: keywords and tags; no node has all of none.
            limit: how many at most; all when left out.
            view: a view of this store; only nodes that its filter admits count, hidden ones too.
        """
        with self._searching:
            state, texts = self._text_state()
            return [state.view.ids[row] for row in texts.keys_with(terms, limit, state.among(view)).tolist()]

    def rare_nodes_with(self, limits: Mapping[str, int], view: GraphView | None = None) -> dict[str, list[str]]:
        """Return what `nodes_with` says of each term, except for terms that more nodes have than their limit.

        Many terms are asked for together, and a common one costs next to nothing.
        """
        with self._searching:
            state, texts = self._text_state()
            rare = texts.rare_keys_with(limits, state.among(view))
            return {term: [state.view.ids[row] for row in rows.tolist()] for term, rows in rare.items()}

    def _filtered(self, view: ColumnView, filters: Filter) -> ColumnView:
        """Return a view of this store whose searches find only what a filter admits."""
        rows = None if filters.scope is None else view.rows_of_scopes(filters.scope)
        if filters.tags:
            wanted = list(map(own_tag, filters.tags))
            with self._searching:
                state, texts = self._text_state()
                among = state.among(view if rows is None else view.restricted_to(rows))
                names = [state.view.ids[row] for row in texts.keys_with(wanted, among=among).tolist()]
            rows = view.known_rows(names)
        if filters.kinds:
            rows = view.live_nodes() if rows is None else rows
            codes = [code for code, kind in enumerate(view.kinds) if kind in filters.kinds]
            rows = rows[np.isin(view.kind.take(rows), codes)]
        if filters.where is not None:
            rows = self._where(view, view.live_nodes() if rows is None else rows, filters.where)
        return view if rows is None else view.restricted_to(rows)

    def _where(self, view: GraphView, rows: Rows, condition: Condition) -> Rows:
        """Return the rows of the nodes whose metadata fulfils a condition; the metadata of all rows is read."""
        found: list[int] = []
        for begin in range(0, rows.size, _READ_AT_ONCE):
            part = rows[begin : begin + _READ_AT_ONCE].tolist()
            nodes = {node.id: node for node in self.get_nodes([view.ids[row] for row in part], missing_ok=True)}
            found += [
                row
                for row in part
                if (node := nodes.get(view.ids[row])) is not None and condition.admits(node.metadata)
            ]
        return np.array(found, dtype=np.int64)

    def tags_of(self, node_ids: Sequence[str]) -> list[frozenset[str]]:
        """Return the tags of each node, in the order of their ids; raises UnknownIdError."""
        return [frozenset(term for term, count in terms.items() if not count) for terms in self._terms(node_ids)]

    def terms_of(self, node_ids: Sequence[str], at_most: int | None = None) -> list[frozenset[str]]:
        """Return the keywords and tags of each node, in the order of their ids; raises UnknownIdError.

        Args:
            node_ids: ids of nodes that exist.
            at_most: leave out the terms that more nodes have; these cost next to nothing.
        """
        return [frozenset(terms) for terms in self._terms(node_ids, at_most)]

    def _terms(self, node_ids: Sequence[str], at_most: int | None = None) -> list[dict[str, int]]:
        self._latest()
        with self._searching:
            state, texts = self._text_state()
            return [texts.terms_of(row, at_most) for row in state.view.rows(node_ids).tolist()]


def _searched(state: GraphState, search: Callable[[Rows], list[Found]], k: int, view: GraphView) -> list[Found]:
    """Return the `k` best of what `search` finds but for the keys it is given, as rows of `view`."""
    left_out = state.left_out(view)
    while True:
        found = search(left_out)
        # What was written meanwhile may stand in the place of another, so the next search leaves it out.
        late = state.unknown(np.concatenate([left_out[:0], *(keys for keys, _ in found)]))
        if not late.size:
            return [_cut(_seen(view, state.view.ids, each), k, view.ids) for each in found]
        left_out = np.union1d(left_out, late)


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

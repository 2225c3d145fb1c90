"""`GraphSnapshot`: one state of a graph with a view of it; searches are its methods and return rows of the view."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from itertools import chain, repeat
from operator import attrgetter

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import to_micros
from neurogated.core.conflicts import Conflict
from neurogated.core.conflicts import Validity as Times
from neurogated.core.derivation import are_original
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import Entry, Owner, Slot
from neurogated.core.filters import Filter
from neurogated.core.found import Said
from neurogated.core.model import MemoryEdge, MemoryNode, Vector, checked_count
from neurogated.core.ports import Snapshot
from neurogated.core.rendering import OWN
from neurogated.core.view import GraphView, Hits, Rows, best_places
from neurogated.errors import InputError
from neurogated.slots.table import SlotValues
from neurogated.storage.index.graph.validity import RowOutcomes
from neurogated.storage.index.graph_index import RecordsErasedError, portions, said_of
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.live_graph import LiveGraph

_TIMES = {"energy_at", "last_accessed", "created_at", "timestamp", "expires_at", "valid_from", "valid_to"}
_ORDERED = {"id", "base_energy", "importance", "uses", "position"} | _TIMES
_NO_ROWS = np.empty(0, dtype=np.int64)


class GraphSnapshot(Snapshot):
    """A state of the graph, taken once, and a view of it or of an earlier state.

    Indexes may be ahead of the state by what was written since. Rows of these writes are never results.
    """

    def __init__(self, graph: LiveGraph, state: GraphState, view: GraphView, now: int) -> None:
        self._graph, self._now, self.view = graph, now, view
        self._take(state, state.texts)

    def _take(self, state: GraphState, texts: LexicalStore | None) -> None:
        """Bind a state and its keyword and tag index, if it is built."""
        self._state, self._bound_texts, among = state, texts, self.view.among
        # If the rows were renumbered after the view was taken, its rows are others than those of the state.
        self._is_same = self.view.ids is state.view.ids
        if among is not None and not self._is_same:
            among = np.sort(self._there(among))
            among = among[among < len(state.view.ids)]
        self._among = among

    def restricted(self, filters: Filter | None, without: Collection[str] = ()) -> GraphSnapshot:
        """Return the snapshot whose searches find only what a filter admits, and without the nodes `without`."""
        hidden = self.view.known_rows(without) if without else _NO_ROWS
        view = self.view if filters is None else self._filtered(filters)
        return self._of(view.without(hidden, _NO_ROWS))

    def nearest(self, queries: Sequence[Vector], k: int) -> list[Hits]:
        vectors, among = self._state.form.vectors, self._among
        return self._searched(lambda left_out: vectors.search_batch(queries, k, left_out, among), k)

    def similarities(self, query: Vector, rows: Rows, missing: float = 0.0) -> NDArray[np.float64]:
        return self._state.form.vectors.similarities(query, self._there(rows), missing)

    def mean_vector(self, rows: Rows) -> NDArray[np.float32]:
        return self._state.form.vectors.mean(self._there(rows))

    def keyword_search(self, query: str, k: int) -> Hits:
        texts, among = self._texts, self._among
        return self._searched(lambda left_out: [texts.search(query, k, left_out, among)], k)[0]

    def keyword_scores(self, query: str, rows: Rows) -> NDArray[np.float64]:
        return self._texts.scores(query, self._there(rows), self._among)

    def has_tags(self, tags: Sequence[str], rows: Rows) -> NDArray[np.bool_]:
        return self._texts.having(tags, self._there(rows))

    def marks(self, tags: Sequence[str], rows: Rows) -> NDArray[np.uint8]:
        return self._texts.marks(tags, self._there(rows))

    def existing_tags(self, tags: Iterable[str]) -> frozenset[str]:
        return self._texts.existing(tags, self._there(self.view.hidden), self._among)

    def rows_with(self, terms: Collection[str], limit: int | None = None) -> Rows:
        return self._shown(self._texts.keys_with(terms, limit, self._among))

    def rare_rows_with(self, limits: Mapping[str, int]) -> dict[str, Rows]:
        texts = self._texts
        rare = texts.rare_keys_with(limits, self._among)
        every = np.concatenate([_NO_ROWS, *rare.values()])
        if self._is_same and self._shown(every).size == every.size:
            # Usually the view shows all of them, and one look is quicker than one for each term.
            return rare
        return {term: self._shown(rows) for term, rows in rare.items()}

    def terms_of(self, rows: Rows, at_most: int | None = None) -> list[frozenset[str]]:
        return [frozenset(terms) for terms in self._texts.words_of(self._there(rows), at_most)]

    def find(self, *, order_by: str | None = None, limit: int | None = None, offset: int = 0) -> list[MemoryNode]:
        begin, rows = checked_count("offset", offset), self.view.admitted_nodes()
        part = slice(begin, None if limit is None else begin + checked_count("limit", limit))
        if order_by is None:
            return self.nodes(rows[part])
        name = str(order_by).removeprefix("-")
        if name not in _ORDERED:
            raise InputError(f"nodes cannot be ordered by {order_by!r}; choose one of {', '.join(sorted(_ORDERED))}")
        nodes = self.nodes(rows)
        known = [node for node in nodes if getattr(node, name) is not None]
        known.sort(key=attrgetter(name), reverse=order_by != name)
        return [*known, *(node for node in nodes if getattr(node, name) is None)][part]

    def nodes(self, rows: Rows) -> list[MemoryNode]:
        try:
            return self._state.nodes(self._kept(rows), self._now)
        except RecordsErasedError:
            names = self.view.names(rows)
        return self._graph.read(lambda state: state.nodes(state.view.rows(names, missing_ok=True), self._now))

    def edges(self, rows: Rows) -> list[MemoryEdge]:
        view, state = self.view, self._state
        stored, computed = rows[rows < view.edge_count], rows[rows >= view.edge_count] - view.edge_count
        with suppress(RecordsErasedError):
            if self._is_same:
                found = state.edges(stored[~np.isnan(state.view.weight.take(stored))])
                if computed.size:
                    sources, targets, weights = view.computed_edges(np.unique(computed // view.node_count))
                    (kept,) = np.isin(sources * view.node_count + targets, computed).nonzero()
                    found += state.computed_edges(sources[kept], targets[kept], weights[kept])
                return found
        keys = list(map(view.edge_key, rows.tolist()))

        def left(state: GraphState) -> list[MemoryEdge]:
            there = (key for key in keys if None not in map(state.view.find, key[:2]))
            return [edge for key in there for edge in state.edges_between(*key)]

        return self._graph.read(left)

    def expired(self, now: datetime) -> list[str]:
        return self._state.view.names(self._state.form.validity.expired(to_micros(now)))

    def said(self, rows: Rows) -> dict[int, Said]:
        state, view = self._state, self.view
        try:
            return dict(zip(rows.tolist(), state.records.said(self._kept(rows)), strict=True))
        except RecordsErasedError:
            return {row: said_of(one) for one in self.nodes(rows) if (row := view.find(one.id)) is not None}

    def entries(self, node_ids: Iterable[str]) -> list[tuple[Entry, Times | None]]:
        return self._outcomes.entries_at(map(self._state.view.rows_by_id.get, node_ids, repeat(-1)))

    def values_in(self, owner: Owner, slot: Slot) -> Sequence[Entry]:
        return self._state.form.validity.outcomes.slots.get((owner, slot), SlotValues()).entries

    def disputes(self, node_ids: Iterable[str] | None = None) -> list[Conflict]:
        if node_ids is None:
            return self._outcomes.disputes()
        return self._outcomes.disputes(map(self._state.view.rows_by_id.get, node_ids, repeat(-1)))

    @property
    def _outcomes(self) -> RowOutcomes:
        return self._state.form.validity.outcomes_at(self._state.view, self._now)

    @property
    def _texts(self) -> LexicalStore:
        """The keyword and tag index, which the first search builds; it may replace the state, so it is asked first."""
        if (texts := self._bound_texts) is None:
            state, texts = self._graph.text_state()
            self._take(state, texts)
        return texts

    def _of(self, view: GraphView) -> GraphSnapshot:
        return self if view is self.view else self.__class__(self._graph, self._state, view, self._now)

    def _there(self, rows: Rows) -> Rows:
        """Return the rows in the state of the nodes at `rows` of the view."""
        if self._is_same:
            return rows
        # A removed node gets a row beyond all others.
        found, beyond = map(self._state.view.find, self.view.names(rows)), len(self._state.view.ids)
        return np.array([beyond if row is None else row for row in found], dtype=np.int64)

    def _kept(self, rows: Rows) -> Rows:
        """Return the rows in the state; raises RecordsErasedError if one of the nodes was removed and erased."""
        if (there := self._there(rows)).max(initial=-1) >= len(self._state.view.ids):
            raise RecordsErasedError
        return there

    def _left_out(self) -> Rows:
        """Return the rows in the state that the view does not show: hidden rows and rows added after the view."""
        view, now, hidden = self.view, self._state.view, self._there(self.view.hidden)
        if view.sequence == now.sequence:
            return hidden
        if not self._is_same:
            if view.among is not None:
                # Searches read only the rows of the view.
                return hidden[hidden < len(now.ids)]
            later = [row for row in now.live_nodes().tolist() if view.find(now.ids[row]) is None]
            return np.union1d(hidden, np.array(later, dtype=np.int64))
        shared = min(view.node_count, now.node_count)
        gone = np.flatnonzero(~view.alive.all()[:shared].astype(np.bool_))
        return np.concatenate((np.union1d(hidden, gone), np.arange(shared, now.node_count)))

    def _shown(self, rows: Rows) -> Rows:
        """Return the rows of the state that the view shows, as rows of the view."""
        view = self.view
        if not self._is_same:
            return view.known_rows(self._state.view.names(rows))
        rows = rows[rows < view.node_count]
        return rows[view.alive.take(rows).astype(np.bool_)]

    def _searched(self, search: Callable[[Rows], list[Hits]], k: int) -> list[Hits]:
        """Return the `k` best results of `search` as rows of the view; `search` takes the keys to leave out."""
        view, present, left_out = self.view, self._state.view, self._left_out()
        while True:
            found = search(left_out)
            # A row written after the view was taken may displace a row of the view, so the next search leaves it out.
            keys = np.concatenate([left_out[:0], *(keys for keys, _ in found)])
            known = keys < present.node_count
            known[known] = present.alive.take(keys[known])
            if np.logical_and.reduce(known):
                if not self._is_same:
                    found = [(view.rows(present.names(keys)), scores) for keys, scores in found]
                best = [(best_places(view, *each, k), *each) for each in found]
                return [(rows[places], scores[places]) for places, rows, scores in best]
            left_out = np.union1d(left_out, keys[~known])

    def _filtered(self, filters: Filter) -> GraphView:
        """Return the view whose searches find only the nodes that a filter admits."""
        view = self.view
        rows = None if filters.scope is None else view.rows_of_scopes(filters.scope)
        if filters.only_ids is not None:
            chosen = view.known_rows(filters.only_ids)
            rows = chosen if rows is None else np.intersect1d(chosen, rows, assume_unique=True)
        if filters.tags:
            within = view if rows is None else view.restricted_to(rows)
            rows = self._of(within).rows_with([OWN + tag for tag in filters.tags])
        if filters.kinds:
            rows = view.live_nodes() if rows is None else rows
            rows = rows[np.array([kind in filters.kinds for kind in view.kinds])[view.kind.take(rows)]]
        if unwanted := [code for code, kind in enumerate(view.kinds) if kind in filters.except_kinds]:
            rows = view.live_nodes() if rows is None else rows
            rows = rows[~np.isin(view.kind.take(rows), unwanted)]
        has_derived = filters.originals and EdgeType.DERIVED_FROM in view.edge_types
        if has_derived and not np.logical_and.reduce(originals := are_original(view)):
            rows = np.flatnonzero(originals) if rows is None else rows[originals[rows]]
        if filters.where is not None:
            # The metadata of all of them is read.
            rows = view.live_nodes() if rows is None else rows[view.alive.take(rows).astype(np.bool_)]
            nodes = chain.from_iterable(map(self.nodes, portions(rows)))
            rows = view.known_rows(node.id for node in nodes if filters.where.admits(node.metadata))
        if rows is None or np.count_nonzero(view.alive.take(rows)) == np.count_nonzero(view.alive.all()):
            # A search among all nodes is quicker than one among rows.
            return view
        return view.restricted_to(rows)

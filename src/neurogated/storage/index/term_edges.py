"""TERM edges: two texts with the same rare keyword, computed from the keyword index when somebody asks.

    w(a, b) = min(1, sum of 1 / n(t))    over the common keywords t of a and b;
                                         n(t) <= MAX_TERM_TEXTS texts of the user have t

Only texts that the view shows count, without those that were derived from others: these repeat words of their sources,
so they would make the words seem common. No edge joins texts of two users. An edge leads from the later to the earlier
row. Indexes may be ahead of a view; see `GraphState`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import inf

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import Adjacency, contained
from neurogated.core.derivation import are_original
from neurogated.core.edge_type import EdgeType
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import Arcs, Computed, GraphView, Rows
from neurogated.storage.index.text.lexical_store import LexicalStore

_FEW_TEXTS, _MANY_TEXTS = 1_000, 50_000
"""The edges of a user with few texts are computed at once and kept until the next change; of more texts, up to many,
once they were asked for so often that this takes no longer."""
_AT_ONCE = 128  # computing the edges at some nodes takes as long as computing those of so many texts at once


class TermEdges(Computed):
    """Computes the TERM edges of one graph."""

    def __init__(self, most: int, texts: Callable[[], LexicalStore]) -> None:
        """Take the number of texts beyond which a keyword joins none, and what returns the index of keywords.

        `texts` must not hold the graph, which would then stay open until garbage collection.
        """
        self.most = most
        self._texts = texts
        # What the last view shows of each user. The view holds this object, so only what identifies it is kept.
        self._last: tuple[object, object, int, dict[str | None, _UserTexts]] = (None, None, -1, {})

    def arcs(self, view: GraphView, rows: Rows) -> Arcs:
        """Return the TERM edges at some nodes; see `Computed`."""
        scopes, users = view.scope.take(rows), view.scopes.users
        owners = {users[code] for code in set(scopes.tolist())}
        if len(owners) == 1:
            return self._of(view, owners.pop()).arcs(rows)
        parts = []
        for owner in owners:
            (places,) = np.isin(scopes, [code for code in set(scopes.tolist()) if users[code] == owner]).nonzero()
            arcs = self._of(view, owner).arcs(rows[places])
            parts.append(arcs._replace(origin=places[arcs.origin]))
        columns = [np.concatenate([rows[:0], *column]) for column in zip(*parts, strict=True)] or [rows[:0]] * 4
        order = np.lexsort((columns[1], columns[0]))
        return Arcs(*[column[order] for column in columns])

    def _of(self, view: GraphView, user_id: str | None) -> _UserTexts:
        """Return the texts of a user that a view shows."""
        alive, weight, sequence, known = self._last
        # A new version of a text changes no column.
        if alive is not view.alive or weight is not view.weight or sequence != view.sequence:
            known = {}
            # One value, because other threads may ask of other views.
            self._last = view.alive, view.weight, view.sequence, known
        if user_id not in known:
            rows = view.rows_of_scopes(ScopeFilter(user_id, alone=True))
            rows = view.live_nodes() if rows is None else rows[view.alive.take(rows).astype(np.bool_)]
            if EdgeType.DERIVED_FROM in view.edge_types:
                rows = rows[are_original(view)[rows]]
            known[user_id] = _UserTexts(self._texts(), self.most, rows, (view.edge_count, view.node_count))
        return known[user_id]


class _UserTexts:
    """The texts of one user in a view."""

    def __init__(self, texts: LexicalStore, most: int, rows: Rows, counts: tuple[int, int]) -> None:
        """Take the rows of the texts, ascending, and how many rows of edges and of nodes the view has."""
        self.texts, self.most, self.rows, self.counts = texts, most, rows, counts
        self._left = 0 if rows.size <= _FEW_TEXTS else rows.size if rows.size <= _MANY_TEXTS else inf

    def arcs(self, rows: Rows) -> Arcs:
        """Return the edges at some nodes; nodes that are no such texts have none."""
        if self._left > 0:
            self._left -= _AT_ONCE
            (places,) = contained(self.rows, rows).nonzero()
            origin, target, weight = self.texts.sharing(rows[places], self.rows, self.most)
            origin = places[origin]
            return Arcs(origin, target, self._numbers(rows[origin], target), weight)
        adjacency, numbers, weights = self._every
        found = adjacency.gathered(rows)
        if found is None:
            return Arcs(rows[:0], rows[:0], rows[:0], weights[:0])
        origin, targets, edges = found
        return Arcs(origin, targets.astype(np.int64), numbers[edges], weights[edges])

    @cached_property
    def _every(self) -> tuple[Adjacency, Rows, NDArray[np.float64]]:
        """All edges both ways, with their numbers and weights."""
        origin, target, weight = self.texts.sharing(self.rows, self.rows, self.most)
        begins = origin.searchsorted(np.arange(self.rows.size + 1))
        places = np.arange(target.size, dtype=np.int32)
        adjacency = Adjacency(begins, target.astype(np.int32), places, self.rows)
        return adjacency, self._numbers(self.rows[origin], target), weight

    def _numbers(self, first: Rows, second: Rows) -> Rows:
        edges, nodes = self.counts
        later, earlier = np.maximum(first, second), np.minimum(first, second)
        numbers: Rows = edges + later * nodes + earlier
        return numbers

"""Valid time of nodes and edges, and expiry of nodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from neurogated.core.clock import to_micros
from neurogated.core.conflicts import Validity as Times
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.view import GraphView, Rows
from neurogated.storage.index.graph.outcomes import OutcomeChanges, RowOutcomes


def micros_or_none(moment: datetime | None) -> int | None:
    """Return `moment` in microseconds, None for None."""
    return None if moment is None else to_micros(moment)


_FIRST, _NEVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""The bounds of spans without a beginning or an end."""


class _Spans:
    """Half-open valid times of rows, in microseconds since 1970. Rows that were always valid take no space."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        # Row, begin and end; in an array, since most calls look through all spans.
        self._spans = np.empty((1, 3), dtype=np.int64)

    def copy(self) -> _Spans:
        """Return a copy."""
        spans = _Spans()
        spans._places, spans._spans = self._places.copy(), self._spans.copy()
        return spans

    def __bool__(self) -> bool:
        return bool(self._places)

    def put(self, row: int, begin: int | None, end: int | None) -> None:
        """Set the span of `row`; None means unbounded on that side."""
        if begin is None and end is None:
            self._forget(row)
            return
        place = self._places.setdefault(row, len(self._places))
        if place == len(self._spans):
            self._spans = np.concatenate((self._spans, self._spans))
        self._spans[place] = row, _FIRST if begin is None else begin, _NEVER if end is None else end

    def remove(self, rows: Rows) -> None:
        """Remove rows."""
        for row in rows.tolist() if self._places else ():
            self._forget(row)

    def outside(self, moment: int) -> Rows:
        """Return the rows that are not valid at `moment`, ascending."""
        rows, begin, end = self._spans[: len(self._places)].T
        outside: Rows = np.sort(rows[(moment < begin) | (end <= moment)])
        return outside

    def next_end(self, moment: int) -> int:
        """Return the first end after `moment`; the largest number if there is none."""
        ends = self._spans[: len(self._places), 2]
        return int(ends[ends > moment].min(initial=_NEVER))

    def _forget(self, row: int) -> None:
        if (place := self._places.pop(row, None)) is not None and place < len(self._places):
            # The last span takes the free place.
            self._spans[place] = self._spans[len(self._places)]
            self._places[int(self._spans[place, 0])] = place


@dataclass(frozen=True, slots=True)
class _Visible:
    """A view without the nodes that have expired at `since`, and what follows for others; valid until `until`."""

    whole: GraphView
    view: GraphView
    outcomes: RowOutcomes
    """Those without the nodes that have expired."""
    changed: Mapping[int, Times]
    """The valid times that differ because a side of an outcome has expired."""
    since: int
    until: int


@dataclass(slots=True)
class Validity:
    """Valid times and expiry times of a graph, and the views that they imply."""

    outcomes: RowOutcomes = field(default_factory=RowOutcomes)
    _nodes: _Spans = field(default_factory=_Spans)
    _edges: _Spans = field(default_factory=_Spans)
    _expiry: _Spans = field(default_factory=_Spans)
    _visible: _Visible | None = None

    def isolated(self) -> Validity:
        """Return a copy."""
        return Validity(
            self.outcomes.copy(), self._nodes.copy(), self._edges.copy(), self._expiry.copy(), self._visible
        )

    def put_nodes(self, rows: Iterable[int], nodes: Iterable[MemoryNode]) -> None:
        """Upsert nodes at `rows`."""
        for row, node in zip(rows, nodes, strict=True):
            self.put_node(
                row, micros_or_none(node.valid_from), micros_or_none(node.valid_to), micros_or_none(node.expires_at)
            )

    def put_node(self, row: int, begin: int | None, end: int | None, expires: int | None) -> None:
        """Upsert the times of one node, in microseconds."""
        self._nodes.put(row, begin, end)
        self._expiry.put(row, None, expires)
        self._visible = None

    def settle(self, changes: OutcomeChanges) -> None:
        """Apply changes of outcomes, after the nodes that they are about."""
        for row, (begin, end) in self.outcomes.update(changes).items():
            self._nodes.put(row, micros_or_none(begin), micros_or_none(end))
        self._visible = None

    def put_edges(self, rows: Iterable[int], edges: Iterable[MemoryEdge]) -> None:
        """Add edges at `rows`."""
        for row, edge in zip(rows, edges, strict=True):
            if edge.valid_from is not None or edge.valid_to is not None:
                self.put_edge(row, micros_or_none(edge.valid_from), micros_or_none(edge.valid_to))

    def put_edge(self, row: int, begin: int | None, end: int | None) -> None:
        """Add the times of one edge, in microseconds."""
        self._edges.put(row, begin, end)

    def remove(self, nodes: Rows, edges: Rows) -> None:
        """Remove nodes and edges."""
        self._nodes.remove(nodes)
        self._expiry.remove(nodes)
        self._edges.remove(edges)
        self._visible = None

    def expired(self, now: int) -> Rows:
        """Return the nodes that have expired at `now`, ascending."""
        return self._expiry.outside(now)

    def visible(self, whole: GraphView, now: int, valid_at: int | None) -> GraphView:
        """Return `whole` without nodes that have expired at `now`, and without rows that are invalid at `valid_at`."""
        seen = self._without_expired(whole, now)
        view = whole if seen is None else seen.view
        if valid_at is None:
            return view
        nodes = self._nodes.outside(valid_at)
        if seen is not None and seen.changed:
            spans = _Spans()
            for row, times in seen.changed.items():
                spans.put(row, *map(micros_or_none, times))
            nodes = np.union1d(nodes[~np.isin(nodes, list(seen.changed))], spans.outside(valid_at))
        return view.without(nodes, self._edges.outside(valid_at))

    def outcomes_at(self, whole: GraphView, now: int) -> RowOutcomes:
        """Return the outcomes at `now`: a memory that has expired has none."""
        seen = self._without_expired(whole, now)
        return self.outcomes if seen is None else seen.outcomes

    def _without_expired(self, whole: GraphView, now: int) -> _Visible | None:
        if not self._expiry:
            return None
        known = self._visible
        # Every question calls this. The view stays the same between two expiries, unless the clock goes back.
        if known is None or known.whole is not whole or not known.since <= now < known.until:
            expired = self.expired(now)
            outcomes = self.outcomes.without(frozenset(expired.tolist()))
            changed = {} if outcomes is self.outcomes else self.outcomes.differing(outcomes)
            view = whole.without(expired, np.empty(0, dtype=np.int64))
            known = self._visible = _Visible(whole, view, outcomes, changed, now, self._expiry.next_end(now))
        return known

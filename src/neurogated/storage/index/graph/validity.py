"""Valid time of nodes and edges, and expiry of nodes."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import numpy as np

from neurogated.core.clock import to_micros
from neurogated.core.column_view import ColumnView
from neurogated.core.view import Rows
from neurogated.storage.index.graph.outcomes import OutcomeChanges, RowOutcomes

__all__ = ["Validity", "micros_or_none"]


def micros_or_none(moment: datetime | None) -> int | None:
    """Return `moment` in microseconds, None for None."""
    return None if moment is None else to_micros(moment)


class _Lasting(Protocol):
    """A node or an edge with a valid time."""

    @property
    def valid_from(self) -> datetime | None:
        """When it began to hold."""

    @property
    def valid_to(self) -> datetime | None:
        """When it ceased to hold."""


class _Expiring(_Lasting, Protocol):
    """A node or a record of a node, which may expire."""

    @property
    def expires_at(self) -> datetime | None:
        """When it expires."""


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

    def put(self, row: int, begin: int | None, end: int | None) -> None:
        """Set the span of `row`; None means unbounded on that side."""
        if row not in self._places:
            if begin is None and end is None:
                return
            self._places[row] = len(self._places)
            if len(self._places) > len(self._spans):
                self._spans = np.concatenate((self._spans, self._spans))
        span = row, _FIRST if begin is None else begin, _NEVER if end is None else end
        self._spans[self._places[row]] = span

    def remove(self, rows: Rows) -> None:
        """Remove rows."""
        for row in rows.tolist() if self._places else ():
            self.put(row, None, None)

    def outside(self, moment: int) -> Rows:
        """Return the rows that are not valid at `moment`, ascending."""
        rows, begin, end = self._spans[: len(self._places)].T
        outside: Rows = np.sort(rows[(moment < begin) | (end <= moment)])
        return outside


class _Deadlines:
    """Expiry times of rows, in microseconds since 1970, and the rows that are due. Rows without one take no space.

    The cost of `due` depends on the rows that are or became due, not on the rows that are due later.
    """

    def __init__(self) -> None:
        self._times: dict[int, int] = {}
        # A heap of (time, row). An entry that is no longer in `_times` is stale and skipped.
        self._coming: list[tuple[int, int]] = []
        self._due: set[int] = set()
        self._asked_at: float = -math.inf

    def __bool__(self) -> bool:
        return bool(self._times)

    def copy(self) -> _Deadlines:
        """Return a copy."""
        deadlines = _Deadlines()
        deadlines._times, deadlines._coming = self._times.copy(), self._coming.copy()
        deadlines._due, deadlines._asked_at = self._due.copy(), self._asked_at
        return deadlines

    def put(self, row: int, time: int | None) -> None:
        """Set the expiry time of `row`, None for never."""
        if self._times.get(row) == time:
            return
        self._forget(row)
        if time is not None:
            self._times[row] = time
            heapq.heappush(self._coming, (time, row))
            if len(self._coming) > 2 * len(self._times):
                self._coming = [(time, row) for row, time in self._times.items() if row not in self._due]
                heapq.heapify(self._coming)

    def remove(self, rows: Rows) -> None:
        """Remove rows."""
        for row in rows.tolist() if self._times else ():
            self._forget(row)

    def due(self, now: int) -> Rows:
        """Return the rows that are due at `now`, ascending."""
        if now < self._asked_at:
            self._set_back(now)
        self._asked_at = now
        while self._coming and self._coming[0][0] <= now:
            time, row = heapq.heappop(self._coming)
            if self._times.get(row) == time:
                self._due.add(row)
        return np.sort(np.fromiter(self._due, np.int64, len(self._due)))

    def next_time(self) -> float:
        """Return the time of the first row that is due after the last call of `due`; infinity if there is none."""
        while self._coming and self._times.get(self._coming[0][1]) != self._coming[0][0]:
            heapq.heappop(self._coming)
        return self._coming[0][0] if self._coming else math.inf

    def _forget(self, row: int) -> None:
        self._times.pop(row, None)
        self._due.discard(row)

    def _set_back(self, now: int) -> None:
        again = {row for row in self._due if self._times[row] > now}
        self._due -= again
        for row in again:
            heapq.heappush(self._coming, (self._times[row], row))


@dataclass(frozen=True, slots=True)
class _Visible:
    """A view without the nodes that have expired at `since`; valid until `until`."""

    whole: ColumnView
    view: ColumnView
    since: int
    until: float


@dataclass(slots=True)
class Validity:
    """Valid times and expiry times of a graph, and the views that they imply."""

    outcomes: RowOutcomes = field(default_factory=RowOutcomes)
    _nodes: _Spans = field(default_factory=_Spans)
    _edges: _Spans = field(default_factory=_Spans)
    _expiry: _Deadlines = field(default_factory=_Deadlines)
    _visible: _Visible | None = None

    def isolated(self) -> Validity:
        """Return a copy."""
        return Validity(
            self.outcomes.copy(), self._nodes.copy(), self._edges.copy(), self._expiry.copy(), self._visible
        )

    def put_nodes(self, rows: Iterable[int], nodes: Iterable[_Expiring]) -> None:
        """Upsert nodes at `rows`."""
        for row, node in zip(rows, nodes, strict=True):
            self.put_node(
                row, micros_or_none(node.valid_from), micros_or_none(node.valid_to), micros_or_none(node.expires_at)
            )

    def put_node(self, row: int, begin: int | None, end: int | None, expires: int | None) -> None:
        """Upsert the times of one node, in microseconds."""
        self._nodes.put(row, begin, end)
        self._expiry.put(row, expires)
        self._visible = None

    def settle(self, changes: OutcomeChanges) -> None:
        """Apply changes of outcomes, after the nodes that they are about."""
        for row, (begin, end) in self.outcomes.update(changes).items():
            self._nodes.put(row, micros_or_none(begin), micros_or_none(end))

    def put_edges(self, rows: Iterable[int], edges: Iterable[_Lasting]) -> None:
        """Add edges at `rows`."""
        for row, edge in zip(rows, edges, strict=True):
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
        return self._expiry.due(now)

    def visible(self, whole: ColumnView, now: int, valid_at: int | None) -> ColumnView:
        """Return `whole` without nodes that have expired at `now`, and without rows that are invalid at `valid_at`."""
        view = self._without_expired(whole, now) if self._expiry else whole
        if valid_at is None:
            return view
        return view.without(self._nodes.outside(valid_at), self._edges.outside(valid_at))

    def _without_expired(self, whole: ColumnView, now: int) -> ColumnView:
        known = self._visible
        # Every question calls this. The view stays the same between two expiries, unless the clock goes back.
        if known is None or known.whole is not whole or not known.since <= now < known.until:
            nothing = np.empty(0, dtype=np.int64)
            view = whole.without(self.expired(now), nothing)
            known = self._visible = _Visible(whole, view, now, self._expiry.next_time())
        return known.view

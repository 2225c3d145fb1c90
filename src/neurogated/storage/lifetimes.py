"""When nodes and edges hold: valid time of both, and when nodes expire."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol

import numpy as np

from neurogated.core.clock import to_micros
from neurogated.core.view import GraphView, Rows

__all__ = ["Lifetimes", "micros_or_none"]


def micros_or_none(moment: datetime | None) -> int | None:
    """Return `moment` in microseconds, None for None."""
    return None if moment is None else to_micros(moment)


class _Lasting(Protocol):
    """Something that may hold for a time only."""

    @property
    def valid_from(self) -> datetime | None:
        """When it began to hold."""

    @property
    def valid_to(self) -> datetime | None:
        """When it ceased to hold."""


class _Expiring(_Lasting, Protocol):
    """Something that may also be meant to be forgotten."""

    @property
    def expires_at(self) -> datetime | None:
        """When it is to be forgotten."""


class _Spans:
    """From when to before when rows hold, in microseconds since 1970; a row that always does takes no space."""

    def __init__(self) -> None:
        self._spans: dict[int, tuple[float, float]] = {}

    def __bool__(self) -> bool:
        return bool(self._spans)

    def put(self, row: int, begin: float | None, end: float | None) -> None:
        """Give `row` its span; None stands for always."""
        self._spans.pop(row, None)
        if begin is not None or end is not None:
            self._spans[row] = (-math.inf if begin is None else begin, math.inf if end is None else end)

    def remove(self, rows: Rows) -> None:
        """Forget rows."""
        for row in rows.tolist() if self._spans else ():
            self._spans.pop(row, None)

    def outside(self, moment: float) -> Rows:
        """Return the rows that do not hold at `moment`, ascending."""
        found = [row for row, (begin, end) in self._spans.items() if not begin <= moment < end]
        return np.array(sorted(found), dtype=np.int64)

    def next_end(self, moment: float) -> float:
        """Return when the next row after `moment` ceases to hold, infinity if none does."""
        return min((end for _, end in self._spans.values() if end > moment), default=math.inf)


@dataclass(frozen=True, slots=True)
class _Visible:
    """A view without what had expired at `since`, good until `until`."""

    whole: GraphView
    view: GraphView
    since: int
    until: float


@dataclass(slots=True)
class Lifetimes:
    """The spans of a graph's nodes and edges, and the views that follow from them."""

    _nodes: _Spans = field(default_factory=_Spans)
    _edges: _Spans = field(default_factory=_Spans)
    _expiry: _Spans = field(default_factory=_Spans)
    _visible: _Visible | None = None
    _next_expiry: float = math.inf
    """Nothing expires before."""

    def put_nodes(self, rows: Iterable[int], nodes: Iterable[_Expiring]) -> None:
        """Take in nodes, in the place of those at the same rows."""
        for row, node in zip(rows, nodes, strict=True):
            self.put_node(
                row, micros_or_none(node.valid_from), micros_or_none(node.valid_to), micros_or_none(node.expires_at)
            )

    def put_node(self, row: int, begin: int | None, end: int | None, expires: int | None) -> None:
        """Take in one node's times in microseconds."""
        self._nodes.put(row, begin, end)
        self._expiry.put(row, None, expires)
        self._next_expiry = min(self._next_expiry, math.inf if expires is None else expires)
        self._visible = None

    def put_edges(self, rows: Iterable[int], edges: Iterable[_Lasting]) -> None:
        """Take in edges."""
        for row, edge in zip(rows, edges, strict=True):
            self.put_edge(row, micros_or_none(edge.valid_from), micros_or_none(edge.valid_to))

    def put_edge(self, row: int, begin: int | None, end: int | None) -> None:
        """Take in one edge's times in microseconds."""
        self._edges.put(row, begin, end)

    def remove(self, nodes: Rows, edges: Rows) -> None:
        """Forget removed nodes and edges."""
        self._nodes.remove(nodes)
        self._expiry.remove(nodes)
        self._edges.remove(edges)
        self._visible = None

    def expired(self, now: int) -> Rows:
        """Return the nodes that are to be forgotten by `now`, ascending."""
        if now < self._next_expiry:
            return np.empty(0, dtype=np.int64)
        rows = self._expiry.outside(now)
        if not rows.size:
            self._next_expiry = self._expiry.next_end(now)
        return rows

    def visible(self, whole: GraphView, now: int, valid_at: int | None) -> GraphView:
        """Return `whole` without what has expired by `now`, nor what does not hold at `valid_at`."""
        view = self._without_expired(whole, now) if self._expiry else whole
        if valid_at is None:
            return view
        return view.without(self._nodes.outside(valid_at), self._edges.outside(valid_at))

    def _without_expired(self, whole: GraphView, now: int) -> GraphView:
        known = self._visible
        # Asked before every question; between two expiries the answer is the same, unless the clock goes back.
        if known is None or known.whole is not whole or not known.since <= now < known.until:
            nothing = np.empty(0, dtype=np.int64)
            view = whole.without(self.expired(now), nothing)
            known = self._visible = _Visible(whole, view, now, self._expiry.next_end(now))
        return known.view

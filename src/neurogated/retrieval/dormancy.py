"""Leaves dormant memories, duplicates and echoes out of a recall."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neurogated.core.echoes import are_echoes, echoed_rows, has_echoes
from neurogated.core.energy import EnergyLaw
from neurogated.core.same_as import fronts, has_groups, is_said, is_shown
from neurogated.core.view import GraphView, Rows

__all__ = ["NOTHING", "Admission", "Scored"]

Scored = tuple[Rows, NDArray[np.float64]]
"""Rows and their scores, both (n,)."""
NOTHING: Scored = (np.empty(0, dtype=np.int64), np.empty(0))

_DEEPER = 1.25
"""How much deeper a repeated search goes than the share of refused nodes in the last one suggests."""


@dataclass(slots=True)
class Admission:
    """Decides which nodes of a view a recall may return."""

    view: GraphView
    law: EnergyLaw | None
    """Decides which nodes are dormant; None admits dormant nodes too."""
    now: int
    """The time of the recall, in microseconds since 1970 UTC."""
    deeper: float = 1.0
    """How many results a search must find for each one that it admits; learned from the last search."""
    groups: bool = False
    """Whether it admits only one memory of each group of memories that say the same."""
    hides_echoes: bool = False
    """Whether it refuses messages that only say what other admitted memories say."""
    replaced: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The rows of the fronts of groups, of which `best` has refused other members or echoes."""
    sleep: EnergyLaw | None = None
    """Decides which admitted nodes `asleep` finds; it leaves none out."""

    def admits(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whether the recall may return each node."""
        admitted = self._is_awake(rows, self.view.admitted(rows))
        if self._chooses:
            admitted[admitted] = self._is_shown(rows[admitted])
        return admitted

    def admitted(self, rows: Rows, values: NDArray[np.float64]) -> Scored:
        """Return the nodes that the recall may return, with their values."""
        may = self.admits(rows)
        return rows[may], values[may]

    def asleep(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which admitted nodes are dormant, and no awake memory says the same."""
        if (law := self.sleep) is None:
            return np.zeros(rows.size, dtype=np.bool_)
        view, now = self.view, self.now
        found = law.dormant(view, rows, now)
        if self.groups and found.any():
            found[found] = ~is_said(view, rows[found], lambda some: view.admitted(some) & ~law.dormant(view, some, now))
        return found

    @property
    def _chooses(self) -> bool:
        return (self.groups and has_groups(self.view)) or (self.hides_echoes and has_echoes(self.view))

    def _is_shown(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which of the nodes neither another member of the group stands for, nor those that they echo."""
        shown = np.ones(rows.size, dtype=np.bool_)
        if self.groups:
            shown &= is_shown(self.view, rows, self._may_see)
        if self.hides_echoes:
            shown &= ~are_echoes(self.view, rows, self._may_see)
        return shown

    def _may_see(self, rows: Rows) -> NDArray[np.bool_]:
        return self._is_awake(rows, self.view.admitted(rows))

    def _is_awake(self, rows: Rows, among: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which of the nodes `among` are not dormant."""
        return among if self.law is None else among & ~self.law.dormant(self.view, rows, self.now)

    def depth(self, count: int) -> int:
        """Return how many results to search for, so that about `count` of them are admitted."""
        return math.ceil(count * self.deeper)

    def best(self, count: int, search: Callable[[int], Scored], found: Scored | None = None) -> Scored:
        """Return the `count` best admitted results, best first.

        Args:
            count: how many are wanted.
            search: returns as many best results as it is told. It is called again for more while too many are refused,
                so the cost depends on the refused nodes found and not on the size of the graph.
            found: the result of `search(depth(count))`, if the caller has it already.
        """
        depth = self.depth(count)
        rows, scores = search(depth) if found is None else found
        while self.law is not None or self._chooses:
            kept = self._kept(rows)
            self.deeper = rows.size / kept.size * _DEEPER if 0 < kept.size < rows.size else 1.0
            if kept.size >= count or rows.size < depth:
                rows, scores = rows[kept], scores[kept]
                break
            depth = math.ceil(depth * _DEEPER * count / max(1, kept.size))
            rows, scores = search(depth)
        return rows[:count], scores[:count]

    def _kept(self, rows: Rows) -> Rows:
        """Return the places of the admitted ones of nodes that a search of the view found."""
        awake = self._is_awake(rows, np.ones(rows.size, dtype=np.bool_))
        if self._chooses:
            shown = self._is_shown(rows)
            refused = rows[awake & ~shown]
            said = np.union1d(refused, echoed_rows(self.view, refused))
            self.replaced = np.concatenate((self.replaced, said, fronts(self.view, said)))
            self.replaced = np.unique(self.replaced[self.admits(self.replaced)])
            awake &= shown
        return np.flatnonzero(awake)

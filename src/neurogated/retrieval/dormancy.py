"""Leaves duplicates and echoes out of a recall, and says which memories are dormant."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from neurogated.core.energy import EnergyLaw
from neurogated.core.same_as import are_echoes, echoed_rows, fronts, has_echoes, has_groups, is_said, is_shown
from neurogated.core.view import GraphView, Rows

Scored = tuple[Rows, NDArray[np.float64]]
"""Rows and their scores, both (n,)."""
NOTHING: Scored = (np.empty(0, dtype=np.int64), np.empty(0))

_DEEPER = 1.25
"""How much deeper a repeated search goes than the share of refused nodes in the last one suggests."""


@dataclass(slots=True)
class Admission:
    """Decides which nodes of a view a recall may return."""

    view: GraphView
    now: int
    """The time of the recall, in microseconds since 1970 UTC."""
    law: EnergyLaw | None = None
    """Decides which nodes are dormant; None: none is."""
    groups: bool = False
    """Whether it admits only one memory of each group of memories that say the same."""
    hides_echoes: bool = False
    """Whether it refuses messages that only say what other admitted memories say."""
    replaced: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """The rows of the fronts of groups, of which `best` has refused other members or echoes."""
    _chooses: bool = field(init=False)
    _known: NDArray[np.int8] = field(init=False)
    """(nodes,): 1 for a node that is shown, -1 for one that is not, 0 for one that nobody has asked for."""

    def __post_init__(self) -> None:
        view = self.view
        self._chooses = (self.groups and has_groups(view)) or (self.hides_echoes and has_echoes(view))
        self._known = np.zeros(self.view.node_count if self._chooses else 0, dtype=np.int8)

    def admits(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whether the recall may return each node."""
        admitted = self.view.admitted(rows)
        if self._chooses:
            admitted[admitted] = self._is_shown(rows[admitted])
        return admitted

    def decide(self, rows: Rows) -> None:
        """Decide about nodes that searches may find, ascending, in one step, which is quicker than in several."""
        if self._chooses:
            self._is_shown(rows)

    def admitted(self, rows: Rows, values: NDArray[np.float64]) -> Scored:
        """Return the nodes that the recall may return, with their values."""
        may = self.admits(rows)
        return rows[may], values[may]

    def lost(self, rows: Rows) -> NDArray[np.float64]:
        """Return which share of its energy each dormant node lacks to be awake (n,), 0–1; 0 for the others.

        A dormant memory counts as awake if an awake one says the same.
        """
        law, view, now = self.law, self.view, self.now
        found = np.zeros(rows.size)
        if law is None:
            return found

        def is_awake(some: Rows) -> NDArray[np.bool_]:
            return view.admitted(some) & ~law.dormant(view, some, now)

        asleep = law.dormant(view, rows, now)
        if self.groups and np.logical_or.reduce(asleep):
            asleep[asleep] = ~is_said(view, rows[asleep], is_awake)
        if np.logical_or.reduce(asleep):
            found[asleep] = law.lacking(view, rows[asleep], now)
        return found

    def _is_shown(self, rows: Rows) -> NDArray[np.bool_]:
        """Return which of the nodes neither another member of the group stands for, nor those that they echo."""
        known = self._known[rows]
        new = rows[known == 0]
        if new.size:
            shown = np.ones(new.size, dtype=np.bool_)
            if self.groups:
                shown &= is_shown(self.view, new, self.view.admitted)
            if self.hides_echoes:
                shown &= ~are_echoes(self.view, new, self.view.admitted)
            self._known[new] = np.where(shown, 1, -1)
            known = self._known[rows]
        return known > 0

    def best(self, count: int, search: Callable[[int], Scored], found: Scored | None = None) -> Scored:
        """Return the `count` best admitted results, best first.

        Args:
            count: how many are wanted.
            search: returns as many best results as it is told. It is called again for more while too many are refused,
                so the cost depends on the refused nodes found and not on the size of the graph.
            found: the result of `search(count)`, if the caller has it already.
        """
        depth = count
        rows, scores = search(depth) if found is None else found
        while self._chooses:
            kept = self._kept(rows)
            if kept.size >= count or rows.size < depth:
                rows, scores = rows[kept], scores[kept]
                break
            depth = math.ceil(depth * _DEEPER * count / max(1, kept.size))
            rows, scores = search(depth)
        return rows[:count], scores[:count]

    def _kept(self, rows: Rows) -> Rows:
        """Return the places of the admitted ones of nodes that a search of the view found."""
        shown = self._is_shown(rows)
        refused = rows[~shown]
        if not refused.size:
            return np.arange(rows.size)
        said = np.unique([*refused.tolist(), *chain.from_iterable(echoed_rows(self.view, refused))])
        self.replaced = np.concatenate((self.replaced, said, fronts(self.view, said)))
        self.replaced = np.unique(self.replaced[self.admits(self.replaced)])
        return np.flatnonzero(shown)

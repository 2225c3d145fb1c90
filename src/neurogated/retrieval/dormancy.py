"""Leaves dormant memories out of a recall, unless too little else is found."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from neurogated.core.energy import EnergyLaw
from neurogated.core.view import GraphView, Rows

__all__ = ["Admission"]

_Scored = tuple[Rows, NDArray[np.float64]]

_DEEPER = 1.25
"""How much deeper a repeated search goes than the share of dormant nodes in the last one suggests."""


@dataclass(slots=True)
class Admission:
    """Decides which nodes of a view a recall may return."""

    view: GraphView
    law: EnergyLaw | None
    """Decides which nodes are dormant; None admits dormant nodes too."""
    now: int
    """The time of the recall, in microseconds since 1970 UTC."""
    deeper: float = 1.0
    """How many results a search must find for each one that is not dormant; learned from the last search."""

    def admits(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whether the recall may return each node."""
        admitted = self.view.admitted(rows)
        if self.law is not None:
            admitted &= ~self.law.dormant(self.view, rows, self.now)
        return admitted

    def depth(self, count: int) -> int:
        """Return how many results to search for, so that about `count` of them are not dormant."""
        return math.ceil(count * self.deeper)

    def best(self, count: int, search: Callable[[int], _Scored], found: _Scored | None = None) -> _Scored:
        """Return the `count` best results that are not dormant, best first.

        Args:
            count: how many are wanted.
            search: returns as many best results as it is told. It is called again for more while too many are dormant,
                so the cost depends on the dormant nodes found and not on the size of the graph.
            found: the result of `search(depth(count))`, if the caller has it already.
        """
        depth = self.depth(count)
        rows, scores = search(depth) if found is None else found
        while self.law is not None:
            awake = np.flatnonzero(~self.law.dormant(self.view, rows, self.now))
            self.deeper = rows.size / awake.size * _DEEPER if 0 < awake.size < rows.size else 1.0
            if awake.size >= count or rows.size < depth:
                rows, scores = rows[awake], scores[awake]
                break
            depth = math.ceil(depth * _DEEPER * count / max(1, awake.size))
            rows, scores = search(depth)
        return rows[:count], scores[:count]

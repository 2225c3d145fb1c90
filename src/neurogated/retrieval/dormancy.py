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
    refused_dormant: bool = False
    """Whether it has refused a dormant node so far."""

    def admits(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whether the recall may return each node."""
        admitted = self.view.admitted(rows)
        if self.law is not None:
            dormant = admitted & self.law.dormant(self.view, rows, self.now)
            self.refused_dormant |= bool(dormant.any())
            admitted &= ~dormant
        return admitted

    def best(self, found: _Scored, count: int, search: Callable[[int], _Scored]) -> _Scored:
        """Return the `count` best results that are not dormant.

        Args:
            found: the `count` best results, best first.
            count: how many are wanted.
            search: returns as many best results as it is told. It is called for more while dormant nodes take the
                places of others, so the cost depends on the dormant nodes found and not on the size of the graph.
        """
        depth = count
        while self.law is not None:
            dormant = self.law.dormant(self.view, found[0], self.now)
            if not dormant.any():
                break
            self.refused_dormant = True
            awake = np.flatnonzero(~dormant)[:count]
            if awake.size == count or found[0].size < depth:
                return found[0][awake], found[1][awake]
            depth = math.ceil(depth * _DEEPER * count / max(1, awake.size))
            found = search(depth)
        return found[0][:count], found[1][:count]

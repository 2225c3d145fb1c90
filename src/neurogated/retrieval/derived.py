"""Memories that repeat others: a fact is worth less while the question may find its sources themselves."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neurogated.core.edge_type import EdgeType
from neurogated.core.view import GraphView, Rows


def shares_of_sources(view: GraphView, rows: Rows, admits: Callable[[Rows], NDArray[np.bool_]]) -> NDArray[np.float64]:
    """Return (n,) the share of each node's sources that the recall admits; 0 for nodes that were not derived."""
    arcs = view.arcs(rows, EdgeType.DERIVED_FROM)
    found = np.bincount(arcs.origin[admits(arcs.target)], minlength=rows.size)
    return found / np.maximum(np.bincount(arcs.origin, minlength=rows.size), 1)

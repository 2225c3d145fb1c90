"""Echoes: messages of an assistant that repeat memories. ECHO edges lead from them to these memories.

The weight of an edge is the share of the message that the memory says. The weights of an echo add up to 1, so a message
is an echo no more when one of its memories is gone. The weight 0 says that the user has separated the two.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neurogated.core.edge_type import EdgeType
from neurogated.core.view import GraphView, Rows


def has_echoes(view: GraphView) -> bool:
    """Return whether the graph may have echoes."""
    return EdgeType.ECHO in view.edge_types


def are_echoes(view: GraphView, rows: Rows, admits: Callable[[Rows], NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return (n,) whether each node only says what other nodes say that the reader may see.

    Args:
        view: the graph.
        rows: nodes.
        admits: returns for rows whether the reader may see the nodes.
    """
    arcs = view.arcs(rows, EdgeType.ECHO)
    if not arcs.edge.size:
        return np.zeros(rows.size, dtype=np.bool_)
    seen = admits(arcs.target) & view.alive.take(arcs.target)
    found: NDArray[np.bool_] = np.isclose(np.bincount(arcs.origin[seen], arcs.weight[seen], rows.size), 1.0)
    return found


def echoed_rows(view: GraphView, rows: Rows) -> list[list[int]]:
    """Return for each node at `rows` the rows of the memories that it echoes, ascending."""
    found: list[list[int]] = [[] for _ in range(rows.size)]
    arcs = view.arcs(rows, EdgeType.ECHO)
    for origin, target, weight in zip(
        *(column.tolist() for column in (arcs.origin, arcs.target, arcs.weight)), strict=True
    ):
        if weight > 0:
            found[origin].append(target)
    return found

"""Memories that say what others say: SAME_AS edges lead to the clearest one of a group, ECHO edges to repeated ones.

The weight of a SAME_AS edge is the confidence that both say the same. An echo is a message of an assistant. The weight
of an ECHO edge is the share of the message that the memory says. The weights of an echo add up to 1, so a message is an
echo no more when one of its memories is gone. The weight 0 says that the user has separated the two.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neurogated.core.edge_type import EdgeType
from neurogated.core.view import Arcs, GraphView, Rows

Admits = Callable[[Rows], NDArray[np.bool_]]


def anyone(rows: Rows) -> NDArray[np.bool_]:
    """Admit all nodes, also those that searches may not find."""
    return np.ones(rows.size, dtype=np.bool_)


def has_groups(view: GraphView) -> bool:
    """Return whether the graph may have memories that say the same."""
    return EdgeType.SAME_AS in view.edge_types


def fronts(view: GraphView, rows: Rows) -> Rows:
    """Return the row of the front of each node's group (n,); a node without a group is its own front."""
    found = rows.copy()
    arcs = _joined(view, rows)
    found[arcs.origin] = arcs.target
    return found


def is_shown(view: GraphView, rows: Rows, admits: Admits) -> NDArray[np.bool_]:
    """Return (n,) whether each node that `admits` lets the reader see represents its group: the front, or the first."""
    front = fronts(view, rows)
    behind = np.flatnonzero(front != rows)
    seen = np.ones(rows.size, dtype=np.bool_)
    seen[behind] = ~_is_seen(view, front[behind], admits)
    left = behind[seen[behind]]
    if left.size:
        heads, place = np.unique(front[left], return_inverse=True)
        arcs = _joined(view, heads, inwards=True)
        members = _is_seen(view, arcs.target, admits)
        first = np.full(heads.size, view.node_count)
        np.minimum.at(first, arcs.origin[members], arcs.target[members])
        seen[left] = rows[left] == first[place]
    return seen


def is_said(view: GraphView, rows: Rows, admits: Admits) -> NDArray[np.bool_]:
    """Return (n,) whether the reader may see each node, or another member of its group."""
    found = _is_seen(view, rows, admits)
    front = fronts(view, rows)
    arcs = _joined(view, front, inwards=True)
    found[arcs.origin[_is_seen(view, arcs.target, admits)]] = True
    return found | _is_seen(view, front, admits)


def others_of(view: GraphView, rows: Rows, admits: Admits | None = None) -> list[tuple[str, ...]]:
    """Return the ids of the other members of each node's group, in order of their rows; see `is_shown` for `admits`."""
    if not has_groups(view):
        return [()] * rows.size
    front = fronts(view, rows)
    arcs = _joined(view, front, inwards=True)
    alone = (front == rows) & (np.bincount(arcs.origin, minlength=rows.size) == 0)
    found: list[tuple[str, ...]] = []
    for place, (row, is_alone) in enumerate(zip(rows.tolist(), alone.tolist(), strict=True)):
        if is_alone:
            found.append(())
            continue
        members = np.union1d(arcs.target[arcs.origin == place], front[place : place + 1])
        members = members[_is_seen(view, members, admits or view.admitted)]
        found.append(tuple(view.ids[one] for one in members.tolist() if one != row))
    return found


def _joined(view: GraphView, rows: Rows, *, inwards: bool = False) -> Arcs:
    arcs = view.arcs(rows, EdgeType.SAME_AS, inwards=inwards)
    joined = arcs.weight > 0
    if joined.all():
        return arcs
    return Arcs(arcs.origin[joined], arcs.target[joined], arcs.edge[joined], arcs.weight[joined])


def _is_seen(view: GraphView, rows: Rows, admits: Admits) -> NDArray[np.bool_]:
    seen: NDArray[np.bool_] = admits(rows) & view.alive.take(rows)
    return seen


def has_echoes(view: GraphView) -> bool:
    """Return whether the graph may have echoes."""
    return EdgeType.ECHO in view.edge_types


def are_echoes(view: GraphView, rows: Rows, admits: Callable[[Rows], NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """Return (n,) whether each node only says what other nodes say that the reader may see."""
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

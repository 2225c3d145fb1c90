"""The neighbourhood of some nodes, as a small view."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import NODE_COLUMNS, PatchedValues
from neurogated.core.model import checked_count
from neurogated.core.scope_rows import ScopeRows
from neurogated.core.view import GraphView, Rows
from neurogated.storage.index.graph.topology import layer_of
from neurogated.text.strings import checked_names

_NOTHING = np.empty(0, dtype=np.int64)


def neighbourhood(view: GraphView, around: Iterable[str], hops: int) -> GraphView:
    """Return the view of all nodes within `hops` edges of `around`, in either direction, and of the edges among them.

    The view has its own row numbers, and searches on it find only its nodes.

    Raises:
        UnknownIdError: the view does not show a node of `around`.
        InputError: `hops` is not an integer from 0 on.
    """
    hops = checked_count("hops", hops)
    reached = frontier = np.unique(view.rows(checked_names("around", around)))
    while hops and frontier.size:
        hops -= 1
        frontier = np.setdiff1d(view.arcs(frontier, both_ways=True).target, reached)
        reached = np.union1d(reached, frontier)
    leaving = view.arcs(reached)
    edges = np.unique(leaving.edge[np.isin(leaving.target, reached)])
    source, target = (np.searchsorted(reached, ends[edges]) for ends in (view.edge_source, view.edge_target))
    ends = source.astype(np.int32), target.astype(np.int32)
    weight, scopes = _column(view.weight, edges), ScopeRows()
    codes = scopes.codes(map(view.scope_of, reached.tolist()))
    scopes.add(codes, np.arange(reached.size))
    ids = [view.ids[row] for row in reached.tolist()]
    nodes: dict[str, Any] = {name: _column(getattr(view, name), reached) for name in ("alive", *NODE_COLUMNS)}
    return replace(
        view,
        **nodes | {"scope": PatchedValues(codes, _NOTHING, _NOTHING)},
        ids=ids,
        rows_by_id={node_id: row for row, node_id in enumerate(ids)},
        node_count=len(ids),
        edge_count=edges.size,
        scopes=scopes,
        edge_source=ends[0],
        edge_target=ends[1],
        edge_type=view.edge_type[edges],
        weight=weight,
        last_activated=_column(view.last_activated, edges),
        layers=(layer_of(0, edges.size, ends, weight, len(ids)),) if edges.size else (),
        hidden=_NOTHING,
        among=np.flatnonzero(view.admitted(reached)),
    )


def _column(values: PatchedValues, rows: Rows) -> PatchedValues:
    base: NDArray[np.generic] = values.take(rows)
    return PatchedValues(base, _NOTHING, _NOTHING)

"""The part of a graph around some nodes, as a small view of its own."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from neurogated.core.column_view import ColumnView, PatchedValues
from neurogated.core.scope_rows import ScopeRows
from neurogated.core.view import Rows
from neurogated.storage.index.graph.topology import layer_of

__all__ = ["neighbourhood"]

_NOTHING = np.empty(0, dtype=np.int64)


def neighbourhood(view: ColumnView, around: Iterable[str], hops: int) -> ColumnView:
    """Return the view of the nodes that `hops` edges, in either direction, lead to, and of the edges among them.

    Its rows are its own, and searches on it find its nodes alone.

    Raises:
        UnknownIdError: the view does not show a node.
    """
    reached = frontier = np.unique(view.rows(around))
    for _ in range(hops):
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
    return ColumnView(
        sequence=view.sequence,
        ids=ids,
        rows_by_id={node_id: row for row, node_id in enumerate(ids)},
        node_count=len(ids),
        edge_count=edges.size,
        alive=_column(view.alive, reached),
        base_energy=_column(view.base_energy, reached),
        energy_at=_column(view.energy_at, reached),
        importance=_column(view.importance, reached),
        uses=_column(view.uses, reached),
        last_accessed=_column(view.last_accessed, reached),
        kind=_column(view.kind, reached),
        kinds=view.kinds,
        scope=PatchedValues(codes, _NOTHING, _NOTHING),
        scopes=scopes,
        edge_source=ends[0],
        edge_target=ends[1],
        edge_type=view.edge_type[edges],
        edge_types=view.edge_types,
        weight=weight,
        last_activated=_column(view.last_activated, edges),
        layers=(layer_of(0, edges.size, ends, weight, len(ids)),) if edges.size else (),
        among=np.arange(len(ids)) if view.among is None else np.flatnonzero(view.admitted(reached)),
    )


def _column(values: PatchedValues, rows: Rows) -> PatchedValues:
    base: NDArray[np.generic] = values.take(rows)
    return PatchedValues(base, _NOTHING, _NOTHING)

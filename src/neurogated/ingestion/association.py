"""The association router: edges from new memories to the memories that are active when they are written."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

import numpy as np

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView

TEMPORAL = "temporal"
"""The relation of an edge between memories that were active at the same time."""
_WEIGHT = 0.2
"""Of such an edge: little, since being told at one time says little."""
_ACTIVE = 64
"""Memories of a user, accessed last, that count as active: a session or two."""


def temporal_edges(
    store: GraphStorePort,
    nodes: Iterable[MemoryNode],
    settings: MetabolismSettings,
    at: datetime,
    gone: Collection[str] = (),
) -> list[MemoryEdge]:
    """Return ASSOC edges from each new node to the `temporal_neighbors` active nodes of its user with most energy.

    The active nodes are the 64 of the user that were accessed last, without those that are `gone`.
    """
    if not settings.temporal_neighbors:
        return []
    edges = []
    active: dict[str | None, Sequence[str]] = {}
    for node in nodes:
        user = node.scope.user_id
        if user not in active:
            view = store.view(filters=Filter(scope=ScopeFilter(user, alone=True), except_kinds=NO_MEMORIES))
            active[user] = _active(view, settings)
        edges += [
            MemoryEdge(node.id, other, EdgeType.ASSOC, _WEIGHT, created_at=at, relation=TEMPORAL)
            for other in active[user]
            if other != node.id and other not in gone
        ]
    return edges


def _active(view: GraphView, settings: MetabolismSettings) -> list[str]:
    rows = view.admitted_nodes()
    last = rows[np.argsort(-view.last_accessed.take(rows), kind="stable")][:_ACTIVE]
    best = last[np.argsort(-view.base_energy.take(last), kind="stable")][: settings.temporal_neighbors]
    return [view.ids[row] for row in best.tolist()]

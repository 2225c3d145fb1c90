"""Taking changes back: the delta that leads from the graph as it is to the graph as it was."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from neurogated.core.delta import GraphDelta, WeightChange
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort

__all__ = ["delta_back_to"]


def delta_back_to(past: GraphStorePort, present: GraphStorePort, *, reason: str, at: datetime) -> GraphDelta:
    """Return the delta that makes `present` hold what `past` holds, to the last bit.

    When a node was last accessed is no part of the graph's history and stays as it is. Taking back is itself a delta:
    it stands in the history and can be taken back.
    """
    old_nodes, new_nodes = _nodes(past), _nodes(present)
    old_edges = {edge.key: edge for edge in past.all_edges()}
    new_edges = {edge.key: edge for edge in present.all_edges()}
    removed = new_nodes.keys() - old_nodes.keys()
    weights, edges = [], []
    for key, old in old_edges.items():
        new = new_edges.get(key)
        if new is not None and _differ_in_strength_only(old, new):
            weights.append(WeightChange(key, old.weight, old.last_activated))
        elif old != new:
            edges.append(old)
    return GraphDelta(
        removed_edges=tuple(
            key for key in new_edges if key not in old_edges and not {key.source_id, key.target_id} & removed
        ),
        removed_nodes=tuple(sorted(removed)),
        nodes=tuple(node for name, node in old_nodes.items() if not _same(node, new_nodes.get(name))),
        edges=tuple(edges),
        weights=tuple(weights),
        reason=reason,
        at=at,
    )


def _nodes(store: GraphStorePort) -> dict[str, MemoryNode]:
    return {node.id: node for node in store.all_nodes()}


def _same(old: MemoryNode, new: MemoryNode | None) -> bool:
    return new is not None and replace(old, last_accessed=new.last_accessed) == new


def _differ_in_strength_only(old: MemoryEdge, new: MemoryEdge) -> bool:
    as_new = replace(old, weight=new.weight, last_activated=new.last_activated)
    return old != new and old.type.plastic and as_new == new

"""Taking changes back: the delta that leads from the graph as it is to the graph as it was."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from neurogated.core.clock import Clock
from neurogated.core.delta import GraphDelta, HistoryEntry, WeightChange
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort

__all__ = ["delta_back_to", "undo"]


def undo(store: GraphStorePort, to: int | None, clock: Clock) -> HistoryEntry | None:
    """Take back every change after the delta number `to`, the last change alone where it is None.

    Returns:
        What was changed to take it back, None if there was nothing to change.

    Raises:
        InputError: there is no such delta.
    """
    # A last change that changed nothing, such as a round of forgetting in which nothing was idle, is passed over.
    targets = [entry.sequence - 1 for entry in reversed(store.history())] if to is None else [to]
    for target in targets:
        delta = delta_back_to(store.as_of(target), store, reason=f"undo to {target}", at=clock())
        if delta:
            store.apply(delta)
            return store.history()[-1]
    return None


def delta_back_to(past: GraphStorePort, present: GraphStorePort, *, reason: str, at: datetime) -> GraphDelta:
    """Return the delta that makes `present` hold what `past` holds, to the last bit.

    Uses are no part of the graph's history: when nodes and edges were last used stays as it is. Taking back is itself a
    delta: it stands in the history and can be taken back.
    """
    old_nodes, new_nodes = _nodes(past), _nodes(present)
    old_edges = {edge.key: edge for edge in past.all_edges()}
    new_edges = {edge.key: edge for edge in present.all_edges()}
    removed = new_nodes.keys() - old_nodes.keys()
    weights, edges = [], []
    for key, old in old_edges.items():
        new = new_edges.get(key)
        if new is None or old != replace(new, weight=old.weight, last_activated=old.last_activated):
            edges.append(old)
        elif old.weight != new.weight:
            weights.append(_weight_of(old))
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


def _weight_of(old: MemoryEdge) -> WeightChange:
    if old.type.plastic:
        return WeightChange(old.key, old.weight, old.last_activated)
    return WeightChange(old.key, old.weight, derived=True)

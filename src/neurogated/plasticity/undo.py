"""Taking changes back: the delta that leads from the graph as it is to the graph as it was."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from itertools import islice

import numpy as np

from neurogated.core.clock import Clock
from neurogated.core.delta import GraphDelta, HistoryEntry, NodeChange, WeightChange
from neurogated.core.edge_columns import EdgeColumns, Names
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort

__all__ = ["delta_back_to", "undo"]

_AT_ONCE = 1000


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
    old_ids, nodes, changes = _changed_nodes(past, present)
    removed = _ids(present) - old_ids
    names = Names()
    old, new = (EdgeColumns.of(store.all_edges(), names) for store in (past, present))
    there = old.places_in(new)
    both = np.flatnonzero(there >= 0)
    same_facts = old.same_facts(both, new, there[both])
    weighed = both[same_facts & ~old.same_weights(both, new, there[both])]
    put = np.setdiff1d(np.arange(there.size), both[same_facts])
    gone = new.keys(np.flatnonzero(new.places_in(old) < 0))
    return GraphDelta(
        removed_edges=tuple(key for key in gone if not {key.source_id, key.target_id} & removed),
        removed_nodes=tuple(sorted(removed)),
        nodes=tuple(nodes),
        edges=tuple(old.edges(put)),
        node_changes=tuple(changes),
        weights=tuple(map(_weight_back, old.edges(weighed), new.edges(there[weighed]))),
        reason=reason,
        at=at,
    )


def _changed_nodes(
    past: GraphStorePort, present: GraphStorePort
) -> tuple[set[str], list[MemoryNode], list[NodeChange]]:
    """Return the ids of all nodes there were, and what changed of them; a part is read at a time.

    That is the nodes whose text or metadata is another at present, and the energies and importances of the others.
    """
    ids: set[str] = set()
    changed: list[MemoryNode] = []
    recharged: list[NodeChange] = []
    nodes = past.all_nodes()
    while part := list(islice(nodes, _AT_ONCE)):
        now = {node.id: node for node in present.get_nodes([node.id for node in part], missing_ok=True)}
        ids.update(node.id for node in part)
        for node in part:
            new = now.get(node.id)
            old = node if new is None else replace(node, last_accessed=new.last_accessed, uses=new.uses)
            if old == new:
                continue
            same = new and replace(new, base_energy=old.base_energy, energy_at=old.energy_at, importance=old.importance)
            if same == old:
                recharged.append(NodeChange(old.id, old.base_energy, old.energy_at, old.importance))
            else:
                changed.append(old)
    return ids, changed, recharged


def _ids(store: GraphStorePort) -> set[str]:
    """Return the ids of all nodes, those that have expired too."""
    view = store.view()
    return {view.ids[row] for row in (*view.live_nodes().tolist(), *view.hidden.tolist())}


def _weight_back(old: MemoryEdge, new: MemoryEdge) -> WeightChange:
    """Return the change that gives an edge its old weight; when it was last used stays as it is."""
    if old.type.plastic:
        return WeightChange(old.key, old.weight, new.last_activated)
    return WeightChange(old.key, old.weight, derived=True)

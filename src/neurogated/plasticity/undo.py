"""Undo: the delta that turns the present graph into a past graph."""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from neurogated.core.abilities import SupportsErasedHistory
from neurogated.core.clock import Clock
from neurogated.core.commit import Committer
from neurogated.core.delta import GraphDelta, HistoryEntry, NodeChange, Owner, WeightChange
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.errors import InputError

_AT_ONCE = 1000


Mend = Callable[[GraphStorePort, GraphStorePort, GraphDelta], GraphDelta]
"""Returns the delta that undoes, given the past, the present and the delta between them."""


class _Part(NamedTuple):
    """The nodes and edges that one delta changed."""

    nodes: AbstractSet[str]
    edges: AbstractSet[EdgeKey]
    removed: AbstractSet[str]
    """Those of the nodes that the delta removed with all their edges."""

    def of(self, delta: GraphDelta) -> GraphDelta:
        """Return the part of a delta that changes these nodes and edges, without weights and energies."""
        return replace(
            delta,
            removed_edges=tuple(key for key in delta.removed_edges if key in self.edges),
            removed_nodes=tuple(one for one in delta.removed_nodes if one in self.nodes),
            nodes=tuple(node for node in delta.nodes if node.id in self.nodes),
            edges=tuple(edge for edge in delta.edges if edge.key in self.edges or self._restores(edge.key)),
            node_changes=(),
            weights=(),
        )

    def _restores(self, key: EdgeKey) -> bool:
        return key.source_id in self.removed or key.target_id in self.removed


def undo(store: GraphStorePort, to: int | None, clock: Clock, mend: Mend | None = None) -> HistoryEntry | None:
    """Undo every change after the delta number `to`; if `to` is None, undo the last change only.

    Args:
        store: the graph.
        to: a number of a delta, 0 for the empty graph, or None.
        clock: the clock.
        mend: changes the delta, for example if a compaction has erased other parts of the past.

    Returns:
        The history entry of the undo, None if there was nothing to change.

    Raises:
        InputError: there is no such delta, or a compaction erased the history that the undo needs.
    """
    if to is not None:
        return _undo_to(store, to, clock, mend)
    for entry in reversed(store.history()):
        undone = _undo_to(store, entry.sequence - 1, clock, mend)
        # A decay that found no idle edge is skipped. A compaction erased a change that has no effect any more; the
        # changes before it are not the last one.
        if undone is not None or entry.changes:
            return undone
    return None


def undo_of_user(store: GraphStorePort, user_id: str, clock: Clock, mend: Mend | None = None) -> HistoryEntry | None:
    """Undo the last change that added, updated or deleted memories of a user, for these memories and their edges only.

    Later changes of other memories stay, and so does everything that was learned.

    Returns:
        The history entry of the undo, None if no memory of the user ever changed, or if a compaction erased a later
        change, which may have been hers.

    Raises:
        InputError: a compaction erased the history that the undo needs.
    """
    for entry in reversed(store.history()):
        delta = next(store.journal(entry.sequence - 1)).delta
        known = delta.changes
        if any(entry.changes.get(name, 0) > known.get(name, 0) for name in ("nodes put", "nodes removed")):
            return None
        ids = {node.id for node in delta.nodes if node.scope.user_id == user_id}
        if delta.removed_nodes:
            before = store.as_of(entry.sequence - 1).get_nodes(list(delta.removed_nodes), missing_ok=True)
            ids |= {node.id for node in before if node.scope.user_id == user_id}
        if ids:
            changed = {*delta.removed_edges, *(edge.key for edge in delta.edges)}
            return _undo_to(store, entry.sequence - 1, clock, mend, _Part(ids, changed, ids & {*delta.removed_nodes}))
    return None


def _undo_to(
    store: GraphStorePort, target: int, clock: Clock, mend: Mend | None, part: _Part | None = None
) -> HistoryEntry | None:
    """Undo the changes after the delta number `target`, or only a part of them."""
    if isinstance(store, SupportsErasedHistory) and target < (erased := store.erased_up_to()):
        raise InputError(
            f"the changes up to number {erased} cannot be undone, because compact(history=True) erased the history "
            f"before it; give `to` a number from {erased} on, or delete and update memories instead"
        )
    past = store.as_of(target)
    delta = delta_back_to(past, store, reason=f"undo to {target}", at=clock())
    if part is not None:
        delta = part.of(delta)
    if mend is not None:
        delta = mend(past, store, delta)
    if not delta:
        return None
    Committer(store).commit(lambda: delta)
    return store.history()[-1]


def delta_back_to(past: GraphStorePort, present: GraphStorePort, *, reason: str, at: datetime) -> GraphDelta:
    """Return the delta that gives `present` exactly the content of `past`.

    Accesses are not undone: nodes and edges keep the time of their last use. The undo is itself a delta in the history,
    so it can be undone.
    """
    old_ids, nodes, changes = _changed_nodes(past, present)
    removed = _ids(present) - old_ids
    lost = {edge.key: edge for edge in past.all_edges()}
    gone: list[EdgeKey] = []
    weights: list[WeightChange] = []
    for edge in present.all_edges():
        old = lost.get(edge.key)
        if old is None:
            gone.append(edge.key)
        elif replace(edge, weight=old.weight, last_activated=old.last_activated) == old:
            del lost[edge.key]
            if edge.weight != old.weight:
                weights.append(_weight_back(old, edge))
    return GraphDelta(
        removed_edges=tuple(key for key in gone if not {key.source_id, key.target_id} & removed),
        removed_nodes=tuple(sorted(removed)),
        nodes=tuple(nodes),
        edges=tuple(lost.values()),
        node_changes=tuple(changes),
        weights=tuple(weights),
        reason=reason,
        at=at,
        owner=Owner.LOG,
    )


def _changed_nodes(
    past: GraphStorePort, present: GraphStorePort
) -> tuple[set[str], list[MemoryNode], list[NodeChange]]:
    """Return the ids of all past nodes, the past nodes that differ now, and the past energies and importances.

    A node is in the second list if its text or metadata differs. It is in the third if only its energy or importance
    differs. The nodes are read in parts.
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
            old = node if new is None else node.with_accesses_of(new)
            if old == new:
                continue
            same = new and replace(new, base_energy=old.base_energy, energy_at=old.energy_at, importance=old.importance)
            if same == old:
                recharged.append(NodeChange(old.id, old.base_energy, old.energy_at, old.importance))
            else:
                changed.append(old)
    return ids, changed, recharged


def _ids(store: GraphStorePort) -> set[str]:
    """Return the ids of all nodes, including expired ones."""
    view = store.view()
    return {view.ids[row] for row in (*view.live_nodes().tolist(), *view.hidden.tolist())}


def _weight_back(old: MemoryEdge, new: MemoryEdge) -> WeightChange:
    """Return the change that gives an edge its old weight and keeps the time of its last use."""
    if old.type.plastic:
        return WeightChange(old.key, old.weight, new.last_activated)
    return WeightChange(old.key, old.weight, derived=True)

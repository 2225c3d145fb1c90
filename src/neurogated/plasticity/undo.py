"""Undo: the delta that turns the present graph into a past graph, or a part of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice
from typing import Literal, NamedTuple

import numpy as np

from neurogated.core.abilities import SupportsCompaction
from neurogated.core.clock import Clock
from neurogated.core.commit import USER_DELETED, Committer, added_before, comes_with_time, follows, undo_of, undone_by
from neurogated.core.delta import LATEST, ChangedMemory, GraphDelta, HistoryEntry, NodeChange, Owner, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import NO_MEMORIES
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort, Snapshot
from neurogated.core.scope import ANY_USER, AnyUser, ScopeFilter, UserChoice
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.utils.hash_utils import compute_mdhash_id

_AT_ONCE = 1000
_MOST = 10_000
"""Changes among which the last one of a user is looked for."""
_ERASED = "because compact() erased deleted texts; delete or update memories instead"

_Change = tuple[HistoryEntry, GraphDelta]


class UndonePart(NamedTuple):
    """The nodes and edges that some deltas changed."""

    nodes: set[str]
    edges: set[EdgeKey]
    removed: set[str]
    """Those of the nodes that were removed with all their edges."""

    @classmethod
    def of(cls, delta: GraphDelta, own: AbstractSet[str] | None = None) -> UndonePart:
        """Return what a delta changed, or only the nodes `own` and their edges."""
        removed = set(delta.removed_nodes)
        nodes = removed.union((node.id for node in delta.nodes), (change.node for change in delta.node_changes))
        edges = {*delta.removed_edges, *(one.key for one in delta.edges), *(one.edge for one in delta.weights)}
        if own is None:
            return cls(nodes, edges, removed)
        return cls(nodes & own, {key for key in edges if key.source_id in own}, removed & own)

    def followed(self, later: Sequence[GraphDelta], own: AbstractSet[str] | None = None) -> UndonePart:
        """Return the part with the later changes, latest first, that were computed from it, or ran after it."""
        whole = self
        for delta in reversed(later):
            if not follows(delta.reason):
                continue
            other, added = UndonePart.of(delta, own), added_before(delta.reason)
            if added is not None:
                is_later = added in map(compute_mdhash_id, whole.nodes)
            else:
                is_later = bool(whole.nodes & other.nodes.union(*(key[:2] for key in other.edges)))
            if is_later:
                whole = UndonePart(whole.nodes | other.nodes, whole.edges | other.edges, whole.removed | other.removed)
        return whole

    def without(self, others: Sequence[UndonePart]) -> UndonePart:
        """Return the part without the nodes and edges of others."""
        return UndonePart(*(mine.difference(*theirs) for mine, *theirs in zip(self, *others, strict=True)))

    def keys(self, past: GraphView) -> list[EdgeKey]:
        """Return the edges that may differ from the past, sorted: its own, and those of removed nodes."""
        touching = past.arcs(past.known_rows(self.removed), both_ways=True).edge
        return sorted(self.edges.union(map(past.edge_key, touching.tolist())), key=str)

    def cut(self, delta: GraphDelta, store: GraphStorePort) -> GraphDelta:
        """Return what an undo of all later changes would do to these nodes and edges."""
        nodes = tuple(node for node in delta.nodes if node.id in self.nodes)
        removed = tuple(one for one in delta.removed_nodes if one in self.nodes)
        returned, lost = {node.id for node in nodes}, set(removed)
        present = store.snapshot(whole=True).view
        there = {
            one: one in returned or (one not in lost and present.find(one) is not None)
            for edge in delta.edges
            for one in edge.key[:2]
        }
        back = (edge for edge in delta.edges if edge.key in self.edges or self.removed & {*edge.key[:2]})
        return replace(
            delta,
            removed_edges=tuple(key for key in delta.removed_edges if key in self.edges),
            removed_nodes=removed,
            nodes=nodes,
            edges=tuple(edge for edge in back if all(there[one] for one in edge.key[:2])),
            node_changes=tuple(change for change in delta.node_changes if change.node in self.nodes),
            weights=tuple(one for one in delta.weights if one.edge in self.edges),
        )


def undo(store: GraphStorePort, to: int | None, clock: Clock, *, user_id: UserChoice = ANY_USER) -> HistoryEntry | None:
    """Undo every change after the delta number `to`, 0 for the empty graph; None: undo the last thing that was done.

    With a user, that is the last thing that was done to this user's memories and their edges, and only for these; None
    stands for memories without an owner, or for all if no memory ever had one. Return the history entry of the undo
    with the memories that it changed, None if there was nothing to change.

    Nobody does the changes that the memory makes by itself; see `core.commit`. Those that came later stay, except
    what was computed from the same memories, and what policies did because they were added. The next undo takes
    back the change before it.

    Raises:
        InputError: there is no such delta, a compaction erased the history that the undo needs, the last thing also
            changed memories without an owner, or the user did nothing in the last 10,000 changes.
    """
    if to is not None:
        return _undo_to(store, to, clock, reason=f"undo to {to}")
    # A change of a user stays hers when nothing is left of her, until a compaction erases it.
    if user_id is None and not any(store.view().scopes.users):
        user_id = ANY_USER
    for one in _done(store) if isinstance(user_id, AnyUser) else _done_to(store, user_id):
        undone = _undo_to(store, one.entry.sequence - 1, clock, part=one.part, reason=one.reason)
        # A compaction erased a change that has no effect any more; the changes before it are not the last one.
        if undone is not None or (one.entry.changes and not one.has_no_effect):
            return undone
    return None


class _Done(NamedTuple):
    entry: HistoryEntry
    part: UndonePart
    """What it changed."""
    reason: str
    """That of its undo."""
    has_no_effect: bool = False
    """Whether it may be gone already: a user took back it or an earlier change, or what it wrote is gone."""


def _done(store: GraphStorePort) -> Iterator[_Done]:
    """Yield the things that were done and not undone yet, latest first."""
    later, undone, partly = list[GraphDelta](), set[int](), list[tuple[int, UndonePart]]()
    expired = set[str]()
    for back, (entry, delta) in enumerate(chain.from_iterable(_blocks(store, LATEST)), 1):
        if (of := undone_by(entry.reason)) is not None:
            if entry.reason.startswith("undo,"):  # for all users
                undone.add(back + of)
            else:
                partly.append((back + of, UndonePart.of(delta)))
        elif not _is_automatic(entry) and back not in undone:
            # What users have taken back of this change, and of earlier ones, does not return with its undo.
            own = [one for of_change, one in partly if of_change >= back]
            if not own and entry.reason != USER_DELETED and _is_erased(entry, delta):
                raise InputError(f"what was done last cannot be taken back, {_ERASED}")
            part = UndonePart.of(delta).followed(later).without(own)
            is_gone = bool(own) or _is_gone(UndonePart.of(delta), expired)
            yield _Done(entry, part, undo_of(entry.reason, back, is_whole=True), is_gone)
        expired.update(_expired_by(entry, delta))
        later.append(delta)


def _done_to(store: GraphStorePort, user_id: str | None) -> Iterator[_Done]:
    """Yield the same as `_done` for one user's memories; raises as `undo`."""
    own, later, undone = _ids(store, ScopeFilter(user_id, alone=True)), list[GraphDelta](), set[int]()
    expired, owner = set[str](), "memories without an owner" if user_id is None else f"memories of {user_id!r}"
    for back, (entry, delta, gone) in enumerate(_backwards(store), 1):
        if back > _MOST:
            raise InputError(f"none of the last {_MOST:,} changes is one of {owner}; delete or update memories instead")
        own |= {node.id for node in (*delta.nodes, *gone) if node.scope.user_id == user_id}
        # Nobody knows any more whose memories a compaction erased. Their removal may be what the user did last; what
        # wrote them has no effect, whoever did it. A deletion of all of a user was of another user, or of this one, of
        # whom nothing older is left.
        is_known = _is_automatic(entry) or entry.reason == USER_DELETED
        if _is_erased(entry, delta) and not is_known:
            raise InputError(f"what was done last to {owner} is unknown, {_ERASED}")
        part = UndonePart.of(delta, own)
        if (part.nodes or part.edges) and not _is_automatic(entry):
            if (of := undone_by(entry.reason)) is not None:
                undone.add(back + of)
            elif back not in undone:
                if user_id is not None:
                    _check_not_shared(store, entry, delta, user_id)
                whole = part.followed(later, own)
                is_gone = _is_gone(part, expired) or entry.changes.get("nodes put", 0) > len(delta.nodes)
                yield _Done(entry, whole, undo_of(entry.reason, back, is_whole=False), is_gone)
        expired.update(_expired_by(entry, delta))
        later.append(delta)


def _is_erased(entry: HistoryEntry, delta: GraphDelta) -> bool:
    """Return whether a compaction erased texts that a change removed."""
    return entry.changes.get("nodes removed", 0) > len(delta.removed_nodes)


def _is_gone(part: UndonePart, expired: AbstractSet[str]) -> bool:
    return bool(part.nodes) and part.nodes <= expired


def _expired_by(entry: HistoryEntry, delta: GraphDelta) -> Collection[str]:
    return delta.removed_nodes if comes_with_time(entry.reason) else ()


def _blocks(store: GraphStorePort, before: int) -> Iterator[list[_Change]]:
    """Yield the changes numbered below `before`, latest first, with what a compaction left of their deltas."""
    last, size = min(before - 1, store.view().sequence), 1
    while last > 0:
        first = max(last - size, 0)
        deltas = {one.sequence: one.delta for one in store.journal(first, last)}
        yield [
            (entry, deltas.get(entry.sequence) or GraphDelta(reason=entry.reason, at=entry.at))
            for entry in reversed(store.history(first, last))
        ]
        last, size = first, min(2 * size, _AT_ONCE)


def _backwards(
    store: GraphStorePort, before: int = LATEST
) -> Iterator[tuple[HistoryEntry, GraphDelta, Sequence[MemoryNode]]]:
    """Yield changes below `before`, latest first, with what compactions left, and the nodes that they removed."""
    for block in _blocks(store, before):
        removals, last = dict[str, list[int]](), dict[tuple[str, int], MemoryNode]()
        for entry, delta in block:
            # A delta removes nodes before it puts them.
            for node in delta.nodes:
                last |= {(node.id, number): node for number in removals.pop(node.id, ())}
            for one in delta.removed_nodes:
                removals.setdefault(one, []).append(entry.sequence)
        if removals:
            for node in store.as_of(block[-1][0].sequence - 1).get_nodes(sorted(removals), missing_ok=True):
                last |= {(node.id, number): node for number in removals[node.id]}
        for entry, delta in block:
            versions = (last.get((one, entry.sequence)) for one in delta.removed_nodes)
            yield entry, delta, [one for one in versions if one is not None]


def latest_of(store: GraphStorePort, user_id: UserChoice, before: int = LATEST) -> Iterator[HistoryEntry]:
    """Yield the changes below `before`, latest first, only those to a named user, with her memories."""
    own = _ids(store, ScopeFilter(user_id, alone=True)) if isinstance(user_id, str) else set()
    for entry, delta, gone in _backwards(store, before):
        own |= {node.id for node in (*delta.nodes, *gone) if node.scope.user_id == user_id}
        if not isinstance(user_id, str) or any(UndonePart.of(delta, own)[:2]):
            yield replace(entry, memories=_changed(delta, gone, user_id))


def _changed(delta: GraphDelta, gone: Iterable[MemoryNode], user_id: UserChoice) -> tuple[ChangedMemory, ...]:
    done: list[tuple[Literal["written", "deleted"], MemoryNode]] = [("written", one) for one in delta.nodes]
    done += [("deleted", one) for one in gone]
    own = [one for one in done if user_id in {ANY_USER, one[1].scope.user_id} and one[1].kind not in NO_MEMORIES]
    return tuple(ChangedMemory(one.id, action, one.content) for action, one in own)


def _is_automatic(entry: HistoryEntry) -> bool:
    return comes_with_time(entry.reason) or follows(entry.reason)


def _check_not_shared(store: GraphStorePort, entry: HistoryEntry, delta: GraphDelta, user_id: str) -> None:
    """Raise InputError if a delta also changed memories without an owner that were there before."""
    changed = {*delta.removed_nodes, *(one.id for one in delta.nodes), *(one.node for one in delta.node_changes)}
    before = store.as_of(entry.sequence - 1).get_nodes(sorted(changed), missing_ok=True)
    if any(node.scope.user_id is None for node in before):
        raise InputError(
            f"change {entry.sequence} ({entry.reason}) cannot be taken back for {user_id!r} alone, because it also "
            f"changed memories without an owner; undo(to={entry.sequence - 1}) takes it back for all users"
        )


def _undo_to(
    store: GraphStorePort, target: int, clock: Clock, *, part: UndonePart | None = None, reason: str
) -> HistoryEntry | None:
    if isinstance(store, SupportsCompaction) and target < (erased := store.erased_up_to()):
        raise InputError(
            f"the changes up to number {erased} cannot be undone, because compact(history=True) erased the history "
            f"before it; give `to` a number from {erased} on, or delete and update memories instead"
        )
    past = store.as_of(target)
    delta = delta_back_to(past, store, reason=reason, at=clock(), part=part)
    if part is not None:
        delta = part.cut(delta, store)
    if not delta:
        return None
    gone = store.get_nodes(delta.removed_nodes, missing_ok=True)
    Committer(store).commit(lambda: delta)
    return replace(store.history(store.view().sequence - 1)[-1], memories=_changed(delta, gone, ANY_USER))


def delta_back_to(
    past: GraphStorePort, present: GraphStorePort, *, reason: str, at: datetime, part: UndonePart | None = None
) -> GraphDelta:
    """Return the delta that gives `present` exactly the content of `past`, or only its nodes and edges in a part.

    Accesses are not undone: nodes and edges keep the time of their last use. The undo is itself a delta in the history,
    so it can be undone.
    """
    old_ids, nodes, changes = _changed_nodes(past, present, part)
    then, now = past.snapshot(whole=True), present.snapshot(whole=True)
    ids = _ids(present) if part is None else {one for one in part.nodes if now.view.find(one) is not None}
    keys = None if part is None else part.keys(past.view())
    lost = {edge.key: edge for edge in _edges(then, keys)}
    gone: list[EdgeKey] = []
    weights: list[WeightChange] = []
    for edge in _edges(now, keys):
        old = lost.get(edge.key)
        if old is None:
            gone.append(edge.key)
        elif replace(edge, weight=old.weight, last_activated=old.last_activated) == old:
            del lost[edge.key]
            if edge.weight != old.weight:
                # It keeps the time of its last use.
                used = edge.last_activated if old.type.plastic else None
                weights.append(WeightChange(old.key, old.weight, used, derived=not old.type.plastic))
    return GraphDelta(
        removed_edges=tuple(key for key in gone if None not in map(then.view.find, key[:2])),
        removed_nodes=tuple(sorted(ids - old_ids)),
        nodes=tuple(nodes),
        edges=tuple(lost.values()),
        node_changes=tuple(changes),
        weights=tuple(weights),
        reason=reason,
        at=at,
        owner=Owner.LOG,
    )


def _edges(graph: Snapshot, keys: Sequence[EdgeKey] | None) -> Iterator[MemoryEdge]:
    """Yield the edges with these keys that exist, or all, but no TERM edges, which follow from the texts."""
    view = graph.view
    if keys is None:
        rows = view.live_edges()
    else:
        there = [key for key in keys if None not in map(view.find, key[:2])]
        found = [view.edge_rows(view.rows([one]), view.rows([other]), kind) for one, other, kind in there]
        rows = np.concatenate([np.empty(0, dtype=np.int64), *found])
        rows = rows[rows >= 0]
    for begin in range(0, rows.size, _AT_ONCE):
        yield from (one for one in graph.edges(rows[begin : begin + _AT_ONCE]) if one.type is not EdgeType.TERM)


def _changed_nodes(
    past: GraphStorePort, present: GraphStorePort, only: UndonePart | None
) -> tuple[set[str], list[MemoryNode], list[NodeChange]]:
    """Return the ids of past nodes, those that differ now, and past energies and importances of the others."""
    ids: set[str] = set()
    changed: list[MemoryNode] = []
    recharged: list[NodeChange] = []
    nodes = past.all_nodes() if only is None else iter(past.get_nodes(sorted(only.nodes), missing_ok=True))
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


def _ids(store: GraphStorePort, scope: ScopeFilter | None = None) -> set[str]:
    view = store.snapshot(whole=True).view
    rows, admitted = view.live_nodes(), None if scope is None else view.rows_of_scopes(scope)
    return {view.ids[row] for row in (rows if admitted is None else np.intersect1d(rows, admitted)).tolist()}

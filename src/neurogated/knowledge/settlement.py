"""Changes of conflicts and of the valid times of their sides, gathered for one delta."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

from neurogated.core.conflicts import (
    MODEL,
    Conflict,
    Validity,
    as_given,
    conflicts_about,
    edges_of,
    moment_of,
    valid_conflicts,
    with_outcome,
)
from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.derivation import derived_from, sources_of
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.outcomes import Outcome, Outcomes, SideTimes, outcome_of
from neurogated.core.outcomes import times_of as given_side
from neurogated.core.ports import GraphStorePort


def times_of(node: MemoryNode) -> Validity:
    """Return the valid time of a memory."""
    return node.valid_from, node.valid_to


class Settlement:
    """Applies outcomes to memories. It computes a delta and writes nothing.

    A store computes valid times from the given ones and from all outcomes, see `core.outcomes`. The delta puts each
    memory whose valid time changes, so that the projections of the log see it.
    """

    def __init__(self, store: GraphStorePort, at: datetime, nodes: Iterable[MemoryNode] = ()) -> None:
        """Take the graph, the time of the delta, and the nodes that it writes anyway."""
        self._store = store
        self._at = at
        self.view = store.view()
        """The graph before the delta."""
        self._nodes = {node.id: node for node in nodes}
        self._stored: dict[str, list[str]] = {}
        self._latest: dict[str, Conflict | None] = {}
        self._put: dict[str, None] = {}
        self._removed: dict[str, None] = {}
        self._ended: dict[str, None] = {}
        self._written: dict[str, None] = {}

    def nodes(self, node_ids: Sequence[str]) -> list[MemoryNode]:
        """Return the latest versions of nodes in order, without those that are gone."""
        missing = [name for name in node_ids if name not in self._nodes]
        if missing:
            self._nodes.update((node.id, node) for node in self._store.get_nodes(missing, missing_ok=True))
        return [self._nodes[name] for name in node_ids if name in self._nodes]

    def _node(self, node_id: str) -> MemoryNode | None:
        return next(iter(self.nodes([node_id])), None)

    def write(self, node: MemoryNode) -> None:
        """Add a node to the delta, or another version of one; its conflicts follow it."""
        self._nodes[node.id] = node
        self._written[node.id] = None
        self.follow(node)

    def conflict(self, conflict_id: str) -> Conflict | None:
        """Return the latest version of a conflict; None if there is none."""
        self._read([conflict_id])
        return self._latest[conflict_id]

    def about(self, node_id: str) -> list[Conflict]:
        """Return the latest versions of the conflicts of a memory."""
        if node_id not in self._stored:
            self._stored[node_id] = conflicts_about(self.view, [node_id])
        names = dict.fromkeys(self._stored[node_id])
        self._read(names)
        names |= {name: None for name in self._put if (one := self._latest[name]) and node_id in one.sides}
        return [one for name in names if (one := self._latest[name]) is not None]

    def _read(self, conflict_ids: Iterable[str]) -> None:
        """Read the stored versions of conflicts together; a memory may have many."""
        missing = [name for name in conflict_ids if name not in self._latest]
        if missing:
            found = valid_conflicts(self._store.get_nodes(missing, missing_ok=True))
            self._latest |= dict.fromkeys(missing) | {one.id: one for one in found}

    def put(self, conflict: Conflict) -> None:
        """Record a conflict."""
        self._latest[conflict.id] = conflict
        self._put[conflict.id] = None
        self._removed.pop(conflict.id, None)

    def is_wrong(self, node_id: str) -> bool:
        """Return whether a conflict says that a memory was never true."""
        return any(one.loser == node_id and one.outcome == "wrong" for one in self.about(node_id))

    def settle(self, conflict: Conflict, outcome: Verdict, loser: str | None) -> Conflict:
        """Give a conflict an outcome: the loser is superseded or wrong, or both sides stand."""
        settled = conflict.settled(outcome, loser)
        self.put(settled)
        self.refresh(conflict.sides)
        return settled

    def acquit(self, node_id: str, *, but: str) -> None:
        """Open the conflicts again that call a memory wrong, except one."""
        for one in self.about(node_id):
            if one.id != but and one.loser == node_id and one.outcome == "wrong":
                self.put(one.opened())
                self.refresh(one.sides)

    def remove(self, conflict_ids: Iterable[str]) -> None:
        """Remove conflicts, and take back their outcomes."""
        ended = list(filter(None, map(self.conflict, conflict_ids)))
        for conflict in ended:
            self._latest[conflict.id] = None
            self._put.pop(conflict.id, None)
            self._removed[conflict.id] = None
        for conflict in ended:
            self.refresh(conflict.sides)

    def follow(self, node: MemoryNode) -> None:
        """Let the conflicts of a memory follow it when it is written again, perhaps with other times."""
        about = self.about(node.id)
        if about or node.found.given is not None:
            stored = self._store.get_nodes([node.id], missing_ok=True)
            if any(one.expires_at != node.expires_at for one in stored):
                # A conflict expires together with a side.
                self._put |= dict.fromkeys(one.id for one in about)
            self.refresh([node.id])

    def parted_by(self, removed: Collection[str]) -> Iterator[tuple[MemoryNode, MemoryNode]]:
        """Yield facts that replace each other when the memories between them go, the earlier one first.

        A value is compared with the values next to it only. `removed` are ids of memories and of their conflicts.
        """
        winners = defaultdict[str, list[str]](list)
        for conflict in filter(None, map(self.conflict, removed)):
            if conflict.loser is not None:
                winners[conflict.loser].append(conflict.other(conflict.loser))
        for name in [name for name in winners if name not in removed]:
            ahead, seen = list(winners[name]), {name}
            for one in ahead:
                following = [other for other in winners.get(one, ()) if other not in seen]
                seen.update(following)
                ahead += [other for other in following if other in removed]
                for pair in (self.nodes([name, other]) for other in following if other not in removed):
                    if len(pair) > 1 and pair[0].found.statement is not None and _is_before(*pair):
                        yield pair[0], pair[1]

    def refresh(self, node_ids: Iterable[str]) -> None:
        """Compute the valid times of memories, and of those that replaced them or were replaced by them."""
        # Not an attribute: the reference to this object would be a cycle, which keeps the memory's file open.
        outcomes = Outcomes(self._times, self._about, self._is_expired)
        for node_id in outcomes.affected(node_ids):
            node, valid = self._node(node_id), outcomes.valid_time(node_id)
            if node is not None and valid is not None and valid != times_of(node):
                given = as_given(node)
                self._nodes[node_id] = given if valid == times_of(given) else with_outcome(given, valid)
                self._ended[node_id] = None

    def _times(self, node_id: str) -> SideTimes | None:
        node = self._node(node_id)
        return None if node is None else given_side(as_given(node))

    def _is_expired(self, node_id: str) -> bool:
        node = self._node(node_id)
        return node is not None and node.has_expired(self._at)

    def _about(self, node_id: str) -> list[Outcome[str]]:
        found = ((one, {name: name for name in one.sides}) for one in self.about(node_id))
        return [outcome for one, keys in found if (outcome := outcome_of(one, keys, self._at)) is not None]

    def added_to(self, delta: GraphDelta) -> GraphDelta:
        """Return a delta with these changes."""
        if not (self._written or self._ended or self._put):
            return delta
        put = [one for name in self._put if (one := self._latest[name]) is not None]
        about = {*self._ended, *(side for one in put if one.status == "open" for side in one.sides)}
        about.update(chain.from_iterable(sources_of(self.view, about).values()))
        outdated = derived_from(self.view, about)
        gone = dict.fromkeys((*delta.removed_nodes, *self._removed, *outdated, *conflicts_about(self.view, outdated)))
        written = {node.id: node for node in delta.nodes}
        others = [name for name in (*self._written, *self._ended) if name not in delta.removed_nodes]
        nodes = {name: self._nodes.get(name) or written[name] for name in (*written, *others)}
        conflicts = [one for one in put if one.id not in gone]
        if not (self._written or self._ended or conflicts):
            return delta
        return replace(
            delta,
            removed_nodes=tuple(gone),
            nodes=(*nodes.values(), *(one.node(self.nodes(one.sides), delta.at) for one in conflicts)),
            edges=(*delta.edges, *(edge for one in conflicts for edge in edges_of(one, delta.at))),
            owner=Owner.MEMORY,
        )


def _is_before(one: MemoryNode, other: MemoryNode) -> bool:
    return moment_of(as_given(one)) <= moment_of(as_given(other))


def resolution(
    store: GraphStorePort, conflict: Conflict, keep: str, because: str | None, at: datetime
) -> tuple[GraphDelta, Conflict]:
    """Return the delta that gives a conflict an outcome, and the conflict with it.

    Args:
        store: the graph.
        conflict: open or resolved.
        keep: the id of the right side, `both`, or `supersede`: the side that began earlier is true no longer.
        because: the reason.
        at: the time of the delta.
    """
    settlement = Settlement(store, at)
    first, second = store.get_nodes(conflict.sides)
    conflict = replace(conflict, because=because, by_user=True)
    if keep in conflict.sides:
        settled = settlement.settle(conflict, "wrong", conflict.other(keep))
        settlement.acquit(keep, but=conflict.id)
    elif keep == "both":
        settled = settlement.settle(conflict, "contested", None)
    else:
        earlier = second if moment_of(second) < moment_of(first) else first
        settled = settlement.settle(conflict, "superseded", earlier.id)
    return settlement.added_to(GraphDelta(reason="resolve", at=at)), settled


def returned(past: GraphStorePort, present: GraphStorePort, delta: GraphDelta) -> GraphDelta:
    """Return a delta that returns to a past, and keeps later conflicts in place of those that were erased since."""
    kept = set(_kept(past, present, delta.removed_nodes))
    return replace(
        delta,
        removed_nodes=tuple(name for name in delta.removed_nodes if name not in kept),
        removed_edges=tuple(key for key in delta.removed_edges if key.source_id not in kept),
    )


def _kept(past: GraphStorePort, present: GraphStorePort, removed: Collection[str]) -> Iterator[str]:
    """Yield the conflicts whose sides the past has as the present, and of which it lacks the one that ended the loser.

    The deletion of a value between two others made such a conflict, and that value was erased.
    """
    view = past.view()
    for conflict in valid_conflicts(present.get_nodes(list(removed), missing_ok=True)):
        sides = (store.get_nodes(conflict.sides, missing_ok=True) for store in (past, present))
        before, now = ([(one.content, *times_of(as_given(one))) for one in nodes] for nodes in sides)
        if conflict.loser is None or conflict.rule == MODEL or before != now:
            continue
        about = past.get_nodes(conflicts_about(view, [conflict.loser]), missing_ok=True)
        if all(one.loser != conflict.loser for one in valid_conflicts(about)):
            yield conflict.id

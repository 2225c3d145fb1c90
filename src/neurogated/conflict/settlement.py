"""Changes of conflicts and of the valid times of their sides, gathered for one delta."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime

from neurogated.core.conflicts import CONFLICT, Conflict, Validity, conflicts_about, edges_of, moment_of
from neurogated.core.delta import GraphDelta
from neurogated.core.derivation import derived_from
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort

__all__ = ["Settlement", "resolution", "times_of"]


def times_of(node: MemoryNode) -> Validity:
    """Return the valid time of a memory."""
    return node.valid_from, node.valid_to


class Settlement:
    """Applies outcomes to memories. It computes a delta and writes nothing.

    An outcome shortens the valid time of the loser: a superseded memory holds until the other begins, and a wrong one
    holds at no time. Its valid time follows from that without outcomes, its base, and from all its outcomes, so any
    outcome can be taken back without the others.
    """

    def __init__(self, store: GraphStorePort, nodes: Iterable[MemoryNode] = ()) -> None:
        """Take the graph, and the nodes that the delta writes anyway."""
        self._store = store
        self._view = store.view()
        self._nodes = {node.id: node for node in nodes}
        self._conflicts: dict[str, Conflict] = {}
        self._gone: set[str] = set()
        self._ended: dict[str, None] = {}

    def node(self, node_id: str) -> MemoryNode | None:
        """Return the latest version of a memory; None if it is gone."""
        if node_id not in self._nodes:
            self._nodes.update((node.id, node) for node in self._store.get_nodes([node_id], missing_ok=True))
        return self._nodes.get(node_id)

    def conflict(self, conflict_id: str) -> Conflict | None:
        """Return the latest version of a conflict; None if there is none."""
        if conflict_id not in self._conflicts:
            found = self._store.get_nodes([conflict_id], missing_ok=True)
            return next((Conflict.of(node) for node in found if node.kind == CONFLICT), None)
        return self._conflicts[conflict_id]

    def about(self, node_id: str) -> Iterator[Conflict]:
        """Yield the latest versions of the conflicts of a memory."""
        own = [name for name, one in self._conflicts.items() if node_id in one.sides]
        for name in dict.fromkeys((*conflicts_about(self._view, [node_id]), *own)):
            conflict = self.conflict(name)
            if conflict is not None and name not in self._gone:
                yield conflict

    def put(self, conflict: Conflict) -> None:
        """Record a conflict."""
        self._conflicts[conflict.id] = conflict

    def base(self, node: MemoryNode) -> Validity:
        """Return the valid time of a memory without the outcomes of conflicts."""
        return next((one.base for one in self.about(node.id) if one.loser == node.id), times_of(node))

    def is_wrong(self, node_id: str) -> bool:
        """Return whether a conflict says that a memory was never true."""
        return any(one.loser == node_id and one.outcome == "wrong" for one in self.about(node_id))

    def settle(
        self, conflict: Conflict, outcome: Verdict, loser: MemoryNode | None, because: str | None = None
    ) -> Conflict:
        """Give a conflict an outcome: the loser is superseded or wrong, or both sides stand."""
        base = (None, None) if loser is None else self.base(loser)
        self.remove([conflict.id])
        self._gone.discard(conflict.id)
        settled = conflict.settled(outcome, None if loser is None else loser.id, base, because)
        self.put(settled)
        if loser is not None:
            self._narrow(loser.id, base)
        return settled

    def remove(self, conflict_ids: Iterable[str]) -> None:
        """Remove conflicts, and take back their outcomes."""
        for conflict_id in conflict_ids:
            conflict = self.conflict(conflict_id)
            if conflict is not None:
                self._gone.add(conflict_id)
                if conflict.loser is not None:
                    self._narrow(conflict.loser, conflict.base)

    def keep_outcomes(self, node: MemoryNode) -> None:
        """Let the outcomes of a memory hold that is written again, perhaps with another valid time."""
        lost = [one for one in self.about(node.id) if one.loser == node.id]
        if lost:
            stored = self._store.get_nodes([node.id], missing_ok=True)
            is_same = times_of(node) in {lost[0].base, *map(times_of, stored)}
            base = lost[0].base if is_same else times_of(node)
            for conflict in lost:
                self.put(replace(conflict, base=base))
            self._narrow(node.id, base)

    def _narrow(self, node_id: str, base: Validity) -> None:
        """Give a memory the valid time that follows from its base and its outcomes."""
        node = self.node(node_id)
        if node is None:
            return
        begin, end = base
        for one in self.about(node_id):
            other = self.node(one.other(node_id))
            if one.loser != node_id or other is None:
                continue
            if one.outcome == "wrong":
                begin = end = moment_of(replace(node, valid_from=base[0]))
                break
            limit = moment_of(other)
            end = limit if end is None else min(end, limit)
        if times_of(node) != (begin, end):
            self._nodes[node_id] = replace(node, valid_from=begin, valid_to=end)
            self._ended[node_id] = None

    def added_to(self, delta: GraphDelta) -> GraphDelta:
        """Return a delta with these changes."""
        gone = dict.fromkeys(delta.removed_nodes)
        outdated = [name for name in derived_from(self._view, self._ended) if name not in gone]
        outdated += [name for name in conflicts_about(self._view, outdated) if name not in gone]
        written = {node.id: node for node in delta.nodes}
        changed = [name for name in (*written, *self._ended) if name not in gone or name in written]
        nodes = {name: self._nodes.get(name) or written[name] for name in changed}
        kept = [one for one in self._conflicts.values() if one.id not in self._gone and one.id not in outdated]
        conflicts = [one.node(filter(None, map(self.node, one.sides)), delta.at) for one in kept]
        if not (self._ended or conflicts):
            return delta
        return replace(
            delta,
            removed_nodes=(*gone, *dict.fromkeys(outdated)),
            nodes=(*nodes.values(), *conflicts),
            edges=(*delta.edges, *(edge for one in kept for edge in edges_of(one, delta.at))),
        )


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
    settlement = Settlement(store)
    first, second = store.get_nodes(conflict.sides)
    if keep == "both":
        settled = settlement.settle(conflict, "contested", None, because)
    elif keep == "supersede":
        earlier = second if moment_of(second) < moment_of(first) else first
        settled = settlement.settle(conflict, "superseded", earlier, because)
    else:
        settled = settlement.settle(conflict, "wrong", second if keep == first.id else first, because)
    return settlement.added_to(GraphDelta(reason="resolve", at=at)), settled

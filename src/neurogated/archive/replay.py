"""Replaying the log of a graph in another one that has memories of its own."""

from __future__ import annotations

from dataclasses import replace

from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.model import EdgeKey
from neurogated.core.ports import GraphStorePort


def replay(source: GraphStorePort, target: GraphStorePort) -> int:
    """Apply the deltas of a graph to another one, in order; return how many there were."""
    count, known = 0, _Known(target)
    for count, entry in enumerate(source.journal(), start=1):  # noqa: B007 - the count of none is 0
        # An operator is a rule over all edges of its graph; those of the other graph have their own.
        if not entry.delta.operators:
            target.apply(known.spared(entry.delta))
    return count


class _Known:
    """The nodes and edges of a graph before a replay. If the replay adds one again, the graph keeps its own."""

    def __init__(self, graph: GraphStorePort) -> None:
        self._held = graph.view()
        self._changed: set[str | EdgeKey] = set()
        """Nodes and edges that the replay has added or removed, so that those of the graph no longer count."""
        self._removed: set[str] = set()
        """Nodes that it has removed, and their edges with them."""

    def spared(self, delta: GraphDelta) -> GraphDelta:
        """Return a delta of the replay without its first versions of nodes and edges that the graph held."""
        self._removed.update(delta.removed_nodes)
        self._changed.update(delta.removed_nodes, delta.removed_edges)
        nodes = [node for node in delta.nodes if self._is_changed(node.id) or not self._has(node.id)]
        edges = [edge for edge in delta.edges if self._is_changed(edge.key) or not self._joins(edge.key)]
        return replace(delta, nodes=tuple(nodes), edges=tuple(edges), owner=Owner.LOG)

    def _is_changed(self, key: str | EdgeKey) -> bool:
        is_changed = key in self._changed
        self._changed.add(key)
        return is_changed

    def _has(self, node_id: str) -> bool:
        return self._held.find(node_id) is not None

    def _joins(self, key: EdgeKey) -> bool:
        ends = key.source_id, key.target_id
        if not self._removed.isdisjoint(ends) or not all(map(self._has, ends)):
            return False
        sources, targets = (self._held.rows([end]) for end in ends)
        return bool((self._held.edge_rows(sources, targets, key.type) >= 0).all())

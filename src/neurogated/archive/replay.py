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
        # An operator is a rule over all edges of its graph. The fading of the database's edges is not up to this file.
        if not entry.delta.operators:
            target.apply(known.spared(entry.delta))
    return count


class _Known:
    """What a graph held before a replay. The first put of such a node or edge repeats it, and so changes nothing."""

    def __init__(self, graph: GraphStorePort) -> None:
        self._held = graph.view()
        self._seen: set[str | EdgeKey] = set()

    def spared(self, delta: GraphDelta) -> GraphDelta:
        """Return a delta of a replay without what would overwrite a node or an edge by its first version."""
        nodes = [node for node in delta.nodes if not (self._is_first(node.id) and self._has(node.id))]
        edges = [edge for edge in delta.edges if not (self._is_first(edge.key) and self._joins(edge.key))]
        return replace(delta, nodes=tuple(nodes), edges=tuple(edges), owner=Owner.LOG)

    def _is_first(self, key: str | EdgeKey) -> bool:
        is_first = key not in self._seen
        self._seen.add(key)
        return is_first

    def _has(self, node_id: str) -> bool:
        return self._held.find(node_id) is not None

    def _joins(self, key: EdgeKey) -> bool:
        if not (self._has(key.source_id) and self._has(key.target_id)):
            return False
        ends = self._held.rows([key.source_id]), self._held.rows([key.target_id])
        return bool((self._held.edge_rows(*ends, key.type) >= 0).all())

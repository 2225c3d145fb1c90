"""A reference model of a graph, slow and obviously right: dictionaries of nodes and edges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime

from neurogated.core.delta import Decay, GraphDelta, PendingTask
from neurogated.core.model import MOST_COUNTED, EdgeKey, MemoryEdge, MemoryNode


class GraphModel:
    """The expected contents of a store after some deltas, in the order of their addition.

    It accepts only valid deltas; refusing the others is the store's task.
    """

    def __init__(self) -> None:
        self.nodes: dict[str, MemoryNode] = {}
        self.edges: dict[EdgeKey, MemoryEdge] = {}
        self.waiting: dict[PendingTask, None] = {}
        self.returned: set[str] = set()
        """Nodes that were removed and added again; the store chooses their position in the order."""
        self._gone: set[str] = set()

    def apply(self, delta: GraphDelta) -> None:
        """Apply a delta: removals, puts, weights, node changes, operators and the touch, in this order."""
        for key in delta.removed_edges:
            del self.edges[key]
        for name in delta.removed_nodes:
            del self.nodes[name]
            self._gone.add(name)
        self.edges = {
            key: edge for key, edge in self.edges.items() if {key.source_id, key.target_id} <= set(self.nodes)
        }
        for node in delta.nodes:
            self.nodes[node.id] = node
            if node.id in self._gone:
                self.returned.add(node.id)
        for edge in delta.edges:
            self.edges.pop(edge.key, None)
            self.edges[edge.key] = edge
        for change in delta.weights:
            edge = self.edges[change.edge]
            used = edge.last_activated if change.derived else change.last_activated or delta.at
            self.edges[change.edge] = replace(edge, weight=change.weight, last_activated=used)
        for changed in delta.node_changes:
            self.nodes[changed.node] = changed.applied(self.nodes[changed.node])
        for operator in delta.operators:
            self._decay(operator)
        self._touch(delta)
        self.waiting |= dict.fromkeys(delta.queued)
        self.waiting = {task: None for task in self.waiting if task not in delta.settled}

    def copy(self) -> GraphModel:
        """Return an independent copy."""
        return self._with(self.nodes, self.edges)

    def at(self, now: datetime, valid_at: datetime | None = None) -> GraphModel:
        """Return the model without nodes that have expired at `now`, and without contents invalid at `valid_at`."""
        nodes = {
            name: node
            for name, node in self.nodes.items()
            if (node.expires_at is None or now < node.expires_at) and _holds(node, valid_at)
        }
        edges = {
            key: edge
            for key, edge in self.edges.items()
            if {key.source_id, key.target_id} <= set(nodes) and _holds(edge, valid_at)
        }
        return self._with(nodes, edges)

    def without(self, names: set[str]) -> GraphModel:
        """Return the model as if some nodes had never existed."""
        nodes = {name: node for name, node in self.nodes.items() if name not in names}
        edges = {key: edge for key, edge in self.edges.items() if not {key.source_id, key.target_id} & names}
        return self._with(nodes, edges)

    def _with(self, nodes: Mapping[str, MemoryNode], edges: Mapping[EdgeKey, MemoryEdge]) -> GraphModel:
        other = GraphModel()
        other.nodes, other.edges = dict(nodes), dict(edges)
        other.waiting, other.returned, other._gone = dict(self.waiting), set(self.returned), set(self._gone)
        return other

    def _decay(self, decay: Decay) -> None:
        for key, edge in list(self.edges.items()):
            if not key.type.plastic or edge.last_activated is None or edge.last_activated >= decay.idle_before:
                continue
            if key in decay.spared:
                continue
            weight = edge.weight * decay.factor
            self.edges[key] = replace(edge, weight=weight)
            if weight < decay.floor:
                del self.edges[key]

    def _touch(self, delta: GraphDelta) -> None:
        settled = {edge.key for edge in delta.edges} | {change.edge for change in delta.weights}
        for name in delta.touch.nodes.keys() & self.nodes.keys():
            node, count = self.nodes[name], delta.touch.nodes[name]
            self.nodes[name] = replace(node, last_accessed=delta.at, uses=min(node.uses + count, MOST_COUNTED))
        for name in delta.touch.charges.keys() & self.nodes.keys():
            charge = delta.touch.charges[name]
            self.nodes[name] = replace(self.nodes[name], charge=charge.energy, charged_at=charge.at)
        for key in (delta.touch.edges & self.edges.keys()) - settled:
            edge = self.edges[key]
            self.edges[key] = replace(edge, last_activated=max(edge.last_activated or delta.at, delta.at))


def _holds(thing: MemoryNode | MemoryEdge, moment: datetime | None) -> bool:
    if moment is None:
        return True
    begun = thing.valid_from is None or thing.valid_from <= moment
    return begun and (thing.valid_to is None or moment < thing.valid_to)

"""The changes that come with an event of the agent: links to the memories that it used, and their new strengths."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode

USED = "used"
"""The relation of the edges from an event to the memories that it used."""


def links(event: MemoryNode, used: Sequence[MemoryNode], weight: float) -> tuple[MemoryEdge, ...]:
    """Return the edges from an event to the memories of the same user that it used."""
    return tuple(
        MemoryEdge(event.id, one.id, EdgeType.ASSOC, weight, created_at=event.created_at, relation=USED)
        for one in used
        if one.id != event.id and one.scope.user_id == event.scope.user_id
    )


def joined(delta: GraphDelta, learned: GraphDelta, edges: Sequence[MemoryEdge]) -> GraphDelta:
    """Return one delta with a write, with the changes by an outcome, and with further edges.

    Edges and nodes that the write removes or puts stay as the write leaves them; only their energies change.
    """
    gone, removed = set(delta.removed_nodes), set(delta.removed_edges)
    put = {edge.key for edge in delta.edges}
    changes = {change.node: change for change in learned.node_changes if change.node not in gone}
    nodes = tuple(changes.pop(node.id).applied(node) if node.id in changes else node for node in delta.nodes)

    def stays(source: str, target: str) -> bool:
        return gone.isdisjoint((source, target))

    return replace(
        delta,
        nodes=nodes,
        edges=(
            *delta.edges,
            *(one for one in (*learned.edges, *edges) if one.key not in put and stays(one.source_id, one.target_id)),
        ),
        weights=(
            *delta.weights,
            *(one for one in learned.weights if one.edge not in removed | put and stays(*one.edge[:2])),
        ),
        removed_edges=(*delta.removed_edges, *(key for key in learned.removed_edges if key not in removed | put)),
        node_changes=(*delta.node_changes, *changes.values()),
        touch=learned.touch,
    )

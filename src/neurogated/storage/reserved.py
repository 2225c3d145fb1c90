"""Writes that only parts of the memory may make: conflicts, their edges, claims, and the ids of facts."""

from __future__ import annotations

import re

from neurogated.core.conflicts import CONFLICT, Conflict, edges_of, is_conflict_id
from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM, FACT
from neurogated.errors import InputError

_ID = re.compile(f"({FACT}|{CLAIM})-[0-9a-f]{{32}}")


def refuse_reserved(delta: GraphDelta, *, computed: bool = False) -> None:
    """Refuse reserved ids, kinds and edges unless the delta comes from their owner, and validate its conflicts.

    Args:
        delta: a change of the graph.
        computed: whether TERM edges are computed from texts, so that nobody writes them.

    Raises:
        InputError: a caller writes a conflict, a claim or the id of a fact, a node has another kind than its id says,
            a conflict is invalid or lacks an edge, or a caller writes an edge that is computed.
    """
    if delta.owner is Owner.LOG:
        return
    for node in delta.nodes:
        reserved = _reserved_kind(node)
        if reserved is not None and (delta.owner is None or node.kind != reserved):
            raise InputError(f"only the memory makes the {reserved} {node.id!r}; choose another id and another kind")
    conflicts = [Conflict.of(node) for node in delta.nodes if node.kind == CONFLICT]
    if delta.owner is None:
        types = {key.type for key in (*delta.removed_edges, *(edge.key for edge in delta.edges))}
        if EdgeType.CONFLICT in types:
            raise InputError("only the memory joins memories by CONFLICT edges; use another type")
        if computed and EdgeType.TERM in types:
            raise InputError("TERM edges follow from the words of memories; use another type, such as ASSOC")
    elif delta.owner is Owner.MEMORY and conflicts:
        put = {edge.key for edge in delta.edges}
        for conflict in conflicts:
            if not put.issuperset(edge.key for edge in edges_of(conflict, delta.at)):
                raise InputError(f"the delta puts conflict {conflict.id!r} without its edges; put both")


def _reserved_kind(node: MemoryNode) -> str | None:
    """Return the kind that is reserved by the id or the kind of a node."""
    if node.kind == CONFLICT or is_conflict_id(node.id):
        return CONFLICT
    found = _ID.fullmatch(node.id)
    return CLAIM if node.kind == CLAIM else found and found[1]

"""A conversation, and the order of a session in a memory."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import pairwise

from neurogated import EdgeType, MemoryNode, NeuroGraphMemory
from neurogated.core.filters import NO_MEMORIES
from neurogated.core.ports import GraphStorePort

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TALK = ("My cat Mio is ill.", "Oh no!", "The vet gave Mio a blue pill.", "Oh no!", "Because of it, Mio sleeps.")
LONG = "The pump failed on Monday. The lower field was flooded on Tuesday. The barn was dry on Friday."


def message_of(content: str, **more: object) -> dict[str, object]:
    return {"role": "user", "content": content, **more}


def memories_of(store: GraphStorePort) -> list[MemoryNode]:
    """Return the nodes that are memories."""
    return [node for node in store.all_nodes() if node.kind not in NO_MEMORIES]


def turns_of(memory: NeuroGraphMemory, session: str = "s") -> list[MemoryNode]:
    """Return the turns of a session by position."""
    turns = [node for node in memories_of(memory.store) if node.scope.session_id == session]
    assert all(node.position is not None for node in turns)
    turns.sort(key=lambda node: node.position or 0)
    assert len({node.position for node in turns}) == len(turns)
    return turns


def following_of(memory: NeuroGraphMemory) -> set[tuple[str, str]]:
    return {(edge.source_id, edge.target_id) for edge in memory.store.all_edges() if edge.type is EdgeType.SEQ}


def order_of(memory: NeuroGraphMemory, session: str = "s") -> list[str]:
    """Return the texts of a session by position, after checking that SEQ edges join exactly the neighbours."""
    turns = turns_of(memory, session)
    ids = [node.id for node in turns]
    joined = {pair for pair in following_of(memory) if set(pair) & set(ids)}
    assert joined == set(pairwise(ids))
    return [node.content for node in turns]

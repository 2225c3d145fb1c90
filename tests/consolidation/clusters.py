"""Memories with clusters: memories that are linked and used together."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from neurogated import EdgeType, GraphDelta, MemoryEdge, NeuroGraphMemory
from neurogated.core.delta import Access

__all__ = ["TEXTS", "add_cluster", "use_together"]

TEXTS = (
    "The pottery course in Velmouth began on 3 May 2024.",
    "The kiln of the pottery course reaches 1200 degrees.",
    "Marta made a blue bowl in the pottery course.",
    "The pottery course ends with an exhibition in Velmouth.",
)


def use_together(memory: NeuroGraphMemory, ids: Sequence[str], times: int = 4) -> None:
    """Connect each pair of memories by an ASSOC edge, and count uses of them."""
    edges = [MemoryEdge(one, other, EdgeType.ASSOC, 0.8) for one, other in combinations(ids, 2)]
    memory.store.apply(GraphDelta(edges=tuple(edges)))
    memory.store.apply(GraphDelta(touch=Access(dict.fromkeys(ids, times))))


def add_cluster(memory: NeuroGraphMemory, texts: Sequence[str] = TEXTS, **options: Any) -> list[str]:  # noqa: ANN401 - those of `add`
    """Add texts that are used together; return their ids."""
    ids = [memory.add(text, **options)[0] for text in texts]
    use_together(memory, ids)
    return ids

"""What there is in a memory, in numbers."""

from __future__ import annotations

from typing import Any

from neurogated.compose import Parts

__all__ = ["memory_stats"]


def memory_stats(parts: Parts, *, namespace: str, frozen: bool) -> dict[str, Any]:
    """Return counts: nodes, edges by type, deltas, judgements that wait; and who embeds and judges.

    Args:
        parts: what the memory is put together from.
        namespace: which of the graphs of the memory it is.
        frozen: whether it learns nothing.
    """
    view = parts.store.view()
    codes = view.edge_type[view.live_edges()]
    edges = {kind.name: int((codes == code).sum()) for code, kind in enumerate(view.edge_types)}
    return {
        "namespace": namespace,
        "nodes": int(view.live_nodes().size),
        "edges": edges,
        "deltas": view.sequence,
        "pending": len(parts.store.pending()),
        "frozen": frozen,
        "embedder": parts.embedder.name,
        "language model": parts.language_model.name if parts.language_model else None,
    }

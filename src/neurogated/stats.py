"""How much there is in a memory, what it takes on disk, and what its caches and its language model had to do."""

from __future__ import annotations

from typing import Any

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsNamespaces, SupportsStatistics
from neurogated.core.ports import GraphStorePort

__all__ = ["memory_stats"]


def memory_stats(store: GraphStorePort, parts: Parts, config: MemoryConfig, *, frozen: bool) -> dict[str, Any]:
    """Return what is known of a memory in figures, as JSON values.

    Args:
        store: the graph.
        parts: what the memory is put together from; a part that `SupportsStatistics` is asked for its own figures.
        config: names the namespace.
        frozen: whether the memory learns nothing at present.

    Returns:
        Counts of nodes, edges by type, deltas and judgements that wait; `namespaces`, the names of all graphs of the
        store, None where it holds a single one; and the figures of the parts: `storage` (bytes on disk), `embedding`
        and `language model use` (calls, tokens; hits, misses and bytes of the cache), empty where a part has none.
        What is counted there, is counted since the memory was opened, for all its namespaces together.
    """
    view = store.view()
    codes = view.edge_type[view.live_edges()]
    model = parts.language_model
    return {
        "namespace": config.namespace,
        "namespaces": store.namespaces() if isinstance(store, SupportsNamespaces) else None,
        "nodes": int(view.live_nodes().size),
        "edges": {kind.name: int((codes == code).sum()) for code, kind in enumerate(view.edge_types)},
        "deltas": view.sequence,
        "pending": len(store.pending()),
        "frozen": frozen,
        "embedder": parts.embedder.name,
        "language model": None if model is None else model.name,
        "storage": _figures(store),
        "embedding": _figures(parts.embedder),
        "language model use": _figures(model),
    }


def _figures(part: object) -> dict[str, int | float]:
    return dict(part.statistics()) if isinstance(part, SupportsStatistics) else {}

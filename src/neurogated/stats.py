"""Statistics of a memory: counts, bytes on disk, and the use of its caches and its language model."""

from __future__ import annotations

from typing import Any

from neurogated.compose import Parts
from neurogated.config.memory_config import MemoryConfig
from neurogated.core.abilities import SupportsNamespaces, SupportsStatistics
from neurogated.core.ports import GraphStorePort

__all__ = ["memory_stats"]


def memory_stats(store: GraphStorePort, parts: Parts, config: MemoryConfig, *, frozen: bool) -> dict[str, Any]:
    """Return the statistics of a memory as JSON values.

    Args:
        store: the graph.
        parts: the parts of the memory; each part that `SupportsStatistics` adds its own figures.
        config: names the namespace.
        frozen: whether the memory is frozen.

    Returns:
        Counts of nodes, edges by type, deltas and pending judgements; `namespaces`, the names of all graphs of the
        store, None if it holds a single one; and the figures of the parts: `storage` (bytes on disk), `embedding` and
        `language model use` (calls, tokens; cache hits, cache misses and cache bytes), empty if a part has none.
        Counters start when the memory is opened and cover all its namespaces.
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

"""Memories that were derived from others, and the claims of memories: DERIVED_FROM edges lead to their sources."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.conflicts import as_given
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.node_kind import CLAIM, ITEM
from neurogated.core.view import GraphView, Rows

_BASIS = (*("content", "title", "speaker", "timestamp", "scope", "tags"), *("valid_from", "valid_to", "expires_at"))


def are_original(view: GraphView) -> NDArray[np.bool_]:
    """Return (n_nodes,) whether each node was not derived from others."""
    found = np.ones(view.node_count, dtype=np.bool_)
    found[view.edge_source[_derivations(view)]] = False
    return found


def source_rows(view: GraphView) -> Rows:
    """Return the rows of the nodes from which memories were derived, not only claims and items, ascending."""
    edges = _derivations(view)
    edges = edges[~are_of(view, view.edge_source[edges].astype(np.int64), (CLAIM, ITEM))]
    return np.unique(view.edge_target[edges]).astype(np.int64)


def derived_from(view: GraphView, node_ids: Iterable[str]) -> list[str]:
    """Return the ids of the memories derived from these nodes, directly or not; claims are passed, see `claims_of`."""
    known = frontier = view.known_rows(node_ids)
    found = frontier[:0]
    while frontier.size:
        arcs = view.arcs(frontier, EdgeType.DERIVED_FROM, inwards=True)
        frontier = np.setdiff1d(arcs.target, known)
        known, found = np.union1d(known, frontier), np.union1d(found, frontier)
    return view.names(found[~are_of(view, found, (CLAIM,))])


def claims_of(view: GraphView, node_ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the ids of the claims that were read from memories, in the order they were stored, with these memories."""
    if CLAIM not in view.kinds:
        return {}
    rows = view.known_rows(node_ids)
    arcs = view.arcs(rows, EdgeType.DERIVED_FROM, inwards=True)
    claims = are_of(view, arcs.target, (CLAIM,))
    return _grouped(view, arcs.target[claims], rows[arcs.origin[claims]])


def sources_of(view: GraphView, node_ids: Iterable[str]) -> dict[str, list[str]]:
    """Return the ids of the nodes from which each of some nodes was derived, in the order they were stored."""
    rows = view.known_rows(node_ids)
    arcs = view.arcs(rows, EdgeType.DERIVED_FROM)
    return _grouped(view, rows[arcs.origin], arcs.target)


def _grouped(view: GraphView, derived: Rows, sources: Rows) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, source in sorted(zip(derived.tolist(), sources.tolist(), strict=True)):
        found.setdefault(view.ids[name], []).append(view.ids[source])
    return found


def derivations(
    view: GraphView, derived: Mapping[str, Collection[str]], at: datetime
) -> tuple[tuple[MemoryEdge, ...], tuple[EdgeKey, ...]]:
    """Return the DERIVED_FROM edges to put and to remove, so that nodes, by ids, have these sources and no others."""
    known = sources_of(view, derived)
    new = [(name, one) for name, ids in derived.items() for one in ids if one not in known.get(name, ())]
    old = [(name, one) for name, ids in known.items() for one in ids if one not in derived[name]]
    return (
        tuple(MemoryEdge(*ends, EdgeType.DERIVED_FROM, created_at=at) for ends in new),
        tuple(EdgeKey(*ends, EdgeType.DERIVED_FROM) for ends in old),
    )


def are_of(view: GraphView, rows: Rows, kinds: Collection[str]) -> NDArray[np.bool_]:
    """Return (n,) whether each node is of one of some kinds."""
    found: NDArray[np.bool_] = np.array([kind in kinds for kind in view.kinds], dtype=np.bool_)[view.kind.take(rows)]
    return found


def _derivations(view: GraphView) -> Rows:
    if EdgeType.DERIVED_FROM not in view.edge_types:
        return np.empty(0, dtype=np.int64)
    (rows,) = (view.edge_type[: view.edge_count] == view.edge_types.index(EdgeType.DERIVED_FROM)).nonzero()
    shown: Rows = rows[~np.isnan(view.weight.take(rows))]
    return shown


def is_derived(view: GraphView, rows: Rows) -> NDArray[np.bool_]:
    """Return whether each of the nodes at `rows` was derived from others."""
    found = np.zeros(rows.size, dtype=np.bool_)
    found[view.arcs(rows, EdgeType.DERIVED_FROM).origin] = True
    return found


def same_source(one: MemoryNode, other: MemoryNode) -> bool:
    """Return whether two versions of a node agree in all given fields from which memories are derived."""
    first, second = as_given(one), as_given(other)
    return all(getattr(first, name) == getattr(second, name) for name in _BASIS)


def common_metadata(nodes: Sequence[MemoryNode]) -> dict[str, Any]:
    """Return the metadata in which all nodes agree."""
    first, *others = (node.metadata for node in nodes)
    missing = object()
    return {key: value for key, value in first.items() if all(one.get(key, missing) == value for one in others)}

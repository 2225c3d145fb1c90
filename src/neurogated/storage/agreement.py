"""Whether what a store works on agrees with its journal: the slow way to the same graph."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from neurogated.core.clock import from_micros
from neurogated.core.model import MemoryNode
from neurogated.storage.graph_store import GraphStore

__all__ = ["disagreements"]


def disagreements(store: GraphStore) -> list[str]:
    """Return how a store differs from a graph made anew of its journal, a line each; none if they agree.

    Compared are the nodes with all they hold but when they were last used, their vectors, keywords and marks, and the
    edges with weights and times to the last bit.
    """
    replayed = GraphStore()
    for entry in store.journal():
        replayed.apply(entry.delta)
    return [*_ends(store), *_nodes(store, replayed), *_edges(store, replayed), *_indexes(store, replayed)]


def _ends(store: GraphStore) -> Iterator[str]:
    view = store._whole()
    edges = view.live_edges()
    for what, ends in (("source", view.edge_source[edges]), ("target", view.edge_target[edges])):
        for edge in edges[~view.alive.take(ends.astype(edges.dtype))].tolist():
            yield f"edge {view.edge_key(edge)}: its {what} is gone"


def _nodes(store: GraphStore, replayed: GraphStore) -> Iterator[str]:
    ours, theirs = _all_nodes(store), _all_nodes(replayed)
    for name in sorted(ours.keys() ^ theirs.keys()):
        yield f"node {name!r}: only the {'graph' if name in ours else 'journal'} has it"
    for name in ours.keys() & theirs.keys():
        if ours[name] != theirs[name]:
            yield f"node {name!r}: the graph holds it otherwise than the journal"


def _all_nodes(store: GraphStore) -> dict[str, MemoryNode]:
    """Return every node by its id, those that have expired too, each as last used at the same time."""
    view = store._whole()
    found = {}
    for row in view.live_nodes():
        (node,) = store._nodes_at(view, row[None])
        found[node.id] = replace(node, last_accessed=from_micros(0))
    return found


def _edges(store: GraphStore, replayed: GraphStore) -> Iterator[str]:
    (ours, theirs) = (
        {edge.key: edge for edge in one._edges(view, view.live_edges())}
        for one in (store, replayed)
        for view in [one._whole()]
    )
    for key in sorted(ours.keys() ^ theirs.keys(), key=str):
        yield f"edge {key}: only the {'graph' if key in ours else 'journal'} has it"
    for key in ours.keys() & theirs.keys():
        if ours[key] != theirs[key]:
            yield f"edge {key}: the graph holds {ours[key]}, the journal {theirs[key]}"


def _indexes(store: GraphStore, replayed: GraphStore) -> Iterator[str]:
    (ours, theirs) = (
        {view.ids[row]: one._texts().described(row) for row in view.live_nodes().tolist()}
        for one in (store, replayed)
        for view in [one._whole()]
    )
    for name in ours.keys() & theirs.keys():
        if ours[name] != theirs[name]:
            yield f"node {name!r}: its keywords or marks are not those of its text"
    if len(store._texts().keywords) != len(ours):
        yield f"{len(store._texts().keywords)} texts are indexed for {len(ours)} nodes"
    if store._form.vectors.size != sum(node.embedding is not None for node in _all_nodes(store).values()):
        yield f"{store._form.vectors.size} vectors are indexed, which is not one for each node that has one"

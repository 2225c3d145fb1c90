"""Compare a store with a replay of its journal, which rebuilds the same graph slowly."""

from collections.abc import Iterator
from dataclasses import replace

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.conflicts import CONFLICT, defects_of, is_conflict_id
from neurogated.core.delta import GraphDelta, Owner
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Filter
from neurogated.core.node_kind import FACT
from neurogated.storage.graph_store import GraphStore
from neurogated.storage.index.graph.resolve import Plan
from neurogated.storage.index.graph_index import GraphIndex
from neurogated.storage.log.memory_log import MemoryEngine, MemoryLog

_AT_ONCE = 1000
_EMPTY = GraphDelta()


class _Counter(MemoryLog):
    """A log of empty deltas, to avoid holding their texts and vectors in memory twice."""

    def append(self, plan: Plan, index: GraphIndex) -> int:
        return super().append(replace(plan, delta=_EMPTY), index)


def disagreements(store: GraphStore) -> list[str]:
    """Return the differences between a store and a replay of its journal, unsound conflicts and facts, one per line.

    Nodes are compared without their use counts, with their vectors, keywords and tags; edges with their weights and
    times, bit for bit. The replayed graph and a batch of nodes are in memory.
    """
    replayed = GraphStore(engine=MemoryEngine.of(MemoryConfig().namespace, _Counter(), None))
    for entry in store.journal():
        replayed.apply(replace(entry.delta, owner=Owner.LOG))
    return [*_ends(store), *_nodes(store, replayed), *_edges(store, replayed), *_conflicts(store), *_facts(store)]


def _ends(store: GraphStore) -> Iterator[str]:
    view = store.graph.latest().view
    edges = view.live_edges()
    for what, ends in (("source", view.edge_source[edges]), ("target", view.edge_target[edges])):
        for edge in edges[~view.alive.take(ends.astype(edges.dtype))].tolist():
            yield f"edge {view.edge_key(edge)}: its {what} is gone"


def _nodes(store: GraphStore, replayed: GraphStore) -> Iterator[str]:
    ours, theirs = _rows(store), _rows(replayed)
    for name in sorted(ours.keys() ^ theirs.keys()):
        yield f"node {name!r}: only the {'graph' if name in ours else 'journal'} has it"
    (_, our_texts), (_, their_texts) = store.graph.text_state(), replayed.graph.text_state()
    embedded, names = 0, list(ours)
    for begin in range(0, len(names), _AT_ONCE):
        part = names[begin : begin + _AT_ONCE]
        nodes = {node.id: node.unaccessed() for node in replayed.get_nodes(part, missing_ok=True)}
        for node in store.get_nodes(part):
            name = node.id
            embedded += node.embedding is not None
            if name in nodes and nodes[name] != node.unaccessed():
                yield f"node {name!r}: the graph and the journal differ"
            if name in nodes and our_texts.terms_of(ours[name]) != their_texts.terms_of(theirs[name]):
                yield f"node {name!r}: its keywords or tags do not match its text"
    if len(our_texts) != len(ours):
        yield f"{len(our_texts)} texts are indexed for {len(ours)} nodes"
    if store.graph.index.vectors.size != embedded:
        yield f"{store.graph.index.vectors.size} vectors are indexed, not one for each node that has a vector"


def _rows(store: GraphStore) -> dict[str, int]:
    view = store.graph.latest().view
    return {view.ids[row]: row for row in view.live_nodes().tolist()}


def _edges(store: GraphStore, replayed: GraphStore) -> Iterator[str]:
    theirs = {edge.key: edge for edge in replayed.all_edges()}
    for edge in store.all_edges():
        if store.graph.index.computes_terms and edge.type is EdgeType.TERM:
            # No log has these; an older log has some that no longer count.
            theirs.pop(edge.key, None)
            continue
        other = theirs.pop(edge.key, None)
        if other is None:
            yield f"edge {edge.key}: only the graph has it"
        elif edge != other:
            yield f"edge {edge.key}: the graph holds {edge}, the journal {other}"
    for key in theirs:
        yield f"edge {key}: only the journal has it"


def _conflicts(store: GraphStore) -> Iterator[str]:
    view = store.graph.latest().view
    named = [name for name in _rows(store) if is_conflict_id(name)]
    recorded = [node.id for node in store.snapshot(filters=Filter(kinds=(CONFLICT,))).find()]
    nodes = store.get_nodes(list(dict.fromkeys((*named, *recorded))), missing_ok=True)
    yield from defects_of(view, nodes).values()
    edges = view.live_edges()
    if EdgeType.CONFLICT in view.edge_types:
        edges = edges[view.edge_type.take(edges) == view.edge_types.index(EdgeType.CONFLICT)]
        for key in map(view.edge_key, edges.tolist()):
            if store.get_node(key.source_id).kind != CONFLICT:
                yield f"edge {key}: its source records no conflict"


def _facts(store: GraphStore) -> Iterator[str]:
    view = store.graph.latest().view
    for node in store.snapshot(filters=Filter(kinds=(FACT,))).find():
        stated = node.found.statement
        is_derived = view.arcs(view.rows([node.id]), EdgeType.DERIVED_FROM).target.size
        if stated is not None and not is_derived and node.content != stated.text:
            yield f"fact {node.id!r}: its text is {node.content!r}, but its parts say {stated.text!r}"

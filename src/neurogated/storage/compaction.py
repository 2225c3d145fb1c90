"""Erase removed nodes by rewriting a log; `log/sqlite/purge.py` does the same to a file."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from neurogated.core.delta import Access, GraphDelta, Owner, PendingTask
from neurogated.core.model import EdgeKey, MemoryNode
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.storage.family import Family
from neurogated.storage.live_graph import LiveGraph
from neurogated.storage.log.log import SupportsRewriting
from neurogated.storage.log.memory_log import MemoryEngine


def rewrite(graph: LiveGraph, *, history: bool) -> int:
    """Erase the removed nodes of a graph and return their number."""
    if not isinstance(graph.log, SupportsRewriting):
        raise InputError("the engine of this memory does not support compact; export it and import it elsewhere")
    view = graph.index.topology.view()
    deltas = [entry.delta for entry in graph.log.entries()]
    erased = {node.id for delta in deltas for node in delta.nodes if view.find(node.id) is None}
    if not erased and not history:
        return 0
    # `_erase_removed` reads the graph that the deltas yielded so far have built.
    fresh = LiveGraph(Family(MemoryEngine(), graph.family.config), graph.name)
    made = []
    for delta in _erase_removed(deltas, erased, fresh.index.topology.view, history=history):
        fresh.apply(replace(delta, owner=Owner.LOG))
        made.append(delta)
    graph.log.rewrite(made)
    if history:
        graph.log.record_erased(len(made))
    graph.catch_up()
    return len(erased)


def _erase_removed(
    deltas: Sequence[GraphDelta],
    erased: Collection[str],
    made: Callable[[], GraphView],
    *,
    history: bool,
) -> Iterator[GraphDelta]:
    """Yield the deltas without the removed nodes.

    Args:
        deltas: all deltas, oldest first.
        erased: ids of the removed nodes.
        made: returns the graph built by the deltas yielded so far.
        history: also erase past versions of the remaining nodes. The delta that first put a node then puts its last
            version.
    """
    put = [node for delta in deltas for node in delta.nodes]
    last = {node.id: node for node in put if node.id not in erased}
    present = _recharged(deltas, last) if history else last

    known: set[str] = set()
    last_put = {node.id: number for number, delta in enumerate(deltas) for node in delta.nodes}
    for number, delta in enumerate(deltas):
        rest = _without(delta, erased)
        if history:
            # A put sets the accesses of a node, so earlier ones no longer count.
            used = {name: count for name, count in rest.touch.nodes.items() if last_put.get(name, 0) <= number}
            charges = {name: one for name, one in rest.touch.charges.items() if last_put.get(name, 0) <= number}
            rest = replace(rest, touch=Access(used, rest.touch.edges, charges))
            # If a node was removed and put again, it now stays from the first put on, so its edges are removed by name.
            view = made()
            arcs = view.arcs(view.rows(rest.removed_nodes), both_ways=True)
            ended = [view.edge_key(row) for row in arcs.edge.tolist()]
            first = dict.fromkeys(node.id for node in rest.nodes if node.id not in known)
            known.update(first)
            rest = replace(
                rest,
                removed_edges=tuple(dict.fromkeys((*rest.removed_edges, *ended))),
                removed_nodes=(),
                nodes=tuple(present[node_id] for node_id in first),
                node_changes=(),
            )
        yield rest


def _recharged(deltas: Iterable[GraphDelta], last: Mapping[str, MemoryNode]) -> Mapping[str, MemoryNode]:
    """Return the last version of each node with its current energy and importance."""
    now: dict[str, MemoryNode] = {}
    for delta in deltas:
        now.update((node.id, node) for node in delta.nodes if node.id in last)
        for change in delta.node_changes:
            if change.node in now:
                now[change.node] = change.applied(now[change.node])
    return now


def _without(delta: GraphDelta, erased: Collection[str]) -> GraphDelta:
    """Return the delta without every reference to an erased node."""

    def stays(key: EdgeKey) -> bool:
        return key.source_id not in erased and key.target_id not in erased

    def possible(tasks: Iterable[PendingTask]) -> tuple[PendingTask, ...]:
        return tuple(task for task in tasks if not any(node_id in erased for node_id in task.nodes))

    return replace(
        delta,
        removed_edges=tuple(filter(stays, delta.removed_edges)),
        removed_nodes=tuple(node_id for node_id in delta.removed_nodes if node_id not in erased),
        nodes=tuple(node for node in delta.nodes if node.id not in erased),
        edges=tuple(edge for edge in delta.edges if stays(edge.key)),
        weights=tuple(change for change in delta.weights if stays(change.edge)),
        node_changes=tuple(change for change in delta.node_changes if change.node not in erased),
        operators=tuple(replace(one, spared=frozenset(filter(stays, one.spared))) for one in delta.operators),
        queued=possible(delta.queued),
        settled=possible(delta.settled),
        touch=delta.touch.without(erased),
    )

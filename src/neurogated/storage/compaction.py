"""Erase removed nodes by rewriting a log; `log/sqlite/purge.py` does the same to a file."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryNode
from neurogated.storage.live_graph import LiveGraph
from neurogated.storage.log.log import Derivation, Span, joined, repeated


def rewrite(graph: LiveGraph, *, history: bool) -> int:
    """Erase the removed nodes of a graph and return their number."""
    deltas = [entry.delta for entry in graph.log.entries()]
    puts, removed = _lives(deltas)
    if not removed and not history:
        return 0
    ended = {name: list(pairwise(numbers)) for name, numbers in puts.items()}
    outdated = (
        {name: joined(spans) for name, spans in ended.items()}
        if history
        else repeated(removed, ended, _derivations(deltas))
    )
    graph.log.rewrite(list(_rewritten(deltas, puts, removed, outdated)))
    if history:
        graph.log.record_erased(len(deltas))
    graph.catch_up()
    return len(removed.keys() - puts.keys())


def _lives(deltas: Sequence[GraphDelta]) -> tuple[dict[str, list[int]], dict[str, int]]:
    """Return the numbers of the deltas that put each present node, since its last removal, and the last removals."""
    puts: dict[str, list[int]] = {}
    removed: dict[str, int] = {}
    for number, delta in enumerate(deltas):
        put = [node.id for node in delta.nodes]
        for name in set(delta.removed_nodes).difference(put):
            puts.pop(name, None)
            removed[name] = number
        for name in put:
            puts.setdefault(name, []).append(number)
    return puts, removed


def _derivations(deltas: Sequence[GraphDelta]) -> Iterator[Derivation[str]]:
    present: dict[EdgeKey, int] = {}
    for number, delta in enumerate(deltas):
        gone = set(delta.removed_nodes)
        ended = [key for key in delta.removed_edges if key in present]
        if gone:
            ended += [key for key in present if not gone.isdisjoint(key[:2])]
        for key in dict.fromkeys(ended):
            yield Derivation(key.source_id, key.target_id, present.pop(key), number)
        for edge in delta.edges:
            if edge.type == EdgeType.DERIVED_FROM:
                present.setdefault(edge.key, number)
    for key, since in present.items():
        yield Derivation(key.source_id, key.target_id, since, len(deltas))


def _rewritten(
    deltas: Sequence[GraphDelta],
    puts: Mapping[str, Sequence[int]],
    removed: Collection[str],
    outdated: Mapping[str, Sequence[Span]],
) -> Iterator[GraphDelta]:
    """Yield the deltas without the nodes that were removed since, and with the version after each outdated one."""
    ends = {(name, end) for name, spans in outdated.items() for _, end in spans}
    later = {
        (node.id, number): node
        for number, delta in enumerate(deltas)
        for node in delta.nodes
        if (node.id, number) in ends
    }
    begins = defaultdict[int, list[str]](list)
    for name in removed:
        if name in puts:
            begins[puts[name][0]].append(name)
    hidden = set(removed)
    for number, delta in enumerate(deltas):
        hidden.difference_update(begins[number])
        yield _updated(_without(delta, hidden), number, outdated, later)


def _updated(
    delta: GraphDelta, number: int, outdated: Mapping[str, Sequence[Span]], later: Mapping[tuple[str, int], MemoryNode]
) -> GraphDelta:
    """Return a delta that puts the next versions of nodes in the place of outdated ones."""

    def span(name: str) -> Span | None:
        return next((one for one in outdated.get(name, ()) if one[0] <= number <= one[1]), None)

    def stays(name: str) -> bool:
        found = span(name)
        return found is None or number == found[1]

    nodes = []
    for node in delta.nodes:
        found = span(node.id)
        if found is not None and number == found[0]:
            nodes.append(later[node.id, found[1]])
        elif found is None or node.id in delta.removed_nodes:
            nodes.append(node)
    # A put sets the accesses of a node, so earlier ones do not count.
    used = {name: count for name, count in delta.touch.nodes.items() if stays(name)}
    charges = {name: charge for name, charge in delta.touch.charges.items() if stays(name)}
    return replace(
        delta,
        nodes=tuple(nodes),
        node_changes=tuple(change for change in delta.node_changes if stays(change.node)),
        touch=replace(delta.touch, nodes=used, charges=charges),
    )


def _without(delta: GraphDelta, erased: Collection[str]) -> GraphDelta:

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

"""Return a delta as a log stores it.

Another process may write uses and judgements of memories that were deleted, and erased, after it recalled them. A graph
skips these, and no log may name such memories.
"""

from __future__ import annotations

import operator
from collections.abc import Container
from dataclasses import replace

from neurogated.core.conflicts import as_given
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.view import GraphView


def without_terms(delta: GraphDelta) -> GraphDelta:
    """Return a delta without changes of TERM edges, as memories stored them before these were computed."""
    term = EdgeType.TERM
    changed = [*delta.removed_edges, *[change.edge for change in delta.weights]]
    if term not in {*[edge.type for edge in delta.edges], *[key.type for key in changed]}:
        return delta
    return replace(
        delta,
        edges=tuple(edge for edge in delta.edges if edge.type is not term),
        removed_edges=tuple(key for key in delta.removed_edges if key.type is not term),
        weights=tuple(change for change in delta.weights if change.edge.type is not term),
    )


def as_stored(
    delta: GraphDelta, view: GraphView, pending: Container[PendingTask], *, computed: bool = False
) -> GraphDelta:
    """Return a delta without what is computed or skipped: outcomes, uses of unknown nodes, judgements settled before.

    Args:
        delta: a change of the graph.
        view: the graph before the change.
        pending: the judgements that wait.
        computed: whether TERM edges are computed, too.
    """
    delta = without_terms(delta) if computed else delta
    # An outcome is computed, so a memory that was read with one is stored without it.
    nodes = tuple([as_given(node) for node in delta.nodes])
    if not (delta.settled or delta.touch) and all(map(operator.is_, nodes, delta.nodes)):
        return delta
    settled = tuple(task for task in delta.settled if task in pending or task in delta.queued)
    touch = delta.touch
    if touch:
        named = {*touch.nodes, *touch.charges, *(end for key in touch.edges for end in key[:2])}
        absent = {name for name in named if view.find(name) is None}.difference(node.id for node in nodes)
        touch = touch.without(absent) if absent else touch
    return replace(delta, nodes=nodes, settled=settled, touch=touch)

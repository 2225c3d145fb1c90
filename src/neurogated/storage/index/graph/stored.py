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
from neurogated.core.view import GraphView


def as_stored(delta: GraphDelta, view: GraphView, pending: Container[PendingTask]) -> GraphDelta:
    """Return a delta without what is computed or skipped: outcomes, uses of unknown nodes, judgements settled before.

    Args:
        delta: a change of the graph.
        view: the graph before the change.
        pending: the judgements that wait.
    """
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

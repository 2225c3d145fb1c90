"""The changes of the facts of a graph between two deltas."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import takewhile
from typing import NamedTuple

from neurogated.core.abilities import SupportsTouched
from neurogated.core.clock import to_micros
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import FACTS
from neurogated.core.ports import GraphStorePort


class FactChanges(NamedTuple):
    """Changed facts, and the last delta."""

    touched: Mapping[str, int]
    """The ids of all facts that changed, and perhaps of other nodes, with the numbers of their last changes."""
    removed: Mapping[str, int]
    """The ids of removed nodes, with the numbers of their removals; a fact that is derived from one changed too."""
    sequence: int
    """The number of the last delta that holds not only uses; 0 if there is none."""
    at: int
    """Its time, in microseconds since 1970 UTC."""


def is_known(store: GraphStorePort, sequence: int, at: int) -> bool:
    """Return whether the graph still has the delta with this number and time."""
    if isinstance(store, SupportsTouched):
        return store.last_change(sequence) == (sequence, at)
    entry = next(store.journal(sequence - 1), None)
    return entry is not None and (entry.sequence, to_micros(entry.delta.at)) == (sequence, at)


def changes_between(store: GraphStorePort, sequence: int, at: int, up_to: int) -> FactChanges:
    """Return the changes after a delta, up to the number `up_to`."""
    if isinstance(store, SupportsTouched):
        touched: dict[str, int] = {}
        for kind in sorted(FACTS):
            for name, last in store.touched(kind, EdgeType.DERIVED_FROM.value, sequence, up_to).items():
                touched[name] = max(last, touched.get(name, 0))
        return FactChanges(touched, {}, *store.last_change(up_to))
    found: dict[str, int] = {}
    derived = EdgeType.DERIVED_FROM
    removed: dict[str, int] = {}
    for entry in takewhile(lambda one: one.sequence <= up_to, store.journal(sequence)):
        delta = entry.delta
        # The journal has only the last use of an edge, so a later use replaces such an entry.
        if not delta.tells_of_uses_only:
            edges = (*(edge.key for edge in delta.edges), *delta.removed_edges)
            removed |= dict.fromkeys(delta.removed_nodes, entry.sequence)
            found |= dict.fromkeys((key.source_id for key in edges if key.type is derived), entry.sequence)
            found |= dict.fromkeys((node.id for node in delta.nodes), entry.sequence)
            sequence, at = entry.sequence, to_micros(delta.at)
    return FactChanges(found, removed, sequence, at)

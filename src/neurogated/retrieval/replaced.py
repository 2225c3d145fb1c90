"""Conflicts of recalled memories: a memory that is true no longer ranks below the one that replaced it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from neurogated.core.conflicts import Conflict, conflicts_about
from neurogated.core.keywords import fold
from neurogated.core.ports import GraphStorePort
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.core.view import GraphView

__all__ = ["with_conflicts"]

# English, German, French, Spanish and Chinese, folded.
_PAST = re.compile(
    r"\b(?:used to|formerly|previously|back then|in the past|before|originally|at first|earlier|former|previous|once"
    r"|fruher\w*|damals|ehemals|zuvor|vorher|ursprunglich|autrefois|avant|auparavant|ancien\w*|antes|anterior\w*"
    r"|antiguamente|originalmente)\b|以前|从前|過去|过去|曾经|之前|原来|当时"
)


def with_conflicts(
    store: GraphStorePort, view: GraphView, recalls: Sequence[Recall], most: int, *, past: bool
) -> list[Recall]:
    """Return recalls with their conflicts, which have no reasons and questions yet, and in present order.

    Args:
        store: the graph.
        view: the graph at one time.
        recalls: one for each query.
        most: how many memories each has.
        past: whether the order stays as it is, as for a question that asks for the past.
    """
    return [_with_conflicts(store, view, recall, most, past=past) for recall in recalls]


def _with_conflicts(store: GraphStorePort, view: GraphView, recall: Recall, most: int, *, past: bool) -> Recall:
    conflicts = _conflicts_of(store, view, recall.memories)
    if not conflicts:
        return recall
    if past or _PAST.search(fold(recall.query)):
        return replace(recall, conflicts=conflicts)
    memories = _in_present_order(store, view, recall.memories, conflicts, most)
    return replace(recall, memories=memories, conflicts=conflicts)


def _conflicts_of(store: GraphStorePort, view: GraphView, memories: Sequence[RecalledMemory]) -> tuple[Conflict, ...]:
    """Return the conflicts that are open, and those with a memory that is superseded or wrong."""
    names = conflicts_about(view, [memory.id for memory in memories])
    found = map(Conflict.of, store.get_nodes(names, missing_ok=True)) if names else ()
    return tuple(one for one in found if one.status == "open" or one.loser is not None)


def _in_present_order(
    store: GraphStorePort,
    view: GraphView,
    memories: Sequence[RecalledMemory],
    conflicts: Sequence[Conflict],
    most: int,
) -> tuple[RecalledMemory, ...]:
    """Return memories with each one that is superseded or wrong below the one that replaced it.

    The memory that replaced it takes its rank and score, even if the question alone would not have found it.
    """
    ranked = list(memories)
    for conflict in conflicts:
        places = {memory.id: place for place, memory in enumerate(ranked)}
        if conflict.loser not in places:
            continue
        lost, winner = places[conflict.loser], conflict.other(conflict.loser)
        if winner in places:
            if places[winner] > lost:
                ranked.insert(lost, _with_score(ranked.pop(places[winner]), ranked[lost].score))
            continue
        rows = view.known_rows([winner])
        if rows.size and view.admitted(rows).all():
            (node,) = store.get_nodes([winner])
            ranked.insert(lost, replace(ranked[lost], node=node, path=(), flows=()))
    return tuple(ranked[:most])


def _with_score(memory: RecalledMemory, score: float) -> RecalledMemory:
    return replace(memory, score=score, contributions={**memory.contributions, "replaces": score - memory.score})

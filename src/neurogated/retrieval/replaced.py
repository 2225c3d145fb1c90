"""Conflicts of recalled memories: a memory that is true no longer ranks below the one that replaced it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from neurogated.core.conflicts import Conflict, conflicts_about
from neurogated.core.keywords import fold
from neurogated.core.ports import GraphStorePort
from neurogated.core.trace import RecalledMemory
from neurogated.core.view import GraphView

__all__ = ["Conflicts", "Memories", "by_conflicts"]

Memories = tuple[RecalledMemory, ...]
"""Best first."""
Conflicts = tuple[Conflict, ...]

# English, German, French, Spanish and Chinese, folded.
_PAST = re.compile(
    r"\b(?:used to|formerly|previously|back then|in the past|before|originally|at first|earlier|former|previous|once"
    r"|fruher\w*|damals|ehemals|zuvor|vorher|ursprunglich|autrefois|avant|auparavant|ancien\w*|antes|anterior\w*"
    r"|antiguamente|originalmente)\b|以前|从前|過去|过去|曾经|之前|原来|当时"
)


def by_conflicts(
    store: GraphStorePort,
    view: GraphView,
    queries: Sequence[str],
    recalled: Sequence[Memories],
    most: int,
    *,
    past: bool,
) -> tuple[list[Memories], list[Conflicts]]:
    """Return the memories of each query in present order, and their conflicts without reasons and questions.

    Args:
        store: the graph.
        view: the graph at one time.
        queries: the questions.
        recalled: the memories of each.
        most: how many memories each has.
        past: whether the order stays as it is, as for a question that asks for the past.
    """
    conflicts = [_conflicts_of(store, view, memories) for memories in recalled]
    if past or not any(conflicts):
        return list(recalled), conflicts
    ordered = (
        memories if _PAST.search(fold(query)) else _in_present_order(store, view, memories, known, most)
        for query, memories, known in zip(queries, recalled, conflicts, strict=True)
    )
    return list(ordered), conflicts


def _conflicts_of(store: GraphStorePort, view: GraphView, memories: Memories) -> Conflicts:
    """Return the conflicts that are open, and those with a memory that is superseded or wrong."""
    names = conflicts_about(view, [memory.id for memory in memories])
    found = map(Conflict.of, store.get_nodes(names, missing_ok=True)) if names else ()
    return tuple(one for one in found if one.status == "open" or one.loser is not None)


def _in_present_order(
    store: GraphStorePort, view: GraphView, memories: Memories, conflicts: Conflicts, most: int
) -> Memories:
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

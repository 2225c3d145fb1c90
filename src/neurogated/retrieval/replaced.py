"""The order of a recall by what holds: what replaced another memory before it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from neurogated.core.conflicts import Conflict
from neurogated.core.edge_type import EdgeType
from neurogated.core.fact_words import says_more
from neurogated.core.node_kind import CLAIM, FACT
from neurogated.core.ports import GraphStorePort
from neurogated.core.same_as import fronts
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.core.view import GraphView
from neurogated.retrieval.later import at_score
from neurogated.retrieval.recalled_claims import RecalledClaims, recalled_claims
from neurogated.text.keywords import fold
from neurogated.text.sentences import is_question, split_sentences
from neurogated.text.time_spans import Span, span_of
from neurogated.text.times import Zone

# English, German, French, Spanish and Chinese, folded.
_PAST = re.compile(
    r"\b(?:used to|formerly|previously|back then|in the past|before|originally|at first|earlier|former|previous|once"
    r"|fruher\w*|damals|ehemals|zuvor|vorher|ursprunglich|autrefois|avant|auparavant|ancien\w*|antes|anterior\w*"
    r"|antiguamente|originalmente)\b|以前|从前|過去|过去|曾经|之前|原来|当时"
)


class Views(NamedTuple):
    """Views of one graph."""

    searched: GraphView
    every_time: GraphView
    """The memories of all valid times that the filters admit."""


def in_present_order(
    store: GraphStorePort,
    views: Views,
    recalls: Sequence[Recall],
    most: int,
    present: datetime,
    *,
    held: datetime | None = None,
) -> list[Recall]:
    """Return recalls with their facts and conflicts, and with what holds before what it replaced.

    Args:
        store: the graph.
        views: its views.
        recalls: one for each query.
        most: how many memories each has.
        present: the time, in the zone of the user, to which days such as "yesterday" in a question refer.
        held: the time at which facts hold, if it is not the present.
    """
    at, graph = held or present, views.every_time
    if EdgeType.CONFLICT not in graph.edge_types and {CLAIM, FACT}.isdisjoint(graph.kinds):
        return list(recalls)
    found = []
    for recall in recalls:
        memories = list(recall.memories)
        claims = recalled_claims(store, views.every_time, recall, at)
        if claims.conflicts and held is None and not _PAST.search(fold(recall.query)):
            span = span_of(_last_question(recall.query), present, years=True)
            for conflict in claims.conflicts:
                if _is_over(conflict, claims, span, present.tzinfo):
                    _replace_loser(store, views.searched, memories, claims, conflict)
        ordered = tuple(memories[:most])
        if [one.id for one in ordered] != list(recall.ids):
            claims = recalled_claims(store, views.every_time, replace(recall, memories=ordered), at)
        listed = tuple(one for one in claims.conflicts if _may_list(views.every_time, claims, one))
        found.append(
            replace(
                recall,
                memories=ordered,
                conflicts=listed,
                states=claims.states,
                facts=claims.facts,
                former=claims.former,
                profiles=claims.profiles,
            )
        )
    return found


def _last_question(query: str) -> str:
    """Return the last question of a text: the sentences before it may name other days."""
    return next(filter(is_question, reversed(split_sentences(query))), query)


def _may_list(view: GraphView, claims: RecalledClaims, conflict: Conflict) -> bool:
    """Return whether a view admits both sides of a conflict."""
    return all(_admitted(view, claims.memories_of(side)) for side in conflict.sides)


def _admitted(view: GraphView, names: Sequence[str]) -> list[str]:
    """Return those of some memories that searches may find."""
    rows = view.known_rows(names)
    return [view.ids[row] for row in rows[view.admitted(rows) & view.alive.take(rows)].tolist()]


def _shown(view: GraphView, names: Sequence[str], memories: Sequence[RecalledMemory]) -> list[str]:
    """Return the latest of some memories that is recalled, or else the latest of all, or what stands for it."""
    found, recalled = _admitted(view, names), {one.id for one in memories}
    there = [name for name in found if name in recalled]
    if there or not found:
        return there[-1:]
    (front,) = fronts(view, view.rows(found[-1:])).tolist()
    return _admitted(view, [view.ids[front]]) or found[-1:]


def _is_over(conflict: Conflict, claims: RecalledClaims, span: Span | None, zone: Zone) -> bool:
    """Return whether one side holds no longer, or did not on the days that the question names."""
    loser = claims.nodes.get(conflict.loser or "")
    return loser is not None and (
        span is None or conflict.outcome == "wrong" or not span.is_before(loser.valid_to, zone)
    )


def _replace_loser(
    store: GraphStorePort, view: GraphView, memories: list[RecalledMemory], claims: RecalledClaims, conflict: Conflict
) -> None:
    """Put the memory that replaced another one in its rank, if it is below, or if the question alone misses it.

    A memory that also says other things stays.
    """
    loser = conflict.loser or ""
    lost, won = claims.memories_of(loser), claims.memories_of(conflict.other(loser))
    for place, memory in enumerate(memories):
        if memory.id in lost and (loser == memory.id or _says_only(memory, claims)):
            if not any(one.id in won for one in memories[:place]):
                _put(store, memories, place, _shown(view, won, memories))
            return


def _says_only(memory: RecalledMemory, claims: RecalledClaims) -> bool:
    """Return whether a memory says nothing but claims that hold no longer."""
    return not says_more(memory.content, [one for one in claims.former if memory.id in one.sources]) and not any(
        memory.id in one.sources for one in claims.facts
    )


def _put(store: GraphStorePort, memories: list[RecalledMemory], place: int, names: Sequence[str]) -> None:
    """Put memories at a place, in order, with the score of the one that is there."""
    there = {one.id: one for one in memories}
    ahead = memories[place] if memories else None
    for node in store.get_nodes(names, missing_ok=True):
        found = there.get(node.id)
        if found is not None:
            memories.remove(found)
        memories.insert(place, at_score(node, found, ahead))
        place += 1

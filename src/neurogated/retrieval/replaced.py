"""Conflicts of recalled memories: a memory that is true no longer ranks below the one that replaced it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

import numpy as np

from neurogated.core.conflicts import Conflict, conflicts_about, conflicts_in, given_times, moment_of
from neurogated.core.echoes import echoed_rows, has_echoes
from neurogated.core.edge_type import EdgeType
from neurogated.core.judgements import Verdict
from neurogated.core.ports import GraphStorePort
from neurogated.core.same_as import anyone, others_of
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.core.view import GraphView
from neurogated.text.keywords import fold
from neurogated.text.sentences import split_sentences
from neurogated.text.time_spans import Span, span_of

__all__ = ["with_conflicts"]

# English, German, French, Spanish and Chinese, folded.
_PAST = re.compile(
    r"\b(?:used to|formerly|previously|back then|in the past|before|originally|at first|earlier|former|previous|once"
    r"|fruher\w*|damals|ehemals|zuvor|vorher|ursprunglich|autrefois|avant|auparavant|ancien\w*|antes|anterior\w*"
    r"|antiguamente|originalmente)\b|以前|从前|過去|过去|曾经|之前|原来|当时"
)


def with_conflicts(
    store: GraphStorePort,
    views: tuple[GraphView, GraphView],
    recalls: Sequence[Recall],
    most: int,
    present: datetime,
    *,
    past: bool,
) -> list[Recall]:
    """Return recalls with their conflicts, which have no reasons and questions yet, and in present order.

    Args:
        store: the graph.
        views: the graph that was searched, and the same with the memories of all valid times.
        recalls: one for each query.
        most: how many memories each has.
        present: the time to which days such as "yesterday" in a question refer.
        past: whether the order stays as it is, as for a question that asks for the past.
    """
    view, shown = views
    if EdgeType.CONFLICT not in shown.edge_types:
        return list(recalls)
    found = []
    for recall in recalls:
        conflicts, marks = _conflicts_of(store, shown, recall)
        memories = recall.memories
        if conflicts and not past and not _PAST.search(fold(recall.query)):
            changes = _changes(recall, conflicts, span_of(_asked(recall.query), present, years=True))
            memories = _in_present_order(store, view, memories, changes, most)
        found.append(replace(recall, memories=memories, conflicts=conflicts, marks=marks))
    return found


def _asked(query: str) -> str:
    """Return the last question of a text: the sentences before it may name other days."""
    sentences = split_sentences(query)
    return next((one for one in reversed(sentences) if one.rstrip()[-1:] in {"?", "？"}), query)


def _conflicts_of(
    store: GraphStorePort, shown: GraphView, recall: Recall
) -> tuple[tuple[Conflict, ...], dict[str, Verdict]]:
    """Return the conflicts that a recall lists, and the marks of memories whose conflicts it does not list."""
    # A compaction may have erased a memory between the search and this view.
    rows = shown.known_rows(recall.ids)
    echoed = {shown.ids[row]: _echoed(shown, row) for row in rows.tolist()} if has_echoes(shown) else {}
    others = dict(zip([shown.ids[row] for row in rows.tolist()], others_of(shown, rows, anyone), strict=True))
    groups = {name: (*others.get(name, ()), *echoed.get(name, ())) for name in recall.ids}
    names = conflicts_about(shown, {*groups, *chain.from_iterable(groups.values())})
    known = conflicts_in(shown, store.get_nodes(names, missing_ok=True)) if names else []
    if not known:
        return (), {}
    losers = store.get_nodes([one.loser for one in known if one.loser is not None], missing_ok=True)
    # An outcome has no effect if the memory that won is wrong itself.
    ended = {node.id for node in losers if node.valid_to != given_times(node)[1]}
    known = [one for one in known if one.loser is None or one.loser in ended]
    counting = [one for one in known if one.status == "open" or one.loser is not None]
    own = [one for one in counting if not groups.keys().isdisjoint(one.sides)]
    listed = tuple(one for one in own if _all_admitted(shown, one.sides))
    return listed, {**_of_duplicates(store, recall, groups, known), **_of_hidden(own, listed, groups)}


def _echoed(view: GraphView, row: int) -> tuple[str, ...]:
    """Return the memories that a message repeats."""
    return tuple(view.ids[other] for other in echoed_rows(view, np.array([row])).tolist())


def _all_admitted(view: GraphView, names: Collection[str]) -> bool:
    rows = view.known_rows(names)
    return rows.size == len(names) and bool((view.admitted(rows) & view.alive.take(rows)).all())


def _of_hidden(own: Sequence[Conflict], listed: Collection[Conflict], recalled: Collection[str]) -> dict[str, Verdict]:
    """Return the states of recalled memories by conflicts that are not listed."""
    sides = ((one, one.sides if one.loser is None else (one.loser,)) for one in own if one not in listed)
    return {side: one.outcome for one, names in sides for side in names if side in recalled}


def _of_duplicates(
    store: GraphStorePort, recall: Recall, groups: Mapping[str, tuple[str, ...]], known: Sequence[Conflict]
) -> dict[str, Verdict]:
    """Return the states of recalled memories that say the same as one that is superseded or wrong, or echo it.

    A memory that was said after the one that replaced it says that the old state is back. It has no mark then.
    """
    opposed = {frozenset(one.sides) for one in known}
    marks = {}
    for one in known:
        if one.loser is None:
            continue
        winner = one.other(one.loser)
        for memory in recall.memories:
            if one.loser not in groups[memory.id] or {memory.id, winner} in opposed:
                continue
            found = store.get_nodes([winner], missing_ok=True)
            if one.outcome == "wrong" or (found and moment_of(memory.node) <= moment_of(found[0])):
                marks[memory.id] = one.outcome
    return marks


def _changes(recall: Recall, conflicts: Sequence[Conflict], span: Span | None) -> Sequence[Conflict]:
    """Return the conflicts without those whose earlier memory ended after the days that the question names."""
    if span is None:
        return conflicts
    held = {memory.id for memory in recall.memories if span.is_before(memory.node.valid_to)}
    return [one for one in conflicts if one.outcome == "wrong" or one.loser not in held]


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
            for later in store.get_nodes([winner], missing_ok=True):
                ranked.insert(lost, replace(ranked[lost], node=later, path=(), flows=()))
    return tuple(ranked[:most])


def _with_score(memory: RecalledMemory, score: float) -> RecalledMemory:
    return replace(memory, score=score, contributions={**memory.contributions, "replaces": score - memory.score})

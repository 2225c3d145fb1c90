"""Searches of a live graph. They return rows of its views."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated.core.derivation import are_original
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Condition, Filter
from neurogated.core.model import MemoryEdge, MemoryNode, checked_count
from neurogated.core.rendering import own_tag
from neurogated.core.view import GraphView, Rows
from neurogated.errors import AmbiguousEdgeError, InputError, UnknownIdError
from neurogated.storage.freshness import LOOK_SECONDS
from neurogated.storage.index.graph_state import GraphState
from neurogated.storage.index.records import portions
from neurogated.storage.index.text.lexical_store import LexicalStore
from neurogated.storage.live_graph import LiveGraph
from neurogated.utils.locks import take

_TIMES = {"energy_at", "last_accessed", "created_at", "timestamp", "expires_at", "valid_from", "valid_to"}
_ORDERED = {"id", "base_energy", "importance", "uses", "position"} | _TIMES

Found = tuple[Rows, NDArray[np.float64]]
"""The rows or keys that a search found and their scores, both (n,), best first."""


def text_state(graph: LiveGraph) -> tuple[GraphState, LexicalStore]:
    """Return `search_state` with the keyword and tag index, which the first search builds."""
    state = graph.search_state()
    while state.texts is None and state.form is graph.index:
        taken: list[bool] = []
        try:
            if take(graph.lock, taken, LOOK_SECONDS):
                with graph.follower.steady():
                    state = graph.latest()
                    return state, state.form.texts(state.view, state.records.nodes)
        finally:
            if True in taken:
                graph.lock.release()
        if not graph.index.makes_texts:
            # The thread that has the lock may wait for another process, and does not write meanwhile.
            state = graph.isolated_meanwhile() or state
    return state, state.texts or state.form.texts(state.view, state.records.nodes)


def searched(state: GraphState, search: Callable[[Rows], list[Found]], k: int, view: GraphView) -> list[Found]:
    """Return the `k` best results of `search` as rows of `view`; `search` takes the keys to leave out."""
    left_out = state.left_out(view)
    while True:
        found = search(left_out)
        # A row written after the view was taken may displace a row of the view, so the next search leaves it out.
        late = state.unknown(np.concatenate([left_out[:0], *(keys for keys, _ in found)]))
        if not late.size:
            return [_cut(_seen(view, state.view.ids, each), k, view.ids) for each in found]
        left_out = np.union1d(left_out, late)


def named(view: GraphView, found: Found) -> list[tuple[str, float]]:
    """Return the ids and scores of rows of a view."""
    rows, scores = found
    return list(zip((view.ids[row] for row in rows.tolist()), scores.tolist(), strict=True))


def checked_page(order_by: str | None, limit: int | None, offset: int) -> None:
    """Refuse an unknown order and invalid counts; raises InputError."""
    for name, number in (("offset", offset), ("limit", 0 if limit is None else limit)):
        checked_count(name, number)
    if order_by is not None and str(order_by).removeprefix("-") not in _ORDERED:
        raise InputError(f"nodes cannot be ordered by {order_by!r}; choose one of {', '.join(sorted(_ORDERED))}")


def in_order(nodes: Sequence[MemoryNode], order_by: str) -> list[MemoryNode]:
    """Return nodes ordered by a field, a leading minus for descending; nodes without the field come last."""
    name = order_by.removeprefix("-")
    known = [node for node in nodes if getattr(node, name) is not None]
    known.sort(key=lambda node: getattr(node, name), reverse=order_by.startswith("-"))
    return [*known, *(node for node in nodes if getattr(node, name) is None)]


def filtered(graph: LiveGraph, view: GraphView, filters: Filter) -> GraphView:
    """Return a view whose searches find only the nodes that a filter admits."""
    rows = None if filters.scope is None else view.rows_of_scopes(filters.scope)
    if filters.only_ids is not None:
        chosen = view.known_rows(filters.only_ids)
        rows = chosen if rows is None else np.intersect1d(chosen, rows, assume_unique=True)
    if filters.tags:
        wanted = list(map(own_tag, filters.tags))
        with graph.searching:
            state, texts = text_state(graph)
            among = state.among(view if rows is None else view.restricted_to(rows))
            names = [state.view.ids[row] for row in texts.keys_with(wanted, among=among).tolist()]
        rows = view.known_rows(names)
    if filters.kinds:
        rows = view.live_nodes() if rows is None else rows
        codes = [code for code, kind in enumerate(view.kinds) if kind in filters.kinds]
        rows = rows[np.isin(view.kind.take(rows), codes)]
    if unwanted := [code for code, kind in enumerate(view.kinds) if kind in filters.except_kinds]:
        rows = view.live_nodes() if rows is None else rows
        rows = rows[~np.isin(view.kind.take(rows), unwanted)]
    if filters.originals and not (originals := are_original(view)).all():
        rows = np.flatnonzero(originals) if rows is None else rows[originals[rows]]
    if filters.where is not None:
        rows = _where(graph, view, view.live_nodes() if rows is None else rows, filters.where)
    if rows is None or np.count_nonzero(view.alive.take(rows)) == np.count_nonzero(view.alive.all()):
        # A search among all nodes is quicker than one among rows.
        return view
    return view.restricted_to(rows)


def _where(graph: LiveGraph, view: GraphView, rows: Rows, condition: Condition) -> Rows:
    """Return the rows of the nodes whose metadata fulfils a condition; reads the metadata of all rows."""
    found: list[int] = []
    for portion in portions(rows):
        part = {view.ids[row]: row for row in portion.tolist()}
        nodes = graph.read(lambda state, part=part: state.nodes(state.view.known_rows(part)))  # type: ignore[misc]
        found += [part[node.id] for node in nodes if condition.admits(node.metadata)]
    return np.array(sorted(found), dtype=np.int64)


def _seen(view: GraphView, ids: Sequence[str], found: Found) -> Found:
    """Convert the found places in `ids` to rows of the view."""
    if view.ids is ids:
        return found
    keys, scores = found
    return view.rows(ids[key] for key in keys.tolist()), scores


def _cut(found: Found, k: int, ids: Sequence[str]) -> Found:
    """Return the first `k` results, best first, ties in order of id."""
    rows, scores = found
    tied = (scores[1:] == scores[:-1]).nonzero()[0]
    if tied.size:
        places = np.union1d(tied, tied + 1)
        in_order = sorted(places.tolist(), key=lambda place: (-scores[place], ids[int(rows[place])]))
        rows = rows.copy()
        rows[places] = rows[in_order]
    return rows[:k], scores[:k]


def only_edge(edges: list[MemoryEdge], source: object, target: object, edge_type: EdgeType | None) -> MemoryEdge:
    """Return the only edge found between two nodes; raises UnknownIdError or AmbiguousEdgeError."""
    if not edges:
        kind = "" if edge_type is None else f"{edge_type.name} "
        raise UnknownIdError(f"no {kind}edge from {source!r} to {target!r} in the memory")
    if len(edges) > 1:
        names = " and ".join(edge.type.name for edge in edges)
        raise AmbiguousEdgeError(f"{names} edges lead from {source!r} to {target!r}; name the type")
    return edges[0]

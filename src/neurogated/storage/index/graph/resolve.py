"""Check a delta against a graph before it is written: resolve every id to a row, or refuse the whole delta."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import to_micros
from neurogated.core.delta import GraphDelta
from neurogated.core.model import EdgeKey
from neurogated.core.view import GraphView, Rows
from neurogated.errors import InputError, UnknownIdError

_Value = TypeVar("_Value")

_MOST_ROWS = np.iinfo(np.int32).max
"""Adjacency and indexes number rows in 32 bits."""


@dataclass(frozen=True, slots=True)
class Plan:
    """A valid delta with its rows; new rows follow the existing rows, in the order of the delta."""

    delta: GraphDelta
    node_rows: Rows
    """Row of each of `delta.nodes`."""
    edge_rows: Rows
    """Row of each of `delta.edges`; always a new row, even for a replaced edge (see `removed_edges`)."""
    edge_ends: tuple[Rows, Rows]
    """Source and target row of each of `delta.edges`."""
    weight_rows: Rows
    """Row of each of `delta.weights`."""
    weight_times: NDArray[np.int64]
    """When each of these edges counts as last activated, in microseconds."""
    removed_nodes: Rows
    removed_edges: Rows
    """The edges that the delta removes by name, the edges of removed nodes and the edges replaced by `delta.edges`."""
    changed_nodes: Rows
    """Row of each of `delta.node_changes`."""
    touched_nodes: Rows
    touched_counts: Rows
    """How often each of these nodes was used."""
    charged_nodes: Rows
    charges: NDArray[np.float64]
    """The new charge of each of these nodes."""
    charge_times: NDArray[np.int64]
    """The time of each new charge, in microseconds."""
    touched_edges: Rows
    touched_times: NDArray[np.int64]
    """When each of these edges was last used, in microseconds; a later known use is kept."""
    spared: tuple[Rows, ...]
    """For each of `delta.operators`, the rows of the edges that it spares."""

    @property
    def size(self) -> int:
        """The number of nodes and edges that the delta changes."""
        changed = (self.node_rows, self.edge_rows, self.weight_rows, self.removed_nodes, self.removed_edges)
        touched = (self.changed_nodes, self.touched_nodes, self.charged_nodes, self.touched_edges)
        return sum(rows.size for rows in (*changed, *touched))


def make_plan(view: GraphView, delta: GraphDelta) -> Plan:
    """Resolve every id of `delta` in `view`.

    Raises:
        InputError: the delta names something twice, an edge has an end that does not exist, or the graph would have
            more rows than 32 bits can number.
        UnknownIdError: the delta changes or removes something that does not exist.
    """
    _refuse_repetition(delta)
    _refuse_overflow(view, delta)
    removed_nodes = view.rows(delta.removed_nodes)
    removed_edges = _removed_edges(view, delta, removed_nodes)
    node_rows = _new_or_existing(
        np.array([view.rows_by_id.get(node.id, -1) for node in delta.nodes], dtype=np.int64), view.node_count
    )
    ends = _edge_ends(view, delta, removed_nodes, node_rows)
    _refuse_joined_users(view, delta, node_rows, ends)
    replaced = _find_edges(view, [edge.key for edge in delta.edges], *ends)
    if (replaced >= 0).any():
        removed_edges = np.union1d(removed_edges, replaced[replaced >= 0])
    weight_rows = _existing_edges(view, [change.edge for change in delta.weights])
    touched_edges = _without(_known_edges(view, delta.touch.edges), removed_edges, weight_rows)
    if _meet(weight_rows, removed_edges):
        raise InputError("the delta changes the weight of an edge that it also puts or removes; leave out one of them")
    changed_nodes = view.rows([change.node for change in delta.node_changes])
    if _meet(changed_nodes, removed_nodes) or _meet(changed_nodes, node_rows):
        raise InputError("the delta changes a node that it also puts or removes; leave out one of them")
    gone = _without(removed_nodes, node_rows)
    touched = _accessed_nodes(view, delta, node_rows, gone, delta.touch.nodes)
    charged = _accessed_nodes(view, delta, node_rows, gone, delta.touch.charges)
    return Plan(
        delta=delta,
        node_rows=node_rows,
        edge_rows=view.edge_count + np.arange(len(delta.edges)),
        edge_ends=ends,
        weight_rows=weight_rows,
        weight_times=_weight_times(view, delta, weight_rows),
        removed_nodes=removed_nodes,
        removed_edges=removed_edges,
        changed_nodes=changed_nodes,
        touched_nodes=np.array(list(touched), dtype=np.int64),
        touched_counts=np.array(list(touched.values()), dtype=np.int64),
        charged_nodes=np.array(list(charged), dtype=np.int64),
        charges=np.array([charge.energy for charge in charged.values()], dtype=np.float64),
        charge_times=np.array([to_micros(charge.at) for charge in charged.values()], dtype=np.int64),
        touched_edges=touched_edges,
        touched_times=np.maximum(view.last_activated.take(touched_edges), to_micros(delta.at)),
        spared=tuple(_known_edges(view, operator.spared) for operator in delta.operators),
    )


def _meet(rows: Rows, others: Rows) -> bool:
    return bool(rows.size and others.size and np.isin(rows, others).any())


def _without(rows: Rows, *others: Rows) -> Rows:
    """Return the distinct rows that are not among the others, ascending."""
    return np.setdiff1d(rows, np.concatenate(others)) if rows.size else rows


def _refuse_repetition(delta: GraphDelta) -> None:
    named: dict[str, Iterable[Hashable]] = {
        "puts node": (node.id for node in delta.nodes),
        "puts edge": (edge.key for edge in delta.edges),
        "changes the weight of edge": (change.edge for change in delta.weights),
        "changes node": (change.node for change in delta.node_changes),
        "removes node": delta.removed_nodes,
        "removes edge": delta.removed_edges,
    }
    for what, keys in named.items():
        every = list(keys)
        if len(every) > len(set(every)):
            key, times = next(pair for pair in Counter(every).items() if pair[1] > 1)
            shown = repr(key) if isinstance(key, str) else key
            raise InputError(f"the delta {what} {shown} {times} times; once is enough")


def _refuse_overflow(view: GraphView, delta: GraphDelta) -> None:
    for what, rows in (
        ("nodes", view.node_count + len(delta.nodes)),
        ("edges", view.edge_count + len(delta.edges)),
    ):
        if rows > _MOST_ROWS:
            raise InputError(f"a graph has at most {_MOST_ROWS} {what}, including removed ones; compact it first")


def _removed_edges(view: GraphView, delta: GraphDelta, removed_nodes: Rows) -> Rows:
    named = _existing_edges(view, delta.removed_edges)
    if not removed_nodes.size:
        return np.unique(named) if named.size else named
    return np.union1d(named, view.arcs(removed_nodes, both_ways=True).edge)


def _new_or_existing(rows: Rows, in_use: int) -> Rows:
    """Replace each -1 by a new row number, from `in_use` on."""
    new = rows < 0
    rows[new] = in_use + np.arange(int(new.sum()))
    return rows


def _edge_ends(view: GraphView, delta: GraphDelta, removed_nodes: Rows, node_rows: Rows) -> tuple[Rows, Rows]:
    put = {node.id: row for node, row in zip(delta.nodes, node_rows.tolist(), strict=True)}
    removed = set(removed_nodes.tolist())

    def row_of(node_id: str) -> int:
        row = put.get(node_id)
        if row is None:
            row = view.find(node_id)
            if row is None or row in removed:
                raise InputError(f"an edge names node {node_id!r}, which does not exist; add the node first")
        return row

    sources = [row_of(edge.source_id) for edge in delta.edges]
    targets = [row_of(edge.target_id) for edge in delta.edges]
    return np.array(sources, dtype=np.int64), np.array(targets, dtype=np.int64)


def _refuse_joined_users(view: GraphView, delta: GraphDelta, node_rows: Rows, ends: tuple[Rows, Rows]) -> None:
    """Refuse edges between memories of two users, and refuse to move an id to another user.

    "No user" counts as a user of its own: a memory without a user could otherwise connect two users. The id of a
    removed memory stays with its user until a compaction erases it, because past states still contain the id.
    """
    put = {row: node.scope.user_id for row, node in zip(node_rows.tolist(), delta.nodes, strict=True)}
    for row, owner in _owners(view, node_rows[node_rows < view.node_count]).items():
        if owner != put[row]:
            raise InputError(
                f"node {view.ids[row]!r} is not a memory of {_user(put[row])} and cannot move to it; "
                "give the new memory another id"
            )
    sources, targets = (rows.tolist() for rows in ends)
    joined = sorted(row for row in {*sources, *targets} - put.keys() if row < view.node_count)
    owners = _owners(view, np.array(joined, dtype=np.int64)) | put
    for edge, source, target in zip(delta.edges, sources, targets, strict=True):
        if owners[source] != owners[target]:
            raise InputError(
                f"edge {edge.key} would join memories of two users; the memories of two users are never joined"
            )


def _owners(view: GraphView, rows: Rows) -> dict[int, str | None]:
    """Return the user of the node at each row."""
    codes = view.scope.take(rows).tolist()
    return {row: view.scopes[code].user_id for row, code in zip(rows.tolist(), codes, strict=True)}


def _user(user_id: str | None) -> str:
    return "no user" if user_id is None else f"user {user_id!r}"


def _find_edges(view: GraphView, keys: Sequence[EdgeKey], sources: Rows, targets: Rows) -> Rows:
    """Return the rows of the edges with these ends; -1 where there is none."""
    found = np.full(len(keys), -1, dtype=np.int64)
    old = (sources >= 0) & (sources < view.node_count) & (targets >= 0) & (targets < view.node_count)
    types = [key.type for key in keys] if old.any() else []
    for edge_type in set(types):
        of_type = np.array([one is edge_type for one in types], dtype=np.bool_) & old
        if of_type.any():
            found[of_type] = view.edge_rows(sources[of_type], targets[of_type], edge_type)
    return found


def _find_by_key(view: GraphView, keys: Sequence[EdgeKey]) -> Rows:
    def row_of(node_id: str) -> int:
        row = view.find(node_id)
        return -1 if row is None else row

    if not keys:
        return np.empty(0, dtype=np.int64)
    sources = np.array([row_of(key.source_id) for key in keys], dtype=np.int64)
    targets = np.array([row_of(key.target_id) for key in keys], dtype=np.int64)
    return _find_edges(view, keys, sources, targets)


def _existing_edges(view: GraphView, keys: Sequence[EdgeKey]) -> Rows:
    rows = _find_by_key(view, keys)
    for key, row in zip(keys, rows.tolist(), strict=True):
        if row < 0:
            raise UnknownIdError(f"no {key.type.name} edge from {key.source_id!r} to {key.target_id!r} in the memory")
    return rows


def _accessed_nodes(
    view: GraphView, delta: GraphDelta, node_rows: Rows, gone: Rows, values: Mapping[str, _Value]
) -> dict[int, _Value]:
    """Return values of accesses by row instead of by id, ascending; those of removed nodes are ignored."""
    if not values:
        return {}
    put = {node.id: row for node, row in zip(delta.nodes, node_rows.tolist(), strict=True)}
    removed = set(gone.tolist())
    by_row: dict[int, _Value] = {}
    for node_id, value in values.items():
        row = put.get(node_id)
        row = view.find(node_id) if row is None else row
        if row is not None and row not in removed:
            by_row[row] = value
    return dict(sorted(by_row.items()))


def _known_edges(view: GraphView, keys: Iterable[EdgeKey]) -> Rows:
    """Return the rows of the edges that exist, ascending."""
    rows = _find_by_key(view, list(keys))
    return np.unique(rows[rows >= 0]) if rows.size else rows


def _weight_times(view: GraphView, delta: GraphDelta, rows: Rows) -> NDArray[np.int64]:
    """Return when each edge of `delta.weights` counts as last activated, in microseconds."""
    learned = [to_micros(change.last_activated or delta.at) for change in delta.weights]
    derived = np.array([change.derived for change in delta.weights], dtype=np.bool_)
    return np.where(derived, view.last_activated.take(rows), np.array(learned, dtype=np.int64))

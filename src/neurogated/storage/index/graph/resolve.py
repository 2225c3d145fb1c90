"""Check a delta against a graph before it is written: resolve every id to a row, or refuse the whole delta."""

import operator
import re
from collections import Counter
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import repeat
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import to_micros
from neurogated.core.conflicts import CONFLICT, Conflict, as_given, edges_of, is_conflict_id
from neurogated.core.delta import GraphDelta, Owner, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey
from neurogated.core.node_kind import CLAIM, FACT
from neurogated.core.view import GraphView, Rows
from neurogated.errors import InputError, UnknownIdError


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

    `view` is the graph before the change, `pending` are the judgements that wait, and `computed` says whether TERM
    edges are computed, too.
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


_ID = re.compile(f"({FACT}|{CLAIM})-[0-9a-f]{{32}}")


def refuse_reserved(delta: GraphDelta, *, computed: bool = False) -> None:
    """Refuse reserved ids, kinds and edges unless the delta comes from their owner, and validate its conflicts.

    With `computed`, TERM edges are computed from texts, so that nobody writes them.

    Raises:
        InputError: a caller writes a conflict, a claim or the id of a fact, a node has another kind than its id says,
            a conflict is invalid or lacks an edge, or a caller writes an edge that is computed.
    """
    if delta.owner is Owner.LOG:
        return
    for node in delta.nodes:
        # The kind that is reserved by the id or the kind of the node.
        found = _ID.fullmatch(node.id)
        reserved = CLAIM if node.kind == CLAIM else found and found[1]
        reserved = CONFLICT if node.kind == CONFLICT or is_conflict_id(node.id) else reserved
        if reserved is not None and (delta.owner is None or node.kind != reserved):
            raise InputError(f"only the memory makes the {reserved} {node.id!r}; choose another id and another kind")
    conflicts = [Conflict.of(node) for node in delta.nodes if node.kind == CONFLICT]
    if delta.owner is None:
        types = {key.type for key in (*delta.removed_edges, *(edge.key for edge in delta.edges))}
        if EdgeType.CONFLICT in types:
            raise InputError("only the memory joins memories by CONFLICT edges; use another type")
        if computed and EdgeType.TERM in types:
            raise InputError("TERM edges follow from the words of memories; use another type, such as ASSOC")
    elif delta.owner is Owner.MEMORY and conflicts:
        put = {edge.key for edge in delta.edges}
        for conflict in conflicts:
            if not put.issuperset(edge.key for edge in edges_of(conflict, delta.at)):
                raise InputError(f"the delta puts conflict {conflict.id!r} without its edges; put both")


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
        return sum([rows.size for rows in (*changed, *touched)])


def make_plan(view: GraphView, delta: GraphDelta) -> Plan:
    """Resolve every id of `delta` in `view`.

    Raises:
        InputError: the delta names something twice, an edge has an end that does not exist, or the graph would have
            more rows than 32 bits can number.
        UnknownIdError: the delta changes or removes something that does not exist.
    """
    # Tuples like keys, which take a call each.
    keys = [(edge.source_id, edge.target_id, edge.type) for edge in delta.edges]
    _refuse_repetition(delta, keys)
    for what, rows in (("nodes", view.node_count + len(delta.nodes)), ("edges", view.edge_count + len(delta.edges))):
        if rows > _MOST_ROWS:
            raise InputError(f"a graph has at most {_MOST_ROWS} {what}, including removed ones; compact it first")
    removed_nodes = view.rows(delta.removed_nodes)
    node_rows = _rows_by_id(view, [node.id for node in delta.nodes])
    new = node_rows < 0
    node_rows[new] = view.node_count + np.arange(np.add.reduce(new))
    ends = _edge_ends(view, delta, removed_nodes, node_rows)
    _refuse_joined_users(view, delta, node_rows, ends)
    named = [*delta.removed_edges, *[change.edge for change in delta.weights]]
    existing = _find_by_key(view, named)
    if existing.size and existing.min() < 0:
        key = named[int(existing.argmin())]
        raise UnknownIdError(f"no {key.type.name} edge from {key.source_id!r} to {key.target_id!r} in the memory")
    removed_edges, weight_rows = existing[: len(delta.removed_edges)], existing[len(delta.removed_edges) :]
    replaced = _find_edges(view, [key[2] for key in keys], *ends)
    if removed_nodes.size or removed_edges.size or np.logical_or.reduce(replaced >= 0):
        of_nodes = view.arcs(removed_nodes, both_ways=True).edge
        removed_edges = np.unique(np.concatenate((removed_edges, of_nodes, replaced[replaced >= 0])))
    if _meet(weight_rows, removed_edges):
        raise InputError("the delta changes the weight of an edge that it also puts or removes; leave out one of them")
    changed_nodes = view.rows([change.node for change in delta.node_changes])
    if _meet(changed_nodes, removed_nodes) or _meet(changed_nodes, node_rows):
        raise InputError("the delta changes a node that it also puts or removes; leave out one of them")
    uses = _NO_USES
    if delta.touch:
        gone = _without(removed_nodes, node_rows)
        uses = _uses(view, delta, node_rows, gone, np.concatenate((removed_edges, weight_rows)))
    return Plan(
        delta=delta,
        node_rows=node_rows,
        edge_rows=view.edge_count + np.arange(len(delta.edges)),
        edge_ends=ends,
        weight_rows=weight_rows,
        weight_times=_weight_times(view, delta, weight_rows) if delta.weights else _NO_ROWS,
        removed_nodes=removed_nodes,
        removed_edges=removed_edges,
        changed_nodes=changed_nodes,
        **uses,
        spared=tuple([_known_edges(view, operator.spared) for operator in delta.operators]),
    )


def _uses(view: GraphView, delta: GraphDelta, node_rows: Rows, gone: Rows, apart: Rows) -> dict[str, NDArray[Any]]:
    """Return the columns of a plan that accesses fill, without those of `gone` nodes and `apart` edges."""
    touched = _accessed_nodes(view, delta, node_rows, gone, delta.touch.nodes)
    charged = _accessed_nodes(view, delta, node_rows, gone, delta.touch.charges)
    edges = _without(_known_edges(view, delta.touch.edges), apart)
    return {
        "touched_nodes": np.array(list(touched), dtype=np.int64),
        "touched_counts": np.array(list(touched.values()), dtype=np.int64),
        "charged_nodes": np.array(list(charged), dtype=np.int64),
        "charges": np.array([charge.energy for charge in charged.values()], dtype=np.float64),
        "charge_times": np.array([to_micros(charge.at) for charge in charged.values()], dtype=np.int64),
        "touched_edges": edges,
        "touched_times": np.maximum(view.last_activated.take(edges), to_micros(delta.at)),
    }


_NO_ROWS = np.empty(0, dtype=np.int64)
_NODE_USES = ("touched_nodes", "touched_counts", "charged_nodes", "charges", "charge_times")
_NO_USES: dict[str, NDArray[Any]] = dict.fromkeys((*_NODE_USES, "touched_edges", "touched_times"), _NO_ROWS)


def _meet(rows: Rows, others: Rows) -> bool:
    return bool(rows.size and others.size) and not set(rows.tolist()).isdisjoint(others.tolist())


def _without(rows: Rows, others: Rows) -> Rows:
    """Return the distinct rows that are not among the others, ascending."""
    return np.setdiff1d(rows, others) if rows.size else rows


def _refuse_repetition(delta: GraphDelta, keys: Sequence[tuple[str, str, EdgeType]]) -> None:
    named: dict[str, Sequence[Hashable]] = {
        "puts node": [node.id for node in delta.nodes],
        "puts edge": keys,
        "changes the weight of edge": [change.edge for change in delta.weights],
        "changes node": [change.node for change in delta.node_changes],
        "removes node": delta.removed_nodes,
        "removes edge": delta.removed_edges,
    }
    for what, every in named.items():
        if every and len(every) > len(set(every)):
            key, times = next(pair for pair in Counter(every).items() if pair[1] > 1)
            shown = EdgeKey(*key) if isinstance(key, tuple) else repr(key)
            raise InputError(f"the delta {what} {shown} {times} times; once is enough")


def _rows_by_id(view: GraphView, ids: Sequence[str]) -> Rows:
    """Return the row of each id, also of a removed node; -1 for an id that the graph does not know."""
    return np.fromiter(map(view.rows_by_id.get, ids, repeat(-1)), np.int64, len(ids))


def _live_rows(view: GraphView, ids: Sequence[str]) -> Rows:
    """Return the row of each id; -1 for an id of no node in the graph."""
    rows = _rows_by_id(view, ids)
    rows[rows >= view.node_count] = -1
    (known,) = (rows >= 0).nonzero()
    rows[known[~view.alive.take(rows[known]).astype(np.bool_)]] = -1
    return rows


def _edge_ends(view: GraphView, delta: GraphDelta, removed_nodes: Rows, node_rows: Rows) -> tuple[Rows, Rows]:
    if not delta.edges:
        return node_rows[:0], node_rows[:0]
    names = [edge.source_id for edge in delta.edges] + [edge.target_id for edge in delta.edges]
    rows = dict(zip(names, _live_rows(view, names).tolist(), strict=True))
    if removed_nodes.size:
        rows |= dict.fromkeys(view.names(removed_nodes), -1)
    rows |= zip([node.id for node in delta.nodes], node_rows.tolist(), strict=True)
    ends = np.array([rows[name] for name in names], dtype=np.int64)
    if np.minimum.reduce(ends) < 0:
        name = names[int(ends.argmin())]
        raise InputError(f"an edge names node {name!r}, which does not exist; add the node first")
    return ends[: len(delta.edges)], ends[len(delta.edges) :]


def _refuse_joined_users(view: GraphView, delta: GraphDelta, node_rows: Rows, ends: tuple[Rows, Rows]) -> None:
    """Refuse edges between memories of two users, and refuse to move an id to another user.

    "No user" counts as a user of its own: a memory without a user could otherwise connect two users. The id of a
    removed memory stays with its user until a compaction erases it, because past states still contain the id.
    """
    put = {row: node.scope.user_id for row, node in zip(node_rows.tolist(), delta.nodes, strict=True)}
    for row, owner in _owners(view, node_rows[node_rows < view.node_count]).items():
        if owner != put[row]:
            user = "no user" if put[row] is None else f"user {put[row]!r}"
            raise InputError(
                f"node {view.ids[row]!r} is not a memory of {user} and cannot move to it; "
                "give the new memory another id"
            )
    sources, targets = (rows.tolist() for rows in ends)
    joined = sorted([row for row in {*sources, *targets} - put.keys() if row < view.node_count])
    owners = _owners(view, np.array(joined, dtype=np.int64)) | put
    for edge, source, target in zip(delta.edges, sources, targets, strict=True):
        if owners[source] != owners[target]:
            raise InputError(
                f"edge {edge.key} would join memories of two users; the memories of two users are never joined"
            )


def _owners(view: GraphView, rows: Rows) -> dict[int, str | None]:
    if not rows.size:
        return {}
    codes = view.scope.take(rows).tolist()
    users = {code: view.scopes[code].user_id for code in set(codes)}
    return {row: users[code] for row, code in zip(rows.tolist(), codes, strict=True)}


def _find_edges(view: GraphView, kinds: Sequence[EdgeType], sources: Rows, targets: Rows) -> Rows:
    """Return the rows of the edges with these types and ends; -1 where there is none."""
    found = np.array([-1]).repeat(len(kinds))
    (old,) = ((np.minimum(sources, targets) >= 0) & (np.maximum(sources, targets) < view.node_count)).nonzero()
    types = [kinds[place] for place in old.tolist()]
    for edge_type in set(types):
        of_type = old[[one is edge_type for one in types]]
        found[of_type] = view.edge_rows(sources[of_type], targets[of_type], edge_type)
    return found


def _find_by_key(view: GraphView, keys: Sequence[EdgeKey]) -> Rows:
    if not keys:
        return np.empty(0, dtype=np.int64)
    rows = _live_rows(view, [key.source_id for key in keys] + [key.target_id for key in keys])
    return _find_edges(view, [key.type for key in keys], rows[: len(keys)], rows[len(keys) :])


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
    at = to_micros(delta.at)
    learned = [
        at if change.last_activated is None else to_micros(change.last_activated)
        for change in delta.weights
        if not change.derived
    ]
    times = view.last_activated.take(rows)
    if learned:
        times = times.copy()
        times[[not change.derived for change in delta.weights]] = learned
    return times

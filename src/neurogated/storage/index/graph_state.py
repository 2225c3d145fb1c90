"""`GraphState`: a consistent set of columns, indexes and records that one thread may read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import attrgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import from_micros, moments
from neurogated.core.columns import NODE_COLUMNS
from neurogated.core.conflicts import as_given, with_outcome
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import Foreseen
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.read_only import filled_all
from neurogated.core.view import GraphView, Rows
from neurogated.storage.index.graph_index import RECORD_FIELDS, GraphIndex, NodeRecord, Records
from neurogated.storage.index.term_edges import TermEdges
from neurogated.storage.index.text.lexical_store import LexicalStore

_OF_NODES = tuple(name for name in NODE_COLUMNS if name != "position")
_COLUMNS = attrgetter(*_OF_NODES)
"""The columns with fields of nodes that no record has."""
_TIMES = ("energy_at", "charged_at", "last_accessed")


@dataclass(frozen=True, slots=True, eq=False)
class GraphState:
    """A graph after one delta.

    The indexes may be ahead of the view, because they apply the next delta once it is committed. See `isolated`.
    """

    form: GraphIndex
    view: GraphView
    """The whole graph, including expired nodes and edges."""
    records: Records
    texts: LexicalStore | None
    """The keyword and tag index; None until it is built."""
    pending: Mapping[PendingTask, None]
    embedder: tuple[str, int] | None

    @classmethod
    def of(cls, form: GraphIndex, view: GraphView, records: Records) -> GraphState:
        """Return the state of an index whose present view is `view`."""
        return cls(form, view, records, form.made_texts, form.pending, form.embedder)

    def is_present(self, form: GraphIndex, view: GraphView) -> bool:
        """Return whether this is the state of an index whose present view is `view`."""
        is_same = self.form is form and self.view is view and self.texts is form.made_texts
        return is_same and self.pending is form.pending and self.embedder is form.embedder

    def isolated(self) -> GraphState:
        """Return a state that later changes of the indexes do not affect."""
        form, records = self.form.isolated(), self.records.isolated()
        view = self.view
        if isinstance(edges := view.computed, TermEdges):
            edges = TermEdges(edges.most, lambda: form.texts(self.view, records.nodes))
            view = replace(view, computed=edges)
        return replace(self, form=form, view=view, records=records, texts=form.made_texts)

    def visible(self, now: int, valid_at: int | None) -> GraphView:
        """Return the view without nodes and edges expired by `now` or not valid at `valid_at`, both in microseconds."""
        return self.form.validity.visible(self.view, now, valid_at)

    def expired(self, now: int) -> list[str]:
        """Return the ids of the nodes that have expired by `now`, in microseconds."""
        return [self.view.ids[row] for row in self.form.validity.expired(now).tolist()]

    def nodes(self, rows: Rows, now: int | None = None) -> list[MemoryNode]:
        """Return the nodes at rows of the view with the valid times that outcomes leave them `now`, in microseconds.

        A memory that has expired by then ends no other. None leaves the given valid times.

        Raises:
            RecordsErasedError: a record was erased.
        """
        if not rows.size:
            return []
        view = self.view
        taken = [(one.take(rows) if one.rows.size else one.base.take(rows)).tolist() for one in _COLUMNS(view)]
        columns: dict[str, list[Any]] = dict(zip(_OF_NODES, taken, strict=True))
        columns |= {name: moments(columns[name]) for name in _TIMES}
        columns["kind"] = [view.kinds[kind] for kind in columns["kind"]]
        scopes = {scope: view.scopes[scope] for scope in {*columns["scope"]}}
        columns["scope"] = [scopes[scope] for scope in columns["scope"]]
        columns["id"] = [view.ids[row] for row in rows.tolist()]
        columns["embedding"] = self.form.vectors.get_all(rows)
        fields = zip(*map(RECORD_FIELDS, self.records.nodes(rows)), strict=True)
        columns |= zip(NodeRecord.__slots__, map(list, fields), strict=True)
        nodes = filled_all(MemoryNode, columns)
        valid = {} if now is None else self.form.validity.outcomes_at(view, now).valid
        if not valid:
            return nodes
        return [with_outcome(node, valid.get(row)) for row, node in zip(rows.tolist(), nodes, strict=True)]

    def foreseen(self, delta: GraphDelta) -> Foreseen:
        """Return what follows from a delta; raises RecordsErasedError."""
        view, before = self.view, self.form.validity.outcomes
        removed = {row for name in delta.removed_nodes if (row := view.find(name)) is not None}
        found = ((view.find(node.id), place, as_given(node)) for place, node in enumerate(delta.nodes, view.node_count))
        nodes = {place if row is None else row: node for row, place, node in found}
        after = before.copy()
        touched = after.update(self.form.outcome_changes(removed, nodes, self.records))
        old, new = (outcomes.disputes(touched) for outcomes in (before, after))
        known = {one.id for one in old}
        return Foreseen(
            {
                nodes[row].id if row in nodes else view.ids[row]: (was, valid)
                for row, valid in touched.items()
                if (was := before.valid_time(row)) not in (None, valid) and was is not None
            },
            [one for one in sorted(new, key=lambda one: one.second) if one.id not in known],
            frozenset(known.difference([one.id for one in new])),
        )

    def edges(self, rows: Rows) -> list[MemoryEdge]:
        """Return the edges at rows of the view; raises RecordsErasedError."""
        if not rows.size:
            return []
        view = self.view
        weights, activated = view.weight.take(rows).tolist(), view.last_activated.take(rows).tolist()
        return [
            MemoryEdge(
                *view.edge_key(row),
                weight=weight,
                created_at=record.created_at,
                last_activated=from_micros(moment),
                valid_from=record.valid_from,
                valid_to=record.valid_to,
                relation=record.relation,
            )
            for row, record, weight, moment in zip(
                rows.tolist(), self.records.edges(rows), weights, activated, strict=True
            )
        ]

    def computed_edges(self, sources: Rows, targets: Rows, weights: NDArray[np.float64]) -> list[MemoryEdge]:
        """Return TERM edges as old as the newer one of their texts; raises RecordsErasedError."""
        rows = np.unique(np.concatenate((sources, targets)))
        since = dict(zip(rows.tolist(), (one.created_at for one in self.records.nodes(rows)), strict=True))
        ids = self.view.ids
        return [
            MemoryEdge(ids[source], ids[target], EdgeType.TERM, weight, created_at=max(since[source], since[target]))
            for source, target, weight in zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True)
        ]

    def edges_between(self, source_id: str, target_id: str, edge_type: EdgeType | None) -> list[MemoryEdge]:
        """Return the edges from a node to another, of one type or of all; raises RecordsErasedError."""
        source, target = self.view.rows([source_id]), self.view.rows([target_id])
        types = self.view.edge_types if edge_type is None else (edge_type,)
        rows = np.concatenate([np.empty(0, np.int64), *(self.view.edge_rows(source, target, one) for one in types)])
        found = self.edges(rows[rows >= 0])
        if edge_type in (None, EdgeType.TERM):
            sources, targets, weights = self.view.computed_edges(source)
            here = targets == target
            found += self.computed_edges(sources[here], targets[here], weights[here])
        return found

    def rows_of(self, view: GraphView, rows: Rows) -> Rows:
        """Return the rows in this state of the nodes at `rows` of `view`, another view of this graph."""
        if view.ids is self.view.ids:
            return rows
        # The rows were renumbered after the view was taken. A removed node gets a row beyond all others.
        found = [self.view.find(view.ids[row]) for row in rows.tolist()]
        return np.array([len(self.view.ids) if row is None else row for row in found], dtype=np.int64)

    def among(self, view: GraphView | None) -> Rows | None:
        """Return the rows in this state that `view` restricts searches to, ascending; None if it does not."""
        if view is None or view.among is None:
            return None
        if view.ids is self.view.ids:
            return view.among
        rows = np.sort(self.rows_of(view, view.among))
        return rows[rows < len(self.view.ids)]

    def left_out(self, view: GraphView) -> Rows:
        """Return the rows in this state that `view` does not show: hidden rows and rows added after the view."""
        hidden, now = self.rows_of(view, view.hidden), self.view
        if view.sequence == now.sequence:
            return hidden
        if view.ids is not now.ids:
            if view.among is not None:
                # Searches read only the rows of the view.
                return hidden[hidden < len(now.ids)]
            later = [row for row in now.live_nodes().tolist() if view.find(now.ids[row]) is None]
            return np.union1d(hidden, np.array(later, dtype=np.int64))
        shared = min(view.node_count, now.node_count)
        gone = np.flatnonzero(~view.alive.all()[:shared].astype(np.bool_))
        return np.concatenate((np.union1d(hidden, gone), np.arange(shared, now.node_count)))

    def unknown(self, rows: Rows) -> Rows:
        """Return the rows of `rows` that the view does not hold as nodes; indexes may find such rows."""
        known = rows < self.view.node_count
        known[known] = self.view.alive.take(rows[known])
        unknown: Rows = rows[~known]
        return unknown

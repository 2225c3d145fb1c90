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
        columns["id"] = view.names(rows)
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

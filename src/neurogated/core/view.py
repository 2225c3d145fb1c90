"""`GraphView`: a read-only snapshot of one graph for all readers, in columns that the graph index makes.

Row numbers identify nodes and edges. They are valid in one view and in searches on it. Edges are in layers of adjacency
lists: one large old layer and small newer ones. A write adds a small layer and never rebuilds the others.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import repeat
from operator import attrgetter
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import Hits, Layer, PatchedValues, Rows, contained, distinct, partitioned
from neurogated.core.edge_type import EdgeType
from neurogated.core.extras import import_extra
from neurogated.core.model import EdgeKey
from neurogated.core.read_only import filled
from neurogated.core.scope import Scope, ScopeFilter, ScopeRows
from neurogated.errors import UnknownIdError

__all__ = ["Arcs", "Computed", "GraphView", "Hits", "Links", "Rows", "best_places"]

_MANY_SCOPES, _MOST_PAIRS = 1_000, 1_000
"""Beyond this many scopes, scanning the column of all nodes is quicker."""


class Arcs(NamedTuple):
    """Edges in their direction of travel from a frontier; four parallel arrays."""

    origin: Rows
    """Position of the arc's first node in the frontier."""
    target: Rows
    """Row of the arc's last node."""
    edge: Rows
    """Edge row."""
    weight: NDArray[np.float64]
    """0–1."""


class Links(NamedTuple):
    """Stored and computed edges from a frontier, in six parallel arrays; computed ones count from `edge_count` on."""

    origin: Rows
    """Position of the link's first node in the frontier."""
    target: Rows
    """Row of the link's last node."""
    edge: Rows
    """Edge row, or the number of a computed edge."""
    weight: NDArray[np.float64]
    """0–1."""
    code: NDArray[np.int16]
    """Index into `GraphView.edge_types`."""
    along: NDArray[np.bool_]
    """Whether the edge leads from the frontier to the target."""


class Computed(Protocol):
    """Computes TERM edges from the texts of a graph; each leads from the later to the earlier row."""

    def arcs(self, view: GraphView, rows: Rows) -> Arcs:
        """Return the edges at (n,) distinct nodes that a view shows, by node and then by the other node.

        Their numbers are those of `GraphView.edge_key`, from `edge_count` on.
        """


_NO_ROWS = np.empty(0, dtype=np.int64)
_NO_ARCS = Arcs(_NO_ROWS, _NO_ROWS, _NO_ROWS, np.empty(0))


@dataclass(frozen=True, slots=True, eq=False)
class GraphView:
    """The graph after the delta number `sequence`; later writes do not change the view."""

    sequence: int
    ids: Sequence[str]
    """The id of every node row, also of removed nodes. Rows from `node_count` on are newer than the view."""
    rows_by_id: Mapping[str, int]
    node_count: int
    """Node rows, including those of removed nodes."""
    edge_count: int
    """Edge rows, including those of removed edges."""
    alive: PatchedValues
    """(nodes,) bool."""
    base_energy: PatchedValues
    """(nodes,) float64, 0–1; the energy at `energy_at`."""
    energy_at: PatchedValues
    """(nodes,) int64, microseconds since 1970 UTC."""
    importance: PatchedValues
    """(nodes,) float64, 0–1."""
    uses: PatchedValues
    """(nodes,) int32, how often recalls returned the node."""
    charge: PatchedValues
    """(nodes,) float64, 0–1; the energy that uses have added, at `charged_at`."""
    charged_at: PatchedValues
    """(nodes,) int64, microseconds since 1970 UTC."""
    last_accessed: PatchedValues
    """(nodes,) int64, microseconds since 1970 UTC."""
    kind: PatchedValues
    """(nodes,) int16, index into `kinds`."""
    kinds: Sequence[str]
    scope: PatchedValues
    """(nodes,) int32, index into `scopes`."""
    position: PatchedValues
    """(nodes,) int64, position in the session; -1 outside of one."""
    scopes: ScopeRows
    edge_source: NDArray[np.int32]
    edge_target: NDArray[np.int32]
    edge_type: NDArray[np.int16]
    """Index into `edge_types`."""
    edge_types: Sequence[EdgeType]
    weight: PatchedValues
    """(edges,) float64, 0–1; NaN if the edge is removed."""
    last_activated: PatchedValues
    """(edges,) int64, microseconds since 1970 UTC."""
    layers: Sequence[Layer]
    computed: Computed | None = None
    """Computes the TERM edges; None if the graph has only stored ones."""
    hidden: Rows = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    """Rows of nodes that are in the graph but not in this view, ascending."""
    among: Rows | None = None
    """Rows of the nodes that searches may find, ascending; None for all. It may list hidden rows.

    It does not restrict the spreading of activation."""

    def restricted_to(self, rows: Rows) -> GraphView:
        """Return the view with searches restricted to the nodes at `rows`, ascending."""
        among = rows if self.among is None else np.intersect1d(self.among, rows)
        # A search begins so, and `replace` takes three times as long.
        return filled(GraphView, dict(zip(self.__slots__, _FIELDS(self), strict=True)) | {"among": among})

    def hides(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whether each of the nodes at `rows` is hidden."""
        return contained(self.hidden, rows)

    def admitted(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whether searches may find the nodes at `rows`."""
        if self.among is None:
            return ~np.zeros(rows.size, dtype=np.bool_)
        return contained(self.among, rows)

    def rows_of_scopes(self, wanted: ScopeFilter) -> Rows | None:
        """Return the rows of the nodes in admitted scopes, ascending, with hidden ones; None for all nodes."""
        codes = self.scopes.admitted(wanted)
        if codes is None:
            return None
        if codes.size > _MANY_SCOPES:
            admitted = np.zeros(len(self.scopes), dtype=np.bool_)
            admitted[codes] = True
            return np.flatnonzero(admitted[self.scope.all()])
        rows = self.scopes.rows(wanted, self.node_count)
        if not self.scopes.moved:
            return rows
        # A node that moved to another scope has a row in both.
        found: Rows = rows[np.isin(self.scope.take(rows), codes)]
        return found

    def scope_of(self, row: int) -> Scope:
        """Return the scope of the node at `row`."""
        return self.scopes[int(self.scope.at(row))]

    def scope_of_removed(self, node_id: str) -> Scope | None:
        """Return the scope of a node that was removed; None if it is present, was never there, or was erased."""
        row = self.rows_by_id.get(node_id, self.node_count)
        return self.scope_of(row) if row < self.node_count and self.find(node_id) is None else None

    def owners(self) -> NDArray[np.int32]:
        """Return (nodes,) numbers that are equal for nodes of the same user and agent."""
        numbers: dict[tuple[str | None, str | None], int] = {}
        by_scope = [numbers.setdefault((one.user_id, one.agent_id), len(numbers)) for one in self.scopes]
        found: NDArray[np.int32] = np.array(by_scope, dtype=np.int32)[self.scope.all()[: self.node_count]]
        return found

    def without(self, nodes: Rows, edges: Rows) -> GraphView:
        """Return the view without some nodes, all their edges, and some other edges."""
        if not nodes.size and not edges.size:
            return self
        hidden_edges = distinct(np.concatenate((edges, self.arcs(nodes, both_ways=True).edge)))
        return replace(
            self,
            alive=self.alive.patched(nodes, values=False),
            weight=self.weight.patched(hidden_edges, np.nan),
            hidden=np.union1d(self.hidden, nodes),
        )

    def find(self, node_id: str) -> int | None:
        """Return the row of a node; None if the graph has no such node."""
        row = self.rows_by_id.get(node_id)
        if row is None or row >= self.node_count or not self.alive.at(row):
            return None
        return row

    def row(self, node_id: str) -> int:
        """Return the row of a node; raises UnknownIdError."""
        row = self.find(node_id)
        if row is None:
            raise UnknownIdError(f"no node {node_id!r} in the memory; ids are those that add, list and recall return")
        return row

    def rows(self, node_ids: Iterable[str], *, missing_ok: bool = False) -> Rows:
        """Return the rows of several nodes, in the order of `node_ids`; with `missing_ok` of those that there are."""
        if not (wanted := list(node_ids)):
            return _NO_ROWS
        found = np.array(list(map(self.rows_by_id.get, wanted, repeat(self.node_count))), dtype=np.int64)
        is_there = found < self.node_count
        is_there[is_there] = self.alive.take(found[is_there])
        if missing_ok or np.logical_and.reduce(is_there):
            return found[is_there]
        return np.array([self.row(one) for one in wanted])

    def present(self, node_ids: Iterable[str], known: Collection[str] = ()) -> list[str]:
        """Return those of the nodes that the view shows; raises UnknownIdError for ids that nobody ever knew."""
        found = []
        for node_id in node_ids:
            if self.find(node_id) is not None:
                found.append(node_id)
            elif node_id not in known and self.rows_by_id.get(node_id, self.node_count) >= self.node_count:
                self.row(node_id)
        return found

    def names(self, rows: Rows) -> list[str]:
        """Return the ids of the nodes at `rows`."""
        return [self.ids[row] for row in rows.tolist()]

    def known_rows(self, node_ids: Iterable[str]) -> Rows:
        """Return the rows of those of the nodes that the graph has, ascending and distinct."""
        known = set(map(self.rows_by_id.get, node_ids, repeat(self.node_count)))
        rows = np.array(sorted([row for row in known if row < self.node_count]), dtype=np.int64)
        alive: Rows = rows[self.alive.take(rows).astype(np.bool_)] if rows.size else rows
        return alive

    def arcs(
        self, frontier: Rows, edge_type: EdgeType | None = None, *, both_ways: bool = False, inwards: bool = False
    ) -> Arcs:
        """Return the arcs of stored edges, of one type or of all, that leave the nodes in `frontier`, (f,) rows.

        They are walked along their stored direction, `inwards` against it, or `both_ways`.
        """
        if not frontier.size or (edge_type is not None and edge_type not in self.edge_types):
            return _NO_ARCS
        parts = [
            part
            for layer in self.layers
            for adjacency in layer.ways(along=not inwards, against=inwards or both_ways)
            if (part := adjacency.gathered(frontier)) is not None
        ]
        if not parts:
            return _NO_ARCS
        if len(parts) == 1:
            origin, target, edge = parts[0]
        else:
            origin, target, edge = (np.concatenate(column) for column in zip(*parts, strict=True))
        if edge_type is not None:
            (wanted,) = (self.edge_type[edge] == self.edge_types.index(edge_type)).nonzero()
            if not wanted.size:
                return _NO_ARCS
            origin, target, edge = origin[wanted], target[wanted], edge[wanted]
        if len(parts) > 1:
            # Sort, so that sums over arcs do not depend on how the edges are spread over layers.
            order = (origin * self.edge_count + edge).argsort()
            origin, target, edge = origin[order], target[order], edge[order]
        edges = edge.astype(np.int64)
        weight = self.weight.take(edges)
        live = ~np.isnan(weight)
        if np.logical_and.reduce(live):
            return Arcs(origin, target.astype(np.int64), edges, weight)
        return Arcs(origin[live], target[live].astype(np.int64), edges[live], weight[live])

    def links(self, frontier: Rows, *, both_ways: bool = False, inwards: bool = False) -> Links:
        """Return the stored and the computed edges that leave the distinct nodes in `frontier`; see `arcs`."""
        arcs = self.arcs(frontier, both_ways=both_ways, inwards=inwards)
        code, along = self.edge_type[arcs.edge], self.edge_source[arcs.edge] == frontier[arcs.origin]
        if self.computed is None or not frontier.size:
            return Links(*arcs, code, along)
        more = self.computed.arcs(self, frontier)
        forward = frontier[more.origin] > more.target
        if not both_ways:
            (kept,) = (forward ^ inwards).nonzero()
            more, forward = Arcs._make([column[kept] for column in more]), forward[kept]
        size = along.size
        codes, ways = np.empty(size + forward.size, code.dtype), np.empty(size + forward.size, np.bool_)
        codes[:size], codes[size:] = code, self.edge_types.index(EdgeType.TERM)
        ways[:size], ways[size:] = along, forward
        joined = map(np.concatenate, zip(arcs, more, strict=True)) if size else more
        return Links._make([*joined, codes, ways])

    def term_arcs(self, frontier: Rows) -> Arcs:
        """Return the TERM edges at distinct nodes, computed or stored, both ways."""
        if self.computed is not None:
            return self.computed.arcs(self, frontier)
        return self.arcs(frontier, EdgeType.TERM, both_ways=True)

    def computed_edges(self, rows: Rows | None = None) -> tuple[Rows, Rows, NDArray[np.float64]]:
        """Return sources, targets and weights of the computed edges that leave some nodes, or all that are shown."""
        if self.computed is None:
            return _NO_ROWS, _NO_ROWS, np.empty(0)
        rows = self.live_nodes() if rows is None else rows
        arcs = self.computed.arcs(self, rows)
        sources = rows[arcs.origin]
        (kept,) = (sources > arcs.target).nonzero()
        return sources[kept], arcs.target[kept], arcs.weight[kept]

    def computed_numbers(self, rows: Rows) -> Rows:
        """Return the numbers of the computed edges that leave some nodes; see `Links`."""
        sources, targets, _ = self.computed_edges(rows)
        return self.edge_count + sources * self.node_count + targets

    def edge_rows(self, sources: Rows, targets: Rows, edge_type: EdgeType) -> Rows:
        """Return the row of the edge of `edge_type` from each source to its target, -1 if it does not exist."""
        found = np.full(sources.size, -1, dtype=np.int64)
        # Each slice looks through all arcs of its sources, while other threads wait.
        for begin in range(0, sources.size, _MOST_PAIRS):
            arcs = self.arcs(sources[begin : begin + _MOST_PAIRS], edge_type)
            (hit,) = (arcs.target == targets[begin + arcs.origin]).nonzero()
            found[begin + arcs.origin[hit]] = arcs.edge[hit]
        return found

    def edge_key(self, edge_row: int) -> EdgeKey:
        """Return the key of an edge, stored or computed."""
        if edge_row >= self.edge_count:
            source, target = divmod(edge_row - self.edge_count, self.node_count)
            return EdgeKey(self.ids[source], self.ids[target], EdgeType.TERM)
        return EdgeKey(
            self.ids[self.edge_source[edge_row]],
            self.ids[self.edge_target[edge_row]],
            self.edge_types[self.edge_type[edge_row]],
        )

    def live_edges(self) -> Rows:
        """Return the rows of all stored edges that are not removed."""
        return np.flatnonzero(~np.isnan(self.weight.all().astype(np.float64))).astype(np.int64)

    def live_nodes(self) -> Rows:
        """Return the rows of all nodes that are not removed."""
        (rows,) = self.alive.all().nonzero()
        return rows

    def admitted_nodes(self) -> Rows:
        """Return the rows of all nodes that searches may find."""
        return self.live_nodes() if self.among is None else self.among[self.alive.take(self.among).astype(np.bool_)]

    def to_networkx(self) -> Any:  # noqa: ANN401 - a package that only an extra installs
        """Return the graph as a `networkx.MultiDiGraph`; see `GraphView`."""
        graph = import_extra("networkx", "networkx").MultiDiGraph()
        rows = self.admitted_nodes()
        names = ("importance", "base_energy", "charge", "uses")
        columns = (getattr(self, name).take(rows).tolist() for name in names)
        for row, code, *values in zip(rows.tolist(), self.kind.take(rows).tolist(), *columns, strict=True):
            graph.add_node(self.ids[row], kind=self.kinds[code], **dict(zip(names, values, strict=True)))
        edges = self.live_edges()
        edges = edges[np.isin(self.edge_source[edges], rows) & np.isin(self.edge_target[edges], rows)]
        for row, weight in zip(edges.tolist(), self.weight.take(edges).tolist(), strict=True):
            source, target, kind = self.edge_key(row)
            graph.add_edge(source, target, key=kind.name, weight=weight)
        sources, targets, weights = self.computed_edges(rows)
        for source, target, weight in zip(sources.tolist(), targets.tolist(), weights.tolist(), strict=True):
            if np.isin(target, rows):
                graph.add_edge(self.ids[source], self.ids[target], key=EdgeType.TERM.name, weight=weight)
        return graph


_FIELDS = attrgetter(*GraphView.__slots__)


def best_places(view: GraphView, rows: Rows, scores: NDArray[np.floating], count: int) -> list[int]:
    """Return the positions of the `count` highest scores, best first; ties are in order of id."""
    if count < 1 or not rows.size:
        return []
    if count < rows.size:
        (possible,) = (scores >= partitioned(scores, rows.size - count)[rows.size - count]).nonzero()
        possible = possible[(-scores[possible]).argsort(kind="stable")]
    else:
        possible = (-scores).argsort(kind="stable")
    best = scores[possible]
    (equal,) = (best[1:] == best[:-1]).nonzero()
    if equal.size:
        tied = distinct(np.concatenate((equal, equal + 1)))
        places = possible[tied]
        names = view.names(rows[places])
        possible[tied] = [
            place for _, _, place in sorted(zip((-scores[places]).tolist(), names, places.tolist(), strict=True))
        ]
    found: list[int] = possible[:count].tolist()
    return found

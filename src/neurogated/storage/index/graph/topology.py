"""The columns of nodes and edges of a graph with layered adjacency, without texts and vectors."""

import dataclasses
import json
from collections.abc import Iterable, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from neurogated.core.clock import to_micros
from neurogated.core.columns import NODE_COLUMNS, TYPE_CODE, Adjacency, Layer, PatchedValues
from neurogated.core.delta import Decay
from neurogated.core.edge_type import EdgeType
from neurogated.core.files import write_text
from neurogated.core.model import MOST_COUNTED, MemoryNode
from neurogated.core.node_kind import DEFAULT_KIND, register_kind
from neurogated.core.scope import Scope, ScopeRows
from neurogated.core.view import Computed, GraphView, Rows
from neurogated.storage.files import load_array, save_array
from neurogated.storage.index.graph.resolve import Plan

_NOTHING = np.empty(0, dtype=np.int64)


class Column:
    """An append-only array that grows by doubling. Appended values never change."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer = np.empty(1, dtype=dtype)
        self.size = 0
        """The number of values."""

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return a column that starts with `values`, without a copy; they must not change afterwards."""
        column = cls(values.dtype)
        column._buffer, column.size = values, values.size
        return column

    def __len__(self) -> int:
        return self.size

    @property
    def values(self) -> NDArray[Any]:
        """The present values, without a copy; later appends do not change the result."""
        return self._buffer[: self.size]

    def extend(self, values: ArrayLike) -> None:
        """Append `values`."""
        added = np.asarray(values, dtype=self._buffer.dtype)
        if not added.size:
            return
        size = self.size + added.size
        if size > self._buffer.size:
            grown = np.empty(max(size, 2 * self._buffer.size), dtype=self._buffer.dtype)
            grown[: self.size] = self.values
            self._buffer = grown
        self._buffer[self.size : size] = added
        self.size = size


class PatchedColumn(Column):
    """A growing column whose values may change. Changes are patches; many patches are folded into a new base.

    A snapshot shares the base and copies only the patches, so it is cheap and isolated from later changes.
    """

    def __init__(self, dtype: DTypeLike) -> None:
        super().__init__(dtype)
        self.replace(self.values)

    def set(self, rows: Sequence[int] | Rows, values: ArrayLike) -> None:
        """Change the values at `rows`, which are distinct; `values` has one for each row or one for all."""
        changed = np.asarray(rows, dtype=np.int64)
        if changed.size:
            self._snapshot = self.snapshot().patched(changed, values)
            if self._snapshot.rows.size > OVERLAY_EDGES:
                self.replace(self._snapshot.all())

    def replace(self, values: NDArray[Any]) -> None:
        """Replace the whole column by `values`, which must not change afterwards."""
        self._buffer, self.size = values, values.size
        self._snapshot = PatchedValues(values, _NOTHING, values[:0])

    def snapshot(self) -> PatchedValues:
        """Return the present column."""
        if self._snapshot.base.size < self.size:
            self._snapshot = PatchedValues(self._buffer[: self.size], self._snapshot.rows, self._snapshot.patches)
        return self._snapshot


OVERLAY_EDGES = 4096
"""Changed edges that are collected before the adjacency is rebuilt, and patches before a column is."""
_COLUMNS: Mapping[str, DTypeLike] = {
    "alive": np.bool_,
    **NODE_COLUMNS,
    "weight": np.float64,
    "last_activated": np.int64,
}
_EDGES = ("edge_source", "edge_target", "edge_type")
_DIRECTIONS = ("outgoing", "incoming")
_ARCS = ("indptr", "targets", "edges")
_MOMENTS = ("energy_at", "charged_at", "last_accessed")
_FIELDS_OF = attrgetter(*NODE_COLUMNS)
_IDS = "ids.json"
_GRAPH = "graph.json"


def write_topology(view: GraphView, folder: Path) -> None:
    """Write a whole graph into `folder`, which is empty; no file of an earlier state is reusable. Raises OSError."""
    for name in _COLUMNS:
        save_array(folder / f"{name}.npy", getattr(view, name).all())
    for name in _EDGES:
        save_array(folder / f"{name}.npy", getattr(view, name))
    base = layer_of(0, view.edge_count, (view.edge_source, view.edge_target), view.weight, view.node_count)
    for direction, adjacency in zip(_DIRECTIONS, base.directions, strict=True):
        for name in _ARCS:
            save_array(folder / f"{direction}_{name}.npy", getattr(adjacency, name))
        sources = _NOTHING if adjacency.sources is None else adjacency.sources
        save_array(folder / f"{direction}_sources.npy", sources)
    write_text(folder / _IDS, json.dumps(list(view.ids[: view.node_count])))
    described = {
        "sequence": view.sequence,
        "edge_types": [kind.value for kind in view.edge_types],
        "kinds": list(view.kinds),
        "scopes": [dataclasses.astuple(scope) for scope in view.scopes],
    }
    write_text(folder / _GRAPH, json.dumps(described))


def load_base_layer(folder: Path) -> Layer:
    """Load the layer of all edges that `write_topology` wrote."""
    found = list[Adjacency]()
    for direction in _DIRECTIONS:
        indptr, targets, edges, sources = (
            load_array(folder / f"{direction}_{name}.npy") for name in (*_ARCS, "sources")
        )
        found.append(Adjacency(indptr, targets, edges, sources if sources.size else None))
    return Layer(0, load_array(folder / f"{_EDGES[0]}.npy").size, lambda: (found[0], found[1]))


_Named = TypeVar("_Named")


class Fading(NamedTuple):
    """One application of a decay."""

    sequence: int
    """The number of the delta that holds the decay."""
    operator: Decay
    spared: Rows
    """Rows of the edges that the decay spares because they were accessed, ascending."""


def _adjacency(leaving: NDArray[Any], reached: NDArray[Any], edges: Rows, nodes: int) -> Adjacency:
    order = leaving.argsort(kind="stable")
    targets, edge_rows = reached[order].astype(np.int32), edges[order].astype(np.int32)
    if edges.size >= nodes:
        counts = np.bincount(leaving, minlength=nodes)
        return Adjacency(np.concatenate(([0], counts.cumsum())), targets, edge_rows)
    grouped = leaving[order].astype(np.int64)
    (starts,) = (grouped[1:] != grouped[:-1]).nonzero()
    ends = np.concatenate(([0], starts + 1, [grouped.size])) if grouped.size else np.zeros(1, dtype=np.int64)
    return Adjacency(ends, targets, edge_rows, grouped[ends[:-1]])


class Topology:
    """Rows, columns and layers of one graph. `commit` takes a plan that `resolve` validated, and cannot fail."""

    def __init__(self) -> None:
        self.sequence = 0
        self._computed: Computed | None = None
        self._ids: list[str] = []
        self._rows_by_id: dict[str, int] = {}
        self._columns = {name: PatchedColumn(dtype) for name, dtype in _COLUMNS.items()}
        self._alive, self._weight = self._columns["alive"], self._columns["weight"]
        # Kind 0 is the default of rows that never held a node.
        self._kinds = [DEFAULT_KIND]
        self._scopes = ScopeRows()
        self._edge_types: list[EdgeType] = []
        self._edge_source = Column(np.int32)
        self._edge_target = Column(np.int32)
        self._edge_type = Column(TYPE_CODE)
        self._layers: list[Layer] = []
        self._view: GraphView | None = None

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Load the topology that `write_topology` wrote. The arrays are memory-mapped.

        Raises:
            OSError: a file is missing.
            ValueError: a file has other contents.
        """
        described = json.loads((folder / _GRAPH).read_text(encoding="utf-8"))
        ids = json.loads((folder / _IDS).read_text(encoding="utf-8"))
        columns = {name: load_array(folder / f"{name}.npy") for name in (*_COLUMNS, *_EDGES)}
        found = cls()
        for name, column in found._columns.items():
            column.replace(columns[name])
        found.sequence, found._ids, found._rows_by_id = (
            described["sequence"],
            ids,
            dict(zip(ids, range(len(ids)), strict=True)),
        )
        found._kinds = list(map(register_kind, described["kinds"]))
        scopes = [Scope(user, agent, session, tuple(path)) for user, agent, session, path in described["scopes"]]
        found._scopes = ScopeRows.of(scopes, columns["scope"])
        found._edge_types = list(map(EdgeType, described["edge_types"]))
        found._edge_source, found._edge_target = Column.of(columns["edge_source"]), Column.of(columns["edge_target"])
        # Files from a time with fewer types have a narrower dtype.
        found._edge_type = Column.of(columns["edge_type"].astype(TYPE_CODE, copy=False))
        found._layers = [load_base_layer(folder)] if columns["edge_source"].size else []
        return found

    def compute(self, computed: Computed) -> None:
        """Compute the TERM edges from now on. Stored ones, of older memories, count as removed."""
        self._computed = computed
        term = int(self.type_codes([EdgeType.TERM])[0])
        (stored,) = (self._edge_type.values == term).nonzero()
        if stored.size:
            self.set(stored, weight=np.nan)
        self._view = None

    def remap(self, base: Layer) -> None:
        """Use `base`, a layer of all edges from row 0 on, instead of the layers that it covers."""
        above = [layer for layer in self._layers if layer.begin >= base.end]
        # A layer merged meanwhile may cross the end of `base`. Then all edges after `base` are sorted again.
        self._layers = [base, *above] if above and above[0].begin == base.end else [base]
        self._view = None

    @property
    def ids(self) -> list[str]:
        """The id of every node row; the same list object while rows keep their numbers."""
        return self._ids

    def view(self) -> GraphView:
        """Return the present graph; the same object until the next change."""
        if self._view is None:
            columns: dict[str, Any] = {name: column.snapshot() for name, column in self._columns.items()}
            self._view = GraphView(
                sequence=self.sequence,
                ids=self._ids,
                rows_by_id=self._rows_by_id,
                node_count=self._alive.size,
                edge_count=self._weight.size,
                **columns,
                kinds=tuple(self._kinds),
                scopes=self._scopes,
                edge_source=self._edge_source.values,
                edge_target=self._edge_target.values,
                edge_type=self._edge_type.values,
                edge_types=tuple(self._edge_types),
                layers=self._current_layers(),
                computed=self._computed,
            )
        return self._view

    def commit(self, plan: Plan, sequence: int) -> None:
        """Apply a plan as the delta numbered `sequence`."""
        delta, at = plan.delta, to_micros(plan.delta.at)
        self._weight.set(plan.removed_edges, np.nan)
        self._alive.set(plan.removed_nodes, values=False)
        if delta.nodes:
            self.put_nodes(delta.nodes, plan.node_rows)
        if delta.edges:
            used = [edge.last_activated or edge.created_at for edge in delta.edges]
            # The edges of one delta have the same few times.
            micros = {moment: to_micros(moment) for moment in set(used)}
            types, weights = zip(*[(edge.type, edge.weight) for edge in delta.edges], strict=True)
            self.append_edges(plan.edge_ends, self.type_codes(types), weights, [micros[moment] for moment in used])
        if delta.weights:
            self._weight.set(plan.weight_rows, [change.weight for change in delta.weights])
            self._columns["last_activated"].set(plan.weight_rows, plan.weight_times)
        if delta.operators:
            self.decay([Fading(sequence, *fading) for fading in zip(delta.operators, plan.spared, strict=True)])
        if delta.node_changes:
            self.change_nodes(plan)
        if delta.touch:
            uses = self._columns["uses"].snapshot().take(plan.touched_nodes) + plan.touched_counts
            self.set(plan.touched_nodes, last_accessed=at, uses=np.minimum(uses, MOST_COUNTED))
            self.set(plan.charged_nodes, charge=plan.charges, charged_at=plan.charge_times)
            self.set(plan.touched_edges, last_activated=plan.touched_times)
        self.sequence = sequence
        self._view = None

    def put_nodes(self, nodes: Sequence[MemoryNode], rows: Rows) -> None:
        """Write the columns of one or more `nodes` at `rows`."""
        fields = zip(*[_FIELDS_OF(node) for node in nodes], strict=True)
        columns: dict[str, Any] = dict(zip(NODE_COLUMNS, fields, strict=True))
        for name in _MOMENTS:
            moments = zip(columns[name], nodes, strict=True)
            columns[name] = [to_micros(moment or node.created_at) for moment, node in moments]
        columns["kind"], columns["scope"] = self.kind_codes(columns["kind"]), self.scope_codes(columns["scope"])
        columns["position"] = [-1 if position is None else position for position in columns["position"]]
        self.set_nodes([node.id for node in nodes], rows, columns)

    def set_nodes(self, ids: Sequence[str], rows: Rows, columns: Mapping[str, ArrayLike]) -> None:
        """Write all node columns at `rows`; rows from `node_count` on are appended."""
        old = rows < self._alive.size
        if not np.logical_or.reduce(old):
            self._scopes.add(np.asarray(columns["scope"], dtype=NODE_COLUMNS["scope"]), rows)
            self._append_nodes(ids, columns)
            return
        values = {name: np.asarray(columns[name], dtype=dtype) for name, dtype in NODE_COLUMNS.items()}
        entered = ~old
        entered[old] = self._columns["scope"].snapshot().take(rows[old]) != values["scope"][old]
        self._scopes.moved |= bool(entered[old].any())
        self._scopes.add(values["scope"][entered], rows[entered])
        self._alive.set(rows[old], values=True)
        new = np.flatnonzero(~old)
        for name, column in values.items():
            self._columns[name].set(rows[old], column[old])
        self._append_nodes([ids[i] for i in new.tolist()], {name: column[new] for name, column in values.items()})

    def _append_nodes(self, ids: Sequence[str], values: Mapping[str, ArrayLike]) -> None:
        # The columns grow before the ids are published, so that no reader finds an id without its columns.
        for name in NODE_COLUMNS:
            self._columns[name].extend(values[name])
        self._rows_by_id.update(zip(ids, range(len(self._ids), len(self._ids) + len(ids)), strict=True))
        self._ids += ids
        self._alive.extend([True] * len(ids))
        self._view = None

    def change_nodes(self, plan: Plan) -> None:
        """Write the energies and importances of a plan's node changes."""
        changes = list(zip(plan.changed_nodes.tolist(), plan.delta.node_changes, strict=True))
        charged = {row: change for row, change in changes if change.energy is not None}
        rated = {row: change.importance for row, change in changes if change.importance is not None}
        energies = [change.energy for change in charged.values() if change.energy is not None]
        moments = [to_micros(change.energy_at) for change in charged.values() if change.energy_at is not None]
        self.set(list(charged), base_energy=energies, energy_at=moments)
        self.set(list(rated), importance=list(rated.values()))

    def set(self, rows: Sequence[int] | Rows, **columns: ArrayLike) -> None:
        """Write columns of existing nodes or edges, by the names of `GraphView`; a weight of NaN removes an edge."""
        for name, values in columns.items():
            self._columns[name].set(rows, values)
        self._view = None

    def append_edges(self, ends: tuple[Rows, Rows], types: ArrayLike, weights: ArrayLike, activated: ArrayLike) -> None:
        """Append edges, given as columns of equal length."""
        if self._computed is not None:
            stored = np.asarray(types) == self._edge_types.index(EdgeType.TERM)
            weights = np.where(stored, np.nan, weights) if np.logical_or.reduce(stored) else weights
        self._edge_source.extend(ends[0])
        self._edge_target.extend(ends[1])
        self._edge_type.extend(types)
        self._columns["last_activated"].extend(activated)
        self._weight.extend(weights)
        self._view = None

    def kind_codes(self, kinds: Iterable[str]) -> NDArray[np.int16]:
        """Return the code of each kind in this graph; assign codes to new kinds."""
        return _codes(self._kinds, kinds)

    def scope_codes(self, scopes: Iterable[Scope]) -> NDArray[np.int32]:
        """Return the code of each scope in this graph; assign codes to new scopes."""
        return self._scopes.codes(scopes)

    def type_codes(self, types: Iterable[EdgeType]) -> NDArray[np.int16]:
        """Return the code of each type in this graph; assign codes to new types."""
        return _codes(self._edge_types, types)

    def decay(self, fadings: Sequence[Fading], since: Rows | None = None) -> None:
        """Apply decays to the plastic edges, one after the other.

        Args:
            fadings: in the order of their deltas.
            since: (edges,) number of the delta that wrote each weight; a decay changes only weights from earlier
                deltas. If omitted, all weights are from earlier deltas.
        """
        if not fadings:
            return
        plastic = np.array([edge_type.plastic for edge_type in self._edge_types], dtype=np.bool_)
        activated = self._columns["last_activated"].snapshot().all()
        ever_idle = activated < max(to_micros(fading.operator.idle_before) for fading in fadings)
        if plastic.size:
            ever_idle &= plastic[self._edge_type.values]
        rows = np.flatnonzero(ever_idle)
        weight = self._weight.snapshot().all()
        fading, last = weight[rows], activated[rows]
        for sequence, operator, spared in fadings:
            idle = last < to_micros(operator.idle_before)
            if since is not None:
                idle &= since[rows] < sequence
            idle &= ~np.isin(rows, spared)
            np.multiply(fading, operator.factor, out=fading, where=idle)
            fading[idle & (fading < operator.floor)] = np.nan
        weight[rows] = fading
        self._weight.replace(weight)
        self._view = None

    def _current_layers(self) -> tuple[Layer, ...]:
        """Return all layers. The newest edges form a temporary layer until they are many enough for a permanent one."""
        sealed = self._layers[-1].end if self._layers else 0
        end = self._weight.size
        if end == sealed:
            return tuple(self._layers)
        tail = self._layer(sealed, end)
        if end - sealed < OVERLAY_EDGES:
            return (*self._layers, tail)
        self._layers.append(tail.made())
        # Merge neighbouring layers of similar size, so that each edge is sorted only about log2(edges) times.
        while len(self._layers) > 1 and _size(self._layers[-2]) < 2 * _size(self._layers[-1]):
            upper, lower = self._layers.pop(), self._layers.pop()
            self._layers.append(self._layer(lower.begin, upper.end).made())
        return tuple(self._layers)

    def _layer(self, begin: int, end: int) -> Layer:
        ends = self._edge_source.values, self._edge_target.values
        return layer_of(begin, end, ends, self._weight.snapshot(), self._alive.size)


def layer_of(
    begin: int, end: int, ends: tuple[NDArray[np.int32], NDArray[np.int32]], weight: PatchedValues, nodes: int
) -> Layer:
    """Return the adjacency of the edge rows in [`begin`, `end`), in both directions, of so many node rows.

    `ends` are source and target of every edge row. A weight of NaN marks a removed edge, which the layer omits.
    """

    def directions() -> tuple[Adjacency, Adjacency]:
        rows = np.arange(begin, end)
        rows = rows[~np.isnan(weight.take(rows))]
        source, target = ends[0][rows], ends[1][rows]
        return _adjacency(source, target, rows, nodes), _adjacency(target, source, rows, nodes)

    return Layer(begin, end, directions)


def _codes(known: list[_Named], values: Iterable[_Named]) -> NDArray[np.int16]:
    """Return the index of each value in `known`; append values that it lacks."""
    wanted = list(values)
    known += [value for value in dict.fromkeys(wanted) if value not in known]
    codes = {value: code for code, value in enumerate(known)}
    return np.array([codes[value] for value in wanted], dtype=TYPE_CODE)


def _size(layer: Layer) -> int:
    return layer.end - layer.begin

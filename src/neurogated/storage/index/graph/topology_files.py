"""Files of a topology: one array for each column, and the adjacency as one layer."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from neurogated.core.columns import NODE_COLUMNS, Adjacency, Layer
from neurogated.core.edge_type import EdgeType
from neurogated.core.files import write_text
from neurogated.core.node_kind import register_kind
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.storage.files.array_files import load_array, save_array
from neurogated.storage.index.graph.topology import Topology, layer_of

_COLUMNS = ("alive", *NODE_COLUMNS, "weight", "last_activated")
_EDGES = ("edge_source", "edge_target", "edge_type")
_DIRECTIONS = ("outgoing", "incoming")
_ARCS = ("indptr", "targets", "edges")
_IDS = "ids.json"
_GRAPH = "graph.json"
_NOTHING = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True)
class TopologySnapshot:
    """A graph at one moment, to be written while the topology changes."""

    view: GraphView
    """The whole graph."""

    def write(self, folder: Path, previous: Path | None) -> None:  # noqa: ARG002 - no file of `previous` is reusable
        """Write the graph into `folder`; see `PartSnapshot`."""
        view = self.view
        for name in _COLUMNS:
            save_array(folder / f"{name}.npy", getattr(view, name).all())
        for name in _EDGES:
            save_array(folder / f"{name}.npy", getattr(view, name))
        base = layer_of(0, view.edge_count, (view.edge_source, view.edge_target), view.weight, view.node_count)
        _save_layer(folder, base)
        write_text(folder / _IDS, json.dumps(list(view.ids[: view.node_count])))
        described = {
            "sequence": view.sequence,
            "edge_types": [kind.value for kind in view.edge_types],
            "kinds": list(view.kinds),
            "scopes": [dataclasses.astuple(scope) for scope in view.scopes],
        }
        write_text(folder / _GRAPH, json.dumps(described))


def _save_layer(folder: Path, layer: Layer) -> None:
    for direction in _DIRECTIONS:
        adjacency: Adjacency = getattr(layer, direction)
        for name in _ARCS:
            save_array(folder / f"{direction}_{name}.npy", getattr(adjacency, name))
        save_array(folder / f"{direction}_sources.npy", _NOTHING if adjacency.sources is None else adjacency.sources)


def load_base_layer(folder: Path) -> Layer:
    """Load the layer of all edges that `TopologySnapshot` wrote."""
    edges = load_array(folder / f"{_EDGES[0]}.npy").size
    return Layer(0, edges, *(_load_adjacency(folder, direction) for direction in _DIRECTIONS))


def _load_adjacency(folder: Path, direction: str) -> Adjacency:
    indptr, targets, edges = (load_array(folder / f"{direction}_{name}.npy") for name in _ARCS)
    sources = load_array(folder / f"{direction}_sources.npy")
    return Adjacency(indptr, targets, edges, sources if sources.size else None)


def load_topology(folder: Path, overlay_edges: int) -> Topology:
    """Load the topology that `TopologySnapshot` wrote. The arrays are memory-mapped.

    Raises:
        OSError: a file is missing.
        ValueError: a file has other contents.
    """
    described = json.loads((folder / _GRAPH).read_text(encoding="utf-8"))
    ids = json.loads((folder / _IDS).read_text(encoding="utf-8"))
    columns = {name: load_array(folder / f"{name}.npy") for name in (*_COLUMNS, *_EDGES)}
    topology = Topology(overlay_edges)
    topology.restore(
        ids,
        columns,
        sequence=described["sequence"],
        kinds=map(register_kind, described["kinds"]),
        scopes=(Scope(user, agent, session, tuple(path)) for user, agent, session, path in described["scopes"]),
        edge_types=map(EdgeType, described["edge_types"]),
        layers=[load_base_layer(folder)] if columns["edge_source"].size else [],
    )
    return topology

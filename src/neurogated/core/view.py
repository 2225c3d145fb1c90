"""`GraphView`: a read-only snapshot of one graph for all readers.

Row numbers identify nodes and edges. They are valid in one view and in searches on it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey
from neurogated.core.scope import Scope

__all__ = ["Arcs", "GraphView", "Rows", "Values"]

Rows = NDArray[np.int64]
"""(n,) int64 row numbers."""


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


class Values(Protocol):
    """A column of a view."""

    def take(self, rows: Rows) -> NDArray[Any]:
        """Return the values at `rows`."""

    def all(self) -> NDArray[Any]:
        """Return the whole column."""


class GraphView(Protocol):
    """The graph after the delta number `sequence`; later writes do not change the view."""

    @property
    def sequence(self) -> int:
        """The number of the last delta that the view shows."""

    @property
    def ids(self) -> Sequence[str]:
        """The id of every node row, also of removed nodes. Rows from `node_count` on are newer than the view."""

    @property
    def rows_by_id(self) -> Mapping[str, int]:
        """The row of every id."""

    @property
    def node_count(self) -> int:
        """Node rows, including those of removed nodes."""

    @property
    def edge_count(self) -> int:
        """Edge rows, including those of removed edges."""

    @property
    def alive(self) -> Values:
        """(nodes,) bool, whether the view shows the node."""

    @property
    def base_energy(self) -> Values:
        """(nodes,) float64, 0–1; the energy at `energy_at`."""

    @property
    def energy_at(self) -> Values:
        """(nodes,) int64, microseconds since 1970 UTC."""

    @property
    def importance(self) -> Values:
        """(nodes,) float64, 0–1."""

    @property
    def uses(self) -> Values:
        """(nodes,) int32, how often recalls returned the node."""

    @property
    def charge(self) -> Values:
        """(nodes,) float64, 0–1; the energy that uses have added, at `charged_at`."""

    @property
    def charged_at(self) -> Values:
        """(nodes,) int64, microseconds since 1970 UTC."""

    @property
    def last_accessed(self) -> Values:
        """(nodes,) int64, microseconds since 1970 UTC."""

    @property
    def kind(self) -> Values:
        """(nodes,) int16, index into `kinds`."""

    @property
    def position(self) -> Values:
        """(nodes,) int64, position in the session; -1 outside of one."""

    @property
    def kinds(self) -> Sequence[str]:
        """The kinds of nodes."""

    @property
    def edge_source(self) -> NDArray[np.int32]:
        """(edges,) node rows."""

    @property
    def edge_target(self) -> NDArray[np.int32]:
        """(edges,) node rows."""

    @property
    def edge_type(self) -> NDArray[np.int16]:
        """(edges,) index into `edge_types`."""

    @property
    def edge_types(self) -> Sequence[EdgeType]:
        """The types of edges."""

    @property
    def weight(self) -> Values:
        """(edges,) float64, 0–1; NaN if the edge is removed."""

    @property
    def last_activated(self) -> Values:
        """(edges,) int64, microseconds since 1970 UTC."""

    @property
    def hidden(self) -> Rows:
        """Rows of nodes that are in the graph but not in this view, ascending."""

    @property
    def among(self) -> Rows | None:
        """Rows of the nodes that searches may find, ascending; None for all. It may list hidden rows.

        It does not restrict the spreading of activation.
        """

    def admitted(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whether searches may find the nodes at `rows`."""

    def scope_of(self, row: int) -> Scope:
        """Return the scope of the node at `row`."""

    def owners(self) -> NDArray[np.int32]:
        """Return (nodes,) numbers that are equal for nodes of the same user and agent."""

    def find(self, node_id: str) -> int | None:
        """Return the row of a node; None if the graph has no such node."""

    def row(self, node_id: str) -> int:
        """Return the row of a node; raises UnknownIdError."""

    def rows(self, node_ids: Iterable[str]) -> Rows:
        """Return the rows of several nodes, in the order of `node_ids`; raises UnknownIdError."""

    def present(self, node_ids: Iterable[str], known: Collection[str] = ()) -> list[str]:
        """Return those of the nodes that the view shows. The others are removed or expired.

        Args:
            node_ids: ids.
            known: ids that the graph once had, as the caller knows even if a compaction erased them.

        Raises:
            UnknownIdError: an id is not in `known`, and the graph never had it or a compaction erased it.
        """

    def known_rows(self, node_ids: Iterable[str]) -> Rows:
        """Return the rows of those of the nodes that the graph has, ascending and distinct."""

    def arcs(
        self, frontier: Rows, edge_type: EdgeType | None = None, *, both_ways: bool = False, inwards: bool = False
    ) -> Arcs:
        """Return the arcs that leave the nodes in `frontier`.

        Args:
            frontier: (f,) node rows.
            edge_type: the type to walk; all types if omitted.
            both_ways: walk edges along and against their stored direction.
            inwards: walk edges against their stored direction only.
        """

    def edge_rows(self, sources: Rows, targets: Rows, edge_type: EdgeType) -> Rows:
        """Return the row of the edge of `edge_type` from each source to its target, -1 if it does not exist."""

    def edge_key(self, edge_row: int) -> EdgeKey:
        """Return the key of an edge."""

    def live_edges(self) -> Rows:
        """Return the rows of all edges that are not removed."""

    def live_nodes(self) -> Rows:
        """Return the rows of all nodes that are not removed."""

    def admitted_nodes(self) -> Rows:
        """Return the rows of all nodes that searches may find."""

    def to_networkx(self) -> Any:  # noqa: ANN401 - a package that only an extra installs
        """Return the nodes that searches may find, and the edges between them, as a `networkx.MultiDiGraph`.

        Nodes have their id as key, and `kind`, `importance`, `base_energy`, `charge` and `uses`. Edges have the name of
        their type as key, and `weight`.

        Raises:
            MissingExtraError: networkx is not installed.
        """

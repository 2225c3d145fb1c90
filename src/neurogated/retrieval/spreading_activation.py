"""Energy spreading from anchors over a graph, and the way it came to each node."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import Kernel
from neurogated.core.trace import PathStep
from neurogated.core.view import Arcs, GraphView, Rows

__all__ = ["Activation", "SpreadingActivation"]

Energies = NDArray[np.float64]
Gate = Callable[[Rows], NDArray[np.floating]]
"""From node rows (n,) to shares (n,), 0-1."""


class _Energy(NamedTuple):
    """Energy on some nodes; rows ascend."""

    rows: Rows
    values: Energies

    def __add__(self, other: object) -> _Energy:
        if not isinstance(other, _Energy):
            return NotImplemented
        return _summed(np.concatenate((self.rows, other.rows)), np.concatenate((self.values, other.values)))

    def of(self, row: int) -> float:
        """Return the energy of one node, 0 if it has none."""
        place = int(np.searchsorted(self.rows, row))
        return float(self.values[place]) if place < self.rows.size and self.rows[place] == row else 0.0


def _summed(rows: Rows, values: Energies) -> _Energy:
    unique, position = np.unique(rows, return_inverse=True)
    sums = np.bincount(position, weights=values, minlength=unique.size)
    return _Energy(unique, sums.astype(np.float64, copy=False))


class _Flow(NamedTuple):
    """Every portion of energy that moved in one hop; parallel arrays."""

    source: Rows
    target: Rows
    edge: Rows
    amount: Energies

    def arrivals(self) -> _Energy:
        return _summed(self.target, self.amount)

    def gated(self, gate: Gate) -> _Flow:
        targets, position = np.unique(self.target, return_inverse=True)
        return self._replace(amount=self.amount * gate(targets)[position])

    def strongest_into(self, row: int) -> int | None:
        """Return the position of the largest portion that came to `row`, the earliest edge among equals."""
        into = np.flatnonzero(self.target == row)
        if not into.size:
            return None
        return int(into[np.lexsort((self.edge[into], -self.amount[into]))[0]])


@dataclass(frozen=True, slots=True)
class Activation:
    """Where the energy is after the last hop, and every flow that brought it there."""

    view: GraphView
    anchors: _Energy
    spread: _Energy
    """Energy that came over edges, without what the anchors were given."""
    flows: tuple[_Flow, ...]
    cumulative: bool
    """Whether a hop spreads all energy there is (classic), or only what arrived in the hop before (gated)."""

    @property
    def total(self) -> _Energy:
        """Energy of every active node, the anchors' own included."""
        return self.anchors + self.spread

    def path(self, row: int) -> tuple[PathStep, ...]:
        """Return the strongest way from an anchor to the node at `row`; empty if the node is an anchor itself."""
        steps: list[PathStep] = []
        hop: int | None = len(self.flows)
        while hop is not None and self.anchors.of(row) == 0.0:
            hop = self._strongest_hop(row, hop)
            if hop is not None:
                step, row = self._step(row, hop)
                steps.append(step)
        return tuple(reversed(steps))

    def _strongest_hop(self, row: int, before: int) -> int | None:
        """Return the hop, earlier than `before`, that brought most to `row` in one portion; None if none did."""
        first = 0 if self.cumulative or before == len(self.flows) else before - 1
        best, largest = None, 0.0
        for hop in range(first, before):
            place = self.flows[hop].strongest_into(row)
            if place is not None and self.flows[hop].amount[place] > largest:
                best, largest = hop, float(self.flows[hop].amount[place])
        return best

    def _step(self, row: int, hop: int) -> tuple[PathStep, int]:
        flow = self.flows[hop]
        place = flow.strongest_into(row)
        assert place is not None  # noqa: S101 - the hop was chosen because something came to the row in it
        source, edge = int(flow.source[place]), int(flow.edge[place])
        step = PathStep(
            self.view.ids[source],
            self.view.ids[row],
            self.view.edge_types[self.view.edge_type[edge]],
            forward=int(self.view.edge_source[edge]) == source,
            weight=float(self.view.weight.take(np.array([edge]))[0]),
            flow=float(flow.amount[place]),
        )
        return step, source


class SpreadingActivation:
    """Spreads energy for `MAX_HOPS` rounds: Flow = Energy x EdgeWeight x KernelMod x Decay.

    Classic, as the specification has it: every round all active nodes send along their stored edges, and what arrives
    is added to what is there.

    Gated: SEQ and SIM edges are walked both ways; each round only what arrived in the round before moves on; a node
    shares its energy out among its edges of a type once their weights sum to more than 1, so that hubs do not multiply
    what they get: EdgeWeight / max(1, sum of the node's EdgeWeights of the type); and a gate, 0-1, says how much a
    node takes in. The sum is taken by type, so that many similar nodes do not drown the few that precede or follow.
    """

    def __init__(self, config: MemoryConfig) -> None:
        self._hops = config.MAX_HOPS
        self._decay = config.ENERGY_DECAY_RATE
        self._classic = config.ACTIVATION == "classic"

    def spread(
        self, view: GraphView, anchors: Mapping[str, float], kernel: Kernel, gate: Gate | None = None
    ) -> Activation:
        """Let the energy of the anchors spread.

        Args:
            view: the graph.
            anchors: id and energy of the nodes it starts from; energies of 0 and below start nothing.
            kernel: weight of each type of edge.
            gate: gives the share that each of some nodes takes in of what flows to it; all when left out.

        Raises:
            UnknownIdError: an anchor is not in the graph.
        """
        start = {node_id: energy for node_id, energy in anchors.items() if energy > 0}
        primed = _summed(view.rows(start), np.array(list(start.values()), dtype=np.float64))
        moving, spread = primed, _Energy(np.empty(0, dtype=np.int64), np.empty(0))
        flows: list[_Flow] = []
        for _ in range(self._hops):
            flow = self._flow(view, moving, kernel)
            if gate is not None:
                flow = flow.gated(gate)
            arrived = flow.arrivals()
            flows.append(flow)
            spread = spread + arrived
            moving = moving + arrived if self._classic else arrived
        return Activation(view, primed, spread, tuple(flows), cumulative=self._classic)

    def _flow(self, view: GraphView, energy: _Energy, kernel: Kernel) -> _Flow:
        parts = [self._walk(view, energy.rows, edge_type, kernel) for edge_type in view.edge_types]
        if not parts:
            nothing = np.empty(0, dtype=np.int64)
            return _Flow(nothing, nothing, nothing, np.empty(0))
        origin, target, edge, conductance = (np.concatenate(column) for column in zip(*parts, strict=True))
        return _Flow(energy.rows[origin], target, edge, energy.values[origin] * conductance * self._decay)

    def _walk(self, view: GraphView, rows: Rows, edge_type: EdgeType, kernel: Kernel) -> Arcs:
        """Return the arcs of one type over which energy can flow; their weights are EdgeWeight x KernelMod."""
        arcs = view.arcs(rows, edge_type, both_ways=edge_type.both_ways and not self._classic)
        weight = arcs.weight
        if not self._classic:
            out_strength = np.bincount(arcs.origin, weights=weight, minlength=rows.size)
            weight = weight / np.maximum(1.0, out_strength)[arcs.origin]
        along = view.edge_source[arcs.edge] == rows[arcs.origin]
        conductance = weight * np.where(along, kernel[edge_type], kernel.backwards(edge_type))
        is_open = conductance > 0
        return Arcs(arcs.origin[is_open], arcs.target[is_open], arcs.edge[is_open], conductance[is_open])

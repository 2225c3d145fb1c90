"""Energy spreading from anchors over a graph, and the way it came to each node."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import Kernel
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.trace import PathStep
from neurogated.core.view import Arcs, GraphView, Rows
from neurogated.errors import ConfigError

__all__ = ["Activation", "SpreadingActivation", "spreading_activation"]

Energies = NDArray[np.float64]
Gate = Callable[[Rows], NDArray[np.floating]]
"""From node rows (n,) to how far each node is open (n,), 0-1."""


class _Energy(NamedTuple):
    """Energy on some nodes; rows ascend."""

    rows: Rows
    values: Energies

    def __add__(self, other: object) -> _Energy:
        if not isinstance(other, _Energy):
            return NotImplemented
        if not self.rows.size or not other.rows.size:
            return self if self.rows.size else other
        return _summed(np.concatenate((self.rows, other.rows)), np.concatenate((self.values, other.values)))

    def of(self, row: int) -> float:
        """Return the energy of one node, 0 if it has none."""
        place = int(np.searchsorted(self.rows, row))
        return float(self.values[place]) if place < self.rows.size and self.rows[place] == row else 0.0

    def strongest(self, count: int | None) -> _Energy:
        """Return the `count` nodes of most energy, the earliest rows among equals; all where `count` is None."""
        if count is None or self.rows.size <= count:
            return self
        least = np.partition(self.values, self.rows.size - count)[self.rows.size - count]
        (best,) = (self.values >= least).nonzero()
        if best.size > count:
            # Of those that tie for the last places the latest are too many.
            (tied,) = (self.values[best] == least).nonzero()
            best = np.delete(best, tied[tied.size - (best.size - count) :])
        return _Energy(self.rows[best], self.values[best])


_NO_ENERGY = _Energy(np.empty(0, dtype=np.int64), np.empty(0))


def _distinct(rows: Rows) -> tuple[Rows, Rows]:
    """Return each row once, ascending, and the place of every given row among them."""
    order = rows.argsort()
    ordered = rows[order]
    first = np.empty(rows.size, dtype=np.bool_)
    first[:1] = True
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    place = np.empty(rows.size, dtype=np.int64)
    place[order] = first.cumsum() - 1
    return ordered[first], place


def _summed(rows: Rows, values: Energies) -> _Energy:
    distinct, place = _distinct(rows)
    return _Energy(distinct, _sums(values, place, distinct.size))


class _Terms(NamedTuple):
    """Terms of the formula by the way an edge is walked: a type has two, against and then along its direction."""

    is_open: NDArray[np.bool_]
    modulation: Energies
    """KernelMod."""
    selective: NDArray[np.bool_]
    """Whether energy flows only as far as the gate is open."""


class _Flow(NamedTuple):
    """Every portion of energy that moved in one hop; parallel arrays."""

    source: Rows
    target: Rows
    edge: Rows
    amount: Energies

    def strongest_into(self, row: int) -> int | None:
        """Return the position of the largest portion that came to `row`, the earliest edge among equals."""
        into = np.flatnonzero(self.target == row)
        if not into.size:
            return None
        amounts = self.amount[into]
        largest = into[amounts == amounts.max()]
        return int(largest[self.edge[largest].argmin()])


@dataclass(frozen=True, slots=True)
class Activation:
    """Where the energy is after the last hop, and every flow that brought it there."""

    view: GraphView
    anchors: _Energy
    spread: _Energy
    """Energy that came over edges, without what the anchors were given."""
    flows: tuple[_Flow, ...]
    cumulative: bool
    """Whether a hop spreads all energy there is, as in the classic mode, or only what arrived in the hop before."""

    @property
    def total(self) -> _Energy:
        """Energy of every active node, the anchors' own included."""
        return self.anchors + self.spread

    def path(self, row: int) -> tuple[PathStep, ...]:
        """Return the strongest way from an anchor to the node at `row`; empty if the node is an anchor itself."""
        steps: list[PathStep] = []
        hop = len(self.flows)
        while self.anchors.of(row) == 0.0 and (strongest := self._strongest_portion(row, hop)) is not None:
            hop, place = strongest
            step, row = self._step(row, hop, place)
            steps.append(step)
        return tuple(reversed(steps))

    def _strongest_portion(self, row: int, before: int) -> tuple[int, int] | None:
        """Return hop, earlier than `before`, and place of the largest portion that came to `row`; None if none did."""
        first = 0 if self.cumulative or before == len(self.flows) else before - 1
        best, largest = None, 0.0
        for hop in range(first, before):
            place = self.flows[hop].strongest_into(row)
            if place is not None and self.flows[hop].amount[place] > largest:
                best, largest = (hop, place), float(self.flows[hop].amount[place])
        return best

    def _step(self, row: int, hop: int, place: int) -> tuple[PathStep, int]:
        flow = self.flows[hop]
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


_CLASSIC_TYPES = frozenset({EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE})
"""The specification's graph has these; its formula walks no others."""


class SpreadingActivation:
    """Spreads energy for `MAX_HOPS` rounds: Flow = Energy x EdgeWeight x KernelMod x Decay.

    Classic, as the specification has it: every round all active nodes send along their stored edges, and what arrives
    is added to what is there.

    Gated: SEQ, SIM, MENTION, TERM and ASSOC edges are walked both ways; each round only what arrived in the round
    before moves on; and of its energy a node gives each edge of a type a share, by the edge's weight and by how far
    the gate of the node it leads to is open:

        claim(i, j) = EdgeWeight(i, j) x gate(j) ^ GATE_EXPONENT
        share(i, j) = claim(i, j) / sum of claim(i, k) over the node's edges of the type

    so that hubs do not multiply what they get, and energy goes where the question points. Shares are taken by type, so
    that many similar nodes do not drown the few that precede or follow. Over edges of `SELECTIVE_EDGE_TYPES`, which say
    what was of use to some other question, energy flows only as far as the gate is open: x gate(j) ^ SELECTIVITY.
    """

    def __init__(self, config: MemoryConfig) -> None:
        self._hops = config.MAX_HOPS
        self._decay = config.ENERGY_DECAY_RATE
        self._classic = config.ACTIVATION == "classic"
        self._frontier = None if self._classic else config.retrieval.max_frontier
        self._damps_hubs = config.retrieval.switches.damp_hubs and not self._classic
        self._cumulative = self._classic or not config.retrieval.switches.move_once
        self._exponent = config.retrieval.gate_exponent if config.retrieval.switches.gate_hops else 0.0
        self._selectivity = config.retrieval.selectivity if config.retrieval.switches.gate_hops else 0.0
        self._selective = _edge_types(config, "selective_edge_types")
        self._closed = _edge_types(config, "closed_edge_types")

    def spread(
        self, view: GraphView, anchors: Mapping[str, float], kernel: Kernel, gate: Gate | None = None
    ) -> Activation:
        """Let the energy of the anchors spread.

        Args:
            view: the graph.
            anchors: id and energy of the nodes it starts from; energies of 0 and below start nothing.
            kernel: weight of each type of edge.
            gate: says of some nodes, by rows that ascend, how far each is open; all are open alike when left out.

        Raises:
            UnknownIdError: an anchor is not in the graph.
        """
        start = {node_id: energy for node_id, energy in anchors.items() if energy > 0}
        primed = _summed(view.rows(start), np.array(list(start.values()), dtype=np.float64))
        moving, spread = primed.strongest(self._frontier), _NO_ENERGY
        terms = self._terms(view.edge_types, kernel)
        flows: list[_Flow] = []
        for _ in range(self._hops):
            if not moving.rows.size:
                break
            flow, arrived = self._flow(view, moving, terms, gate)
            flows.append(flow)
            spread = spread + arrived
            moving = (moving + arrived if self._cumulative else arrived).strongest(self._frontier)
        return Activation(view, primed, spread, tuple(flows), cumulative=self._cumulative)

    def _terms(self, edge_types: Sequence[EdgeType], kernel: Kernel) -> _Terms:
        """Return what the formula says of each type of edge."""
        ways = [(kind, along) for kind in edge_types for along in (False, True)]
        return _Terms(
            np.array([self._walks(kind) and (along or kind.both_ways) for kind, along in ways], dtype=np.bool_),
            np.array([kernel[kind] if along else kernel.backwards(kind) for kind, along in ways], dtype=np.float64),
            np.array([bool(self._selectivity) and kind in self._selective for kind, _ in ways], dtype=np.bool_),
        )

    def _walks(self, kind: EdgeType) -> bool:
        return kind not in self._closed and (not self._classic or kind in _CLASSIC_TYPES)

    def _flow(self, view: GraphView, energy: _Energy, terms: _Terms, gate: Gate | None) -> tuple[_Flow, _Energy]:
        """Return what flows from nodes with energy in one hop, and what arrives."""
        arcs, ways = self._walkable(view, energy.rows, terms)
        targets, place = _distinct(arcs.target)
        gates = gate(targets).astype(np.float64)[place] if gate is not None and place.size else None
        # Shares are counted by node and type.
        amount = energy.values[arcs.origin]
        if self._damps_hubs or gates is not None:
            amount *= self._shares(arcs, gates, arcs.origin * len(view.edge_types) + ways // 2)
        amount *= arcs.weight * terms.modulation[ways] * self._decay
        if gates is not None and terms.selective.any():
            selective = terms.selective[ways]
            amount[selective] *= gates[selective] ** self._selectivity
        arrived = _sums(amount, place, targets.size)
        reached, flows = arrived > 0, amount > 0
        return (
            _Flow(energy.rows[arcs.origin[flows]], arcs.target[flows], arcs.edge[flows], amount[flows]),
            _Energy(targets[reached], arrived[reached]),
        )

    def _walkable(self, view: GraphView, rows: Rows, terms: _Terms) -> tuple[Arcs, Rows]:
        """Return the arcs that may be walked from `rows`, and the way of each, which `terms` tell about."""
        arcs = view.arcs(rows, both_ways=not self._classic)
        ways = 2 * view.edge_type[arcs.edge].astype(np.int64) + (view.edge_source[arcs.edge] == rows[arcs.origin])
        walked = terms.is_open[ways]
        if not walked.all():
            arcs, ways = Arcs(*(column[walked] for column in arcs)), ways[walked]
        return arcs, ways

    def _shares(self, arcs: Arcs, gates: Energies | None, groups: Rows) -> Energies:
        """Return which share of its energy a node gives to each of its arcs; arcs of one group share it."""
        claims = arcs.weight
        if gates is not None:
            openness = gates**self._exponent
            if not self._damps_hubs:
                return openness
            claims = claims * openness
        total = _sums(claims, groups)[groups]
        if not (total > 0).all():
            # Where no neighbour is like the question, the weights alone decide.
            claims = np.where(total > 0, claims, arcs.weight)
            total = _sums(claims, groups)[groups]
        # Where all weights are 0, so are all claims.
        return claims / np.where(total > 0, total, 1.0)


def spreading_activation(query: str, graph: GraphStorePort, config: MemoryConfig | None = None) -> list[MemoryNode]:
    """Return the `TOP_N_RETRIEVAL` nodes that a question brings up, best first; see `NeuroRetriever`."""
    # The retriever is made of this module.
    from neurogated.retrieval.neuro_retriever import NeuroRetriever  # noqa: PLC0415

    return NeuroRetriever(graph, config).retrieve(query)


def _sums(values: Energies, groups: Rows, count: int = 0) -> Energies:
    """Return the sum over each group, of at least `count` groups, in the order of the values."""
    return np.bincount(groups, weights=values, minlength=count).astype(np.float64, copy=False)


def _edge_types(config: MemoryConfig, setting: str) -> frozenset[EdgeType]:
    """Return the edge types that a setting names.

    Raises:
        ConfigError: there is no such type.
    """
    names = [name.strip() for name in getattr(config.retrieval, setting).split(",") if name.strip()]
    try:
        return frozenset(EdgeType[name] for name in names)
    except ConfigError as error:
        raise ConfigError(f"retrieval.{setting}: {error}") from None

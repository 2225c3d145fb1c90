"""Spreads activation from anchors over a graph and records every flow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.columns import begins, firsts, partitioned
from neurogated.core.edge_type import EdgeType
from neurogated.core.kernel import Kernel
from neurogated.core.model import EdgeKey
from neurogated.core.trace import PathStep
from neurogated.core.view import GraphView, Links, Rows
from neurogated.retrieval.formula import FORMULA, Formula

Values = NDArray[np.float64]
Gate = Callable[[Rows], NDArray[np.floating]]
"""Returns for rows of nodes (n,), which ascend, the gate of each node (n,): 0 is closed, 1 is open."""


class _Levels(NamedTuple):
    """Activation of some nodes; rows ascend."""

    rows: Rows
    values: Values

    def __add__(self, other: object) -> _Levels:
        if not isinstance(other, _Levels):
            return NotImplemented
        if not self.rows.size or not other.rows.size:
            return self if self.rows.size else other
        return _summed(np.concatenate((self.rows, other.rows)), np.concatenate((self.values, other.values)))

    def at(self, rows: Rows) -> Values:
        """Return the activation of each of `rows`, 0 if it has none."""
        if not self.rows.size:
            return np.zeros(rows.size)
        place = self.rows.searchsorted(rows)
        return np.where(self.rows.take(place, mode="clip") == rows, self.values.take(place, mode="clip"), 0.0)

    def strongest(self, count: int | None) -> _Levels:
        """Return the `count` nodes with the most activation, of equal ones the first; all if `count` is None."""
        if count is None or self.rows.size <= count:
            return self
        least = partitioned(self.values, self.rows.size - count)[self.rows.size - count]
        (best,) = (self.values >= least).nonzero()
        if best.size > count:
            # Several nodes tie for the last places; the last of them are left out.
            (tied,) = (self.values[best] == least).nonzero()
            best = np.delete(best, tied[tied.size - (best.size - count) :])
        return _Levels(self.rows[best], self.values[best])


SELECTIVITY = 6.0
"""Exponent of the gate of edges that were learned from other questions: they lead to similar memories only."""

_NONE = _Levels(np.empty(0, dtype=np.int64), np.empty(0))


def _summed(rows: Rows, values: Values) -> _Levels:
    first, place = firsts(rows)
    return _Levels(rows[first], _sums(values, place, first.size))


class _Terms(NamedTuple):
    """Terms of the formula for each way to walk an edge: for each type against its direction, then along it."""

    is_open: NDArray[np.bool_]
    modulation: Values
    """KernelMod: weight in the kernel."""
    selective: NDArray[np.bool_]
    """Whether the gate scales the flow."""


class _Flow(NamedTuple):
    """All portions of activation that moved in one hop, in parallel arrays."""

    source: Rows
    target: Rows
    edge: Rows
    """Edge row, or the number of a computed edge."""
    way: Rows
    """Position in `_Terms`: twice the code of the type, and 1 more along the edge."""
    weight: Values
    """Of the edge."""
    amount: Values

    def at(self, places: NDArray[np.bool_ | np.signedinteger] | slice) -> _Flow:
        """Return some of the portions."""
        return _Flow._make([column[places] for column in self])

    def strongest_into(self, wanted: NDArray[np.bool_]) -> dict[int, int]:
        """Return the position of the largest portion into each wanted row, of equal ones that with the first edge.

        Args:
            wanted: (nodes,) which rows are wanted; those without a portion are left out.
        """
        (into,) = wanted[self.target].nonzero()
        into = into[np.lexsort((self.edge[into], -self.amount[into], self.target[into]))]
        rows = self.target[into]
        first = begins(rows)
        return dict(zip(rows[first].tolist(), into[first].tolist(), strict=True))


@dataclass(frozen=True, slots=True)
class Activation:
    """The activation of each node after the last hop, with all flows."""

    view: GraphView
    anchors: _Levels
    spread: _Levels
    """Activation that arrived over edges, without the start of the anchors."""
    flows: tuple[_Flow, ...]
    cumulative: bool
    """Whether each hop spreads all activation, as in the classic mode, or only the arrivals of the previous hop."""

    @property
    def total(self) -> _Levels:
        """Activation of every active node, including the start of the anchors."""
        return self.anchors + self.spread

    def paths(self, rows: Rows, scales: Values) -> list[tuple[PathStep, ...]]:
        """Return the strongest path from an anchor to each node; empty for an anchor.

        Args:
            rows: nodes.
            scales: (n,) multiply the amounts on the path to each node.
        """
        walks = self._walks(rows)
        sizes = [len(walk) for walk in walks]
        hops = [hop for walk in walks for hop, _ in walk]
        if not hops:
            return [()] * rows.size
        begins = np.cumsum([0, *(flow.amount.size for flow in self.flows)])
        every = _Flow(*map(np.concatenate, zip(*self.flows, strict=True)))
        chosen = every.at(begins[hops] + np.array([place for walk in walks for _, place in walk]))
        scaled = chosen._replace(amount=chosen.amount * np.repeat(scales, sizes))
        steps = iter(self._steps(scaled, [hop + 1 for hop in hops]))
        return [tuple(islice(steps, size)) for size in sizes]

    def edges_to(self, rows: Rows) -> set[EdgeKey]:
        """Return the edges on the strongest paths to some nodes."""
        steps = {step for walk in self._walks(rows) for step in walk}
        return {self.view.edge_key(int(self.flows[hop].edge[place])) for hop, place in steps}

    def flows_into(self, rows: Rows, scales: Values, hops: int | None = None) -> list[tuple[PathStep, ...]]:
        """Return all flows into each node, strongest first; the amounts add up to its spread activation.

        The flows over one edge in several hops are added to one. An edge that was walked both ways has a flow at each
        end.

        Args:
            rows: nodes, each once.
            scales: (n,) multiply the amounts into each node.
            hops: use only the flows of this many first hops; -1: without the last hop. Default: all flows.
        """
        asked = np.zeros(self.view.node_count, dtype=np.bool_)
        asked[rows] = True
        scale_of = dict(zip(rows.tolist(), scales.tolist(), strict=True))
        into = [flow.at(asked[flow.target]) for flow in self.flows[:hops]]
        found: dict[int, list[PathStep]] = {row: [] for row in rows.tolist()}
        if into:
            every = _Flow(*map(np.concatenate, zip(*into, strict=True)))
            hop = np.repeat(np.arange(1, len(into) + 1), [flow.amount.size for flow in into])
            # The first hop of each flow comes first.
            first, place = firsts(2 * every.edge + every.way % 2)
            merged = every.at(first)._replace(amount=_sums(every.amount, place, first.size))
            order = np.lexsort((merged.edge, -merged.amount))
            merged = merged.at(order)
            scaled = merged.amount * np.array([scale_of[row] for row in merged.target.tolist()])
            steps = self._steps(merged._replace(amount=scaled), hop[first[order]].tolist())
            for row, step in zip(merged.target.tolist(), steps, strict=True):
                found[row].append(step)
        return [tuple(steps) for steps in found.values()]

    def _walks(self, rows: Rows) -> list[list[tuple[int, int]]]:
        # For each hop, the largest portions into `rows`, and into the nodes from which later ones come.
        wanted = np.zeros(self.view.node_count, dtype=np.bool_)
        wanted[rows] = True
        found = []
        for flow in reversed(self.flows):
            found.append(flow.strongest_into(wanted))
            wanted[flow.source[list(found[-1].values())]] = True
        strongest, anchors = found[::-1], set(self.anchors.rows.tolist())
        return [self._walk(row, strongest, anchors) for row in rows.tolist()]

    def _walk(
        self, row: int, strongest: Sequence[Mapping[int, int]], anchors: Collection[int]
    ) -> list[tuple[int, int]]:
        """Return the hops and positions of the portions on the strongest path to `row`, first to last."""
        walk: list[tuple[int, int]] = []
        before = len(self.flows)
        while row not in anchors:
            first = 0 if self.cumulative or before == len(self.flows) else before - 1
            portions = [(hop, place) for hop in range(first, before) if (place := strongest[hop].get(row)) is not None]
            if not portions:
                break
            before, place = max(portions, key=lambda one: self.flows[one[0]].amount[one[1]])
            walk.append((before, place))
            row = int(self.flows[before].source[place])
        return walk[::-1]

    def _steps(self, flow: _Flow, hops: Sequence[int]) -> list[PathStep]:
        view = self.view
        columns = (flow.source, flow.target, flow.way // 2, flow.way % 2 == 1, flow.weight, flow.amount)
        return [
            PathStep(view.ids[source], view.ids[target], view.edge_types[code], forward, weight, amount, hop)
            for source, target, code, forward, weight, amount, hop in zip(
                *(column.tolist() for column in columns), hops, strict=True
            )
        ]


_CLASSIC_TYPES = frozenset({EdgeType.SEQ, EdgeType.SIM, EdgeType.CAUSE})
"""The edge types of the specification's graph; the classic mode walks no others."""


class SpreadingActivation:
    """Spreads activation for `MAX_HOPS` rounds: Flow = Activation x EdgeWeight x KernelMod x Decay.

    Classic, as in the specification: in every round all active nodes send activation along their stored edges.
    Arrivals add to the activation of a node.

    Gated: SEQ, SIM, MENTION, TERM and ASSOC edges are walked both ways. In each round only the arrivals of the
    previous round spread further. A node divides its activation among its edges of one type, in proportion to the
    weight of the edge and the gate of the target:

        claim(i, j) = EdgeWeight(i, j) x gate(j) ^ gate_exponent
        share(i, j) = claim(i, j) / sum of claim(i, k) over the node's edges of the type

    So hubs do not multiply their activation, and more of it flows to nodes that are similar to the question. Activation
    does not return over the edge by which it came; the other edges of the type share it. Each type
    has its own shares, so the many SIM edges of a node do not reduce the flow over its few SEQ edges. Edges of the
    type ASSOC were learned from other questions. Their flow is also multiplied by gate(j) ^ SELECTIVITY.
    """

    def __init__(self, config: MemoryConfig, formula: Formula = FORMULA) -> None:
        self._hops = config.MAX_HOPS
        self._decay = config.ENERGY_DECAY_RATE
        self._classic = config.ACTIVATION == "classic"
        self._frontier = None if self._classic else formula.max_frontier
        self._damps_hubs = formula.damp_hubs and not self._classic
        self._never_back = formula.never_back
        self._exponent = formula.gate_exponent
        self._closed = formula.closed_edge_types

    def spread(
        self, view: GraphView, anchors: Mapping[str, float], kernel: Kernel, gate: Gate | None = None
    ) -> Activation:
        """Spread activation from the anchors.

        Args:
            view: the graph.
            anchors: id and activation of the nodes from which activation starts; values ≤ 0 are ignored.
            kernel: weight of each edge type.
            gate: returns the gates of nodes. Default: all nodes are open.

        Raises:
            UnknownIdError: an anchor is not in the graph.
        """
        start = {node_id: value for node_id, value in anchors.items() if value > 0}
        primed = _summed(view.rows(start), np.array(list(start.values()), dtype=np.float64))
        moving, spread = primed.strongest(self._frontier), _NONE
        # The terms of the formula that depend on the edge type alone.
        kinds, weights, against = view.edge_types, kernel.weights, kernel.against
        walked = [kind not in self._closed and (not self._classic or kind in _CLASSIC_TYPES) for kind in kinds]
        ways = [(kind.both_ways and walks, walks) for kind, walks in zip(kinds, walked, strict=True)]
        terms = _Terms(
            np.array(ways, dtype=np.bool_).ravel(),
            np.array([(against.get(kind, weights[kind]), weights[kind]) for kind in kinds], dtype=np.float64).ravel(),
            np.array([kind is EdgeType.ASSOC for kind in kinds], dtype=np.bool_).repeat(2),
        )
        flows: list[_Flow] = []
        for _ in range(self._hops):
            if not moving.rows.size:
                break
            before = flows[-1] if flows and self._never_back and not self._classic else None
            flow, arrived = self._flow(view, moving, terms, gate, before)
            flows.append(flow)
            spread = spread + arrived
            moving = (moving + arrived if self._classic else arrived).strongest(self._frontier)
        return Activation(view, primed, spread, tuple(flows), cumulative=self._classic)

    def _flow(
        self, view: GraphView, active: _Levels, terms: _Terms, gate: Gate | None, before: _Flow | None
    ) -> tuple[_Flow, _Levels]:
        """Return the flows of one hop from active nodes, and the arrivals.

        `before` are the flows of the hop before, which do not return over the edges they took; None: all may return.
        """
        arcs = view.links(active.rows, both_ways=not self._classic)
        ways = 2 * arcs.code.astype(np.int64) + arcs.along
        if not np.logical_and.reduce(walked := terms.is_open[ways]):
            arcs, ways = Links._make([column[walked] for column in arcs]), ways[walked]
        first, place = firsts(arcs.target)
        targets = arcs.target[first]
        gates = gate(targets).astype(np.float64)[place] if gate is not None and place.size else None
        amount = active.values[arcs.origin]
        came = None
        if before is not None:
            # What came over each edge in the hop before, against its present way.
            keys = 2 * before.edge + before.way % 2
            order = keys.argsort()
            came = _Levels(keys[order], before.amount[order]).at(2 * arcs.edge + 1 - ways % 2)
        if self._damps_hubs or gates is not None:
            # Shares are counted by node and type.
            amount = self._shared(amount, came, arcs, gates, arcs.origin * len(view.edge_types) + ways // 2)
        elif came is not None:
            amount -= came
        amount *= arcs.weight * terms.modulation[ways] * self._decay
        if gates is not None and np.count_nonzero(terms.selective):
            selective = terms.selective[ways]
            amount[selective] *= gates[selective] ** SELECTIVITY
        arrived = _sums(amount, place, targets.size)
        reached, flows = arrived > 0, amount > 0
        return (
            _Flow(active.rows[arcs.origin], arcs.target, arcs.edge, ways, arcs.weight, amount).at(flows),
            _Levels(targets[reached], arrived[reached]),
        )

    def _shared(self, amount: Values, came: Values | None, arcs: Links, gates: Values | None, groups: Rows) -> Values:
        """Return the part of its node's activation that each arc gets; the arcs of a group share it by their claims.

        The activation that came over an arc is shared by the other arcs.

        Args:
            amount: of each arc's node.
            came: how much of it came over the arc itself; None: all of it may return.
            arcs: all arcs of some nodes.
            gates: of the nodes that they lead to.
            groups: of the arcs.
        """
        claims = arcs.weight
        if gates is not None:
            openness = gates**self._exponent
            if not self._damps_hubs:
                return (amount if came is None else amount - came) * openness
            claims = claims * openness
        total = _sums(claims, groups)[groups]
        if not np.logical_and.reduce(total > 0):
            # If the gates of all neighbours are closed, the weights alone decide.
            claims = np.where(total > 0, claims, arcs.weight)
            total = _sums(claims, groups)[groups]
        # Where all weights are 0, so are all claims.
        total = np.where(total > 0, total, 1.0)
        if came is None or not np.count_nonzero(came):
            return amount * claims / total
        others = total - claims
        portion = np.divide(came, others, out=np.zeros(came.size), where=others > 0)
        rest = np.maximum(amount - _sums(came, groups)[groups], 0.0)
        return claims * (rest / total + np.maximum(_sums(portion, groups)[groups] - portion, 0.0))


def _sums(values: Values, groups: Rows, count: int = 0) -> Values:
    """Return the sum of each group (at least `count` groups), added in the order of the values."""
    # Without groups, the sums are integers.
    sums: NDArray[Any] = np.bincount(groups, weights=values, minlength=count)
    return sums if sums.dtype == np.float64 else sums.astype(np.float64)

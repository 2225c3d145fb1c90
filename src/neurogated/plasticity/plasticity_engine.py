"""Long-term potentiation and depression: use strengthens edges, and idle edges fade."""

import logging
import math
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Literal, NamedTuple
from uuid import UUID

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, from_micros, utc_now
from neurogated.core.commit import DECAYED, Committer, newest_first
from neurogated.core.delta import Access, Decay, GraphDelta, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.trace import Feedback
from neurogated.core.view import GraphView, Rows
from neurogated.errors import InputError
from neurogated.plasticity.energy import EnergyController

ASSOC_WEIGHT = 0.5
"""Weight of the ASSOC edge that feedback adds between nodes without a plastic edge."""
MAX_OUT_WEIGHT = 8.0
"""Maximum sum of the plastic weights that leave a node: eight edges of full weight."""
IDLE = timedelta(days=1)
"""Time without use after which an edge begins to fade; `TIME_DECAY_FACTOR` counts days."""
# Feedback connects each memory with this many of the memories that follow it.
_ASSOC_NEIGHBORS = 5

_log = logging.getLogger(__name__)

Outcome = Literal["success", "fail"] | float
"""How useful memories were: a word, or a number from -1 to 1."""
_WORDS = {"success": 1.0, "fail": -1.0}

_SHORTEST_DECAY = timedelta(hours=1)
_DECAY_STEPS = 32


class LearnedWeights(NamedTuple):
    """What an outcome changes."""

    delta: GraphDelta
    edges: int
    """How many edges are strengthened, weakened or added."""


class PlasticityEngine:
    """Strengthens plastic edges between memories that were useful together, and weakens idle ones."""

    def __init__(
        self, store: GraphStorePort, config: MemoryConfig, clock: Clock = utc_now, committer: Committer | None = None
    ) -> None:
        self._store = store
        self._config = config
        self._clock = clock
        self._committer = Committer(store) if committer is None else committer
        self._energies = EnergyController(config.metabolism)

    def reinforce_path(
        self,
        retrieved_nodes: Iterable[MemoryNode | str | UUID],
        *,
        associate: bool = False,
        outcome: float = 1.0,
        reason: str = "reinforce_path",
        view: GraphView | None = None,
        rated: bool = False,
    ) -> int:
        """Long-term potentiation: strengthen every plastic edge that connects two of the nodes.

        Each such weight grows by `HEBBIAN_LEARNING_RATE`, up to 1 (Hebb 1949). If the plastic weights that leave a node
        then sum to more than `MAX_OUT_WEIGHT`, all of them are scaled down to that sum (synaptic scaling,
        Turrigiano 2008). So repeated strengthening cannot grow without bound.

        The outcome, -1–1, is a factor of the learning rate; a negative one weakens the edges and adds none. With
        `associate`, pairs without a plastic edge get an ASSOC edge of weight `ASSOC_WEIGHT`. If `rated`, the energy and
        the importance of the nodes change, too; see `EnergyController`. `view` is the present graph.

        Returns:
            The number of edges that were strengthened, weakened or added.

        Raises:
            UnknownIdError: a node is not in the memory; nothing has changed.
        """
        view = self._store.view() if view is None else view
        ids = list(dict.fromkeys(str(getattr(node, "id", node)) for node in retrieved_nodes))
        learned = self.learned(view, ids, outcome, associate=associate, rated=rated, reason=reason)
        if learned.delta:
            self._committer.commit(lambda: learned.delta)
            _log.info("%s: %d edges strengthened, weakened or added", reason, learned.edges)
        return learned.edges

    def learned(
        self,
        view: GraphView,
        ids: list[str],
        outcome: float,
        *,
        associate: bool = False,
        rated: bool = False,
        reason: str = "",
    ) -> LearnedWeights:
        """Return the delta of `reinforce_path` without applying it; `ids` are unique and in `view`."""
        rows = view.rows(ids)
        found = [np.empty(0, dtype=np.int64)]
        for edge_type in view.edge_types:
            if edge_type.plastic:
                arcs = view.arcs(rows, edge_type)
                found.append(arcs.edge[np.isin(arcs.target, rows)])
        strengthened = np.unique(np.concatenate(found))
        now = self._clock()
        energies = self._energies.outcome(view, ids if rated else (), outcome, now)
        touch = Access(charges=energies.charges)
        others = GraphDelta(node_changes=energies.changes, touch=touch, reason=reason, at=now)
        if outcome < 0:
            lowered = view.weight.take(strengthened) + outcome * self._config.HEBBIAN_LEARNING_RATE
            kept = lowered >= self._config.MIN_EDGE_WEIGHT
            left = zip(strengthened[kept].tolist(), lowered[kept].tolist(), strict=True)
            delta = replace(
                others,
                weights=tuple(WeightChange(view.edge_key(row), weight, now) for row, weight in left),
                removed_edges=tuple(map(view.edge_key, strengthened[~kept].tolist())),
            )
            return LearnedWeights(delta, strengthened.size)
        new = list(self._associations(view, ids, rows, strengthened, now)) if associate and outcome else []
        weights, new = self._potentiated(view, strengthened, new, outcome)
        used = frozenset(strengthened.tolist())
        changes = tuple(
            # Scaling down is not an access: an idle edge stays idle.
            WeightChange(view.edge_key(row), weight, now if row in used else from_micros(view.last_activated.at(row)))
            for row, weight in weights.items()
        )
        return LearnedWeights(replace(others, weights=changes, edges=tuple(new)), strengthened.size + len(new))

    def reinforce_recalled(
        self, node_ids: Sequence[str], recalled: Collection[str] = (), outcome: float = 1.0
    ) -> Feedback:
        """Reinforce the edges between the nodes that still exist, associate these nodes, and change their energies.

        The ids are unique, and those in `recalled` were certainly in the memory; see `reinforce_path` for the outcome.

        Raises:
            UnknownIdError: an id never was in the memory; nothing has changed.
        """
        view = self._store.view()
        present = view.present(node_ids, recalled)
        gone = sorted(set(node_ids).difference(present), key=node_ids.index)
        if gone:
            _log.info("feedback skips %d memories that are gone: %s", len(gone), ", ".join(gone))
        reason = f"feedback on {len(present)} memories"
        edges = self.reinforce_path(present, associate=True, outcome=outcome, reason=reason, view=view, rated=True)
        return Feedback(edges, present, gone)

    def decay_unused(self, now: datetime | None = None) -> None:
        """Long-term depression: plastic edges that are idle for a day fade by `TIME_DECAY_FACTOR` a day, as of now.

        An edge whose weight falls below `MIN_EDGE_WEIGHT` is removed. The decay depends on the time since the last
        call, not on the number of calls; a call within an hour of the last does nothing. The journal gets one delta,
        regardless of the number of edges.

        Raises:
            InputError: the time is less than a day after the beginning of the year 1.
        """
        at = self._clock() if now is None else now
        try:
            idle_before = at - IDLE
        except OverflowError:
            raise InputError(f"the time {at} is too early; give a later one") from None
        # Edges have faded up to the last decay, or else the first change.
        begin = None
        for entry in newest_first(self._store):
            begin = entry.at
            if entry.operators:
                begin = max(operator.idle_before for operator in entry.operators)
                break
        if begin is None or idle_before - begin < _SHORTEST_DECAY:
            return
        days = (idle_before - begin) / timedelta(days=1)
        # Steps of a day or longer, so that an edge used in the meantime fades only from its last use on.
        steps = min(_DECAY_STEPS, math.ceil(days))
        factor = self._config.TIME_DECAY_FACTOR ** (days / steps)
        moments = (begin + (idle_before - begin) * (step / steps) for step in range(1, steps + 1))
        operators = tuple(Decay(factor, moment, self._config.MIN_EDGE_WEIGHT) for moment in moments)
        self._committer.commit(lambda: GraphDelta(operators=operators, reason=DECAYED, at=at))
        _log.info("edges idle since %s faded by %g in %.1f days", idle_before.isoformat(), factor**steps, days)

    def _potentiated(
        self, view: GraphView, strengthened: Rows, new: list[MemoryEdge], outcome: float
    ) -> tuple[dict[int, float], list[MemoryEdge]]:
        """Return the new weight of every changed edge by row, and the new edges, all scaled to the maximum sum."""
        grown = np.minimum(1.0, view.weight.take(strengthened) + outcome * self._config.HEBBIAN_LEARNING_RATE)
        weights = dict(zip(strengthened.tolist(), grown.tolist(), strict=True))
        from_source: dict[int, list[MemoryEdge]] = defaultdict(list)
        for edge in new:
            from_source[view.row(edge.source_id)].append(edge)
        scaled: list[MemoryEdge] = []
        for source in sorted({*view.edge_source[strengthened].tolist(), *from_source}):
            leaving = [view.arcs(np.array([source]), edge_type) for edge_type in view.edge_types if edge_type.plastic]
            current = {
                row: weights.get(row, weight)
                for arcs in leaving
                for row, weight in zip(arcs.edge.tolist(), arcs.weight.tolist(), strict=True)
            }
            total = sum(current.values()) + sum(edge.weight for edge in from_source[source])
            share = min(1.0, MAX_OUT_WEIGHT / total)
            if share < 1:
                weights.update((row, weight * share) for row, weight in current.items())
            scaled += (replace(edge, weight=edge.weight * share) for edge in from_source[source])
        return weights, scaled

    def _associations(
        self, view: GraphView, ids: list[str], rows: Rows, connected: Rows, at: datetime
    ) -> Iterable[MemoryEdge]:
        """Yield an ASSOC edge for each near pair of nodes of the same user that no plastic edge connects."""
        user_of = {node_id: view.scope_of(row).user_id for node_id, row in zip(ids, rows.tolist(), strict=True)}
        row_of = dict(zip(ids, rows.tolist(), strict=True))
        linked = {
            frozenset(ends)
            for ends in zip(view.edge_source[connected].tolist(), view.edge_target[connected].tolist(), strict=True)
        }
        nearby = _ASSOC_NEIGHBORS
        pairs = ((one, other) for place, one in enumerate(ids) for other in ids[place + 1 : place + 1 + nearby])
        for one, other in pairs:
            if user_of[one] == user_of[other] and frozenset((row_of[one], row_of[other])) not in linked:
                yield MemoryEdge(one, other, EdgeType.ASSOC, ASSOC_WEIGHT, created_at=at)


def strength_of(outcome: Outcome) -> float:
    """Return the outcome as a number from -1 to 1. Raises InputError."""
    number: object = _WORDS.get(outcome) if isinstance(outcome, str) else outcome
    if isinstance(number, bool) or not isinstance(number, int | float) or not -1 <= number <= 1:
        raise InputError(f"the outcome is {outcome!r}, but must be 'success', 'fail' or a number from -1 to 1")
    return float(number)

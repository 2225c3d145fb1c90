"""Long-term potentiation and depression: what fires together wires together, what lies idle fades."""

from __future__ import annotations

import logging
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import combinations

import numpy as np

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.clock import Clock, from_micros, utc_now
from neurogated.core.delta import Decay, GraphDelta, WeightChange
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.trace import Feedback
from neurogated.core.view import GraphView, Rows
from neurogated.errors import InputError

__all__ = ["PlasticityEngine"]

_log = logging.getLogger(__name__)


class PlasticityEngine:
    """Strengthens edges between what was of use together, and weakens edges that nothing uses.

    Only plastic types change; SIM is not one of them, because how alike two texts are does not depend on use.
    """

    def __init__(self, store: GraphStorePort, config: MemoryConfig, clock: Clock = utc_now) -> None:
        self._store = store
        self._config = config
        self._clock = clock

    def reinforce_path(
        self,
        retrieved_nodes: Iterable[MemoryNode | str],
        *,
        associate: bool = False,
        reason: str = "reinforce_path",
        view: GraphView | None = None,
    ) -> int:
        """Long-term potentiation: strengthen every plastic edge that connects two of the nodes.

        Each such weight grows by `HEBBIAN_LEARNING_RATE`, up to 1 (Hebb 1949). Where the plastic weights that leave a
        node then sum to more than `MAX_OUT_WEIGHT`, all of them are scaled down to it (synaptic scaling, Turrigiano
        2008), so that strengthening alone cannot blow up.

        Args:
            retrieved_nodes: nodes or their ids.
            associate: also connect pairs that no plastic edge connects, by an ASSOC edge of `ASSOC_WEIGHT`.
            reason: what the history says.
            view: the graph as it is now, where the caller has it already.

        Returns:
            How many edges were strengthened or made.

        Raises:
            UnknownIdError: a node is not in the memory; nothing was changed.
        """
        view = self._store.view() if view is None else view
        ids = list(dict.fromkeys(node if isinstance(node, str) else str(node.id) for node in retrieved_nodes))
        rows = view.rows(ids)
        strengthened = _edges_among(view, rows)
        now = self._clock()
        new = list(self._associations(view, ids, rows, strengthened, now)) if associate else []
        weights, new = self._potentiated(view, strengthened, new)
        used = frozenset(strengthened.tolist())
        changes = tuple(
            # Being scaled down is no use: an idle edge stays idle.
            WeightChange(view.edge_key(row), weight, now if row in used else _last_activated(view, row))
            for row, weight in weights.items()
        )
        if changes or new:
            self._store.apply(GraphDelta(weights=changes, edges=tuple(new), reason=reason, at=now))
            _log.info("%s: %d edges strengthened, %d made", reason, strengthened.size, len(new))
        return strengthened.size + len(new)

    def reinforce_recalled(self, node_ids: Sequence[str], recalled: Collection[str] = ()) -> Feedback:
        """Reinforce the path of those of the nodes that are not gone, and associate them.

        Args:
            node_ids: ids, each once.
            recalled: those that came with a recall, and so were in the memory for certain.

        Raises:
            UnknownIdError: an id never was in the memory; nothing was changed.
        """
        view = self._store.view()
        present = view.present(node_ids, recalled)
        gone = sorted(set(node_ids).difference(present), key=node_ids.index)
        if gone:
            _log.info("feedback passes over %d memories that are gone: %s", len(gone), ", ".join(gone))
        reason = f"feedback on {len(present)} memories"
        return Feedback(self.reinforce_path(present, associate=True, reason=reason, view=view), gone)

    def decay_unused(self, now: datetime | None = None) -> None:
        """Long-term depression: every plastic edge that was idle for `IDLE_DAYS` is multiplied by `TIME_DECAY_FACTOR`.

        Those that fall below `MIN_EDGE_WEIGHT` are removed. It is one line in the journal, however many edges fade.

        Args:
            now: the time that counts as present; the clock's when left out.

        Raises:
            InputError: the time lies less than `IDLE_DAYS` after the year 1.
        """
        at = self._clock() if now is None else now
        try:
            idle_before = at - timedelta(days=self._config.IDLE_DAYS)
        except OverflowError:
            raise InputError(f"the time {at} is too near to the beginning of time; give a later one") from None
        operator = Decay(self._config.TIME_DECAY_FACTOR, idle_before, self._config.MIN_EDGE_WEIGHT)
        self._store.apply(GraphDelta(operators=(operator,), reason="decay_unused", at=at))
        _log.info("edges idle since %s faded by %g", idle_before.isoformat(), self._config.TIME_DECAY_FACTOR)

    def _potentiated(
        self, view: GraphView, strengthened: Rows, new: list[MemoryEdge]
    ) -> tuple[dict[int, float], list[MemoryEdge]]:
        """Return the new weight of every edge that changes, by its row, and the new edges, all scaled to the bound."""
        grown = np.minimum(1.0, view.weight.take(strengthened) + self._config.HEBBIAN_LEARNING_RATE)
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
            share = min(1.0, self._config.MAX_OUT_WEIGHT / total)
            if share < 1:
                weights.update((row, weight * share) for row, weight in current.items())
            scaled += (replace(edge, weight=edge.weight * share) for edge in from_source[source])
        return weights, scaled

    def _associations(
        self, view: GraphView, ids: list[str], rows: Rows, connected: Rows, at: datetime
    ) -> Iterable[MemoryEdge]:
        """Yield an ASSOC edge for each pair of the nodes, of one user, that no plastic edge connects."""
        if not self._config.ASSOC_WEIGHT:
            return
        user_of = {node_id: view.scope_of(row).user_id for node_id, row in zip(ids, rows.tolist(), strict=True)}
        row_of = dict(zip(ids, rows.tolist(), strict=True))
        linked = {
            frozenset(ends)
            for ends in zip(view.edge_source[connected].tolist(), view.edge_target[connected].tolist(), strict=True)
        }
        for one, other in combinations(ids, 2):
            if user_of[one] == user_of[other] and frozenset((row_of[one], row_of[other])) not in linked:
                yield MemoryEdge(one, other, EdgeType.ASSOC, self._config.ASSOC_WEIGHT, created_at=at)


def _edges_among(view: GraphView, rows: Rows) -> Rows:
    """Return the rows of the plastic edges whose two ends are among `rows`."""
    found = [np.empty(0, dtype=np.int64)]
    for edge_type in view.edge_types:
        if edge_type.plastic:
            arcs = view.arcs(rows, edge_type)
            found.append(arcs.edge[np.isin(arcs.target, rows)])
    return np.unique(np.concatenate(found))


def _last_activated(view: GraphView, row: int) -> datetime:
    return from_micros(view.last_activated.take(np.array([row]))[0])

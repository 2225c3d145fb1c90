"""`EnergyController`: how uses and outcomes change the energy and the importance of memories."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.groups import MetabolismSettings
from neurogated.core.clock import times_around, to_micros
from neurogated.core.delta import Access, Charge, NodeChange
from neurogated.core.energy import EnergyLaw
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView

# Shares of decision D1 of the specification: success gains a share of what is missing, failure loses one of the whole.
_SUCCESS_GAIN = 0.2
_FAIL_LOSS = 0.1
# Share of the missing energy that a memory gains when a recall returns it: half of what a success gives.
USE_GAIN = 0.1

TimedAccess = tuple[Access, datetime]
"""The accesses of a recall, and its time."""


class NodeEnergies(NamedTuple):
    """The parts of a delta that change energies."""

    changes: tuple[NodeChange, ...]
    charges: dict[str, Charge]


class EnergyPoint(NamedTuple):
    """The energy of a memory at one time."""

    at: datetime
    energy: float


class EnergyController:
    """Computes energies from the columns of a view, and the changes that uses and outcomes make to them."""

    def __init__(self, settings: MetabolismSettings) -> None:
        self.law = EnergyLaw(settings)

    def energy(self, view: GraphView, node_id: str, now: datetime) -> float:
        """Return the energy of a node at the time `now`, 0–1; raises UnknownIdError."""
        return float(self.law.energy(view, view.rows([node_id]), to_micros(now))[0])

    def uses(self, view: GraphView, accesses: Iterable[TimedAccess]) -> NodeEnergies:
        """Return the charges after uses, in order, and the changes of base energy of those that a use wakes."""
        events = [(name, count, at) for access, at in accesses for name, count in access.nodes.items()]
        first = {name: at for name, _, at in reversed(events)}
        rows = view.known_rows(first)
        names = view.names(rows)
        columns = (one.take(rows).tolist() for one in (view.base_energy, view.energy_at, view.charge, view.charged_at))
        present = map(_State, self.law.half_lives(view, rows).tolist(), *columns)
        states = dict(zip(names, present, strict=True))
        sleeping = self.law.dormant(view, rows, np.array([to_micros(first[name]) for name in names], dtype=np.int64))
        dormant = {name for name, sleeps in zip(names, sleeping.tolist(), strict=True) if sleeps}
        woken, charges = list[NodeChange](), dict[str, Charge]()
        for name, count, at in events:
            if (state := states.get(name)) is None:
                continue
            wakes = name in dormant
            if wakes:
                dormant.remove(name)
                woken.append(NodeChange(name, state.use(to_micros(at), USE_GAIN, wakes=True), at))
            for _ in range(count - wakes):
                charges[name] = Charge(state.use(to_micros(at), USE_GAIN), at)
        return NodeEnergies(tuple(woken), charges)

    def outcome(self, view: GraphView, node_ids: Iterable[str], outcome: float, now: datetime) -> NodeEnergies:
        """Return the changes of energy and importance after an outcome from -1 to 1.

        Success adds a share of the missing rest, failure takes a share of the whole. A failure takes from the base
        energy first, because the journal has it; the charge pays the rest.
        """
        ids = list(node_ids)
        if not outcome or not ids:
            return NodeEnergies((), {})
        rows, micros = view.rows(ids), to_micros(now)
        _, charge = self.law.parts(view, rows, micros)
        energy = self._after(self.law.energy(view, rows, micros), outcome)
        importance = self._after(view.importance.take(rows), outcome)
        base = np.clip(energy - charge, 0.0, 1.0)
        changes = zip(ids, base.tolist(), importance.tolist(), strict=True)
        short = np.flatnonzero(charge > energy).tolist()
        return NodeEnergies(
            tuple(NodeChange(node_id, left, now, rated) for node_id, left, rated in changes),
            {ids[place]: Charge(float(energy[place]), now) for place in short},
        )

    def _after(self, values: NDArray[np.float64], outcome: float) -> NDArray[np.float64]:
        if outcome > 0:
            return values + (1 - values) * _SUCCESS_GAIN * outcome
        return values * (1 + _FAIL_LOSS * outcome)

    def course(
        self, store: GraphStorePort, node_id: str, now: datetime, steps: int, step: timedelta
    ) -> list[EnergyPoint]:
        """Return the energy of a node at `steps` times before `now`, now and after; charges count from their time."""
        view = store.view()
        row = view.rows([node_id])
        charged_at = view.charged_at.take(row)[0]
        born = store.get_nodes([node_id])[0].created_at
        points = []
        for number, at in enumerate(times_around(now, steps, step)):
            is_past = number < steps
            if is_past and at < born:
                continue
            then = store.as_of(at).view() if is_past else view
            if (found := then.find(node_id)) is None:
                continue
            base, charge = self.law.parts(then, np.array([found]), to_micros(at))
            energy = base[0] + (charge[0] if to_micros(at) >= charged_at else 0.0)
            points.append(EnergyPoint(at, min(1.0, float(energy))))
        return points


@dataclass(slots=True)
class _State:
    """The two parts of the energy of a node while its uses are replayed. Times are in microseconds."""

    half_life: float
    base: float
    energy_at: int
    charge: float
    charged_at: int

    def use(self, now: int, gain: float, *, wakes: bool = False) -> float:
        """Add a use to the charge, or to the base energy if it wakes the node, and return that part."""
        base = self.base * 2 ** (-max(0, now - self.energy_at) / self.half_life)
        charge = self.charge * 2 ** (-max(0, now - self.charged_at) / self.half_life)
        part = min(1.0, (base if wakes else charge) + max(0.0, 1 - base - charge) * gain)
        if wakes:
            self.base, self.energy_at = part, now
        else:
            self.charge, self.charged_at = part, now
        return part

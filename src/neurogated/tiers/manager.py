"""`TierManager`: tiers and layers of a memory, computed from the columns of a view when they are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.clock import to_micros
from neurogated.core.commit import DORMANT
from neurogated.core.delta import GraphDelta, NodeChange
from neurogated.core.energy import LAYERS, EnergyLaw, layers_of
from neurogated.core.node_kind import FACT, PROFILE
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView, Rows

TIERS = ("canvas", "web", "crystal", "dormant")
"""L1, the awake memories of the most energy; L2, the other awake memories; L3, facts and profiles; and the dormant."""

_CRYSTAL_KINDS = frozenset({FACT, PROFILE})


@dataclass(frozen=True, slots=True)
class Tiers:
    """The tiers of a memory at one time. Every memory is in one tier and in one layer."""

    at: datetime
    counts: Mapping[str, int]
    """The number of memories in each of `TIERS`."""
    layers: Mapping[str, int]
    """The number of memories in each of `LAYERS`."""
    most_energy: tuple[tuple[str, float], ...]
    """Ids and energies of the memories in the tier `canvas`, most energy first."""
    energy: float
    """The mean energy of the memories, 0–1."""


class TierManager:
    """Computes tiers. It changes nothing; `tick` returns a journal entry of the memories that fell dormant."""

    def __init__(self, settings: MetabolismSettings) -> None:
        self._law = EnergyLaw(settings)
        self._canvas_size = settings.canvas_size

    def tiers(self, store: GraphStorePort, view: GraphView, now: datetime) -> Tiers:
        """Return the tiers of the memories that the view admits, at the time `now`."""
        rows, micros = view.admitted_nodes(), to_micros(now)
        energy, dormant = self._law.energy(view, rows, micros), self._law.dormant(view, rows, micros)
        codes = [code for code, kind in enumerate(view.kinds) if kind in _CRYSTAL_KINDS]
        crystal = np.isin(view.kind.take(rows), codes) & ~dormant
        places = np.flatnonzero(~dormant & ~crystal)
        if self._canvas_size < places.size:
            least = (
                np.partition(energy[places], places.size - self._canvas_size)[places.size - self._canvas_size]
                if self._canvas_size
                else np.inf
            )
            places = places[energy[places] >= least]
        order = np.lexsort((places, -energy[places]))
        best: Rows = places[order[: self._canvas_size]]
        web = rows.size - best.size - int(crystal.sum()) - int(dormant.sum())
        counts = (best.size, web, int(crystal.sum()), int(dormant.sum()))
        canvas = zip((view.ids[row] for row in rows[best].tolist()), energy[best].tolist(), strict=True)
        layers = np.bincount(layers_of(store, view, rows, energy, micros), minlength=len(LAYERS)).tolist()
        named = dict(zip(TIERS, counts, strict=True)), dict(zip(LAYERS, layers, strict=True))
        return Tiers(now, *named, tuple(canvas), float(energy.mean()) if rows.size else 0.0)

    def tick(self, store: GraphStorePort, now: datetime) -> GraphDelta:
        """Return the delta that journals the memories that fell dormant since the last tick; it changes no value.

        A waking is journaled with the use that wakes. So the journal has every move to and from the dormant tier.
        """
        view, micros = store.view(), to_micros(now)
        rows = view.live_nodes()
        rows = rows[self._law.dormant(view, rows, micros)]
        last = next((entry.at for entry in reversed(store.history()) if entry.reason.startswith(DORMANT)), None)
        if last is not None:
            # A memory that was used since the last tick was not idle at that time, by its present columns.
            rows = rows[~self._law.dormant(view, rows, to_micros(last))]
        importance = view.importance.take(rows).tolist()
        fallen = zip((view.ids[row] for row in rows.tolist()), importance, strict=True)
        changes = tuple(NodeChange(node_id, importance=value) for node_id, value in fallen)
        return GraphDelta(node_changes=changes, reason=f"{DORMANT}{len(changes)} memories fell dormant", at=now)

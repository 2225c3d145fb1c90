"""The energy of memories: E(t) = B / 2^((t - b) / h) + C / 2^((t - c) / h), computed when it is read; and their layers.

B at the time b is the journaled part (`base_energy`, `energy_at`). C at the time c is the charge, the part that uses
have added (`charge`, `charged_at`). The charge has only a current value, as all accesses. Both parts decay with the
half-life h of the node's kind. Before the time b or c, that part has not decayed yet. The temporal layers divide
memories by age and use; every memory is in the first layer that fits.
"""

from bisect import bisect_left
from collections.abc import Mapping
from typing import Literal, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import MICROS_A_DAY, to_micros
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView, Rows

Moment = int | NDArray[np.int64]
"""One time for all nodes, or one for each (n,), in microseconds since 1970 UTC."""
_Values = NDArray[np.float64]
_IDLE_DAYS = 14.0  # a dormant memory had no access for so long
DORMANT_IMPORTANCE = 0.55
"""A dormant memory has less importance than this."""


class EnergySettings(Protocol):
    """The settings of `EnergyLaw`: half-lives in days, that of all other kinds under ""; a dormant memory has less."""

    @property
    def half_life_of_kinds(self) -> Mapping[str, float]: ...
    @property
    def dormant_energy(self) -> float: ...


class EnergyLaw:
    """How energy decays, and which memories are dormant."""

    def __init__(self, settings: EnergySettings) -> None:
        self._settings = settings
        self._days_of_kinds = settings.half_life_of_kinds

    def half_lives(self, view: GraphView, rows: Rows) -> _Values:
        """Return the half-lives of nodes in microseconds (n,)."""
        days = [self._days_of_kinds.get(kind, self._days_of_kinds[""]) for kind in view.kinds]
        found: _Values = (np.array(days) * MICROS_A_DAY)[view.kind.take(rows)]
        return found

    def parts(self, view: GraphView, rows: Rows, now: Moment) -> tuple[_Values, _Values]:
        """Return the base energies and the charges of nodes at the time `now`, each (n,)."""
        half_lives = self.half_lives(view, rows)
        base = view.base_energy.take(rows) * _left(now - view.energy_at.take(rows), half_lives)
        return base, view.charge.take(rows) * _left(now - view.charged_at.take(rows), half_lives)

    def ranked(self, view: GraphView, rows: Rows, now: int) -> _Values:
        """Return the base energies for the score of a recall (n,), 0–1, which are the same on a whole day (UTC).

        Uses do not count: a recall would raise the memories that it returns, and one user's uses of shared memories
        would change the scores of another user.
        """
        days = now // MICROS_A_DAY - view.energy_at.take(rows) // MICROS_A_DAY
        return view.base_energy.take(rows) * _left(days * MICROS_A_DAY, self.half_lives(view, rows))

    def energy(self, view: GraphView, rows: Rows, now: Moment) -> _Values:
        """Return the energies of nodes at the time `now` (n,), 0–1."""
        base, charge = self.parts(view, rows, now)
        return np.minimum(1.0, base + charge)

    def lacking(self, view: GraphView, rows: Rows, now: int) -> _Values:
        """Return which share of `dormant_energy` nodes lack (n,), 0–1; the energies are those of `ranked`."""
        share: _Values = self.ranked(view, rows, now) / (self._settings.dormant_energy or 1.0)
        return 1.0 - np.minimum(1.0, share)

    def dormant(self, view: GraphView, rows: Rows, now: Moment) -> NDArray[np.bool_]:
        """Return which nodes are dormant at the time `now`: little energy, little importance, and no recent access."""
        found: NDArray[np.bool_] = view.importance.take(rows) < DORMANT_IMPORTANCE
        # Most recalls end here, or after the next column: few memories are unimportant, and fewer are idle.
        if np.logical_or.reduce(found):
            found &= now - view.last_accessed.take(rows) >= _IDLE_DAYS * MICROS_A_DAY
        if (places := found.nonzero()[0]).size:
            then = now if isinstance(now, int) else now[places]
            found[places] = self.energy(view, rows[places], then) < self._settings.dormant_energy
        return found


def _left(age: NDArray[np.int64], half_lives: _Values) -> _Values:
    left: _Values = np.exp2(-np.maximum(0, age) / half_lives)
    return left


Layer = Literal["emerging", "active", "decaying", "stable"]
"""Added in the last 24 hours; used in the last 7 days; energy below 0.1 and fewer than 3 uses; all others."""
LAYERS: tuple[Layer, ...] = get_args(Layer)

_EMERGING_DAYS, _ACTIVE_DAYS = 1, 7
_DECAYING_ENERGY, _DECAYING_USES = 0.1, 3


def layers_of(
    store: GraphStorePort, view: GraphView, rows: Rows, energy: NDArray[np.float64], now: int
) -> NDArray[np.int64]:
    """Return the place in `LAYERS` of each node, (n,) ascending rows with energies at `now`, in microseconds UTC."""
    since = now - _EMERGING_DAYS * MICROS_A_DAY
    uses = view.uses.take(rows)

    def is_new(place: int) -> bool:
        added = store.get_nodes([view.ids[int(rows[place])]], missing_ok=True)
        return bool(added) and to_micros(added[0].created_at) > since

    low = bisect_left(range(rows.size), x=True, key=is_new)
    layers = [
        (np.arange(rows.size) >= low) & (view.energy_at.take(rows) > since),
        (uses > 0) & (view.last_accessed.take(rows) > now - _ACTIVE_DAYS * MICROS_A_DAY),
        (energy < _DECAYING_ENERGY) & (uses < _DECAYING_USES),
    ]
    return np.select(layers, [np.int64(place) for place in range(len(layers))], np.int64(LAYERS.index("stable")))

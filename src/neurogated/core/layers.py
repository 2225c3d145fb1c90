"""The temporal layers of memories, by age and use; every memory is in the first layer that fits."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import MICROS_A_DAY, to_micros
from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView, Rows

Layer = Literal["emerging", "active", "decaying", "stable"]
"""Added in the last 24 hours; used in the last 7 days; energy below 0.1 and fewer than 3 uses; all others."""
LAYERS: tuple[Layer, ...] = get_args(Layer)

_EMERGING_DAYS, _ACTIVE_DAYS = 1, 7
_DECAYING_ENERGY, _DECAYING_USES = 0.1, 3


def layers_of(
    store: GraphStorePort, view: GraphView, rows: Rows, energy: NDArray[np.float64], now: int
) -> NDArray[np.int64]:
    """Return the place in `LAYERS` of the layer of each node.

    Args:
        store: has the times at which memories were added.
        view: the graph.
        rows: (n,) rows, ascending.
        energy: (n,) energies at `now`.
        now: microseconds since 1970 UTC.
    """
    since = now - _EMERGING_DAYS * MICROS_A_DAY
    uses = view.uses.take(rows)
    layers = [
        (np.arange(rows.size) >= _first_since(store, view, rows, since)) & (view.energy_at.take(rows) > since),
        (uses > 0) & (view.last_accessed.take(rows) > now - _ACTIVE_DAYS * MICROS_A_DAY),
        (energy < _DECAYING_ENERGY) & (uses < _DECAYING_USES),
    ]
    return np.select(layers, [np.int64(place) for place in range(len(layers))], np.int64(LAYERS.index("stable")))


def _first_since(store: GraphStorePort, view: GraphView, rows: Rows, since: int) -> int:
    """Return the place of the first node that was added after `since`; rows are in the order of their addition."""
    low, high = 0, rows.size
    while low < high:
        middle = (low + high) // 2
        added = store.get_nodes([view.ids[int(rows[middle])]], missing_ok=True)
        if added and to_micros(added[0].created_at) > since:
            high = middle
        else:
            low = middle + 1
    return low

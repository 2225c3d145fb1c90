"""Maps keys to the slots of their vectors; readers see one state while a writer creates the next."""

from __future__ import annotations

import dataclasses
from copy import deepcopy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows

_NONE = -1

Flags = NDArray[np.bool_]


@dataclass(slots=True)
class _Columns:
    """The arrays that all states share. A writer only appends entries, or replaces an array by a longer copy."""

    # For each slot: its key.
    keys: NDArray[np.int32]
    # For each slot: the previous slot of its key.
    earlier: NDArray[np.int32]
    # For each key: its newest slot in any state.
    latest: NDArray[np.int32]


class Slots(NamedTuple):
    """One state of the slots of vectors.

    Slots are assigned consecutively and never reused; a replaced vector gets a new slot. Only one thread may change the
    newest state; older states stay unchanged for their readers.
    """

    size: int
    """Number of assigned slots."""
    living: int
    """Number of slots with a live vector."""
    alive: Flags
    """Whether the vector of each slot is live."""
    columns: _Columns

    @classmethod
    def empty(cls) -> Slots:
        """Return the state without slots."""
        nothing = (np.empty(0, dtype=np.int32) for _ in dataclasses.fields(_Columns))
        return cls(0, 0, np.empty(0, dtype=np.bool_), _Columns(*nothing))

    @classmethod
    def of_columns(cls, keys: NDArray[np.int32], alive: Flags) -> Slots:
        """Return the state with these keys; `alive` marks the live slots."""
        living = np.flatnonzero(alive)
        latest = np.full(int(keys.max(initial=_NONE)) + 1, _NONE, dtype=np.int32)
        latest[keys[living]] = living
        earlier = np.full(keys.size, _NONE, dtype=np.int32)
        return cls(keys.size, living.size, alive, _Columns(keys, earlier, latest))

    def forked(self) -> Slots:
        """Return the same state with arrays of its own."""
        return self._replace(columns=deepcopy(self.columns))

    def of(self, keys: Rows) -> Rows:
        """Return the slot of each key, -1 for a key without a vector."""
        slots = self._last(keys)
        if self.living == self.size:
            return slots
        slots[~self.alive[slots]] = _NONE
        return slots

    def _last(self, keys: Rows) -> Rows:
        """Return the newest slot of each key in this state, live or not."""
        latest = self.columns.latest
        if np.maximum.reduce(keys, initial=_NONE) < latest.size:
            slots = latest[keys].astype(np.int64)
        else:
            slots = np.full(keys.size, _NONE, dtype=np.int64)
            known = keys < latest.size
            slots[known] = latest[keys[known]]
        while np.count_nonzero(later := slots >= self.size):
            slots[later] = self.columns.earlier[slots[later]]
        return slots

    def keys_of(self, slots: Rows) -> Rows:
        """Return the key of each slot."""
        return self.columns.keys[slots].astype(np.int64)

    def added(self, keys: Rows) -> Slots:
        """Return the state with a new slot for each key; the keys' previous slots are no longer live."""
        columns, size = self.columns, self.size + keys.size
        before = self.of(keys)
        columns.keys = _grown(columns.keys, size)
        columns.earlier = _grown(columns.earlier, size)
        columns.latest = _grown(columns.latest, int(keys.max()) + 1)
        columns.keys[self.size : size] = keys
        columns.earlier[self.size : size] = self._last(keys)
        # Last, after the arrays have grown: from now on readers of older states may see the new slots.
        columns.latest[keys] = np.arange(self.size, size)
        alive = np.concatenate((self.alive, np.ones(keys.size, dtype=np.bool_)))
        dying = before[before != _NONE]
        alive[dying] = False
        return Slots(size, self.living + keys.size - dying.size, alive, columns)

    def removed(self, keys: Rows) -> Slots:
        """Return the state in which the vectors of `keys` are not live."""
        slots = np.unique(self.of(keys))
        slots = slots[slots != _NONE]
        if not slots.size:
            return self
        alive = self.alive.copy()
        alive[slots] = False
        return Slots(self.size, self.living - slots.size, alive, self.columns)


def _grown(array: NDArray[np.int32], size: int) -> NDArray[np.int32]:
    """Return `array`, or a copy of at least twice its length with the same beginning."""
    if size <= array.size:
        return array
    grown = np.full(max(size, 2 * array.size), _NONE, dtype=np.int32)
    grown[: array.size] = array
    return grown

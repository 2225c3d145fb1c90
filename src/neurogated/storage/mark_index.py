"""Marks of nodes: short words that a node carries or not, such as what it is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows

__all__ = ["MarkIndex", "OverlaidMarkIndex"]

_NONE = -1
_NOTHING = np.empty(0, dtype=np.int64)


class MarkIndex:
    """Which marks each key carries, a row of mark numbers a key; not safe to share between threads by itself."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._table = np.full((0, 1), _NONE, dtype=np.int32)
        self._carriers: dict[int, int] = {}
        self._holders: dict[int, set[int]] = {}

    def put(self, keys: Rows, marks: Sequence[Collection[str]]) -> None:
        """Give every key its marks, in the place of those it had."""
        if not keys.size:
            return
        self._reserve(int(keys.max()) + 1, max(map(len, marks)))
        self.remove(keys)
        for key, carried in zip(keys.tolist(), marks, strict=True):
            numbers = [self._numbers.setdefault(mark, len(self._numbers)) for mark in carried]
            self._table[key, : len(carried)] = numbers
            for number in numbers:
                self._carriers[number] = self._carriers.get(number, 0) + 1
                self._holders.setdefault(number, set()).add(key)

    def remove(self, keys: Rows) -> None:
        """Take all marks from `keys`; keys without marks are passed over."""
        known = keys[keys < len(self._table)]
        for key in known.tolist():
            for number in self._table[key].tolist():
                if number != _NONE:
                    self._carriers[number] -= 1
                    self._holders[number].discard(key)
        self._table[known] = _NONE

    def carried(self, marks: Iterable[str], without: Rows = _NOTHING) -> frozenset[str]:
        """Return those of `marks` that some key carries that is not among `without`."""
        hidden = Counter(self._table[without[without < len(self._table)]].ravel().tolist())
        numbers = {mark: self._numbers.get(mark, _NONE) for mark in marks}
        return frozenset(mark for mark, number in numbers.items() if self._carriers.get(number, 0) > hidden[number])

    def holders(self, marks: Collection[str]) -> Rows:
        """Return the keys that carry all of `marks`, ascending; none where no marks are given."""
        numbers = [self._numbers.get(mark, _NONE) for mark in marks]
        found = [self._holders.get(number, set()) for number in numbers]
        return np.array(sorted(set.intersection(*found)) if found else [], dtype=np.int64)

    def marks_of(self, key: int) -> frozenset[str]:
        """Return the marks of a key."""
        carried = set(self._table[key].tolist()) if key < len(self._table) else set()
        return frozenset(mark for mark, number in self._numbers.items() if number in carried)

    def overlaid(self, changed: Rows) -> OverlaidMarkIndex:
        """Return the marks here but those of the keys `changed`, beside which others can be put."""
        return OverlaidMarkIndex(self, changed)

    def carriers(self, marks: Collection[str], keys: Rows) -> NDArray[np.bool_]:
        """Return whether each key carries one of `marks`."""
        carries = np.zeros(keys.size, dtype=np.bool_)
        wanted = [self._numbers[mark] for mark in marks if mark in self._numbers]
        if wanted:
            within = keys < len(self._table)
            carried = self._table[keys[within]]
            # Few marks are looked for at a time; comparing with each is quicker than a search.
            carries[within] = np.logical_or.reduce([(carried == number).any(axis=1) for number in wanted])
        return carries

    def _reserve(self, keys: int, width: int) -> None:
        rows, columns = self._table.shape
        if keys > rows or width > columns:
            grown = np.full((max(keys, 2 * rows) if keys > rows else rows, max(width, columns)), _NONE, dtype=np.int32)
            grown[:rows, :columns] = self._table
            self._table = grown


class OverlaidMarkIndex(MarkIndex):
    """Marks of some keys in the place of those they have in another index: what the marks once were."""

    def __init__(self, base: MarkIndex, changed: Rows) -> None:
        super().__init__()
        self._base = base
        self._changed = changed

    def hide(self, keys: Rows) -> None:
        """Let marks of the other index no longer count, because they change there."""
        self._changed = np.union1d(self._changed, keys)

    def carried(self, marks: Iterable[str], without: Rows = _NOTHING) -> frozenset[str]:
        """Return those of `marks` that some key carries that is not among `without`."""
        asked = list(marks)
        below = self._base.carried(asked, np.union1d(self._changed, without))
        return below | super().carried(asked, without)

    def holders(self, marks: Collection[str]) -> Rows:
        """Return the keys that carry all of `marks`, ascending; none where no marks are given."""
        below = self._base.holders(marks)
        return np.union1d(below[~np.isin(below, self._changed)], super().holders(marks))

    def marks_of(self, key: int) -> frozenset[str]:
        """Return the marks of a key."""
        return super().marks_of(key) if key in self._changed else self._base.marks_of(key)

    def carriers(self, marks: Collection[str], keys: Rows) -> NDArray[np.bool_]:
        """Return whether each key carries one of `marks`."""
        own = np.isin(keys, self._changed)
        carries: NDArray[np.bool_] = np.where(own, super().carriers(marks, keys), self._base.carriers(marks, keys))
        return carries

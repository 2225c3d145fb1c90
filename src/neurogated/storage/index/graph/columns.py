"""Growing numpy columns whose snapshots never change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from neurogated.core.column_view import PatchedValues
from neurogated.core.view import Rows

__all__ = ["Column", "PatchedColumn"]


class Column:
    """An append-only array that grows by doubling; what was appended never changes."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer = np.empty(1, dtype=dtype)
        self._size = 0

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return a column that begins with `values`, which must not change any more; they are not copied."""
        column = cls(values.dtype)
        column._buffer, column._size = values, values.size
        return column

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """The values so far, without copying; later appends do not show in it."""
        return self._buffer[: self._size]

    def extend(self, values: ArrayLike) -> None:
        """Append `values`."""
        added = np.asarray(values, dtype=self._buffer.dtype)
        if not added.size:
            return
        size = self._size + added.size
        if size > self._buffer.size:
            grown = np.empty(max(size, 2 * self._buffer.size), dtype=self._buffer.dtype)
            grown[: self._size] = self.values
            self._buffer = grown
        self._buffer[self._size : size] = added
        self._size = size


class PatchedColumn:
    """A growing column whose values may change: changes are kept aside and folded in when there are many.

    A snapshot shares the base and copies only the patches, so it costs little and later changes do not reach it.
    """

    def __init__(self, dtype: DTypeLike, fold_at: int) -> None:
        self._base = Column(dtype)
        self._rows = np.empty(0, dtype=np.int64)
        self._patches = np.empty(0, dtype=dtype)
        self._fold_at = fold_at
        self._snapshot: PatchedValues | None = None

    @classmethod
    def of(cls, values: NDArray[Any], fold_at: int) -> Self:
        """Return a column that begins with `values`, which must not change any more; they are not copied."""
        column = cls(values.dtype, fold_at)
        column.replace(values)
        return column

    def __len__(self) -> int:
        return len(self._base)

    def extend(self, values: ArrayLike) -> None:
        """Append `values`."""
        self._base.extend(values)
        self._snapshot = None

    def set(self, rows: Iterable[int] | Rows, values: ArrayLike) -> None:
        """Change the values at `rows`, each row named once; `values` is one for each or one for all."""
        changed = np.asarray(rows, dtype=np.int64)
        if not changed.size:
            return
        new = np.broadcast_to(np.asarray(values, dtype=self._base.values.dtype), changed.shape)
        kept = ~np.isin(self._rows, changed)
        every = np.concatenate((self._rows[kept], changed))
        order = every.argsort()
        self._rows, self._patches = every[order], np.concatenate((self._patches[kept], new))[order]
        self._snapshot = None
        if every.size > self._fold_at:
            self.replace(self.snapshot().all())

    def replace(self, values: NDArray[Any]) -> None:
        """Put a whole new column, which must not change any more, in the place of the old one."""
        self._base, self._snapshot = Column.of(values), None
        self._rows, self._patches = self._rows[:0], self._patches[:0]

    def take(self, rows: Rows) -> NDArray[Any]:
        """Return the values at `rows` as they are now."""
        return self.snapshot().take(rows)

    def snapshot(self) -> PatchedValues:
        """Return the column as it is now."""
        if self._snapshot is None:
            self._snapshot = PatchedValues(self._base.values, self._rows, self._patches)
        return self._snapshot

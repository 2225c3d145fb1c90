"""Growing numpy columns whose snapshots never change."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Self, cast

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from neurogated.core.columns import PatchedValues, contained
from neurogated.core.view import Rows


class Column:
    """An append-only array that grows by doubling. Appended values never change."""

    def __init__(self, dtype: DTypeLike) -> None:
        self._buffer = np.empty(1, dtype=dtype)
        self._size = 0

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return a column that starts with `values`, without a copy; they must not change afterwards."""
        column = cls(values.dtype)
        column._buffer, column._size = values, values.size
        return column

    def __len__(self) -> int:
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """The present values, without a copy; later appends do not change the result."""
        return self._buffer[: self._size]

    def extend(self, values: ArrayLike) -> None:
        """Append `values`."""
        is_ready = isinstance(values, np.ndarray) and values.dtype == self._buffer.dtype
        added = cast("NDArray[Any]", values) if is_ready else np.asarray(values, dtype=self._buffer.dtype)
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
    """A growing column whose values may change. Changes are patches; many patches are folded into a new base.

    A snapshot shares the base and copies only the patches, so it is cheap and isolated from later changes.
    """

    def __init__(self, dtype: DTypeLike, fold_at: int) -> None:
        self._base = Column(dtype)
        self._rows = np.empty(0, dtype=np.int64)
        self._patches = np.empty(0, dtype=dtype)
        self._fold_at = fold_at
        self._snapshot: PatchedValues | None = None

    @classmethod
    def of(cls, values: NDArray[Any], fold_at: int) -> Self:
        """Return a column that starts with `values`, without a copy; they must not change afterwards."""
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
        """Change the values at `rows`, which are distinct; `values` has one for each row or one for all."""
        changed = np.asarray(rows, dtype=np.int64)
        if not changed.size:
            return
        new = np.asarray(values, dtype=self._base.values.dtype)
        new = new if new.ndim else new.repeat(changed.size)
        kept = ~contained(np.sort(changed), self._rows)
        every = np.concatenate((self._rows[kept], changed))
        order = every.argsort()
        self._rows, self._patches = every[order], np.concatenate((self._patches[kept], new))[order]
        self._snapshot = None
        if every.size > self._fold_at:
            self.replace(self.snapshot().all())

    def replace(self, values: NDArray[Any]) -> None:
        """Replace the whole column by `values`, which must not change afterwards."""
        self._base, self._snapshot = Column.of(values), None
        self._rows, self._patches = self._rows[:0], self._patches[:0]

    def take(self, rows: Rows) -> NDArray[Any]:
        """Return the present values at `rows`."""
        return self.snapshot().take(rows)

    def snapshot(self) -> PatchedValues:
        """Return the present column."""
        if self._snapshot is None:
            self._snapshot = PatchedValues(self._base.values, self._rows, self._patches)
        return self._snapshot

"""The scopes of a graph and the node rows in each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.core.scope import ANY_USER, Scope, ScopeFilter

__all__ = ["ScopeRows"]

Rows = NDArray[np.int64]


class ScopeRows:
    """Numbers scopes in order of appearance and lists the node rows of each. Both lists only grow.

    Snapshots of the graph share it. The list of a scope may contain rows that are newer than a snapshot, or whose
    nodes moved to another scope, so readers check the rows against their own columns.
    """

    def __init__(self) -> None:
        self._scopes: list[Scope] = []
        self._codes: dict[Scope, int] = {}
        self._by_user: dict[str | None, list[int]] = {}
        # Rows sorted by scope, and the start of each scope; computed from the column on first use.
        self._column: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._sorted: tuple[Rows, Rows] | None = None
        self._added: dict[int, array[int]] = {}
        self.moved = False
        """Whether the list of a scope may contain a node that has left the scope."""
        # The last filter, the number of scopes it was applied to, and its result.
        self._admitted: tuple[ScopeFilter, int, Rows | None] | None = None
        # The empty scope is number 0, the default of rows that never held a node.
        self._code(Scope())

    @classmethod
    def of(cls, scopes: Iterable[Scope], column: NDArray[np.int32]) -> ScopeRows:
        """Return the scopes of a graph; `column` holds the scope number of each node row and must not change."""
        made = cls()
        made.codes(scopes)
        made._column = column
        return made

    def __len__(self) -> int:
        return len(self._scopes)

    def __iter__(self) -> Iterator[Scope]:
        return iter(tuple(self._scopes))

    def __getitem__(self, code: int) -> Scope:
        return self._scopes[code]

    def codes(self, scopes: Iterable[Scope]) -> NDArray[np.int32]:
        """Return the number of each scope; assign numbers to new ones."""
        return np.fromiter((self._code(scope) for scope in scopes), dtype=np.int32)

    def add(self, codes: ArrayLike, rows: Rows) -> None:
        """Record that the nodes at `rows` are now in these scopes."""
        for code, row in zip(np.asarray(codes).tolist(), rows.tolist(), strict=True):
            self._added.setdefault(code, array("q")).append(row)

    def admitted(self, wanted: ScopeFilter) -> Rows | None:
        """Return the numbers of the scopes that a filter admits; None if it admits all."""
        known = self._admitted
        if known is not None and known[:2] == (wanted, len(self._scopes)):
            return known[2]
        count = len(self._scopes)
        codes = [code for code in self._considered(wanted) if code < count and wanted.admits(self._scopes[code])]
        found = None if len(codes) == count else np.array(codes, dtype=np.int64)
        self._admitted = wanted, count, found
        return found

    def _considered(self, wanted: ScopeFilter) -> Iterable[int]:
        """Return the numbers of the scopes of the users that a filter names."""
        if wanted.user_id is ANY_USER:
            return range(len(self._scopes))
        users = (wanted.user_id,) if wanted.alone or wanted.user_id is None else (wanted.user_id, None)
        return [code for user in users for code in self._by_user.get(user, ())]

    def rows(self, codes: Rows, count: int) -> Rows:
        """Return the rows below `count` that are or were in one of the scopes, ascending, without duplicates."""
        order, starts = self._by_scope()
        known = codes[codes < starts.size - 1]
        parts = [order[starts[code] : starts[code + 1]] for code in known.tolist()]
        # `tobytes` copies atomically, since another thread may append.
        parts += [
            np.frombuffer(self._added[code].tobytes(), np.int64) for code in codes.tolist() if code in self._added
        ]
        rows = np.concatenate((np.empty(0, dtype=np.int64), *parts))
        if not (rows[1:] > rows[:-1]).all():
            rows = np.unique(rows)
        return rows[: rows.searchsorted(count)]

    def _code(self, scope: Scope) -> int:
        code = self._codes.get(scope)
        if code is None:
            code = len(self._scopes)
            # Append before publishing the number, so that a reader with the number finds the scope.
            self._scopes.append(scope)
            self._codes[scope] = code
            self._by_user.setdefault(scope.user_id, []).append(code)
        return code

    def _by_scope(self) -> tuple[Rows, Rows]:
        if self._sorted is None:
            order = np.argsort(self._column, kind="stable").astype(np.int64)
            most = int(self._column.max()) + 1 if self._column.size else 0
            self._sorted = order, np.searchsorted(self._column[order], np.arange(most + 1))
        return self._sorted

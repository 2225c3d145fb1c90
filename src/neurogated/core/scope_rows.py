"""The scopes of a graph and the node rows in each."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from threading import Lock

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.core.columns import distinct
from neurogated.core.scope import ANY_USER, Scope, ScopeFilter

Rows = NDArray[np.int64]

_FILTERS = 16
_ROOM = 64


@dataclass(slots=True)
class _Admitted:
    """The scopes that a filter admits, and their rows. Both grow with the graph."""

    codes: array[int]
    rows: Rows | None = None
    """The rows that are or were in these scopes, ascending, with room for more; None until they are listed."""
    size: int = 0
    """How many rows there are."""
    listed: set[int] = field(default_factory=set)
    """The codes whose rows are listed."""

    def list_rows(self, rows: Rows) -> None:
        """Keep the rows of all codes."""
        self.rows, self.size, self.listed = rows, rows.size, set(self.codes)

    def append(self, row: int) -> None:
        """Add a row. Earlier slices of `rows` do not change."""
        if self.rows is None:
            return
        if self.size and row <= self.rows[self.size - 1]:
            # An older node moved to a scope, so the next use lists the rows again.
            self.rows = None
            return
        if self.size == self.rows.size:
            self.rows = np.concatenate((self.rows, np.empty_like(self.rows), np.empty(_ROOM, dtype=np.int64)))
        self.rows[self.size] = row
        self.size += 1


class ScopeRows:
    """Numbers scopes in order of appearance and lists the node rows of each. Both lists only grow.

    Snapshots of the graph share it. The list of a scope may contain rows that are newer than a snapshot, or whose
    nodes moved to another scope, so readers check the rows against their own columns.
    """

    def __init__(self) -> None:
        self._scopes: list[Scope] = []
        self._codes: dict[Scope, int] = {}
        self.users: list[str | None] = []
        """The user of each scope."""
        self._by_user: dict[str | None, list[int]] = {}
        self._by_session: dict[str | None, list[int]] = {}
        # Rows sorted by scope, and the start of each scope; computed from the column on first use.
        self._column: NDArray[np.int32] = np.empty(0, dtype=np.int32)
        self._sorted: tuple[Rows, Rows] | None = None
        self._added: dict[int, array[int]] = {}
        self.moved = False
        """Whether the list of a scope may contain a node that has left the scope."""
        # The last filters, the latest one at the end.
        self._admitted: dict[ScopeFilter, _Admitted] = {}
        self._lock = Lock()
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
        with self._lock:
            return np.fromiter((self._code(scope) for scope in scopes), dtype=np.int32)

    def add(self, codes: ArrayLike, rows: Rows) -> None:
        """Record that the nodes at `rows` are now in these scopes."""
        with self._lock:
            listing = [one for one in self._admitted.values() if one.rows is not None]
            for code, row in zip(np.asarray(codes).tolist(), rows.tolist(), strict=True):
                self._added.setdefault(code, array("q")).append(row)
                for one in listing:
                    if code in one.listed:
                        one.append(row)

    def admitted(self, wanted: ScopeFilter) -> Rows | None:
        """Return the numbers of the scopes that a filter admits; None if it admits all."""
        with self._lock:
            codes = self._of(wanted).codes
            return None if len(codes) == len(self._scopes) else np.array(codes, dtype=np.int64)

    def rows(self, wanted: ScopeFilter, count: int) -> Rows:
        """Return the rows below `count` that are or were in an admitted scope, ascending, without duplicates."""
        with self._lock:
            known = self._of(wanted)
            rows = known.rows
            if rows is None:
                rows = self._rows_in(known.codes)
                known.list_rows(rows)
            rows = rows[: known.size]
        return rows[: rows.searchsorted(count)]

    def _of(self, wanted: ScopeFilter) -> _Admitted:
        """Return the rows that a filter admits. The caller holds the lock."""
        known = self._admitted.pop(wanted, None)
        if known is None:
            codes = (code for code in self._considered(wanted) if wanted.admits(self._scopes[code]))
            known = _Admitted(array("q", codes))
            while len(self._admitted) >= _FILTERS:
                del self._admitted[next(iter(self._admitted))]
        self._admitted[wanted] = known
        return known

    def _considered(self, wanted: ScopeFilter) -> Iterable[int]:
        """Return the numbers of the scopes of the session, or else of the users, that a filter names."""
        if wanted.session_id is not None and (wanted.alone or wanted.own_session):
            return self._by_session.get(wanted.session_id, ())
        if wanted.user_id is ANY_USER:
            return range(len(self._scopes))
        users = (wanted.user_id,) if wanted.alone or wanted.user_id is None else (wanted.user_id, None)
        return [code for user in users for code in self._by_user.get(user, ())]

    def _rows_in(self, codes: Iterable[int]) -> Rows:
        order, starts = self._by_scope()
        known = [order[starts[code] : starts[code + 1]] for code in codes if code < starts.size - 1]
        added = [np.array(self._added[code], dtype=np.int64) for code in codes if code in self._added]
        return distinct(np.concatenate((np.empty(0, dtype=np.int64), *known, *added)))

    def _code(self, scope: Scope) -> int:
        code = self._codes.get(scope)
        if code is None:
            code = len(self._scopes)
            # Append before publishing the number, so that a reader with the number finds the scope.
            self._scopes.append(scope)
            self.users.append(scope.user_id)
            self._codes[scope] = code
            self._by_user.setdefault(scope.user_id, []).append(code)
            self._by_session.setdefault(scope.session_id, []).append(code)
            for wanted, known in self._admitted.items():
                if wanted.admits(scope):
                    known.codes.append(code)
                    known.listed.add(code)
        return code

    def _by_scope(self) -> tuple[Rows, Rows]:
        if self._sorted is None:
            order = np.argsort(self._column, kind="stable").astype(np.int64)
            most = int(self._column.max()) + 1 if self._column.size else 0
            self._sorted = order, np.searchsorted(self._column[order], np.arange(most + 1))
        return self._sorted

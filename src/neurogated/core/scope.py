"""The owner of a memory: user, agent, session and path."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import Enum
from threading import Lock
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from neurogated.core.columns import distinct
from neurogated.text.strings import checked_name, checked_names


class AnyUser(Enum):
    """The type of `ANY_USER`."""

    ANY_USER = "any user"

    def __repr__(self) -> str:
        return self.name

    __str__ = __repr__


ANY_USER: Final = AnyUser.ANY_USER
"""All users. It must be given explicitly, since a filter without a user finds only memories that have none."""

UserChoice = str | None | AnyUser
"""A user, None for memories without a user, or `ANY_USER`."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner of a memory. Edges never connect memories of two users; they may connect agents or sessions."""

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    path: Sequence[str] = ()
    """A position in a tree that the caller defines, such as `("project", "notes")`; searches match it by prefix."""

    def __post_init__(self) -> None:
        for name, value in (("user_id", self.user_id), ("agent_id", self.agent_id), ("session_id", self.session_id)):
            if value is not None:
                object.__setattr__(self, name, checked_name(name, value))
        object.__setattr__(self, "path", checked_names("path", self.path, exact=True))

    def __bool__(self) -> bool:
        return any((self.user_id, self.agent_id, self.session_id, self.path))

    @property
    def owner(self) -> tuple[str | None, str | None, str | None]:
        """User, agent, and the session if there is no user, because such sessions may be those of different persons."""
        return self.user_id, self.agent_id, self.session_id if self.user_id is None else None


@dataclass(frozen=True, slots=True)
class ScopeFilter:
    """Decides which scopes a search covers.

    A user sees her own memories and those without a user; the same holds for an agent and a session. The filter admits
    a scope only if the scope's path begins with the filter's path.
    """

    user_id: UserChoice = None
    agent_id: str | None = None
    """None for all agents."""
    session_id: str | None = None
    """None for all sessions."""
    path: Sequence[str] = ()
    alone: bool = False
    """Whether to exclude memories without a user, agent or session when the filter names one."""
    own_session: bool = False
    """Whether to exclude memories without a session when the filter names one."""

    def __post_init__(self) -> None:
        for name in ("user_id", "agent_id", "session_id"):
            value = getattr(self, name)
            if value is not None and (name != "user_id" or value is not ANY_USER):
                object.__setattr__(self, name, checked_name(name, value))
        object.__setattr__(self, "path", checked_names("path", self.path, exact=True))

    def admits(self, scope: Scope) -> bool:
        """Return whether the search covers memories of `scope`."""
        user = scope.user_id
        return (
            (self.user_id is ANY_USER or user == self.user_id or (user is None and not self.alone))
            and self._admits(self.agent_id, scope.agent_id, alone=self.alone)
            and self._admits(self.session_id, scope.session_id, alone=self.alone or self.own_session)
            and scope.path[: len(self.path)] == self.path
        )

    @staticmethod
    def _admits(wanted: str | None, found: str | None, *, alone: bool) -> bool:
        return wanted is None or found == wanted or (found is None and not alone)


Rows = NDArray[np.int64]

_FILTERS = 16
_ROOM = 64


@dataclass(slots=True)
class _Admitted:
    codes: array[int]
    rows: Rows | None = None
    """The rows that are or were in these scopes, ascending, with room for more; None until they are listed."""
    size: int = 0
    """How many rows there are."""
    listed: set[int] = field(default_factory=set)
    """The codes whose rows are listed."""

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
                if self._sorted is None:
                    order = np.argsort(self._column, kind="stable").astype(np.int64)
                    most = int(self._column.max()) + 1 if self._column.size else 0
                    self._sorted = order, np.searchsorted(self._column[order], np.arange(most + 1))
                order, starts = self._sorted
                old = [order[starts[code] : starts[code + 1]] for code in known.codes if code < starts.size - 1]
                added = [np.array(self._added[code], dtype=np.int64) for code in known.codes if code in self._added]
                rows = distinct(np.concatenate((np.empty(0, dtype=np.int64), *old, *added)))
                known.rows, known.size, known.listed = rows, rows.size, set(known.codes)
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
        if wanted.session_id is not None and (wanted.alone or wanted.own_session):
            return self._by_session.get(wanted.session_id, ())
        if wanted.user_id is ANY_USER:
            return range(len(self._scopes))
        users = (wanted.user_id,) if wanted.alone or wanted.user_id is None else (wanted.user_id, None)
        return [code for user in users for code in self._by_user.get(user, ())]

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

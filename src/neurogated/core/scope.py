"""The owner of a memory: user, agent, session and path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

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
        for name in ("user_id", "agent_id", "session_id"):
            if (value := getattr(self, name)) is not None:
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
        return (
            self._admits_user(scope.user_id)
            and self._admits(self.agent_id, scope.agent_id, alone=self.alone)
            and self._admits(self.session_id, scope.session_id, alone=self.alone or self.own_session)
            and scope.path[: len(self.path)] == self.path
        )

    @staticmethod
    def _admits(wanted: str | None, found: str | None, *, alone: bool) -> bool:
        return wanted is None or found == wanted or (found is None and not alone)

    def _admits_user(self, user_id: str | None) -> bool:
        if self.user_id is ANY_USER or user_id == self.user_id:
            return True
        return user_id is None and not self.alone

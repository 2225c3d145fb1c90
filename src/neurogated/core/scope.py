"""The owner of a memory: user, agent, session and path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from neurogated.core.text import checked_name, checked_names

__all__ = ["ANY_USER", "AnyUser", "Scope", "ScopeFilter", "UserChoice"]


class AnyUser(Enum):
    """The type of `ANY_USER`."""

    ANY_USER = "any user"


ANY_USER: Final = AnyUser.ANY_USER
"""Stands for all users; it has to be said, since a filter without a user shows what belongs to no user."""

UserChoice = str | None | AnyUser
"""A user, None for memories that belong to no user, or `ANY_USER`."""


@dataclass(frozen=True, slots=True)
class Scope:
    """The owner of a memory. Users never share an edge; agents and sessions of one user may."""

    user_id: str | None = None
    agent_id: str | None = None
    session_id: str | None = None
    path: Sequence[str] = ()
    """A place in a tree of the caller's own, such as `("project", "notes")`; it can be searched by prefix."""

    def __post_init__(self) -> None:
        for name in ("user_id", "agent_id", "session_id"):
            if (value := getattr(self, name)) is not None:
                checked_name(name, value)
        object.__setattr__(self, "path", checked_names("path", self.path))

    def __bool__(self) -> bool:
        return any((self.user_id, self.agent_id, self.session_id, self.path))


@dataclass(frozen=True, slots=True)
class ScopeFilter:
    """Which scopes a search looks into.

    A user sees her own memories and those that belong to no user; the same holds for an agent and a session. A prefix
    of paths matches only what lies below it.
    """

    user_id: UserChoice = None
    agent_id: str | None = None
    """None for all agents."""
    session_id: str | None = None
    """None for all sessions."""
    path: Sequence[str] = ()
    alone: bool = False
    """Whether only memories of this very user, agent and session are seen, without those that belong to none."""

    def __post_init__(self) -> None:
        for name in ("user_id", "agent_id", "session_id"):
            value = getattr(self, name)
            if value is not None and value is not ANY_USER:
                checked_name(name, value)
        object.__setattr__(self, "path", checked_names("path", self.path))

    def admits(self, scope: Scope) -> bool:
        """Return whether memories of `scope` are seen."""
        return (
            self._admits_user(scope.user_id)
            and self._admits(self.agent_id, scope.agent_id)
            and self._admits(self.session_id, scope.session_id)
            and scope.path[: len(self.path)] == self.path
        )

    def _admits(self, wanted: str | None, found: str | None) -> bool:
        return wanted is None or found == wanted or (found is None and not self.alone)

    def _admits_user(self, user_id: str | None) -> bool:
        if self.user_id is ANY_USER or user_id == self.user_id:
            return True
        return user_id is None and not self.alone

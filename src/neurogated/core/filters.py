"""Which memories a search may find: their kinds, tags, scopes, and conditions on their metadata."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as data_field
from operator import ge, gt, le, lt
from typing import Any, TypedDict

from neurogated.core.model import json_metadata
from neurogated.core.node_kind import checked_kind
from neurogated.core.scope import ScopeFilter, UserChoice
from neurogated.core.text import checked_names, checked_text
from neurogated.errors import InputError

__all__ = [
    "Both",
    "Compare",
    "Condition",
    "Either",
    "Field",
    "Filter",
    "FilterOptions",
    "Not",
    "field",
    "filter_of",
    "owned",
]

_MISSING = object()
# Conditions are evaluated by recursion, which Python bounds.
_DEEPEST = 200
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_OPERATORS = frozenset((*_ORDERS, "=", "in", "exists"))


class Condition(ABC):
    """A condition on metadata; conditions are joined by `&`, `|` and `~`."""

    __slots__ = ()

    @property
    @abstractmethod
    def depth(self) -> int:
        """How many conditions lie within each other, itself included."""

    @abstractmethod
    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a memory with this metadata fulfils the condition."""

    def __bool__(self) -> bool:
        raise InputError("conditions have no truth of their own; join them by & and |, not by `and`, `or` or a < b < c")

    def __and__(self, other: Condition) -> Condition:
        return Both(self, other)

    def __or__(self, other: Condition) -> Condition:
        return Either(self, other)

    def __invert__(self) -> Condition:
        return Not(self)


@dataclass(frozen=True, slots=True)
class Compare(Condition):
    """One value of the metadata compared with a constant.

    Numbers are compared with numbers and texts with texts; a value of another type, or none, fulfils nothing.
    """

    path: tuple[str, ...]
    """The keys that lead to the value, from the outside to the inside."""
    operator: str
    """`=`, `<`, `<=`, `>`, `>=`, `in` or `exists`."""
    value: Any = None
    """JSON; for `in` a list of them."""

    def __post_init__(self) -> None:
        if str(self.operator) not in _OPERATORS:
            raise InputError(f"unknown comparison {self.operator!r}; known are {', '.join(sorted(_OPERATORS))}")
        if not self.path:
            raise InputError("a comparison needs the name of a metadata key")
        for name in self.path:
            checked_text("the name of a metadata key", name)
        object.__setattr__(self, "value", json_metadata({"value": self.value})["value"])
        if self.operator == "in" and not isinstance(self.value, list):
            raise InputError(f"{self.value!r} is no list; give the values that are looked for, as in ['Lyon', 'Paris']")
        if self.operator in _ORDERS and not isinstance(self.value, str | int | float):
            raise InputError(f"{self.value!r} has no order; compare with a number or a text")

    @property
    def depth(self) -> int:
        """One: it has no parts."""
        return 1

    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a memory with this metadata fulfils the condition."""
        found: Any = metadata
        for name in self.path:
            found = found.get(name, _MISSING) if isinstance(found, Mapping) else _MISSING
        if found is _MISSING or self.operator == "exists":
            return found is not _MISSING
        if self.operator == "=":
            return _equal(found, self.value)
        if self.operator == "in":
            return any(_equal(found, value) for value in self.value)
        return _family(found) == _family(self.value) and _ORDERS[self.operator](found, self.value)


@dataclass(frozen=True, slots=True)
class Both(Condition):
    """Two conditions that both hold."""

    first: Condition
    second: Condition
    depth: int = data_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.first, self.second))

    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a memory with this metadata fulfils both."""
        return self.first.admits(metadata) and self.second.admits(metadata)


@dataclass(frozen=True, slots=True)
class Either(Condition):
    """Two conditions of which one holds."""

    first: Condition
    second: Condition
    depth: int = data_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.first, self.second))

    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a memory with this metadata fulfils one of them."""
        return self.first.admits(metadata) or self.second.admits(metadata)


@dataclass(frozen=True, slots=True)
class Not(Condition):
    """A condition that does not hold."""

    condition: Condition
    depth: int = data_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "depth", _depth_over(self.condition))

    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a memory with this metadata does not fulfil the condition."""
        return not self.condition.admits(metadata)


def _depth_over(*conditions: object) -> int:
    """Return the depth of a condition made of others, after checking them."""
    depth = 1
    for condition in conditions:
        if not isinstance(condition, Condition):
            raise InputError(f"{condition!r} is no condition; write one as in field('year') >= 2020")
        depth = max(depth, condition.depth + 1)
    if depth > _DEEPEST:
        raise InputError(
            f"more than {_DEEPEST} conditions lie within each other; to look for one of many values use `is_in`, and "
            "join many conditions in groups"
        )
    return depth


class Field:
    """A value of the metadata, to be compared: `(field("year") >= 2020) & field("place").is_in(["Lyon"])`."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, *path: str) -> None:
        self._path = path

    def __eq__(self, value: object) -> Compare:  # type: ignore[override]
        return Compare(self._path, "=", value)

    def __ne__(self, value: object) -> Not:  # type: ignore[override]
        return Not(Compare(self._path, "=", value))

    def __lt__(self, value: float | str) -> Compare:
        return Compare(self._path, "<", value)

    def __le__(self, value: float | str) -> Compare:
        return Compare(self._path, "<=", value)

    def __gt__(self, value: float | str) -> Compare:
        return Compare(self._path, ">", value)

    def __ge__(self, value: float | str) -> Compare:
        return Compare(self._path, ">=", value)

    def is_in(self, values: Collection[Any]) -> Compare:
        """Return the condition that the value is one of `values`."""
        return Compare(self._path, "in", values if isinstance(values, str) else list(values))

    def exists(self) -> Compare:
        """Return the condition that there is a value."""
        return Compare(self._path, "exists")


def field(*path: str) -> Field:
    """Return the value of a metadata key, to be compared; further names lead into nested dicts."""
    return Field(*path)


@dataclass(frozen=True, slots=True)
class Filter:
    """Which memories a search may find; what is left out admits all."""

    kinds: Collection[str] = frozenset()
    """One of these kinds."""
    tags: Collection[str] = frozenset()
    """All of these tags."""
    scope: ScopeFilter | None = None
    where: Condition | None = None
    """On the metadata."""

    def __post_init__(self) -> None:
        for name in ("kinds", "tags"):
            object.__setattr__(self, name, frozenset(checked_names(name, getattr(self, name))))
        for kind in self.kinds:
            checked_kind(kind)
        if self.scope is not None and not isinstance(self.scope, ScopeFilter):
            raise InputError(f"the scope of a filter is {self.scope!r}, but must be a ScopeFilter")
        if self.where is not None and not isinstance(self.where, Condition):
            raise InputError(f"where is {self.where!r}, but must be a condition such as field('year') >= 2020")

    def __bool__(self) -> bool:
        return bool(self.kinds or self.tags or self.scope is not None or self.where is not None)


class FilterOptions(TypedDict, total=False):
    """Keyword arguments of a filter; see `filter_of`."""

    user_id: UserChoice
    """The user whose memories are found, with those of no user. Without it only those of no user are found.

    `ANY_USER` finds the memories of all users.
    """
    agent_id: str | None
    """Memories of this agent and of none; those of all agents when left out."""
    session_id: str | None
    """Memories of this session and of none; those of all sessions when left out."""
    path: Sequence[str]
    """Memories whose path begins with this one."""
    kinds: Collection[str] | None
    """Memories of one of these kinds."""
    tags: Collection[str] | None
    """Memories that have all of these tags."""
    where: Condition | None
    """Memories whose metadata fulfils this condition, such as `field("year") >= 2020`."""


def filter_of(options: FilterOptions) -> Filter:
    """Return the filter that was asked for.

    Raises:
        InputError: a name is empty or no text.
        ConfigError: a kind is unknown.
    """
    known = FilterOptions.__annotations__
    if unknown := options.keys() - known.keys():
        raise InputError(f"unknown filter {', '.join(sorted(unknown))}; known are {', '.join(known)}")
    path, kinds, tags = options.get("path", ()), options.get("kinds"), options.get("tags")
    scope = ScopeFilter(options.get("user_id"), options.get("agent_id"), options.get("session_id"), path)
    return Filter(() if kinds is None else kinds, () if tags is None else tags, scope, options.get("where"))


def owned(options: FilterOptions) -> Filter:
    """Return the filter that was asked for, without what belongs to no user, agent or session where one is named.

    A memory that several see is nobody's to delete or to export. Raises as `filter_of`.
    """
    found = filter_of(options)
    return found if found.scope is None else replace(found, scope=replace(found.scope, alone=True))


def _family(value: object) -> str:
    """Return which values one can be compared with."""
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _equal(first: object, second: object) -> bool:
    return _family(first) == _family(second) and first == second

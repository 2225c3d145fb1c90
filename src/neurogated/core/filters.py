"""Filters that decide which memories a search may find: by kind, tags, scope and metadata."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from dataclasses import field as data_field
from operator import ge, gt, le, lt
from typing import Any, Literal, TypedDict

from neurogated.core.habits import refuse_unknown
from neurogated.core.model import json_metadata
from neurogated.core.node_kind import PLACEHOLDER, checked_kind
from neurogated.core.scope import ScopeFilter, UserChoice
from neurogated.errors import InputError
from neurogated.text.strings import checked_names, checked_text, composed

NO_MEMORIES = frozenset({"conflict", "claim"})
"""Kinds of nodes that tell about memories and are none themselves."""
_MISSING = object()
# Conditions are evaluated recursively, and Python limits the depth of recursion.
_DEEPEST = 200
_ORDERS: Mapping[str, Callable[[Any, Any], bool]] = {"<": lt, "<=": le, ">": gt, ">=": ge}
_OPERATORS = frozenset((*_ORDERS, "=", "in", "exists"))


class Condition(ABC):
    """A condition on metadata; `&`, `|` and `~` combine conditions."""

    __slots__ = ()

    @property
    def depth(self) -> int:
        """The depth of the tree of conditions; 1 for a comparison."""
        return 1

    @abstractmethod
    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a memory with this metadata fulfils the condition."""

    def __bool__(self) -> bool:
        raise InputError("a condition has no truth value; join conditions by & and |, not by `and`, `or` or a < b < c")

    def __and__(self, other: Condition) -> Condition:
        return Combined("all", (self, other))

    def __or__(self, other: Condition) -> Condition:
        return Combined("one", (self, other))

    def __invert__(self) -> Condition:
        return Combined("none", (self,))


@dataclass(frozen=True, slots=True)
class Compare(Condition):
    """One value of the metadata compared with a constant; a missing value or one of another type never fulfils it."""

    path: tuple[str, ...]
    """The keys that lead to the value, outermost first."""
    operator: str
    """`=`, `<`, `<=`, `>`, `>=`, `in` or `exists`."""
    value: Any = None
    """A JSON value; for `in` a list of JSON values."""

    def __post_init__(self) -> None:
        if str(self.operator) not in _OPERATORS:
            raise InputError(f"unknown comparison {self.operator!r}; known are {', '.join(sorted(_OPERATORS))}")
        if not self.path:
            raise InputError("a comparison needs the name of a metadata key")
        for name in self.path:
            checked_text("the name of a metadata key", name)
        object.__setattr__(self, "value", json_metadata({"value": self.value})["value"])
        if self.operator == "in" and not isinstance(self.value, list):
            raise InputError(f"{self.value!r} is not a list; give the values to search for, as in ['Lyon', 'Paris']")
        if self.operator in _ORDERS and not isinstance(self.value, str | int | float):
            raise InputError(f"{self.value!r} is not sortable; compare with a number or a text")

    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether a memory with this metadata fulfils the condition."""
        found = metadata.get(self.path[0], _MISSING)
        for name in self.path[1:]:
            found = found.get(name, _MISSING) if isinstance(found, Mapping) else _MISSING
        if found is _MISSING or self.operator == "exists":
            return found is not _MISSING
        if self.operator == "=":
            return _equal(found, self.value)
        if self.operator == "in":
            return any(_equal(found, value) for value in self.value)
        if isinstance(found, str) and isinstance(self.value, str):
            return _ORDERS[self.operator](composed(found), composed(self.value))
        return _family(found) == _family(self.value) and _ORDERS[self.operator](found, self.value)


@dataclass(frozen=True, slots=True)
class Combined(Condition):
    """Conditions that all hold, of which one holds, or of which none holds."""

    holding: Literal["all", "one", "none"]
    conditions: tuple[Condition, ...]
    depth: int = data_field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        depth = 1
        for condition in self.conditions:
            if not isinstance(condition, Condition):
                raise InputError(f"{condition!r} is not a condition; write one as in field('year') >= 2020")
            depth = max(depth, condition.depth + 1)
        if depth > _DEEPEST:
            raise InputError(
                f"more than {_DEEPEST} conditions are nested in one another; to test for one of many values use "
                "`is_in`, and combine many conditions in groups"
            )
        object.__setattr__(self, "depth", depth)

    def admits(self, metadata: Mapping[str, Any]) -> bool:
        """Return whether so many of the conditions hold for a memory with this metadata."""
        held = (condition.admits(metadata) for condition in self.conditions)
        if self.holding == "all":
            return all(held)
        return any(held) == (self.holding == "one")


class Field:
    """A metadata value to compare: `(field("year") >= 2020) & field("place").is_in(["Lyon"])`."""

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, *path: str) -> None:
        self._path = path

    def __eq__(self, value: object) -> Compare:  # type: ignore[override]
        return Compare(self._path, "=", value)

    def __ne__(self, value: object) -> Combined:  # type: ignore[override]
        return Combined("none", (Compare(self._path, "=", value),))

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
        given: object = values
        listed = isinstance(given, Iterable) and not isinstance(given, str | Mapping)
        return Compare(self._path, "in", list(values) if listed else given)

    def exists(self) -> Compare:
        """Return the condition that the value exists."""
        return Compare(self._path, "exists")


def field(*path: str) -> Field:
    """Return a metadata value to compare; further names lead into nested dicts."""
    return Field(*path)


@dataclass(frozen=True, slots=True)
class Filter:
    """Decides which memories a search may find. A field with its default admits all."""

    kinds: Collection[str] = frozenset()
    """One of these kinds."""
    tags: Collection[str] = frozenset()
    """All of these tags."""
    scope: ScopeFilter | None = None
    where: Condition | None = None
    """A condition on the metadata."""
    originals: bool = False
    """Only memories that were not derived from others."""
    except_kinds: Collection[str] = frozenset()
    """None of these kinds."""
    only_ids: Collection[str] | None = None
    """One of these ids; None for all."""

    def __post_init__(self) -> None:
        for name in ("kinds", "tags", "except_kinds"):
            object.__setattr__(self, name, frozenset(checked_names(name, getattr(self, name))))
        for kind in self.kinds:
            checked_kind(kind)
        if self.scope is not None and not isinstance(self.scope, ScopeFilter):
            raise InputError(f"the scope of a filter is {self.scope!r}, but must be a ScopeFilter")
        if self.where is not None and not isinstance(self.where, Condition):
            raise InputError(f"where is {self.where!r}, but must be a condition such as field('year') >= 2020")

    def __bool__(self) -> bool:
        given = any(one is not None for one in (self.scope, self.where, self.only_ids))
        return given or any((self.kinds, self.tags, self.originals, self.except_kinds))


class FilterOptions(TypedDict, total=False):
    """The keyword arguments of a filter; see `filter_of`."""

    user_id: UserChoice
    """The user whose memories are found, together with memories that have no user; `ANY_USER` for all users.

    If omitted, only memories without a user are found.
    """
    agent_id: str | None
    """Memories of this agent and memories without an agent; all agents if omitted."""
    session_id: str | None
    """Memories of this session and memories without a session; all sessions if omitted."""
    path: Sequence[str]
    """Memories whose path begins with this one."""
    kinds: Collection[str] | None
    """Memories of one of these kinds."""
    tags: Collection[str] | None
    """Memories that have all of these tags."""
    where: Condition | None
    """Memories whose metadata fulfils this condition, as in `field("year") >= 2020`."""
    only_ids: Collection[str] | None
    """Memories with one of these ids."""


def filter_of(options: FilterOptions, unasked: Collection[str] = frozenset()) -> Filter:
    """Return the filter for keyword arguments, and for `unasked` kinds if `kinds` names none; raises InputError."""
    known = FilterOptions.__annotations__
    refuse_unknown(options, known, "filter")
    path, kinds, tags = options.get("path", ()), options.get("kinds"), options.get("tags")
    scope = ScopeFilter(options.get("user_id"), options.get("agent_id"), options.get("session_id"), path)
    hidden = unasked if kinds is None else frozenset[str]()
    kinds, tags, where = () if kinds is None else kinds, () if tags is None else tags, options.get("where")
    found = Filter(kinds, tags, scope, where, except_kinds=hidden, only_ids=options.get("only_ids"))
    return found if found.kinds or found.except_kinds == unasked else replace(found, except_kinds=unasked)


def recallable(options: FilterOptions) -> Filter:
    """Return the filter of a recall for these keyword arguments; it admits placeholders only if `kinds` names them."""
    return filter_of(options, _ALL_RECALLABLE.except_kinds) if options else _ALL_RECALLABLE


_ALL_RECALLABLE = filter_of({}, frozenset({PLACEHOLDER}))


def memories_among(options: FilterOptions) -> Filter:
    """Return the filter of a list: of a named session only, and with conflicts only if `kinds` names them."""
    found = filter_of(options, NO_MEMORIES)
    if found.scope is not None and found.scope.session_id is not None:
        found = replace(found, scope=replace(found.scope, own_session=True))
    return found


def owned(options: FilterOptions) -> Filter:
    """Return the filter for these keyword arguments, for a deletion or an export.

    For each user, agent or session that they name, it admits only memories that have it. Memories without an owner are
    shared, so no single user may delete or export them. Raises as `filter_of`.
    """
    found = filter_of(options)
    return found if found.scope is None else replace(found, scope=replace(found.scope, alone=True))


def _family(value: object) -> str:
    if isinstance(value, bool):
        return "truth"
    return "number" if isinstance(value, int | float) else type(value).__name__


def _equal(first: object, second: object) -> bool:
    if isinstance(first, str) and isinstance(second, str):
        return composed(first) == composed(second)
    return _family(first) == _family(second) and first == second

"""The valid time of memories that conflicts end: computed from given times and outcomes, and never stored."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Generic, NamedTuple, Protocol, TypeVar

from neurogated.core.conflicts import Conflict, Validity
from neurogated.core.found import Found

_Key = TypeVar("_Key")


class _Lasting(Protocol):
    """A memory or its record."""

    @property
    def valid_from(self) -> datetime | None:
        """When it began to hold."""

    @property
    def valid_to(self) -> datetime | None:
        """When it ceased to hold."""

    @property
    def timestamp(self) -> datetime | None:
        """When it was said."""

    @property
    def created_at(self) -> datetime:
        """When it was stored."""

    @property
    def found(self) -> Found:
        """What was found in its text."""


class SideTimes(NamedTuple):
    """The given times of a memory."""

    valid_from: datetime | None
    valid_to: datetime | None
    moment: datetime
    """When it began to hold, was said, or was stored; see `conflicts.moment_of`."""
    said: datetime
    """When it was said, or else stored."""
    is_fact: bool
    """Whether it is a fact with a subject, an attribute and a value."""

    @property
    def validity(self) -> Validity:
        """The given valid time."""
        return self.valid_from, self.valid_to


@dataclass(frozen=True, slots=True)
class Outcome(Generic[_Key]):
    """What a conflict says of its two memories. `_Key` identifies memories: ids, or rows of a view."""

    sides: tuple[_Key, _Key]
    loser: _Key | None
    """The memory that is superseded or wrong; None if both stand."""
    is_wrong: bool
    """Whether the loser was never true; else it is true no longer."""
    found_at: datetime
    """When the conflict was recorded."""

    def other(self, key: _Key) -> _Key:
        """Return the other side."""
        first, second = self.sides
        return second if key == first else first


def times_of(memory: _Lasting) -> SideTimes:
    """Return the given times of a memory or its record, which has no outcome."""
    moment = memory.valid_from or memory.timestamp or memory.created_at
    said = memory.timestamp or memory.created_at
    return SideTimes(memory.valid_from, memory.valid_to, moment, said, memory.found.statement is not None)


def outcome_of(conflict: Conflict, keys: Mapping[str, _Key], at: datetime) -> Outcome[_Key] | None:
    """Return the outcome of a conflict by the keys of its sides; None if a side has no key. `at` dates a new one."""
    if not keys.keys() >= set(conflict.sides):
        return None
    loser = None if conflict.loser is None else keys[conflict.loser]
    sides = keys[conflict.first], keys[conflict.second]
    return Outcome(sides, loser, conflict.outcome == "wrong", conflict.created_at or at)


@dataclass(frozen=True, slots=True)
class Outcomes(Generic[_Key]):
    """Computes valid times from given times and outcomes."""

    times: Callable[[_Key], SideTimes | None]
    """Returns the given times of a memory; None if it is gone."""
    about: Callable[[_Key], Iterable[Outcome[_Key]]]
    """Returns the outcomes of which a memory is a side."""
    is_expired: Callable[[_Key], bool]
    """Returns whether a memory has expired. Its outcomes have no effect, though it is removed later."""

    def valid_time(self, key: _Key) -> Validity | None:
        """Return the valid time of a memory; None if there is no such memory.

        A wrong memory holds at no time. One that is wrong or has expired ends no other; the facts on both sides of it
        replace each other. A superseded memory holds until the other begins; if that is no later, until the other was
        said, or else until the conflict was found. One that replaced another holds from its own moment on.
        """
        own = self.times(key)
        if own is None:
            return None
        if self.is_wrong(key):
            return own.moment, own.moment
        begin, end = own.validity
        if begin is None and any(self._replaces(key, one) for one in self.about(key)):
            begin = own.moment
        ends = [*self._ends(key), *([] if end is None else [end])]
        return begin, min(ends, default=None)

    def is_wrong(self, key: _Key) -> bool:
        """Return whether an outcome says that a memory was never true."""
        wrong = (one for one in self.about(key) if one.is_wrong and one.loser == key)
        return any(not self.is_expired(one.other(key)) for one in wrong)

    def affected(self, keys: Iterable[_Key]) -> list[_Key]:
        """Return memories with those whose valid times depend on them, also beyond wrong and expired ones."""
        affected = dict.fromkeys(keys)
        waiting = list(affected)
        for key in waiting:
            near = [one.other(key) for one in self.about(key)]
            waiting += [other for other in near if other not in affected and self._is_passed(other)]
            affected.update(dict.fromkeys(near))
        return list(affected)

    def _ends(self, key: _Key, path: tuple[_Key, ...] = ()) -> Iterator[datetime]:
        """Yield when the memories begin that superseded a memory, or wrong or expired facts on the path from one."""
        own, first = self.times(key), self.times(path[0] if path else key)
        for one in self.about(key):
            name = one.other(key)
            other = self.times(name)
            if own is None or first is None or other is None or name in path:
                continue
            is_later = other.moment > first.moment
            if self._is_passed(name):
                is_between = one.loser == key or not self.is_expired(name)
                if own.is_fact and is_between and other.moment >= own.moment:
                    yield from self._ends(name, (*path, key))
            elif one.loser == key and not one.is_wrong and not is_later and not path:
                yield other.said if other.said > own.moment else max(one.found_at, own.moment)
            elif one.loser == key and is_later and (path or not one.is_wrong):
                yield other.moment

    def _replaces(self, key: _Key, outcome: Outcome[_Key]) -> bool:
        """Return whether a memory superseded the other side, or one before it, which was told before it."""
        if outcome.is_wrong or outcome.loser in (None, key):
            return False
        name = outcome.other(key)
        loser, winner = self.times(name), self.times(key)
        if loser is None or winner is None or loser.moment >= winner.moment:
            return False
        return not self.is_expired(name) or any(self._replaces(name, one) for one in self.about(name))

    def _is_passed(self, key: _Key) -> bool:
        return self.is_expired(key) or self.is_wrong(key)

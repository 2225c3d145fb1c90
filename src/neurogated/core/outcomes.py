"""What conflicts say of the valid times of memories: computed from given times and outcomes, and never stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from neurogated.core.conflicts import Conflict, Validity
from neurogated.core.model import MemoryNode


class SideTimes(NamedTuple):
    """The given times of a memory."""

    valid_from: datetime | None
    valid_to: datetime | None
    moment: datetime
    """When it began to hold, was said, or was stored; see `conflicts.moment_of`."""
    said: datetime
    """When it was said, or else stored."""

    @property
    def validity(self) -> Validity:
        """The given valid time."""
        return self.valid_from, self.valid_to

    def end(self, winner: SideTimes, found_at: datetime) -> datetime:
        """Return when it ceases to hold because another memory replaced it.

        That is when the other begins; if that is no later, when the other was said, or else when the conflict was
        found.
        """
        if winner.moment > self.moment:
            return winner.moment
        return winner.said if winner.said > self.moment else max(found_at, self.moment)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a conflict says of its two memories, by their rows."""

    sides: tuple[int, int]
    loser: int | None
    """The memory that is superseded or wrong; None if both stand."""
    is_wrong: bool
    """Whether the loser was never true; else it is true no longer."""
    found_at: datetime
    """When the conflict was recorded."""
    by_user: bool = False
    """Whether somebody gave the outcome."""

    def other(self, row: int) -> int:
        """Return the other side."""
        first, second = self.sides
        return second if row == first else first


def times_of(memory: MemoryNode) -> SideTimes:
    """Return the given times of a memory, which has no outcome."""
    said = memory.timestamp or memory.created_at
    return SideTimes(memory.valid_from, memory.valid_to, memory.valid_from or said, said)


def outcome_of(conflict: Conflict, sides: tuple[int, int], at: datetime) -> Outcome:
    """Return the outcome of a conflict by the rows of its sides. `at` dates a new one."""
    loser = None if conflict.loser is None else sides[conflict.sides.index(conflict.loser)]
    return Outcome(sides, loser, conflict.outcome == "wrong", conflict.created_at or at, conflict.by_user)

"""Facts that are stated about Ana, and what a memory makes of them."""

from __future__ import annotations

from datetime import UTC, datetime

from neurogated import Conflict, MemoryConfig, NeuroGraphMemory
from neurogated.session.compose import build
from neurogated.testing import ManualClock

__all__ = ["lives", "only", "opened", "timed", "values_at", "year", "years"]

CONFIG = MemoryConfig(storage="memory", embedding_name="hash")


def opened(**changes: object) -> NeuroGraphMemory:
    return NeuroGraphMemory(CONFIG.replace(**changes))


def timed(clock: ManualClock) -> NeuroGraphMemory:
    return NeuroGraphMemory(CONFIG, parts=build(CONFIG, clock=clock))


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


def lives(memory: NeuroGraphMemory, city: str, since: int | None, user: str | None = "ana") -> str:
    """State in which city Ana lives since a year, and return the id of the fact."""
    return memory.facts.add("Ana", "city", city, user_id=user, valid_from=None if since is None else year(since))


def only(memory: NeuroGraphMemory) -> Conflict:
    """Return the one conflict of Ana."""
    (conflict,) = memory.conflicts.list(None, user_id="ana")
    return conflict


def years(memory: NeuroGraphMemory, *ids: str) -> list[tuple[int | None, int | None]]:
    """Return the years in which memories begin and end to be valid."""

    def of(moment: datetime | None) -> int | None:
        return None if moment is None else moment.year

    return [(of(one.valid_from), of(one.valid_to)) for one in map(memory.get, ids)]


def values_at(memory: NeuroGraphMemory, moment: datetime) -> list[str | None]:
    return [fact.value for fact in memory.facts.list(valid_at=moment, user_id="ana")]

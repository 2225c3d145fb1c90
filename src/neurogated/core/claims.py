"""`Claim`: what somebody states, or a model reads in a text, about one slot; and the values of a slot by time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple

from neurogated.core.conflicts import Conflict, Validity
from neurogated.core.outcomes import SideTimes

USER = "user"
"""The subject of a claim that the user makes about herself."""
Owner = tuple[str | None, str | None, str | None]
"""The user, the agent and the session of a scope; see `Scope.owner`."""


class Change(Enum):
    """What a claim says about the time before it."""

    BEGINS = "begins"
    """The value is new: “now”, “moved to”, “since June”."""
    ENDS = "ends"
    """The value holds no longer: “no longer”, “quit”, “sold”."""
    ADDS = "adds"
    """The value holds beside others: “I also work at”."""


class Slot(NamedTuple):
    """One property of one person or thing."""

    subject: str
    """`user`, a name, or a thing such as `landlord`, without article and pronoun."""
    attribute: str
    """A key of the table of attributes, such as `home`; or the words of an attribute that the table lacks."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a text says about one slot."""

    slot: Slot
    value: str
    """The value as the text words it, without articles and politeness."""
    is_denied: bool = False
    """Whether the text says that the slot does not have this value: “I don't eat meat”."""
    change: Change | None = None
    """What the text says about the time before; None if it says nothing."""
    is_past: bool = False
    """Whether it was true only before the text was said: “I used to live in Ghent”."""
    valid_from: datetime | None = None
    """When it began to hold, as the text says."""
    valid_to: datetime | None = None
    """When it ceased to hold, as the text says."""
    said: datetime | None = None
    """When it was said."""
    confidence: float = 1.0
    """How sure the reading is, 0–1."""
    sentence: int = 0
    """The place of its sentence in the text, from 0."""
    quote: str = ""
    """The words of the text that make the claim."""


class Entry(NamedTuple):
    """A stated fact, or a claim of a memory, among the values of its slot. Entries sort by their times."""

    at: datetime
    """The time by which it is before others."""
    row: int
    """Its row in the index; of two entries of one time, the one that was stored first has the lower row."""
    id: str
    """The id of its node."""
    owner: Owner
    path: Sequence[str]
    speaker: str | None
    """Who says it about another person; None for the user, for a person about herself, and for a stated fact."""
    claim: Claim
    times: SideTimes
    """Its times without conflicts."""
    created_at: datetime
    is_claim: bool
    """Whether it was read from a memory."""
    slot: Slot
    """The slot in the form that is equal for all its names."""
    is_plain: bool
    """Whether it says that a value holds, not that one does not, or did in the past."""
    is_single: bool
    """Whether its attribute has one value at a time."""

    @property
    def order(self) -> tuple[datetime, int]:
        """Its place among the values of its slot."""
        return self.at, self.row


class Foreseen(NamedTuple):
    """What follows from a delta that is not written yet."""

    times: Mapping[str, tuple[Validity, Validity]]
    """The valid times, before and after, of the facts and memories in conflict that change, by id."""
    conflicts: Sequence[Conflict]
    """The conflicts between values of slots that it makes, and those that it changes."""
    ended: frozenset[str]
    """The ids of the conflicts between values of slots that it ends."""

"""`Claim`: what somebody states, or a model reads in a text, about one slot; and the judge of two claims."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import NamedTuple, Protocol

from neurogated.core.judgements import Relation

USER = "user"
"""The subject of a claim that the user makes about herself."""


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


class ClaimJudge(Protocol):
    """Decides how two claims relate."""

    def compare(self, earlier: Claim, later: Claim) -> Relation:
        """Return the relation of two claims, in the order in which they were said."""

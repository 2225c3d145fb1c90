"""Facts: a `Claim` as a text makes it, an `Entry` among the values of its slot, a `Fact` as programs read it.

The outcomes of conflicts about valid times are computed from given times, and never stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import Enum
from operator import attrgetter
from typing import NamedTuple

from neurogated.core.conflicts import Conflict, Validity
from neurogated.core.derivation import are_of, sources_of
from neurogated.core.found import Statement
from neurogated.core.habits import explains_reading
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM, FACT
from neurogated.core.ports import GraphStorePort
from neurogated.core.quoting import day_of
from neurogated.core.read_only import filled_all
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.text.times import Zone

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
    speaker: str | None
    """Who says it about another person; None for the user, for a person about herself, and for a stated fact."""
    claim: Claim
    fact: Fact
    """It with its given times, and without sources."""
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


class SideTimes(NamedTuple):
    """The given times of a memory."""

    valid_from: datetime | None
    valid_to: datetime | None
    moment: datetime
    """When it began to hold, was said, or was stored."""
    said: datetime
    """When it was said, or else stored."""

    @property
    def validity(self) -> Validity:
        """The given valid time."""
        return self.valid_from, self.valid_to

    def end(self, winner: SideTimes, found_at: datetime) -> datetime:
        """Return when another memory ends it: when that one begins, was said, or was found, whichever is later."""
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
    return SideTimes(memory.valid_from, memory.valid_to, memory.moment, memory.said_at)


def outcome_of(conflict: Conflict, sides: tuple[int, int], at: datetime) -> Outcome:
    """Return the outcome of a conflict by the rows of its sides. `at` dates a new one."""
    loser = None if conflict.loser is None else sides[conflict.sides.index(conflict.loser)]
    return Outcome(sides, loser, conflict.outcome == "wrong", conflict.created_at or at, conflict.by_user)


FACTS = frozenset({FACT, CLAIM})
"""The kinds of nodes that `facts.list` lists."""


@explains_reading("read .subject, .attribute, .value, .id")
@dataclass(frozen=True, slots=True)
class Fact:
    """A fact that the caller stated, or a claim that was read from memories."""

    id: str
    """The id of its node."""
    statement: str
    """The fact as text; of a claim the words that make it."""
    subject: str
    """The person or thing that it is about; `user` for the user herself."""
    attribute: str
    """Which property of the subject, such as `home`."""
    value: str
    confidence: float = 1.0
    """How sure its source is, 0–1."""
    is_denied: bool = False
    """Whether the subject does not have this value."""
    valid_from: datetime | None = None
    """When the fact began to hold; None if it always did."""
    valid_to: datetime | None = None
    """When the fact ceased to hold; None if it still holds."""
    timestamp: datetime | None = None
    """When it was said."""
    expires_at: datetime | None = None
    sources: tuple[str, ...] = ()
    """The ids of the memories from which it was read, sorted; empty for a fact that the caller stated."""
    scope: Scope = field(default_factory=Scope)
    """Its owner."""


_FIELDS = attrgetter(*Fact.__slots__)
_PARTS = attrgetter("subject", "attribute", "value", "confidence", "is_denied")
_TIMES = attrgetter("valid_from", "valid_to", "timestamp", "expires_at")


def fact_ids(view: GraphView) -> list[str]:
    """Return the ids of the facts and claims that a view admits, as added, also of facts without known parts."""
    rows = view.admitted_nodes()
    return view.names(rows[are_of(view, rows, FACTS)])


def facts_of(store: GraphStorePort, view: GraphView, node_ids: Sequence[str]) -> list[Fact]:
    """Return the facts and claims among some nodes that still exist, with the sources that a view shows."""
    nodes = [node for node in store.get_nodes(node_ids, missing_ok=True) if node.kind in FACTS]
    known = [(node, node.found.statement) for node in nodes if node.found.statement is not None]
    sources = sources_of(view, [node.id for node, _ in known])
    return [fact_of(node, parts, sources.get(node.id, ())) for node, parts in known]


def fact_of(node: MemoryNode, parts: Statement, sources: Iterable[str] = ()) -> Fact:
    """Return the fact of a node with these parts."""
    values = *_PARTS(parts), *_TIMES(node), tuple(sorted(sources)), node.scope
    return Fact(node.id, node.content, *values)


def facts_read(entries: Sequence[tuple[Entry, Validity | None]], sources: Iterable[Iterable[str]]) -> list[Fact]:
    """Return the facts of entries with the valid times that conflicts leave them, if others, and with sources."""
    if not entries:
        return []
    columns = dict(zip(Fact.__slots__, zip(*[_FIELDS(one.fact) for one, _ in entries], strict=True), strict=True))
    times = [valid or (one.fact.valid_from, one.fact.valid_to) for one, valid in entries]
    columns["valid_from"], columns["valid_to"] = zip(*times, strict=True)
    return filled_all(Fact, {**columns, "sources": [tuple(sorted(names)) for names in sources]})


def about(fact: Fact | Statement) -> str:
    """Return the subject and the attribute in words, without the user as subject."""
    attribute = fact.attribute.replace("_", " ")
    return attribute if fact.subject == USER else f"{fact.subject} {attribute}"


def value_of(fact: Fact | Statement) -> str:
    """Return the value, with `not` before one that the subject does not have."""
    return f"not {fact.value}" if fact.is_denied else fact.value


def ended(facts: Iterable[Fact], zone: Zone = None) -> tuple[str, ...]:
    """Return the ends of facts that conflicts have ended, in words, with days of a zone; a wrong one never was true."""
    changed, wrong = list[str](), list[str]()
    for fact in facts:
        said, end = f"{about(fact)} {value_of(fact)}", fact.valid_to
        if end is None or end == fact.valid_from:
            wrong.append(said)
        else:
            changed.append(f"{said}, {day_of(end, zone)}")
    named = (("since changed", changed), ("wrong", wrong))
    return tuple(f"{name}: {'; '.join(said)}" for name, said in named if said)

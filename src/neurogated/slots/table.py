"""The values of one slot by time, and the conflicts between them: computed from what is stored, and never stored."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from neurogated.core.conflicts import CONFLICT, Conflict
from neurogated.core.facts import Entry, Outcome
from neurogated.core.judgements import Relation
from neurogated.core.scope import Scope
from neurogated.slots.claims import compare, is_same, meets
from neurogated.utils.hash_utils import compute_mdhash_id

# Most conflicts of a value with earlier ones. More would bury the few that somebody resolves.
_MOST_CONFLICTS = 16


def conflict_between(first: str, second: str, relation: Relation, scope: Scope) -> Conflict:
    """Return an open conflict of two memories of an owner by their ids, the one first that was stored first."""
    name = compute_mdhash_id("\n".join(sorted((first, second))), prefix=f"{CONFLICT}-")
    return Conflict(name, first, second, relation.kind, relation.confidence, scope=scope)


class Rivalry(NamedTuple):
    """Two values of a slot that cannot both stand as they are."""

    earlier: Entry
    later: Entry
    relation: Relation

    @property
    def is_settled(self) -> bool:
        """Whether the later value ends the earlier one of one path: the same person, the user or the agent said it."""
        earlier, later = self.earlier, self.later
        may_end = later.fact.scope.path == earlier.fact.scope.path and later.speaker in {None, earlier.speaker}
        return self.relation.outcome == "superseded" and may_end

    @property
    def rows(self) -> tuple[int, int]:
        """The rows of both, the later stored one first."""
        first, second = self.earlier.row, self.later.row
        return max(first, second), min(first, second)

    @property
    def found_at(self) -> datetime:
        """When both values were stored."""
        return max(self.earlier.created_at, self.later.created_at)

    @property
    def outcome(self) -> Outcome:
        """What it says of both."""
        loser = self.earlier.row if self.is_settled else None
        return Outcome((self.earlier.row, self.later.row), loser, is_wrong=False, found_at=self.found_at)

    def conflict(self) -> Conflict:
        """Return it as a conflict, the side first that was stored first."""
        first, second = sorted((self.earlier, self.later), key=lambda one: one.row)
        found = conflict_between(first.id, second.id, self.relation, Scope(*first.owner))
        found = found.settled("superseded", self.earlier.id) if self.is_settled else found
        return replace(found, created_at=self.found_at)


class _Seen(NamedTuple):
    """The earlier entries that decided about the conflicts of one."""

    rows: Collection[int]
    last: tuple[datetime, int] | None
    """The last of them if no earlier one could decide; None if all may."""


class _Standing(NamedTuple):
    """The entries that an entry at a time may meet: those before it that have not ended."""

    entries: dict[int, Entry]
    met: dict[int, Entry]
    """Those that every entry meets: a plain value of an attribute that may have many meets no other such value."""
    ends: dict[int, datetime]
    """When those of them end that are replaced."""

    def copy(self) -> _Standing:
        """Return a copy."""
        return _Standing(dict(self.entries), dict(self.met), dict(self.ends))

    def reach(self, at: datetime) -> None:
        """Drop what ended until a time."""
        for row in [row for row, end in self.ends.items() if end <= at]:
            self.entries.pop(row, None)
            self.met.pop(row, None)
            del self.ends[row]

    def add(self, one: Entry, rivals: Iterable[Rivalry], answers: Answers) -> None:
        """Add an entry, which ends others."""
        self.entries[one.row] = one
        if one.is_single or not one.is_plain:
            self.met[one.row] = one
        if one.row in answers.ends:
            self.ends[one.row] = answers.ends[one.row]
        for rival in rivals if one.row not in answers.wrong else ():
            loser = rival.earlier
            if rival.is_settled and loser.row in self.entries:
                end = loser.times.end(one.times, rival.found_at)
                self.ends[loser.row] = min(end, self.ends.get(loser.row, end))


class Answers(NamedTuple):
    """What stored conflicts say of the values of a slot, by their rows."""

    pairs: Collection[frozenset[int]] = ()
    """The sides of the stored conflicts, which stand before what is computed."""
    wrong: Mapping[int, int] = {}
    """The values that were never true, with the rows of the conflicts that say so."""
    ends: Mapping[int, datetime] = {}
    """When other values replaced them."""
    both: Collection[tuple[Entry, Entry]] = ()
    """The values of which somebody said that both stand."""


@dataclass(frozen=True, slots=True)
class SlotValues:
    """The entries of one slot of one owner in the order of their times.

    An entry is in conflict with the nearest earlier one that it excludes, and with those behind it that agree with
    that one: the others are in conflict with it already. A change computes only the conflicts that it may change.
    """

    entries: tuple[Entry, ...] = ()
    rivals: Mapping[int, tuple[Rivalry, ...]] = field(default_factory=dict)
    """The conflicts of entries with earlier ones, by the rows of the later ones."""
    _seen: Mapping[int, _Seen] = field(default_factory=dict)
    _last: _Standing = field(default_factory=lambda: _Standing({}, {}, {}))
    """What stands after the last entry."""

    @staticmethod
    def listed(entries: Mapping[int, Entry]) -> SlotValues:
        """Return entries that are not compared."""
        return SlotValues(tuple(sorted(entries.values())))

    def changed(
        self, put: Mapping[int, Entry], gone: Collection[int], answers: Answers, *, anew: bool
    ) -> tuple[SlotValues, set[int]]:
        """Return the values after a change, all conflicts `anew` or not, and the rows whose conflicts changed."""
        added, rivals, seen = sorted(put.values()), dict(self.rivals), dict(self._seen)
        if not (gone or anew) and (not self.entries or self.entries[-1].order < added[0].order):
            # Most values come after the others.
            state = self._last.copy()
            for one in added:
                state.reach(one.at)
                rivals[one.row], seen[one.row] = _scanned(one, state, answers)
                state.add(one, rivals[one.row], answers)
            return SlotValues((*self.entries, *added), rivals, seen, state), set(put)
        old = {one.row: one for one in self.entries}
        entries = sorted({**{row: one for row, one in old.items() if row not in gone}, **put}.values())
        forced = {one.row for one in entries} if anew else {*put, *gone}
        first = min((known[row].order for known in (old, put) for row in forced if row in known), default=None)
        moved, affected, state = set[int](), set(forced), _Standing({}, {}, {})
        for row in gone:
            seen.pop(row, None)
            if before := rivals.pop(row, ()):
                moved.add(row)
                affected.update(rival.earlier.row for rival in before)
        for one in entries:
            state.reach(one.at)
            before = rivals.get(one.row, ())
            may_change = first is not None and one.order >= first
            if may_change and (one.row in forced or _is_concerned(one, seen[one.row], forced, affected, state.entries)):
                rivals[one.row], seen[one.row] = _scanned(one, state, answers)
                affected.update(rival.earlier.row for rival in (*before, *rivals[one.row]))
                if before != rivals[one.row]:
                    moved.add(one.row)
            state.add(one, rivals[one.row], answers)
        return SlotValues(tuple(entries), rivals, seen, state), moved


def _is_concerned(
    one: Entry, seen: _Seen, forced: Collection[int], affected: Iterable[int], standing: Mapping[int, Entry]
) -> bool:
    """Return whether a change of others may concern the conflicts of an entry with earlier ones."""
    for row in affected:
        other = standing.get(row)
        may_meet = other is not None and (not (other.is_plain and one.is_plain) or other.is_single or one.is_single)
        counts = other is not None and may_meet and (seen.last is None or other.order >= seen.last)
        if counts != (row in seen.rows) or (counts and row in forced):
            return True
    return False


def _scanned(one: Entry, standing: _Standing, answers: Answers) -> tuple[tuple[Rivalry, ...], _Seen]:
    """Return the conflicts of an entry with earlier ones that stand, and which of these it was compared with."""
    found, seen = list[Rivalry](), set[int]()
    nearest: Entry | None = None
    last: tuple[datetime, int] | None = None
    met = standing.met if one.is_plain and not one.is_single else standing.entries
    for other in reversed([*met.values()]):
        seen.add(other.row)
        said = answers.wrong.get(other.row)
        if not meets(other.claim, one.claim) or (said is not None and (nearest is not None or said < one.row)):
            # What was said after an answer is not compared with the value that the answer calls wrong.
            continue
        if nearest is not None and compare(other.claim, nearest.claim).is_conflict:
            last = other.order
            break
        relation = compare(other.claim, one.claim)
        if relation.is_conflict:
            nearest = other if said is None else nearest
            if not _is_answered(other, one, answers):
                found.append(Rivalry(other, one, relation))
            if len(found) == _MOST_CONFLICTS:
                last = other.order
                break
    return tuple(found), _Seen(frozenset(seen), last)


def _is_answered(one: Entry, other: Entry, answers: Answers) -> bool:
    """Return whether a stored conflict is about both, or somebody said of two that say the same that both stand."""
    if {one.row, other.row} in answers.pairs:
        return True
    pairs = chain(answers.both, ((second, first) for first, second in answers.both))
    return any(is_same(first.claim, one.claim) and is_same(second.claim, other.claim) for first, second in pairs)

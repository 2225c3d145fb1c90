"""The outcomes of conflicts of a graph, stored or computed from slots, and the valid times that they imply, by row."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from neurogated.core.claims import Entry, Outcome, Owner, SideTimes, Slot
from neurogated.core.conflicts import Validity
from neurogated.slots.table import Answers, Rivalry, SlotValues

Key = tuple[Owner, Slot]
"""An owner and a slot in the form that is equal for all its names."""


@dataclass(frozen=True, slots=True)
class OutcomeChanges:
    """Changes of stored outcomes, of the times of their sides, and of the values of slots."""

    removed: Collection[int] = ()
    """Rows of removed nodes."""
    outcomes: Mapping[int, Outcome | None] = field(default_factory=dict)
    """The outcome of each conflict that was written, by its row; None if it is invalid or lacks a side."""
    times: Mapping[int, SideTimes] = field(default_factory=dict)
    """The given times of memories; rows that are no side of an outcome are ignored."""
    entries: Mapping[int, Entry | None] = field(default_factory=dict)
    """The entries of written nodes; None for a node that is neither a stated fact nor a claim."""


@dataclass(slots=True)
class RowOutcomes:
    """Outcomes by row. The cost of a change depends on the conflicts and slots of its memories only."""

    compares: bool = True
    """Whether the values of a slot are compared."""
    valid: dict[int, Validity] = field(default_factory=dict)
    """The valid times of the memories that an outcome changes."""
    slots: dict[Key, SlotValues] = field(default_factory=dict)
    _entries: dict[int, Entry] = field(default_factory=dict)
    _rivals: dict[int, frozenset[Rivalry]] = field(default_factory=dict)
    """The computed conflicts of entries."""
    _outcomes: dict[int, Outcome] = field(default_factory=dict)
    """The stored outcomes, by the rows of their conflicts."""
    _about: dict[int, frozenset[int]] = field(default_factory=dict)
    """The rows of the stored conflicts of memories."""
    _times: dict[int, SideTimes] = field(default_factory=dict)

    def copy(self) -> RowOutcomes:
        """Return a copy."""
        _, *others = self.__slots__
        return RowOutcomes(self.compares, *(dict(getattr(self, name)) for name in others))

    @property
    def sides(self) -> Collection[int]:
        """The rows of the memories that are sides of stored outcomes."""
        return self._about.keys()

    @property
    def known(self) -> Collection[int]:
        """The rows of these memories and of the entries of slots."""
        return self._about.keys() | self._entries.keys()

    def has_times(self, row: int) -> bool:
        """Return whether the times of a side are known."""
        return row in self._times

    def rivals(self, rows: Iterable[int] | None = None) -> set[Rivalry]:
        """Return the computed conflicts of some entries, or of all."""
        return set(chain.from_iterable(self._rivals.values() if rows is None else map(self._rivals_of, rows)))

    def entries(self, key: Key) -> Sequence[Entry]:
        """Return the values of a slot by time."""
        return self.slots[key].entries if key in self.slots else ()

    def update(self, changes: OutcomeChanges) -> dict[int, Validity]:
        """Apply changes, and return the valid times of the memories that may have changed."""
        touched = self._put_stored(changes)
        put, gone = defaultdict[Key, dict[int, Entry]](dict), defaultdict[Key, set[int]](set)
        for row in (*changes.removed, *changes.entries):
            old, entry = self._entries.get(row), changes.entries.get(row)
            if old is not None and old != entry:
                gone[_key(self._entries.pop(row))].add(row)
            if entry is not None:
                self._times[row] = entry.times
                if old != entry:
                    self._entries[row] = put[_key(entry)][row] = entry
        answered = {*touched, *(row for row in changes.entries if self._about.get(row))}
        anew = {_key(self._entries[row]) for row in answered if row in self._entries}
        touched.update(changes.entries)
        for key in {*put, *gone, *anew}:
            touched |= self._change(key, put[key], gone[key], anew=key in anew)
        known = {row: times for row, times in changes.times.items() if row in self._about}
        self._times |= known
        return dict(self._recomputed(touched | known.keys()))

    def without(self, expired: Collection[int]) -> RowOutcomes:
        """Return the outcomes as they are once memories have expired."""
        if not any(row in self._entries or row in self._about for row in expired):
            return self
        left = self.copy()
        left.update(OutcomeChanges(removed=expired))
        return left

    def differing(self, later: RowOutcomes) -> dict[int, Validity]:
        """Return the valid times of others that differ from these, also those that are the given ones."""
        rows = (row for row in self.valid.keys() | later.valid.keys() if self.valid.get(row) != later.valid.get(row))
        there = ((row, later._times.get(row)) for row in rows)
        return {row: later.valid.get(row, times.validity) for row, times in there if times is not None}

    def _put_stored(self, changes: OutcomeChanges) -> set[int]:
        """Apply the changes of stored outcomes; return the rows of their sides, and of removed sides."""
        touched = set[int]()
        for row in (*changes.removed, *changes.outcomes):
            if (old := self._outcomes.pop(row, None)) is not None:
                touched.update(old.sides)
                self._about |= {side: self._about[side] - {row} for side in old.sides}
        touched.update(row for row in changes.removed if self._times.pop(row, None) is not None)
        for row, outcome in changes.outcomes.items():
            if outcome is not None:
                self._outcomes[row] = outcome
                touched.update(outcome.sides)
                self._about |= {side: self._about.get(side, frozenset()) | {row} for side in outcome.sides}
        return touched

    def _change(self, key: Key, put: Mapping[int, Entry], gone: Collection[int], *, anew: bool) -> set[int]:
        """Change the values of a slot; return the rows of those whose conflicts changed."""
        before = self.slots.get(key, SlotValues())
        there = {}
        if self._about or not self.compares:
            there = {**{one.row: one for one in before.entries if one.row not in gone}, **put}
        values, moved = before.listed(there), set[int]()
        if self.compares:
            answers = self._answers(there) if self._about.keys() & there else Answers()
            values, moved = before.changed(put, gone, answers, anew=anew)
        self.slots[key] = values
        if not values.entries:
            del self.slots[key]
        touched = set[int]()
        for row in moved:
            old, new = (frozenset(one.rivals.get(row, ())) for one in (before, values))
            for rival in old ^ new:
                for side in (rival.earlier.row, rival.later.row):
                    self._rivals[side] = self._rivals.get(side, frozenset()) ^ {rival}
                    touched.add(side)
        for row in touched:
            if not self._rivals[row]:
                del self._rivals[row]
        return touched

    def _answers(self, there: Mapping[int, Entry]) -> Answers:
        """Return what stored conflicts say of entries."""
        stored = {row: self._outcomes[row] for side in self._about.keys() & there for row in self._about[side]}
        within = [one for one in stored.values() if there.keys() >= set(one.sides)]
        wrong = {one.loser: row for row, one in stored.items() if one.is_wrong and one.loser is not None}
        ends = dict[int, datetime]()
        for one in stored.values():
            loser = None if one.is_wrong or one.loser is None else there.get(one.loser)
            winner = None if loser is None else self._times.get(one.other(loser.row))
            if loser is not None and winner is not None and one.other(loser.row) not in wrong:
                end = loser.times.end(winner, one.found_at)
                ends[loser.row] = min(end, ends.get(loser.row, end))
        both = [one.sides for one in within if one.by_user and one.loser is None]
        pairs = {frozenset(one.sides) for one in within}
        return Answers(pairs, wrong, ends, [(there[first], there[second]) for first, second in both])

    def _rivals_of(self, row: int) -> frozenset[Rivalry]:
        return self._rivals.get(row, frozenset())

    def _of(self, row: int) -> Iterator[Outcome]:
        yield from (self._outcomes[name] for name in self._about.get(row, ()))
        yield from (rival.outcome for rival in self._rivals_of(row))

    def _is_wrong(self, row: int) -> bool:
        return any(
            self._outcomes[name].is_wrong and self._outcomes[name].loser == row for name in self._about.get(row, ())
        )

    def valid_time(self, row: int) -> Validity | None:
        """Return the valid time of a memory; None if there is no such memory.

        A wrong memory holds at no time, and ends no other. A superseded memory holds until the other begins. One that
        replaced another holds from its own moment on.
        """
        own = self._times.get(row)
        if own is None:
            return None
        if self._is_wrong(row):
            return own.moment, own.moment
        begin, end = own.validity
        ends = [] if end is None else [end]
        for one in self._of(row):
            other = self._times.get(one.other(row))
            if other is None or one.loser is None or one.is_wrong:
                continue
            if one.loser != row:
                begin = own.moment if begin is None and other.moment < own.moment else begin
            elif not self._is_wrong(one.other(row)):
                ends.append(own.end(other, one.found_at))
        return begin, min(ends, default=None)

    def _recomputed(self, touched: Iterable[int]) -> Iterator[tuple[int, Validity]]:
        rows = set(touched)
        for row in rows.union(one.other(side) for side in rows for one in self._of(side)):
            valid, given = self.valid_time(row), self._times.get(row)
            if valid is None or given is None or valid == given.validity:
                self.valid.pop(row, None)
            else:
                self.valid[row] = valid
            if valid is not None:
                yield row, valid
            if not self._about.get(row):
                self._about.pop(row, None)
                if row not in self._entries:
                    # It is no side any more.
                    self._times.pop(row, None)


def _key(entry: Entry) -> Key:
    return entry.owner, entry.slot

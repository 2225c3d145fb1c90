"""When nodes and edges hold: given times, and the ends that conflicts and values of a slot imply."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

import numpy as np

from neurogated.core.clock import to_micros
from neurogated.core.conflicts import Conflict
from neurogated.core.conflicts import Validity as Times
from neurogated.core.facts import Entry, Outcome, Owner, SideTimes, Slot
from neurogated.core.view import GraphView, Rows
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


NO_CHANGES = OutcomeChanges()


@dataclass(slots=True)
class RowOutcomes:
    """Outcomes by row. The cost of a change depends on the conflicts and slots of its memories only."""

    compares: bool = True
    """Whether the values of a slot are compared."""
    valid: dict[int, Times] = field(default_factory=dict)
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
    def are_none(self) -> bool:
        """Whether there are neither stored outcomes nor values of slots."""
        return not (self._outcomes or self._about or self._entries)

    @property
    def sides(self) -> Collection[int]:
        """The rows of the memories that are sides of stored outcomes."""
        return self._about.keys()

    @property
    def known(self) -> Collection[int]:
        """The rows of these memories and of the entries of slots."""
        return self._about.keys() | self._entries.keys()

    def disputes(self, rows: Iterable[int] | None = None) -> list[Conflict]:
        """Return the computed conflicts of some entries, or of all, in the order they were stored."""
        found = self._rivals.values() if rows is None else filter(None, map(self._rivals.get, rows))
        return [one.conflict() for one in sorted({*chain.from_iterable(found)}, key=lambda one: one.rows)]

    def entries_at(self, rows: Iterable[int]) -> list[tuple[Entry, Times | None]]:
        """Return the entries at some rows, with the valid times that outcomes leave them, if others."""
        return [(one, self.valid.get(one.row)) for one in filter(None, map(self._entries.get, rows))]

    def update(self, changes: OutcomeChanges) -> dict[int, Times]:
        """Apply changes, and return the valid times of the memories that may have changed."""
        if not (changes.removed or changes.outcomes or changes.times or changes.entries):
            return {}
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

    def differing(self, later: RowOutcomes) -> dict[int, Times]:
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

    def _of(self, row: int) -> Iterator[Outcome]:
        yield from (self._outcomes[name] for name in self._about.get(row, ()))
        yield from (rival.outcome for rival in self._rivals.get(row, ()))

    def _is_wrong(self, row: int) -> bool:
        return any(
            self._outcomes[name].is_wrong and self._outcomes[name].loser == row for name in self._about.get(row, ())
        )

    def valid_time(self, row: int) -> Times | None:
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

    def _recomputed(self, touched: Iterable[int]) -> Iterator[tuple[int, Times]]:
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


def micros_or_none(moment: datetime | None) -> int | None:
    """Return `moment` in microseconds, None for None."""
    return None if moment is None else to_micros(moment)


_FIRST, _NEVER = np.iinfo(np.int64).min, np.iinfo(np.int64).max
"""The bounds of spans without a beginning or an end."""


class _Spans:
    """Half-open valid times of rows, in microseconds since 1970. Rows that never had a bound take no space."""

    def __init__(self) -> None:
        self._places: dict[int, int] = {}
        # Row, begin and end; in an array, since most calls look through all spans.
        self._spans = np.empty((1, 3), dtype=np.int64)

    def copy(self) -> _Spans:
        """Return a copy."""
        spans = _Spans()
        spans._places, spans._spans = self._places.copy(), self._spans.copy()
        return spans

    def __bool__(self) -> bool:
        return bool(self._places)

    def put(self, row: int, begin: int | None, end: int | None) -> None:
        """Set the span of `row`; None means unbounded on that side."""
        if begin is None and end is None and row not in self._places:
            return
        place = self._places.setdefault(row, len(self._places))
        if place == len(self._spans):
            self._spans = np.concatenate((self._spans, self._spans))
        self._spans[place] = row, _FIRST if begin is None else begin, _NEVER if end is None else end

    def remove(self, rows: Rows) -> None:
        """Remove rows."""
        for row in rows.tolist() if self._places else ():
            self.put(row, None, None)

    def outside(self, moment: int) -> Rows:
        """Return the rows that are not valid at `moment`, ascending."""
        rows, begin, end = self._spans[: len(self._places)].T
        outside: Rows = np.sort(rows[(moment < begin) | (end <= moment)])
        return outside

    def next_end(self, moment: int) -> int:
        """Return the first end after `moment`; the largest number if there is none."""
        ends = self._spans[: len(self._places), 2]
        return int(ends[ends > moment].min(initial=_NEVER))


@dataclass(frozen=True, slots=True)
class _Visible:
    """A view without the nodes that have expired at `since`, and what follows for others; valid until `until`."""

    whole: GraphView
    view: GraphView
    outcomes: RowOutcomes
    """Those without the nodes that have expired."""
    changed: Mapping[int, Times]
    """The valid times that differ because a side of an outcome has expired."""
    since: int
    until: int


@dataclass(slots=True)
class Validity:
    """Valid times and expiry times of a graph, and the views that they imply."""

    outcomes: RowOutcomes = field(default_factory=RowOutcomes)
    _nodes: _Spans = field(default_factory=_Spans)
    _edges: _Spans = field(default_factory=_Spans)
    _expiry: _Spans = field(default_factory=_Spans)
    _visible: _Visible | None = None

    def isolated(self) -> Validity:
        """Return a copy."""
        return Validity(
            self.outcomes.copy(), self._nodes.copy(), self._edges.copy(), self._expiry.copy(), self._visible
        )

    def put_node(self, row: int, begin: int | None, end: int | None, expires: int | None) -> None:
        """Upsert the times of one node, in microseconds."""
        self._nodes.put(row, begin, end)
        self._expiry.put(row, None, expires)
        self._visible = None

    def settle(self, changes: OutcomeChanges) -> None:
        """Apply changes of outcomes, after the nodes that they are about."""
        for row, (begin, end) in self.outcomes.update(changes).items():
            self._nodes.put(row, micros_or_none(begin), micros_or_none(end))
        self._visible = None

    def put_edge(self, row: int, begin: int | None, end: int | None) -> None:
        """Add the times of one edge, in microseconds."""
        self._edges.put(row, begin, end)

    def remove(self, nodes: Rows, edges: Rows) -> None:
        """Remove nodes and edges."""
        self._nodes.remove(nodes)
        self._expiry.remove(nodes)
        self._edges.remove(edges)
        self._visible = None

    def expired(self, now: int) -> Rows:
        """Return the nodes that have expired at `now`, ascending."""
        return self._expiry.outside(now)

    def visible(self, whole: GraphView, now: int, valid_at: int | None) -> GraphView:
        """Return `whole` without nodes that have expired at `now`, and without rows that are invalid at `valid_at`."""
        seen = self._without_expired(whole, now)
        view = whole if seen is None else seen.view
        if valid_at is None:
            return view
        nodes = self._nodes.outside(valid_at)
        if seen is not None and seen.changed:
            spans = _Spans()
            for row, times in seen.changed.items():
                spans.put(row, *map(micros_or_none, times))
            nodes = np.union1d(nodes[~np.isin(nodes, list(seen.changed))], spans.outside(valid_at))
        return view.without(nodes, self._edges.outside(valid_at))

    def outcomes_at(self, whole: GraphView, now: int) -> RowOutcomes:
        """Return the outcomes at `now`: a memory that has expired has none."""
        seen = self._without_expired(whole, now)
        return self.outcomes if seen is None else seen.outcomes

    def _without_expired(self, whole: GraphView, now: int) -> _Visible | None:
        if not self._expiry:
            return None
        known = self._visible
        # Every question calls this. The view stays the same between two expiries, unless the clock goes back.
        if known is None or known.whole is not whole or not known.since <= now < known.until:
            expired = self.expired(now)
            outcomes = self.outcomes.without(frozenset(expired.tolist()))
            changed = {} if outcomes is self.outcomes else self.outcomes.differing(outcomes)
            view = whole.without(expired, np.empty(0, dtype=np.int64))
            known = self._visible = _Visible(whole, view, outcomes, changed, now, self._expiry.next_end(now))
        return known

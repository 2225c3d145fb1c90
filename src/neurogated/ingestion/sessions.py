"""The order of the turns of a session: by timestamp, or by arrival for turns without timestamp."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache

import numpy as np

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView, Rows
from neurogated.ingestion.drafts import REACH, SessionKey
from neurogated.ingestion.edge_builder import RecentNodes

_STEP = 1 << 30
"""The distance between the positions of successive turns, which leaves room for late turns between them."""
_FIRST = 1 << 50
"""The position of the first turn of a session, which leaves room for earlier turns."""
_EARLIEST = datetime.min.replace(tzinfo=UTC)


@dataclass(slots=True)
class PlacedTurn:
    """A turn of a session and its place in it."""

    id: str
    timestamp: datetime | None
    position: int
    created_at: datetime | None = None
    """When it was stored; None for a new turn."""

    def precedes(self, arrival: datetime) -> bool:
        """Return whether it stands before a turn that arrives now: it was said or stored earlier.

        If it was stored later, the clock has gone back.
        """
        is_stored_later = self.created_at is not None and self.created_at > arrival
        return self.timestamp is None or self.timestamp <= arrival or is_stored_later


@dataclass(slots=True)
class SessionTurns:
    """A window of successive turns of a session, with the new turns to add."""

    recent: RecentNodes
    view: GraphView
    rows: Rows
    """The stored turns of the whole session, in order."""
    turns: list[PlacedTurn] = field(default_factory=list)
    """The stored turns `rows[begin:end]` and the new turns, in order."""
    stored: dict[str, MemoryNode] = field(default_factory=dict)
    """Stored turns that have been read, by id."""
    begin: int = 0
    end: int = 0

    @classmethod
    def read(cls, recent: RecentNodes, view: GraphView, key: SessionKey, without: Collection[str] = ()) -> SessionTurns:
        """Return a session of a user with an empty window. Adding a turn reads `REACH` turns before and after it.

        The session leaves out the turns with the ids `without`, which are about to move.
        """
        rows = _turns(view, *key)
        return cls(recent, view, rows[~np.isin(rows, view.known_rows(without))] if without else rows)

    def add(
        self, turn_id: str, timestamp: datetime | None, previous: str | None = None, *, arrives: bool = False
    ) -> None:
        """Add a turn after all turns that are not later; a turn without a timestamp is last.

        With `previous`, add it directly after that turn. A turn that `arrives` has the present time. It stands after
        all turns that arrived before, also if the clock has gone back.
        """
        if previous is not None:
            if all(turn.id != previous for turn in self.turns):
                (places,) = (self.rows == self.view.rows_by_id.get(previous, -1)).nonzero()
                self._read_around(int(places[0]) + 1 if places.size else self.rows.size)
            place = next((place for place, turn in enumerate(self.turns, 1) if turn.id == previous), len(self.turns))
        else:
            place = self._place_of_arrival(timestamp) if arrives and timestamp else self._place(timestamp)
        place += self._extend(self.begin + place - REACH, self.end)
        self._extend(self.begin, self.end + REACH + place - len(self.turns))
        self.turns.insert(place, PlacedTurn(turn_id, timestamp, self._position(place)))

    def _position(self, place: int) -> int:
        """Return a position for a new turn between its neighbours; move neighbours if there is no room."""
        before = self.turns[place - 1].position if place else -1
        if place == len(self.turns):
            return before + _STEP if place else _FIRST
        if self.turns[place].position - before == 1:
            self._make_room(place, before)
        after = self.turns[place].position
        # Turns that arrive in reverse order keep the full distance.
        return after - _STEP if not place and after >= _STEP else (before + after) // 2

    def moved(self) -> list[tuple[MemoryNode, int]]:
        """Return the stored turns whose position has changed, with their new positions."""
        stored = [(self.stored[turn.id], turn.position) for turn in self.turns if turn.id in self.stored]
        return [(node, position) for node, position in stored if node.position != position]

    def _place(self, timestamp: datetime | None) -> int:
        self._read_around(self.rows.size if timestamp is None else self._first_later(timestamp))
        if timestamp is None:
            return len(self.turns)
        later = (place for place, turn in enumerate(self.turns) if turn.timestamp and turn.timestamp > timestamp)
        return next(later, len(self.turns))

    def _place_of_arrival(self, arrival: datetime) -> int:
        self._read_around(self.rows.size)
        place = len(self.turns)
        while place or (place := self._extend(self.begin - REACH, self.end)):
            if self.turns[place - 1].precedes(arrival):
                break
            place -= 1
        return place

    def _first_later(self, timestamp: datetime) -> int:
        """Return the place in `rows` of the first turn after `timestamp`."""
        size = self.rows.size
        # Most new turns are the last ones.
        if self._time_before(size) <= timestamp:
            return size
        return bisect_right(range(size), timestamp, key=lambda place: self._time_before(place + 1))

    def _time_before(self, end: int) -> datetime:
        """Return the time of the last one of `rows[:end]` that has a time; such times ascend."""
        size = REACH
        while end:
            begin = max(0, end - size)
            if times := [node.timestamp for _, node in self._nodes(begin, end) if node.timestamp is not None]:
                return times[-1]
            end, size = begin, 2 * size
        return _EARLIEST

    def _nodes(self, begin: int, end: int) -> list[tuple[int, MemoryNode]]:
        """Return the stored turns `rows[begin:end]` with their places in `rows`."""
        if begin >= end:
            return []
        ids = self.view.names(self.rows[begin:end])
        unread = [turn_id for turn_id in ids if turn_id not in self.stored]
        if unread:
            self.stored |= self.recent.read(unread, self.view)
        return [(place, self.stored[turn_id]) for place, turn_id in enumerate(ids, begin) if turn_id in self.stored]

    def _read_around(self, place: int) -> None:
        if not self.turns:
            self.begin = self.end = place
        self._extend(place - REACH, place + REACH)

    def _extend(self, begin: int, end: int) -> int:
        """Extend the window to the stored turns `rows[begin:end]`; return how many turns before it were read."""
        begin, end = max(0, min(begin, self.begin)), max(self.end, min(end, self.rows.size))
        if (begin, end) == (self.begin, self.end):
            return 0
        before, after = (
            [PlacedTurn(one.id, one.timestamp, one.position or 0, one.created_at) for _, one in self._nodes(*span)]
            for span in ((begin, self.begin), (self.end, end))
        )
        self.turns, self.begin, self.end = [*before, *self.turns, *after], begin, end
        return len(before)

    def _has(self, place: int) -> bool:
        """Return whether the session has a turn at a place in `turns`, after reading it."""
        if place == len(self.turns):
            self._extend(self.begin, self.end + 1)
        return place < len(self.turns)

    def _make_room(self, place: int, before: int) -> None:
        """Spread the turns from `place` on that are too close together.

        The amortised number of moved turns is logarithmic in the number of turns. Source: Dietz and Sleator, "Two
        algorithms for maintaining order in a list", 1987.
        """
        count = 1
        while self._has(place + count) and self.turns[place + count].position - before <= (count + 1) ** 2:
            count += 1
        if place + count < len(self.turns):
            ahead = self.turns[place + count].position - before
        else:
            ahead = (count + 1) * max(_STEP, count + 1)
        for number, turn in enumerate(self.turns[place : place + count], 1):
            turn.position = before + ahead * number // (count + 1)


def turn_ids(view: GraphView, user_id: str | None, session_id: str) -> list[str]:
    """Return the ids of the stored turns of a user's session, in order."""
    return [view.ids[row] for row in _turns(view, user_id, session_id).tolist()]


def followers_without(view: GraphView, gone: Sequence[MemoryNode]) -> Iterator[tuple[str, str]]:
    """Yield pairs of turns that are successive without the nodes `gone` and have no SEQ edge yet."""
    sessions: dict[tuple[str | None, str], list[MemoryNode]] = defaultdict(list)
    for node in gone:
        if node.scope.session_id is not None and node.position is not None:
            sessions[node.scope.user_id, node.scope.session_id].append(node)
    removed = {node.id for node in gone}
    for session, nodes in sessions.items():
        rows = _turns(view, *session)
        staying = rows[~np.isin(rows, view.known_rows(removed))]
        after = np.unique(np.searchsorted(view.position.take(staying), [node.position or 0 for node in nodes]))
        after = after[(after > 0) & (after < staying.size)]
        known = view.edge_rows(staying[after - 1], staying[after], EdgeType.SEQ) >= 0
        for place in after[~known].tolist():
            yield view.ids[int(staying[place - 1])], view.ids[int(staying[place])]


_scope_of = lru_cache(64)(lambda user_id, session_id: ScopeFilter(user_id, session_id=session_id, alone=True))


def _turns(view: GraphView, user_id: str | None, session_id: str) -> Rows:
    """Return the rows of the turns of a user's session, in order."""
    rows = view.rows_of_scopes(_scope_of(user_id, session_id))
    rows = view.live_nodes() if rows is None else rows[view.alive.take(rows).astype(np.bool_)]
    positions = view.position.take(rows)
    order = positions.argsort(kind="stable")[np.add.reduce(positions < 0) :]
    return rows[order]

"""The order of the turns of a session: by timestamp, or by arrival for turns without timestamp."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

import numpy as np

from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import Filter
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView, Rows

__all__ = ["Session", "Turn", "followers_without", "place_at", "rejoined", "turn_ids"]

_STEP = 1 << 30
"""The distance between the positions of successive turns, which leaves room for late turns between them."""
_FIRST = 1 << 50
"""The position of the first turn of a session, which leaves room for earlier turns."""


def place_at(position: int) -> int:
    """Return about how many turns of a session precede the one at `position`."""
    return max(0, (position - _FIRST) // _STEP)


@dataclass(slots=True)
class Turn:
    """A turn of a session and its place in it."""

    id: str
    timestamp: datetime | None
    position: int


@dataclass(slots=True)
class Session:
    """The latest turns of a session, and new turns to add."""

    turns: list[Turn]
    """In order."""
    unread: Iterator[Sequence[MemoryNode]]
    """Earlier turns in portions, latest portion first; each portion is in order."""
    stored: dict[str, MemoryNode] = field(default_factory=dict)
    """Stored turns that have been read, by id."""

    @classmethod
    def read(
        cls, store: GraphStorePort, user_id: str | None, session_id: str, reach: int, without: Collection[str] = ()
    ) -> Session:
        """Return a session of a user with at least its last `reach` turns. Adding a late turn reads more.

        The session leaves out the turns with the ids `without`, which are about to move.
        """
        session = cls([], _portions(store, user_id, session_id, reach, without))
        while len(session.turns) < reach and session._read_more():
            pass
        return session

    def add(self, turn_id: str, timestamp: datetime | None, previous: str | None = None) -> None:
        """Add a turn after all turns that are not later; a turn without a timestamp is last.

        With `previous`, add it directly after that turn.
        """
        place = self._place(timestamp) if previous is None else self._behind(previous)
        self.turns.insert(place, Turn(turn_id, timestamp, self._position(place)))

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

    def moved(self) -> list[tuple[str, int]]:
        """Return the stored turns whose position has changed, with their new positions."""
        return [
            (turn.id, turn.position)
            for turn in self.turns
            if turn.id in self.stored and self.stored[turn.id].position != turn.position
        ]

    def _behind(self, previous: str) -> int:
        while all(turn.id != previous for turn in self.turns) and self._read_more():
            pass
        return next((place for place, turn in enumerate(self.turns, 1) if turn.id == previous), len(self.turns))

    def _place(self, timestamp: datetime | None) -> int:
        if timestamp is None:
            return len(self.turns)
        while True:
            times: list[datetime | None] = []
            for turn in self.turns:
                # A turn without a timestamp has the time of the previous turn.
                times.append(turn.timestamp or (times[-1] if times else None))
            earlier = [place for place, time in enumerate(times) if time is not None and time <= timestamp]
            if earlier:
                return earlier[-1] + 1
            if not self._read_more():
                return next((place for place, time in enumerate(times) if time is not None), len(times))

    def _read_more(self) -> bool:
        nodes = next(self.unread, ())
        self.stored.update((node.id, node) for node in nodes)
        self.turns[:0] = [Turn(node.id, node.timestamp, node.position or 0) for node in nodes]
        return bool(nodes)

    def _make_room(self, place: int, before: int) -> None:
        """Spread the turns from `place` on that are too close together.

        The amortised number of moved turns is logarithmic in the number of turns. Source: Dietz and Sleator, "Two
        algorithms for maintaining order in a list", 1987.
        """
        end, count = len(self.turns), 1
        while place + count < end and self.turns[place + count].position - before <= (count + 1) ** 2:
            count += 1
        if place + count < end:
            ahead = self.turns[place + count].position - before
        else:
            ahead = (count + 1) * max(_STEP, count + 1)
        for number, turn in enumerate(self.turns[place : place + count], 1):
            turn.position = before + ahead * number // (count + 1)


def _portions(
    store: GraphStorePort, user_id: str | None, session_id: str, first: int, without: Collection[str]
) -> Iterator[Sequence[MemoryNode]]:
    """Yield the stored turns of a session in growing portions, latest portion first.

    The first portion has `first` turns. Each portion is in order.
    """
    view, rows = _turns(store, user_id, session_id)
    rows = rows[[view.ids[row] not in without for row in rows.tolist()]] if without else rows
    end, size = rows.size, first
    while end > 0:
        portion = rows[max(0, end - size) : end].tolist()
        yield store.get_nodes([view.ids[row] for row in portion], missing_ok=True)
        end, size = end - size, 2 * size


def turn_ids(store: GraphStorePort, user_id: str | None, session_id: str) -> list[str]:
    """Return the ids of the stored turns of a user's session, in order."""
    view, rows = _turns(store, user_id, session_id)
    return [view.ids[row] for row in rows.tolist()]


def rejoined(store: GraphStorePort, gone: Sequence[MemoryNode], *, weight: float, at: datetime) -> Iterator[MemoryEdge]:
    """Yield the SEQ edges between turns that become successive when the nodes `gone` are removed."""
    for source, target in followers_without(store, gone):
        yield MemoryEdge(source, target, EdgeType.SEQ, weight, created_at=at)


def followers_without(store: GraphStorePort, gone: Sequence[MemoryNode]) -> Iterator[tuple[str, str]]:
    """Yield pairs of turns that are successive without the nodes `gone` and have no SEQ edge yet."""
    sessions: dict[tuple[str | None, str], list[MemoryNode]] = defaultdict(list)
    for node in gone:
        if node.scope.session_id is not None and node.position is not None:
            sessions[node.scope.user_id, node.scope.session_id].append(node)
    removed = {node.id for node in gone}
    for session, nodes in sessions.items():
        view, rows = _turns(store, *session)
        staying = np.array([row for row in rows.tolist() if view.ids[row] not in removed], dtype=np.int64)
        after = np.unique(np.searchsorted(view.position.take(staying), [node.position or 0 for node in nodes]))
        after = after[(after > 0) & (after < staying.size)]
        known = view.edge_rows(staying[after - 1], staying[after], EdgeType.SEQ) >= 0
        for place in after[~known].tolist():
            yield view.ids[int(staying[place - 1])], view.ids[int(staying[place])]


def _turns(store: GraphStorePort, user_id: str | None, session_id: str) -> tuple[GraphView, Rows]:
    """Return a view, and its rows of the turns of a user's session, in order."""
    view = store.view(filters=Filter(scope=ScopeFilter(user_id, session_id=session_id, alone=True)))
    rows = view.admitted_nodes()
    positions = view.position.take(rows)
    order = np.argsort(positions, kind="stable")[int((positions < 0).sum()) :]
    return view, rows[order]

"""The order of the pages of a user. The short-term memory is its end, so no page moves from one place to another."""

from __future__ import annotations

import threading
from bisect import bisect_left, insort
from collections import defaultdict
from typing import Any, NamedTuple

from neurogated.dialogue.model import Pages


class Place(NamedTuple):
    """The place of a page in the conversation of a user."""

    order: str
    key: str
    session_id: str


class Timeline:
    """The places of the pages of one user in order of arrival, read from the store as they come. Thread-safe."""

    def __init__(self, user_id: str, pages: Pages) -> None:
        self._user_id = user_id
        self._pages = pages
        self._mark: Any = None
        self._places: list[Place] = []
        self._sessions: defaultdict[str, list[Place]] = defaultdict(list)
        self._known: set[str] = set()
        self._lock = threading.Lock()

    def read(self) -> list[Place] | None:
        """Return the places of the pages that were stored since the last call, also by other processes.

        It is None if known pages were deleted; then another timeline must be read.
        """
        with self._lock:
            pages, self._mark, is_rewritten = self._pages.after(self._user_id, self._mark, self._known)
            if is_rewritten:
                return None
            new = [Place(page.order, page.key, page.session_id) for page in pages if page.key not in self._known]
            for place in new:
                self._known.add(place.key)
                insort(self._places, place)
                insort(self._sessions[place.session_id], place)
            return new

    def keys(self) -> frozenset[str]:
        """Return the keys of the pages that were read."""
        with self._lock:
            return frozenset(self._known)

    def newest(self, count: int, session_id: str | None = None) -> list[Place]:
        """Return the last places that were read, in order: the short-term memory, first in, first out."""
        with self._lock:
            return (self._places if session_id is None else self._sessions.get(session_id, []))[-count:]

    def previous(self, place: Place) -> Place | None:
        """Return the place before another one in its session; None for the first."""
        with self._lock:
            session = self._sessions[place.session_id]
            at = bisect_left(session, place)
            return session[at - 1] if at else None

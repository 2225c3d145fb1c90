"""Short-term and mid-term memory of a dialogue: the last pages, and segments by topic with their heat."""

import base64
import math
import threading
from bisect import bisect_left, insort
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.dialogue.model import DialogueSettings, DialogueStore
from neurogated.text.keywords import split_keywords


class Place(NamedTuple):
    """The place of a page in the conversation of a user."""

    order: str
    key: str
    session_id: str


class Timeline:
    """The places of the pages of one user in order of arrival, read from the store as they come. Thread-safe."""

    def __init__(self, user_id: str, kept: DialogueStore) -> None:
        self._user_id, self._kept = user_id, kept
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
            pages, self._mark, is_rewritten = self._kept.after(self._user_id, self._mark, self._known)
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


_KEYWORDS = 20
"""Most frequent keywords of a segment that count."""


@dataclass(slots=True)
class Segment:
    """Pages about one topic."""

    id: str
    """The key of its first page."""
    total: NDArray[np.float32]
    """The sum of the vectors of its pages."""
    keywords: Counter[str] = field(default_factory=Counter)
    summary: str = ""
    fit: float = -1.0
    """The cosine of the summary's page with the segment."""
    pages: dict[str, bool] = field(default_factory=dict)
    """The keys of its pages in order, and whether the long-term memory has learned from each."""
    visits: dict[str, int] = field(default_factory=dict)
    """The number of searches that found it, by instance of the memory."""
    settled: int = 0
    """The number of visits before its last consolidation."""
    has_gaps: bool = False
    """Whether knowledge that its pages repeat was deleted with the page that said it first."""
    last: float = 0.0
    """The time of its last page or visit, in seconds since 1970."""

    @property
    def front(self) -> list[str]:
        """Its keywords, the most frequent first."""
        return [word for word, _ in self.keywords.most_common(_KEYWORDS)]

    @property
    def visited(self) -> int:
        """The number of searches that found it."""
        return sum(self.visits.values())

    @property
    def new_pages(self) -> list[str]:
        """The keys of the pages that nothing was learned from, in order."""
        return [key for key, is_learned in self.pages.items() if not is_learned]

    def heat(self, now: float, settings: DialogueSettings) -> float:
        """Return `alpha` visits + `beta` pages + `gamma` exp(-age / `tau`), counted from the last consolidation."""
        recency = math.exp(-max(now - self.last, 0.0) / settings.tau)
        visits = max(self.visited - self.settled, 0)
        return settings.alpha * visits + settings.beta * len(self.new_pages) + settings.gamma * recency

    def add(self, key: str, vector: NDArray[np.float32], keywords: Iterable[str], summary: str, at: float) -> None:
        """Add a page; twice is once. The summary is that of the page nearest to the middle of the segment."""
        if key in self.pages:
            return
        self.pages[key] = False
        self.total = self.total + vector
        self.keywords.update(keywords)
        self.last = max(self.last, at)
        fit = float(vector @ self.total) / (float(np.linalg.norm(self.total)) or 1.0)
        if fit > self.fit:
            self.summary, self.fit = summary, fit


def encoded(vector: NDArray[np.float32]) -> str:
    """Return a vector as a text for JSON, with 16 bits a number."""
    return base64.b64encode(vector.astype("<f2").tobytes()).decode()


def decoded(text: str) -> NDArray[np.float32]:
    """Return the vector of such a text."""
    return np.frombuffer(base64.b64decode(text), "<f2").astype(np.float32)


class Topics:
    """Finds the segment that a page joins, by the vectors and the keywords of the segments."""

    def __init__(self, segments: Iterable[Segment]) -> None:
        self._rows: dict[str, int] = {}
        self._vectors: NDArray[np.float32] = np.zeros((0, 0), np.float32)
        self._words: dict[str, frozenset[str]] = {}
        self._with: defaultdict[str, set[str]] = defaultdict(set)
        for segment in segments:
            self.update(segment)

    def update(self, segment: Segment) -> None:
        """Take in a segment that is new or has changed."""
        row = self._rows.setdefault(segment.id, len(self._rows))
        if row >= len(self._vectors):
            grown = np.zeros((2 * row + 64, len(segment.total)), np.float32)
            if row:
                grown[:row] = self._vectors
            self._vectors = grown
        self._vectors[row] = segment.total / (float(np.linalg.norm(segment.total)) or 1.0)
        before, now = self._words.get(segment.id, frozenset()), _stems(segment.front)
        self._words[segment.id] = now
        for word in before - now:
            self._with[word].discard(segment.id)
        for word in now - before:
            self._with[word].add(segment.id)

    def nearest(self, vector: NDArray[np.float32], keywords: Iterable[str], threshold: float) -> str | None:
        """Return the segment whose cosine plus Jaccard index is highest; None if it is below the threshold."""
        if not self._rows:
            return None
        scores, words = self._vectors[: len(self._rows)] @ vector, _stems(keywords)
        for name in {name for word in words for name in self._with[word]}:
            other = self._words[name]
            scores[self._rows[name]] += len(words & other) / len(words | other)
        best = int(np.argmax(scores))
        return list(self._rows)[best] if scores[best] >= threshold else None


def dormant(segments: Collection[Segment], now: float, settings: DialogueSettings) -> frozenset[str]:
    """Return the ids of the segments beyond the capacity: the least frequently used ones, except hot ones."""
    surplus = len(segments) - settings.mid_term_max_capacity
    if surplus <= 0:
        return frozenset()
    cold = [one for one in segments if one.heat(now, settings) < settings.mid_term_heat_threshold]
    return frozenset(one.id for one in sorted(cold, key=lambda one: (one.visited, one.last))[:surplus])


def _stems(words: Iterable[str]) -> frozenset[str]:
    return frozenset(split_keywords(" ".join(words)))

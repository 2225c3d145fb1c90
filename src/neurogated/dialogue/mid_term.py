"""Segments of pages by topic, with their heat. A page is in one segment; a segment is never lost, only dormant."""

from __future__ import annotations

import base64
import math
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from neurogated.dialogue.model import DialogueSettings, Record
from neurogated.text.keywords import split_keywords

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
        """Add a page. The summary is that of the page nearest to the middle of the segment."""
        self.total = self.total + vector
        self.keywords.update(keywords)
        self.pages[key] = False
        self.last = max(self.last, at)
        fit = float(vector @ self.total) / (float(np.linalg.norm(self.total)) or 1.0)
        if fit > self.fit:
            self.summary, self.fit = summary, fit

    def record(self) -> Record:
        """Return what is stored of it, beside its pages and visits."""
        vector = base64.b64encode(self.total.astype("<f2").tobytes()).decode()
        words = dict(self.keywords.most_common(4 * _KEYWORDS))
        return {
            "summary": self.summary, "fit": self.fit, "keywords": words, "vector": vector,
            "settled": self.settled, "last": self.last,
        }  # fmt: skip

    @classmethod
    def of(cls, key: str, record: Record) -> Segment:
        """Return the segment that a record describes, without its pages and visits."""
        total = np.frombuffer(base64.b64decode(record["vector"]), "<f2").astype(np.float32)
        words = Counter({str(word): int(count) for word, count in record["keywords"].items()})
        return cls(key, total, words, record["summary"], record["fit"], settled=record["settled"], last=record["last"])


def similarities(
    segments: Collection[Segment], vector: NDArray[np.float32], keywords: Collection[str]
) -> NDArray[np.float64]:
    """Return (n,) the cosine of a page with each segment plus the Jaccard index of their keywords, -1–2."""
    totals = np.stack([segment.total for segment in segments])
    lengths = np.linalg.norm(totals, axis=1)
    cosines = np.divide(totals @ vector, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    words = frozenset(split_keywords(" ".join(keywords)))
    jaccard = [_jaccard(words, frozenset(split_keywords(" ".join(segment.front)))) for segment in segments]
    total: NDArray[np.float64] = np.add(cosines, jaccard)
    return total


def nearest(
    segments: Mapping[str, Segment], vector: NDArray[np.float32], keywords: Collection[str], threshold: float
) -> Segment | None:
    """Return the segment that a page joins; None if no segment is as similar as the threshold."""
    if not segments:
        return None
    scores = similarities(segments.values(), vector, keywords)
    best = int(np.argmax(scores))
    return list(segments.values())[best] if scores[best] >= threshold else None


def dormant(segments: Collection[Segment], now: float, settings: DialogueSettings) -> frozenset[str]:
    """Return the ids of the segments beyond the capacity: the least frequently used ones, except hot ones."""
    surplus = len(segments) - settings.mid_term_max_capacity
    if surplus <= 0:
        return frozenset()
    cold = [one for one in segments if one.heat(now, settings) < settings.mid_term_heat_threshold]
    return frozenset(one.id for one in sorted(cold, key=lambda one: (one.visited, one.last))[:surplus])


def _jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    either = len(one | other)
    return len(one & other) / either if either else 0.0

"""Finds the best texts of a segment for a query without scoring most of the others.

This is MaxScore (Turtle and Flood, 1995), one word at a time. The search takes words in descending order of weight and
adds the part of each to the sums of the texts that hold it. At some point the remaining words together cannot lift a
new text to the k-th best score. From then on only texts met before are candidates. The search looks them up in the
remaining words and drops those that cannot reach the k-th best score.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.storage.index.text.bm25 import length_norm
from neurogated.storage.index.text.segment import Places, Segment
from neurogated.storage.index.text.weights import Weights

# More candidates than this many times k are narrowed down before they are scored.
_FEW = 4
# Covers the rounding errors of a sum in single precision.
_SLACK = 1e-4

Eligible = Callable[[Places], Places]


def best_texts(segment: Segment, weights: Weights, k: int, least: float, eligible: Eligible) -> Places:
    """Return places of texts that include the `k` best with a score of at least `least`, and all ties.

    Args:
        segment: where to search.
        weights: the words of the query.
        k: how many.
        least: pruning threshold.
        eligible: returns those of some places that count; the result may include others.
    """
    search = _Search(segment, weights, k, least, eligible)
    places, sums = search.met()
    return search.narrowed(places, sums)


def kth_best(scores: NDArray[np.floating], k: int) -> float:
    """Return the k-th best score, 0 if there are fewer."""
    if scores.size < k:
        return 0
    return float(np.partition(scores, scores.size - k)[scores.size - k])


class _Search:
    """One query in one segment."""

    def __init__(self, segment: Segment, weights: Weights, k: int, least: float, eligible: Eligible) -> None:
        known, at = segment.found(weights.words)
        # A part of a score grows at most in proportion to the mean length.
        drift = max(weights.mean / segment.mean, 1)
        values = weights.values[known]
        most = values * segment.max_impacts[at] * drift
        order = np.argsort(-most, kind="stable")
        # Upper bound on the sum of the parts of the words from each position on.
        self.rests: list[float] = np.append(np.cumsum(most[order][::-1])[::-1], 0).tolist()
        starts, ends = segment.bounds(at[order])
        self.postings = list(map(slice, starts.tolist(), ends.tolist()))
        self.held: list[int] = at[order].tolist()
        self.values = values[order].astype(np.float32)
        self.segment, self.weights, self.k, self.least, self.eligible = segment, weights, k, least, eligible
        self.next = 0

    def met(self) -> tuple[Places, NDArray[np.float32]]:
        """Return the places that the heavy words reach, and the sums of these words' parts there."""
        segment = self.segment
        sums = np.zeros(len(segment), dtype=np.float32)
        count, is_bounded = 0, False
        while self.next < len(self.postings) and self.rests[self.next] * (1 + _SLACK) >= self.least:
            postings = self.postings[self.next]
            places: Places = segment.places[postings]
            sums[places] += self._parts(segment.counts[postings], places)
            self.next += 1
            count += places.size
            if not is_bounded and count >= _FEW * self.k:
                is_bounded = True
                met = self._possible(sums)
                self._raise(met, sums[met])
        places = self._possible(sums)
        return places, sums[places]

    def narrowed(self, places: Places, sums: NDArray[np.float32]) -> Places:
        """Return those of the places that the remaining words may lift to the k-th best score."""
        if places.size > _FEW * self.k:
            self._raise(places, sums)
        while places.size > _FEW * self.k:
            possible = self._possible(sums)
            places, sums = places[possible], sums[possible]
            if self.next == len(self.postings):
                break
            sums += self._parts(self.segment.counts_at(self.held[self.next], places), places)
            self.next += 1
        return places

    def _possible(self, sums: NDArray[np.float32]) -> Places:
        """Return the positions of the sums that can still reach the k-th best score."""
        lowest = self.least * (1 - _SLACK) - self.rests[self.next] * (1 + _SLACK)
        return np.flatnonzero(sums >= np.float32(max(lowest, float(np.finfo(np.float32).tiny))))

    def _raise(self, places: Places, sums: NDArray[np.float32]) -> None:
        """Score the most promising places, for a better bound on the k-th best score."""
        wanted = min(2 * self.k, sums.size)
        promising = np.argpartition(sums, sums.size - wanted)[sums.size - wanted :]
        scores = self.weights.scores(self.segment, self.eligible(places[promising]))
        self.least = max(self.least, kth_best(scores, self.k))

    def _parts(self, counts: NDArray[Any], places: Places) -> NDArray[np.float32]:
        """Return the next word's parts of the scores of some places, given its counts there."""
        times = counts.astype(np.float32)
        norms = length_norm(self.segment.lengths[places].astype(np.float32), self.weights.mean)
        parts: NDArray[np.float32] = self.values[self.next] * times / (times + norms)
        return parts

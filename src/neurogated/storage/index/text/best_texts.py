"""Finds the best texts of a segment for a query without scoring most of the others.

This is MaxScore (Turtle and Flood, 1995), one word at a time. The search takes words in descending order of weight and
adds the impact of each to the texts that hold it. At some point the remaining words together cannot lift a new text to
the k-th best score found so far. From then on only texts met before are candidates. The search looks them up in the
remaining words and drops those that cannot reach the k-th best score. Impacts are rounded up, so it never drops one of
the best texts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.text.bm25 import IMPACT_STEPS, SATURATION, Weights
from neurogated.storage.index.text.segment import Places, Segment

__all__ = ["Eligible", "best_texts", "kth_best"]

# Bound on the single-precision operations in a sum of impacts, besides one for each word of the query.
_ROUNDINGS = 16
# By this factor the candidates grow or shrink before the search scores the best of them, to raise the pruning bound.
_GROWTH = 8
# More candidates than this many times k are narrowed down before they are scored.
_FEW = 4
# With at least this many (word, text) pairs left, it pays to score some texts now.
_WORTH_SCORING = 2**20
# A sample from which a rank is estimated has this many texts for each wanted one.
_SAMPLE = 16

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
    return search.narrowed(*search.met())


def kth_best(scores: NDArray[np.floating], k: int) -> float:
    """Return the k-th best score, 0 if there are fewer."""
    if scores.size < k:
        return 0
    return float(np.partition(scores, scores.size - k)[scores.size - k])


class _Search:
    """One query in one segment."""

    def __init__(self, segment: Segment, weights: Weights, k: int, least: float, eligible: Eligible) -> None:
        max_impacts = segment.max_impacts_of(weights.words)
        # A text's score grows at most in proportion to the mean length, and falls no faster.
        drift = max(weights.mean / segment.mean, 1)
        units = weights.values * (SATURATION / IMPACT_STEPS) * drift
        held = np.flatnonzero(max_impacts)
        order = held[np.argsort(-units[held], kind="stable")]
        self.segment = segment
        self.words: list[int] = weights.words[order].tolist()
        self.units = units[order].astype(np.float32)
        # Upper bound on the sum of the impacts of the words from each position on.
        self.rests: list[float] = np.append(np.cumsum((units * max_impacts)[order][::-1])[::-1], 0).tolist()
        # Lower bound on a word's part of a score, as a share of its part of a sum minus one step.
        self.surety = min(weights.mean / segment.mean, 1) / drift
        self.margin = (_ROUNDINGS + len(self.words)) * float(np.finfo(np.float32).eps)
        self.weights, self.k, self.least, self.eligible = weights, k, least, eligible
        self.next = 0

    def met(self) -> tuple[Places, NDArray[np.float32]]:
        """Return the places that the heavy words reach, and the sums of these words' impacts there."""
        segment = self.segment
        sums = np.zeros(len(segment), dtype=np.float32)
        met: list[NDArray[np.int32]] = []
        # If other segments already gave a threshold, it is rarely worth scoring texts for a better one.
        count, look_at, everywhere = 0, (len(segment) * len(self.words) if self.least else _FEW * self.k), False
        while self.next < len(self.words) and not self._settled():
            word, unit = self.words[self.next], self.units[self.next]
            row = segment.column(word)
            if row is None:
                postings = segment.postings(word)
                places = segment.places[postings]
                sums[places] += unit * segment.impacts[postings]
                met.append(places)
                count += places.size
            else:
                sums += unit * row
                everywhere = True
            self.next += 1
            left = len(segment) * (len(self.words) - self.next)
            if count >= look_at and left > _WORTH_SCORING and not everywhere:
                look_at = count * _GROWTH
                so_far = np.concatenate(met)
                self._raise(so_far, sums[so_far])
        if everywhere or count > sums.size / 2:
            if self.next == len(self.words):
                self._raise(np.arange(sums.size), sums)
            possible = self._possible(sums)
            return possible, sums[possible]
        return self._collected(met, sums)

    def narrowed(self, places: Places, sums: NDArray[np.float32]) -> Places:
        """Return those of the places that the remaining words may lift to the k-th best score."""
        looked_at = _GROWTH * places.size
        while places.size > _FEW * self.k:
            if _GROWTH * places.size <= looked_at:
                looked_at = places.size
                self._raise(places, sums)
            elif self.next == len(self.words):
                break
            else:
                sums += self._impacts(places)
                self.next += 1
            possible = self._possible(sums)
            places, sums = places[possible], sums[possible]
        return places

    def _settled(self) -> bool:
        return self.rests[self.next] * (1 + self.margin) < self.least

    def _possible(self, sums: NDArray[np.float32]) -> Rows:
        """Return the positions of the sums that can still reach the k-th best score."""
        lowest = self.least * (1 - self.margin) - self.rests[self.next]
        return np.flatnonzero(sums >= np.float32(max(lowest * (1 - self.margin), float(np.finfo(np.float32).tiny))))

    def _collected(self, met: list[NDArray[np.int32]], sums: NDArray[np.float32]) -> tuple[Places, NDArray[np.float32]]:
        places, found = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
        for some in met:
            here = sums[some]
            possible = self._possible(here)
            places.append(some[possible])
            found.append(here[possible])
            # Zero the sums, so that each place is collected once.
            sums[some] = 0
        return np.concatenate(places), np.concatenate(found)

    def _raise(self, places: Places, sums: NDArray[np.float32]) -> None:
        """Score about `2 * k` of the most promising places, for a better bound on the k-th best score."""
        wanted = min(2 * self.k, sums.size)
        step = max(sums.size // (wanted * _SAMPLE), 1)
        sample = np.sort(sums[::step])
        taken = max(wanted // step, 1)
        promising = np.flatnonzero(sums >= sample[-taken])
        while promising.size < wanted // 2:
            # The sample suggests too few places; fewer than `k` scores give no bound.
            taken = min(2 * taken, sample.size)
            promising = np.flatnonzero(sums >= sample[-taken])
        if self.next == len(self.words):
            self.least = max(self.least, self._sure(places[promising], sums[promising]))
            return
        counting = self.eligible(np.unique(places[promising[: 2 * wanted]]).astype(np.int64))
        scores = self.weights.scores(self.segment.texts, self.segment.lengths, counting)
        self.least = max(self.least, kth_best(scores, self.k))

    def _sure(self, places: Places, sums: NDArray[np.float32]) -> float:
        """Return a lower bound on the scores of `k` distinct places from the sums of all words; 0 if there are fewer.

        An impact is at most one step too high.
        """
        order = places.argsort()
        ordered = places[order].astype(np.int64)
        counting = sums[order[ordered.searchsorted(self.eligible(ordered))]]
        least = kth_best(counting, self.k) * (1 - self.margin) - float(self.units.sum()) * (1 + self.margin)
        return max(0.0, least * self.surety * (1 - self.margin))

    def _impacts(self, places: Places) -> NDArray[np.float32]:
        """Return the next word's impacts at some places."""
        word, unit = self.words[self.next], self.units[self.next]
        row = self.segment.column(word)
        impacts: NDArray[np.float32]
        if row is not None:
            impacts = unit * row[places]
        else:
            postings = self.segment.postings(word)
            held = self.segment.places[postings]
            at = held.searchsorted(places.astype(np.int32))
            here = held.take(at, mode="clip") == places
            impacts = unit * np.where(here, self.segment.impacts[postings].take(at, mode="clip"), 0)
        return impacts

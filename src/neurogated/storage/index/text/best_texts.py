"""The best texts of a segment for a query, without looking at most of the others.

This is MaxScore (Turtle and Flood, 1995), a word at a time: words are taken by weight, the heaviest first, and each
adds its impact to the texts that hold it. Once the words that are left cannot together lift a text to the k-th best
score found so far, only texts met already go on; they are looked up in the other words and dropped as soon as they
cannot reach it. Impacts are rounded up, so that nothing that belongs to the best is ever dropped.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.text.bm25 import IMPACT_STEPS, SATURATION, Weights
from neurogated.storage.index.text.segment import Places, Segment

__all__ = ["Eligible", "best_texts", "kth_best"]

# Bound on the single precision operations behind a sum of impacts, beside one for each word of the query.
_ROUNDINGS = 16
# How much further the search goes before it scores its best texts again to know the k-th best better.
_GROWTH = 8
# Candidates beyond so many times k are worth narrowing down before they are scored.
_FEW = 4
# While so many looks at texts are left, it is worth scoring some, to be done sooner.
_WORTH_SCORING = 2**20
# A sample from which a rank can be read has so many texts for each that is wanted.
_SAMPLE = 16

Eligible = Callable[[Places], Places]


def best_texts(segment: Segment, weights: Weights, k: int, least: float, eligible: Eligible) -> Places:
    """Return places of texts; the `k` best of the segment that score `least` or more are there, and all that tie.

    Args:
        segment: where to search.
        weights: the words of the query.
        k: how many.
        least: a score that is of no use to fall below.
        eligible: those of some places that count; others may be returned all the same.
    """
    search = _Search(segment, weights, k, least, eligible)
    return search.narrowed(*search.met())


def kth_best(scores: NDArray[np.floating], k: int) -> float:
    """Return the k-th best score, 0 where there are fewer."""
    if scores.size < k:
        return 0
    return float(np.partition(scores, scores.size - k)[scores.size - k])


class _Search:
    """One query in one segment."""

    def __init__(self, segment: Segment, weights: Weights, k: int, least: float, eligible: Eligible) -> None:
        max_impacts = segment.max_impacts_of(weights.words)
        # A text's score grows at most in proportion when the mean length does, and falls no faster.
        drift = max(weights.mean / segment.mean, 1)
        units = weights.values * (SATURATION / IMPACT_STEPS) * drift
        held = np.flatnonzero(max_impacts)
        order = held[np.argsort(-units[held], kind="stable")]
        self.segment = segment
        self.words: list[int] = weights.words[order].tolist()
        self.units = units[order].astype(np.float32)
        # What the words from each on can add at most.
        self.rests: list[float] = np.append(np.cumsum((units * max_impacts)[order][::-1])[::-1], 0).tolist()
        # What words add to scores at least, as a share of what they add to sums beyond one step each.
        self.surety = min(weights.mean / segment.mean, 1) / drift
        self.margin = (_ROUNDINGS + len(self.words)) * float(np.finfo(np.float32).eps)
        self.weights, self.k, self.least, self.eligible = weights, k, least, eligible
        self.next = 0

    def met(self) -> tuple[Places, NDArray[np.float32]]:
        """Return the places that the heavy words lead to, and what these words add up to there."""
        segment = self.segment
        sums = np.zeros(len(segment), dtype=np.float32)
        met: list[NDArray[np.int32]] = []
        # Where a score to reach is known from other texts, it is rarely worth looking for a better one.
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
        """Return those of the places met that the other words may lift to the k-th best."""
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
        """Return which sums can still reach the k-th best."""
        lowest = self.least * (1 - self.margin) - self.rests[self.next]
        return np.flatnonzero(sums >= np.float32(max(lowest * (1 - self.margin), float(np.finfo(np.float32).tiny))))

    def _collected(self, met: list[NDArray[np.int32]], sums: NDArray[np.float32]) -> tuple[Places, NDArray[np.float32]]:
        places, found = [np.empty(0, dtype=np.int32)], [np.empty(0, dtype=np.float32)]
        for some in met:
            here = sums[some]
            possible = self._possible(here)
            places.append(some[possible])
            found.append(here[possible])
            # Each place is collected once.
            sums[some] = 0
        return np.concatenate(places), np.concatenate(found)

    def _raise(self, places: Places, sums: NDArray[np.float32]) -> None:
        """Look at about twice `k` of the most promising places, for a better bound on the k-th best score."""
        wanted = min(2 * self.k, sums.size)
        step = max(sums.size // (wanted * _SAMPLE), 1)
        sample = np.sort(sums[::step])
        taken = max(wanted // step, 1)
        promising = np.flatnonzero(sums >= sample[-taken])
        while promising.size < wanted // 2:
            # Where the sample says too little, more of it is taken: from fewer than `k` scores there is no bound.
            taken = min(2 * taken, sample.size)
            promising = np.flatnonzero(sums >= sample[-taken])
        if self.next == len(self.words):
            self.least = max(self.least, self._sure(places[promising], sums[promising]))
            return
        counting = self.eligible(np.unique(places[promising[: 2 * wanted]]).astype(np.int64))
        scores = self.weights.scores(self.segment.texts, self.segment.lengths, counting)
        self.least = max(self.least, kth_best(scores, self.k))

    def _sure(self, places: Places, sums: NDArray[np.float32]) -> float:
        """Return what `k` of different places score at least, by the impacts of all words; 0 where there are fewer.

        An impact is at most one step too high.
        """
        order = places.argsort()
        ordered = places[order].astype(np.int64)
        counting = sums[order[ordered.searchsorted(self.eligible(ordered))]]
        least = kth_best(counting, self.k) * (1 - self.margin) - float(self.units.sum()) * (1 + self.margin)
        return max(0.0, least * self.surety * (1 - self.margin))

    def _impacts(self, places: Places) -> NDArray[np.float32]:
        """Return what the next word adds at some places."""
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

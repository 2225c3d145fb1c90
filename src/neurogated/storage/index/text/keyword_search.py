"""Keyword search in a posting table at one moment: BM25 scores, and the best texts by MaxScore."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import contained, partitioned
from neurogated.core.view import Hits, Rows
from neurogated.storage.index.text.posting_table import TableView
from neurogated.storage.index.text.segment import SATURATION, Places, TextSegment, length_norm


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of all texts that BM25 needs for the words of one query."""

    texts: int
    """Those with words that are no tags: what is read in a text, and has no words of its own, changes no score."""
    keywords: int
    """Sum of the lengths of all texts."""
    frequencies: NDArray[np.int64]
    """How many texts hold each word of the query, in the order of the words' numbers."""


# How many texts are scored in one batch, so that their words fit the processor's cache.
_AT_ONCE = 4096
# Up to this many (word, text) pairs, scoring all texts is quicker than searching for the best.
_FEW_PAIRS = 2**18
_BLOCK = 16  # a maximum of so many scores takes less time than a partition of them


class QueryWeights:
    """The words of a query with their weights, without words that no text holds.

    Scores add the words of every text in the order of their numbers, so equal texts have equal scores to the last bit.
    """

    def __init__(self, words: Rows, known: Statistics) -> None:
        """Compute the weights of `words`, which are ascending and distinct."""
        held = known.frequencies > 0
        frequencies = known.frequencies[held]
        self.words = words[held]
        self.values = SATURATION * np.log1p((known.texts - frequencies + (1 / 2)) / (frequencies + 1 / 2))
        self.mean = known.keywords / max(known.texts, 1)
        # This table maps a word number to its position in the query; a table is quicker than a search. Its last entry
        # stands for all larger numbers.
        self._places = np.zeros(int(self.words[-1]) + 2 if self.words.size else 1, dtype=np.uint16)
        self._places[self.words] = np.arange(1, self.words.size + 1)
        self._of_all: dict[int, NDArray[np.float64] | None] = {}

    def scores_of_all(self, segment: TextSegment) -> NDArray[np.float64] | None:
        """Return the scores of all texts of a segment; None if that takes too long."""
        if segment.serial not in self._of_all:
            worthwhile = self.words.size * len(segment) <= _FEW_PAIRS
            self._of_all[segment.serial] = self._scores_of_all(segment) if worthwhile else None
        return self._of_all[segment.serial]

    def scores(self, segment: TextSegment, places: Places) -> NDArray[np.float64]:
        """Return the scores of the texts at `places` of a segment."""
        starts = range(0, max(places.size, 1), _AT_ONCE)
        return np.concatenate([self._scores(segment, places[start : start + _AT_ONCE]) for start in starts])

    def _scores_of_all(self, segment: TextSegment) -> NDArray[np.float64]:
        known, at = segment.found(self.words)
        starts, ends = segment.bounds(at)
        lists, columns = list(map(slice, starts.tolist(), ends.tolist())), (segment.places, segment.counts)
        owners, counts = [np.concatenate([one[:0], *map(one.__getitem__, lists)]) for one in columns]
        weights, norms = self.values[known].repeat(ends - starts), length_norm(segment.lengths, self.mean).take(owners)
        parts = _part(weights, counts, norms)
        return np.bincount(owners, parts, minlength=len(segment)).astype(np.float64, copy=False)

    def _scores(self, segment: TextSegment, places: Places) -> NDArray[np.float64]:
        entries, sizes = segment.texts.entries(places)
        asked = self._places.take(segment.texts.words.take(entries), mode="clip")
        (hits,) = asked.nonzero()
        owners = sizes.cumsum().searchsorted(hits, side="right")
        norms = length_norm(segment.lengths[places], self.mean)
        parts = _part(self.values[asked[hits] - 1], segment.texts.counts[entries[hits]], norms[owners])
        return np.bincount(owners, parts, minlength=places.size).astype(np.float64, copy=False)


def _part(weights: NDArray[np.float64], counts: NDArray[Any], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the parts of scores; `weights` and `norms` are overwritten, since new arrays would take twice as long."""
    weights *= counts
    weights /= np.add(norms, counts, out=norms)
    return weights


# More candidates than this many times k are narrowed down before they are scored.
_FEW = 4
# Covers the rounding errors of a sum in single precision.
_SLACK = 1e-4

Eligible = Callable[[Places], Places]


def kth_best(scores: NDArray[np.floating], k: int) -> float:
    """Return the k-th best score, 0 if there are fewer."""
    if scores.size < k:
        return 0
    if (blocks := scores.size // _BLOCK) > k:
        # In k blocks some score reaches the k-th best of the blocks' best ones, so lower scores do not count.
        tops = np.maximum.reduce(scores[: blocks * _BLOCK].reshape(_BLOCK, blocks))
        scores = scores[scores >= partitioned(tops, -k)[-k]]
    return float(partitioned(scores, -k)[-k])


class _Search:
    """One query in one segment, for the `k` best texts with a score of at least `least`, and all ties.

    `eligible` returns those of some places that count; the result may include others.
    """

    def __init__(self, segment: TextSegment, weights: QueryWeights, k: int, least: float, eligible: Eligible) -> None:
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


# A text with a lower score shares no keyword.
_LEAST_SCORE = float(np.nextafter(0, 1))
# Up to this fraction of a segment, its texts are read one by one.
_FEW_SHARE = 8


def statistics_of(view: TableView, words: Rows, keys: Rows) -> Statistics:
    """Return the statistics of the texts of some keys."""
    texts, total, frequencies = 0, 0, np.zeros(words.size, dtype=np.int64)
    for part, _, places in view.located(keys):
        texts += int(np.count_nonzero(part.lengths[places]))
        if _are_few(part, places):
            entries, _ = part.texts.entries(places)
            held = part.texts.words[entries]
            total += int(part.texts.counts[entries].sum(dtype=np.int64))
            frequencies += np.bincount(np.searchsorted(words, held[contained(words, held)]), minlength=words.size)
        else:
            wanted = np.zeros(len(part), dtype=np.bool_)
            wanted[places] = True
            terms, holders = part.pairs(words)
            total += int(part.true_lengths[places].sum())
            frequencies += np.bincount(terms[wanted[holders]], minlength=words.size)
    return Statistics(texts, total, frequencies)


def _are_few(part: TextSegment, places: Places) -> bool:
    """Return whether some texts of a segment are read quicker one by one than through its posting lists."""
    return places.size * _FEW_SHARE < len(part)


def search(view: TableView, weights: QueryWeights, k: int, without: Rows) -> Hits:
    """Return the `k` best texts with their scores, and all ties, best first, ties in order of key."""
    keys, found = np.empty(0, dtype=np.int64), np.empty(0)
    # The longest segment comes first: its k-th best score is a pruning threshold for the others.
    for part in view.segments if k > 0 and weights.words.size else ():
        eligible = partial(_eligible, view, part, without)
        least = max(kth_best(found, k), _LEAST_SCORE)
        of_all = weights.scores_of_all(part)
        if of_all is None:
            query = _Search(part, weights, k, least, eligible)
            places = eligible(query.narrowed(*query.met()))
            of_places = weights.scores(part, places)
        else:
            places = eligible((of_all >= max(least, kth_best(of_all, k))).nonzero()[0])
            if places.size < k:
                # Ineligible texts may have taken places among the `k` best; search again without that bound.
                places = eligible((of_all >= least).nonzero()[0])
            of_places = of_all[places]
        keys, found = np.concatenate((keys, part.texts.keys[places])), np.concatenate((found, of_places))
    return best(keys, found, k)


def _eligible(view: TableView, part: TextSegment, without: Rows, places: Places) -> Places:
    """Return those of the places in a segment whose texts may be results."""
    living = view.living(part, places)
    shown: Places = living[~contained(without, part.texts.keys[living])] if without.size else living
    return shown


def scores(view: TableView, weights: QueryWeights, keys: Rows, *, each: bool = False) -> NDArray[np.float64]:
    """Return the score of each key. With `each`, segments that have few of these texts are not scored as a whole."""
    scores = np.zeros(keys.size)
    for part, here, places in view.located(keys) if weights.words.size else ():
        of_all = None if each and _are_few(part, places) else weights.scores_of_all(part)
        scores[here] = weights.scores(part, places) if of_all is None else of_all[places]
    return scores


def best(keys: Rows, scores: NDArray[np.float64], k: int) -> Hits:
    """Return the `k` best texts that share a keyword, and all ties, best first, equal scores in order of key."""
    least = max(kth_best(scores, k), _LEAST_SCORE) if k > 0 else np.inf
    (good,) = (scores >= least).nonzero()
    order = good[np.lexsort((keys[good], -scores[good]))]
    return keys[order], scores[order]

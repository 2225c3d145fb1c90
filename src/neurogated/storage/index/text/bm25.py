"""BM25: scores texts for a query by how often they hold its words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.storage.index.text.segment import ForwardIndex, Impacts, Places, Segment

__all__ = ["IMPACT_STEPS", "SATURATION", "Statistics", "Weights", "rated", "rounded_lengths"]

# The parameters of Lucene and tantivy; Robertson and Zaragoza (2009) give the formula.
_K1 = 1.2
_B = 0.75
SATURATION = _K1 + 1
"""Upper bound of a word's part of a score, divided by the word's weight."""
# Lengths are rounded as in Lucene and tantivy: exact up to 40, then four significant bits of the excess over 24.
_EXACT_LENGTHS = 24
_LENGTH_BITS = 4
IMPACT_STEPS = 255
"""An impact is a byte."""
# How many texts are scored in one batch, so that their words fit the processor's cache.
_AT_ONCE = 4096
# Up to this many (word, text) pairs, scoring all texts is quicker than searching for the best.
_FEW = 2**18


@dataclass(frozen=True, slots=True)
class Statistics:
    """The statistics of all texts that BM25 needs for the words of one query."""

    texts: int
    keywords: int
    """Sum of the lengths of all texts."""
    frequencies: NDArray[np.int64]
    """How many texts hold each word of the query, in the order of the words' numbers."""

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.texts + other.texts, self.keywords + other.keywords, self.frequencies + other.frequencies
        )

    def __sub__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.texts - other.texts, self.keywords - other.keywords, self.frequencies - other.frequencies
        )


class Weights:
    """The words of a query with their weights, without words that no text holds."""

    def __init__(self, words: NDArray[np.int64], known: Statistics) -> None:
        """Compute the weights of `words`, which are ascending and distinct."""
        held = known.frequencies > 0
        frequencies = known.frequencies[held]
        self.words = words[held]
        self.values = np.log1p((known.texts - frequencies + (1 / 2)) / (frequencies + 1 / 2))
        self.mean = known.keywords / max(known.texts, 1)
        # This table maps a word number to its position in the query; a table is quicker than a search. Its last entry
        # stands for all larger numbers.
        self._places = np.zeros(int(self.words[-1]) + 2 if self.words.size else 1, dtype=np.uint16)
        self._places[self.words] = np.arange(1, self.words.size + 1)
        self._of_all: dict[int, NDArray[np.float64] | None] = {}

    def scores_of_all(self, segment: Segment) -> NDArray[np.float64] | None:
        """Return the scores of all texts of a segment; None if that takes too long."""
        if segment.serial not in self._of_all:
            worthwhile = self.words.size * len(segment) <= _FEW
            self._of_all[segment.serial] = self._scores_of_all(segment) if worthwhile else None
        return self._of_all[segment.serial]

    def _scores_of_all(self, segment: Segment) -> NDArray[np.float64]:
        scores = np.zeros(len(segment))
        if not self.words.size:
            return scores
        length_norm = _length_norm(segment.lengths, self.mean)
        parts, divisors = np.empty_like(scores), np.empty_like(scores)
        for (places, times), value in zip(segment.times(self.words), self.values * SATURATION, strict=True):
            if places is None:
                # In place, since allocating the arrays would take as long as the sums.
                parts[:] = times
                np.add(parts, length_norm, out=divisors)
                np.multiply(parts, value, out=parts)
                np.divide(parts, divisors, out=parts)
                np.add(scores, parts, out=scores)
            else:
                scores[places] += value * times / (times + length_norm[places])
        return scores

    def scores(self, texts: ForwardIndex, lengths: NDArray[Any], places: Places) -> NDArray[np.float64]:
        """Return the score of the texts at `places`; `lengths` are the rounded lengths of all texts.

        It adds the words of every text in the order of their numbers, so equal texts have equal scores to the last bit.
        """
        if not self.words.size or not places.size:
            return np.zeros(places.size)
        if places.size <= _AT_ONCE:
            return self._scores(texts, lengths, places)
        chunks = [places[start : start + _AT_ONCE] for start in range(0, places.size, _AT_ONCE)]
        return np.concatenate([self._scores(texts, lengths, chunk) for chunk in chunks])

    def _scores(self, texts: ForwardIndex, lengths: NDArray[Any], places: Places) -> NDArray[np.float64]:
        entries, sizes = texts.entries(places)
        asked = self._places.take(texts.words.take(entries), mode="clip")
        (hits,) = asked.nonzero()
        owners = sizes.cumsum().searchsorted(hits, side="right")
        times = texts.counts_at(entries[hits]).astype(np.float64)
        weights = self.values[asked[hits] - 1]
        parts = weights * SATURATION * times / (times + _length_norm(lengths[places], self.mean)[owners])
        return np.bincount(owners, parts, minlength=places.size).astype(np.float64, copy=False)


def rated(texts: ForwardIndex) -> Impacts:
    """Return the impacts of the words of texts, rounded up to steps of 1 / `IMPACT_STEPS`."""
    sizes = np.diff(texts.ends, prepend=0)
    owners = np.repeat(np.arange(len(texts), dtype=np.int32), sizes)
    counts = texts.all_counts()
    true_lengths = np.bincount(owners, counts, minlength=len(texts)).astype(np.int64)
    mean = max(float(true_lengths.mean()), 1) if len(texts) else 1.0
    lengths = rounded_lengths(true_lengths)
    length_norm = _length_norm(lengths, mean).astype(np.float32)[owners]
    times = counts.astype(np.float32)
    # The slack covers the rounding errors of single precision.
    values = np.minimum(np.ceil(IMPACT_STEPS * (times / (times + length_norm)) * (1 + _slack())), IMPACT_STEPS)
    # A tag adds nothing to a score, but 0 means that the text does not hold the word.
    return Impacts(lengths, np.maximum(values, 1).astype(np.uint8), mean)


def rounded_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the lengths of texts, rounded as in tantivy."""
    excess = np.maximum(lengths - _EXACT_LENGTHS, 0)
    # `frexp` returns the number of bits of an integer as its exponent, and 0 for 0.
    dropped = np.maximum(np.frexp(excess.astype(np.float64))[1] - _LENGTH_BITS, 0)
    return np.where(lengths > _EXACT_LENGTHS, (excess >> dropped << dropped) + _EXACT_LENGTHS, lengths).astype(np.int32)


def _length_norm(lengths: NDArray[Any], mean: float) -> NDArray[np.float64]:
    length_norm: NDArray[np.float64] = _K1 * (1 - _B + _B * lengths / mean)
    return length_norm


def _slack() -> float:
    return (2 + 2) * float(np.finfo(np.float32).eps)

"""BM25: how well texts answer a query, from how often they hold its words."""

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
"""What a word counts for, beside its weight, in a text that holds nothing else, infinitely often."""
# Lengths are rounded as Lucene and tantivy keep them in a byte: exact up to 40, then to four significant bits above 24.
_EXACT_LENGTHS = 24
_LENGTH_BITS = 4
IMPACT_STEPS = 255
"""Impacts are kept in a byte."""
# How many texts are scored at once; their words fit the cache of a processor.
_AT_ONCE = 4096
# Up to so many pairs of a word and a text it is quicker to score all texts than to find those worth scoring.
_FEW = 2**18


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs to know of all texts to weigh the words of one query."""

    texts: int
    keywords: int
    """Sum of the lengths of all texts."""
    frequencies: NDArray[np.int64]
    """How many texts hold each word of the query, in the order of its numbers."""

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.texts + other.texts, self.keywords + other.keywords, self.frequencies + other.frequencies
        )

    def __sub__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.texts - other.texts, self.keywords - other.keywords, self.frequencies - other.frequencies
        )


class Weights:
    """The words of a query and what each is worth; words that no text holds are worth nothing and left out."""

    def __init__(self, words: NDArray[np.int64], known: Statistics) -> None:
        """Weigh `words`, ascending, each once."""
        held = known.frequencies > 0
        frequencies = known.frequencies[held]
        self.words = words[held]
        self.values = np.log1p((known.texts - frequencies + (1 / 2)) / (frequencies + 1 / 2))
        self.mean = known.keywords / max(known.texts, 1)
        # A table of all words up to the query's last tells quicker than a search does which words of a text count; the
        # place after them stands for all words beyond.
        self._places = np.zeros(int(self.words[-1]) + 2 if self.words.size else 1, dtype=np.uint16)
        self._places[self.words] = np.arange(1, self.words.size + 1)
        self._of_all: dict[int, NDArray[np.float64] | None] = {}

    def scores_of_all(self, segment: Segment) -> NDArray[np.float64] | None:
        """Return what `scores` gives for every text of a segment; None where that takes too long."""
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
                # In place, since room for so many numbers would take as long as the sums.
                parts[:] = times
                np.add(parts, length_norm, out=divisors)
                np.multiply(parts, value, out=parts)
                np.divide(parts, divisors, out=parts)
                np.add(scores, parts, out=scores)
            else:
                scores[places] += value * times / (times + length_norm[places])
        return scores

    def scores(self, texts: ForwardIndex, lengths: NDArray[Any], places: Places) -> NDArray[np.float64]:
        """Return the score of the texts at `places`; all have been rounded to `lengths`.

        Every text's words are added in the order of their numbers, so that equal texts score equal to the last bit.
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
    """Return what words count for in their texts, rounded up, in steps of 1 / `IMPACT_STEPS`."""
    sizes = np.diff(texts.ends, prepend=0)
    owners = np.repeat(np.arange(len(texts), dtype=np.int32), sizes)
    counts = texts.all_counts()
    true_lengths = np.bincount(owners, counts, minlength=len(texts)).astype(np.int64)
    mean = max(float(true_lengths.mean()), 1) if len(texts) else 1.0
    lengths = rounded_lengths(true_lengths)
    length_norm = _length_norm(lengths, mean).astype(np.float32)[owners]
    times = counts.astype(np.float32)
    # One step is added for what single precision rounds off.
    values = np.minimum(np.ceil(IMPACT_STEPS * (times / (times + length_norm)) * (1 + _slack())), IMPACT_STEPS)
    # A tag counts for nothing, but 0 stands for a word that a text does not hold.
    return Impacts(lengths, np.maximum(values, 1).astype(np.uint8), mean)


def rounded_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return lengths of texts as tantivy keeps them."""
    excess = np.maximum(lengths - _EXACT_LENGTHS, 0)
    # The number of bits of 0 is 0, as it is of other numbers by their exponent.
    dropped = np.maximum(np.frexp(excess.astype(np.float64))[1] - _LENGTH_BITS, 0)
    return np.where(lengths > _EXACT_LENGTHS, (excess >> dropped << dropped) + _EXACT_LENGTHS, lengths).astype(np.int32)


def _length_norm(lengths: NDArray[Any], mean: float) -> NDArray[np.float64]:
    length_norm: NDArray[np.float64] = _K1 * (1 - _B + _B * lengths / mean)
    return length_norm


def _slack() -> float:
    return (2 + 2) * float(np.finfo(np.float32).eps)

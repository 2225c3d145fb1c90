"""Scores of texts for the words of one query."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.text.bm25 import SATURATION, Statistics, length_norm
from neurogated.storage.index.text.segment import Places, Segment, spread

# How many texts are scored in one batch, so that their words fit the processor's cache.
_AT_ONCE = 4096
# Up to this many (word, text) pairs, scoring all texts is quicker than searching for the best.
_FEW = 2**18


class Weights:
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

    def scores_of_all(self, segment: Segment) -> NDArray[np.float64] | None:
        """Return the scores of all texts of a segment; None if that takes too long."""
        if segment.serial not in self._of_all:
            worthwhile = self.words.size * len(segment) <= _FEW
            self._of_all[segment.serial] = self._scores_of_all(segment) if worthwhile else None
        return self._of_all[segment.serial]

    def scores(self, segment: Segment, places: Places) -> NDArray[np.float64]:
        """Return the scores of the texts at `places` of a segment."""
        starts = range(0, max(places.size, 1), _AT_ONCE)
        return np.concatenate([self._scores(segment, places[start : start + _AT_ONCE]) for start in starts])

    def _scores_of_all(self, segment: Segment) -> NDArray[np.float64]:
        known, at = segment.found(self.words)
        starts, ends = segment.bounds(at)
        entries = spread(starts, ends - starts)
        owners, norms = segment.places[entries], length_norm(segment.lengths, self.mean)
        parts = _part(self.values[known].repeat(ends - starts), segment.counts[entries], norms[owners])
        return np.bincount(owners, parts, minlength=len(segment)).astype(np.float64, copy=False)

    def _scores(self, segment: Segment, places: Places) -> NDArray[np.float64]:
        entries, sizes = segment.texts.entries(places)
        asked = self._places.take(segment.texts.words.take(entries), mode="clip")
        (hits,) = asked.nonzero()
        owners = sizes.cumsum().searchsorted(hits, side="right")
        norms = length_norm(segment.lengths[places], self.mean)
        parts = _part(self.values[asked[hits] - 1], segment.texts.counts[entries[hits]], norms[owners])
        return np.bincount(owners, parts, minlength=places.size).astype(np.float64, copy=False)


def _part(weights: NDArray[np.float64], counts: NDArray[Any], norms: NDArray[np.float64]) -> NDArray[np.float64]:
    part: NDArray[np.float64] = weights * counts / (counts + norms)
    return part

"""Immutable arrays of the words of texts: a forward index by text and posting lists by word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from os import urandom
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import begins
from neurogated.core.view import Rows
from neurogated.storage.files import load_arrays, save_arrays

# The parameters of Lucene and tantivy; Robertson and Zaragoza (2009) give the formula.
_K1 = 1.2
_B = 0.75
SATURATION = _K1 + 1
"""Upper bound of a word's part of a score, divided by the word's weight."""
# Lengths are rounded as in Lucene and tantivy: exact up to 40, then four significant bits of the excess over 24.
_EXACT_LENGTHS = 24
_LENGTH_BITS = 4
# A word that more than one in this many texts hold also gets a row of counts in memory, where a lookup is quickest.
_COMMON_SHARE = 8
_HALF_BITS, _WORD_BITS = 16, 32
# How many words of texts are sorted quickly, or get their impacts, in one batch.
_AT_ONCE = 1 << 20
_LENGTHS, _MARKS = -1, -2  # the keys of the lengths and the marks among the rows in memory

Places = NDArray[np.int32] | NDArray[np.int64]
"""Positions of texts."""


@dataclass(frozen=True, slots=True)
class ForwardIndex:
    """The words of n texts, text by text."""

    keys: NDArray[np.int64]
    """(n,) ascending and distinct."""
    ends: NDArray[np.int64]
    """(n,) the end of each text's words."""
    words: NDArray[np.int32]
    """Word numbers, ascending and distinct within each text."""
    counts: NDArray[Any]
    """The count of each of `words` in its text."""

    def entries(self, places: Places) -> tuple[Rows, Rows]:
        """Return the positions in `words` of the texts at `places`, text by text, and the number of words of each."""
        ends, starts = self.ends[places], self.ends[places - 1]
        starts[places == 0] = 0
        sizes = ends - starts
        return spread(starts, sizes), sizes

    def holders(self) -> NDArray[np.int32]:
        """Return the place of the text that has each word."""
        return np.arange(self.keys.size, dtype=np.int32).repeat(_steps(self.ends))

    def lengths(self) -> NDArray[np.int64]:
        """Return the sum of the counts of each text."""
        steps, lengths = _steps(self.ends), np.zeros(self.keys.size, dtype=np.int64)
        (filled,) = steps.nonzero()
        if filled.size:
            lengths[filled] = np.add.reduceat(self.counts, (self.ends - steps)[filled], dtype=np.int64)
        return lengths

    def take(self, places: Places) -> ForwardIndex:
        """Return the texts at `places`, in that order."""
        entries, sizes = self.entries(places)
        return ForwardIndex(self.keys[places], sizes.cumsum(), self.words[entries], self.counts[entries])

    @classmethod
    def joined(cls, parts: Sequence[ForwardIndex]) -> ForwardIndex:
        """Return the texts of all parts, whose keys are disjoint, in the order of their keys."""
        keys = np.concatenate([part.keys for part in parts])
        ends = np.concatenate([_steps(part.ends) for part in parts]).cumsum()
        words = np.concatenate([part.words for part in parts])
        joined = cls(keys, ends, words, np.concatenate([part.counts for part in parts]))
        return joined if np.logical_and.reduce(keys[1:] > keys[:-1]) else joined.take(keys.argsort())


@dataclass(frozen=True, slots=True)
class TextSegment:
    """Texts with the posting lists of their words."""

    name: str
    """Globally unique."""
    serial: int
    """Unique in its table."""
    mean: float
    """The mean length for which the impacts were computed."""
    lengths: NDArray[np.int32]
    """(n,) rounded lengths of the texts."""
    held: NDArray[np.int32]
    """The words of the texts, ascending."""
    ends: NDArray[np.int64]
    """The end of each posting list of `held` in `places`."""
    places: NDArray[np.int32]
    """The posting lists, word by word: places of the texts that hold the word, ascending."""
    counts: NDArray[Any]
    """The count of the word at each of `places`."""
    max_impacts: NDArray[np.float32]
    """The highest part of each of `held` of the score of a text, without the word's weight."""
    texts: ForwardIndex
    _rows: dict[int, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return self.lengths.size

    @property
    def true_lengths(self) -> NDArray[np.int64]:
        """(n,) lengths of the texts."""
        if _LENGTHS not in self._rows:
            self._rows[_LENGTHS] = self.texts.lengths()
        lengths: NDArray[np.int64] = self._rows[_LENGTHS]
        return lengths

    @classmethod
    def of(cls, texts: ForwardIndex, serial: int) -> TextSegment:
        """Build a segment of these texts."""
        true_lengths = texts.lengths()
        lengths, mean = rounded_lengths(true_lengths), max(np.add.reduce(true_lengths) / max(true_lengths.size, 1), 1.0)
        # A merge of all texts takes most of the memory of an import, so nothing is kept longer than it is needed.
        order = _by_word(texts.words)
        (starts,) = begins(texts.words[order]).nonzero()
        held, places, counts = texts.words[order[starts]], texts.holders()[order], texts.counts[order]
        del order
        impacts, norm = counts.astype(np.float32), length_norm(lengths, mean).astype(np.float32)
        for begin in range(0, impacts.size, _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            impacts[part] /= impacts[part] + norm[places[part]]
        return cls(
            name=urandom(16).hex(),
            serial=serial,
            mean=float(mean),
            lengths=lengths,
            held=held,
            ends=np.concatenate((starts[1:], [places.size])) if places.size else starts,
            places=places,
            counts=counts,
            max_impacts=np.maximum.reduceat(impacts, starts) if places.size else impacts,
            texts=texts,
        )

    @classmethod
    def load(cls, folder: Path, name: str, serial: int, mean: float) -> TextSegment:
        """Memory-map a segment that `save` wrote; raises OSError or ValueError."""
        texts = ForwardIndex(**load_arrays(folder, f"{name}.texts", ForwardIndex))
        return cls(name=name, serial=serial, mean=mean, texts=texts, **load_arrays(folder, name, cls))

    def save(self, folder: Path) -> None:
        """Write the arrays to files named after the segment; raises OSError."""
        save_arrays(folder, self.name, self)
        save_arrays(folder, f"{self.name}.texts", self.texts)

    def found(self, words: Rows) -> tuple[Rows, Rows]:
        """Return the positions in `words` of those that a text holds, and their positions in `held`."""
        # int32, since numpy would otherwise convert the whole of `held` to the wider type.
        wanted = words.astype(np.int32)
        at = self.held.searchsorted(wanted)
        known = (self.held.take(at, mode="clip") == wanted).nonzero()[0] if self.held.size else at[:0]
        return known, at[known]

    def bounds(self, at: Rows) -> tuple[Rows, Rows]:
        """Return the starts and the ends in `places` of the posting lists at some positions in `held`."""
        return np.where(at > 0, self.ends[at - 1], 0), self.ends[at]

    def postings(self, word: int) -> NDArray[np.int32]:
        """Return the places of the texts that hold a word, ascending."""
        return next((places for _, places in self.postings_of([word])), self.places[:0])

    def postings_of(self, words: Sequence[int]) -> Iterator[tuple[int, NDArray[np.int32]]]:
        """Yield the position in `words` of each word that a text holds, and the places of the texts, ascending."""
        known, at = self.found(np.array(words))
        starts, ends = self.bounds(at)
        for position, start, end in zip(known.tolist(), starts.tolist(), ends.tolist(), strict=True):
            yield position, self.places[start:end]

    def counts_at(self, at: int, places: Places) -> NDArray[Any]:
        """Return how often the texts at `places` hold the word at a position in `held`."""
        postings = slice(int(self.ends[at - 1]) if at else 0, int(self.ends[at]))
        held, counts = self.places[postings], self.counts[postings]
        if held.size * _COMMON_SHARE > len(self):
            row = self._rows.get(at)
            if row is None:
                row = np.zeros(len(self), dtype=counts.dtype)
                row[held] = counts
                self._rows[at] = row
            return row[places]
        which = held.searchsorted(places.astype(np.int32))
        return np.where(held.take(which, mode="clip") == places, counts.take(which, mode="clip"), 0)

    def marks(self, words: Sequence[int]) -> NDArray[np.uint8]:
        """Return for each text the bits of those of up to eight words that it holds; the first word is the lowest bit.

        The words of the last call stay in memory.
        """
        known, marks = self._rows.get(_MARKS, (None, None))
        if known != words:
            marks = np.zeros(len(self), dtype=np.uint8)
            for position, places in self.postings_of(words):
                marks[places] |= np.uint8(1 << position)
            self._rows[_MARKS] = words, marks
        found: NDArray[np.uint8] = marks
        return found

    def pairs(self, words: Rows) -> tuple[Rows, Rows]:
        """Return pairs of a position in `words` and the place of a text that holds that word, word by word."""
        known, at = self.found(words)
        starts, ends = self.bounds(at)
        return known.repeat(ends - starts), self.places[spread(starts, ends - starts)].astype(np.int64)


def _steps(ends: NDArray[np.int64]) -> NDArray[np.int64]:
    steps = ends.copy()
    steps[1:] -= ends[:-1]
    return steps


def _by_word(words: NDArray[np.int32]) -> Rows:
    """Return the stable order that sorts `words`: by numpy's radix sort of each 16-bit half, or of many, in place."""
    if words.size > _AT_ONCE:
        # Numbers of words and places in one take half the memory, but a third longer.
        keys = words.astype(np.int64) << _WORD_BITS
        keys |= np.arange(keys.size, dtype=np.int32)
        keys.sort()
        return keys & ((1 << _WORD_BITS) - 1)
    order = words.astype(np.uint16).argsort(kind="stable")
    high = words >> _HALF_BITS
    return order[high.astype(np.uint16)[order].argsort(kind="stable")] if np.maximum.reduce(high, initial=0) else order


def spread(starts: Rows, sizes: Rows) -> Rows:
    """Return the concatenated ranges that begin at `starts` and have the lengths `sizes`."""
    ends = sizes.cumsum()
    numbers: Rows = (starts - ends + sizes).repeat(sizes)
    numbers += np.arange(numbers.size)
    return numbers


def rounded_lengths(lengths: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return the lengths of texts, rounded as in tantivy."""
    excess = np.maximum(lengths - _EXACT_LENGTHS, 0)
    # `frexp` returns the number of bits of an integer as its exponent, and 0 for 0.
    dropped = np.maximum(np.frexp(excess.astype(np.float64))[1] - _LENGTH_BITS, 0)
    return np.where(lengths > _EXACT_LENGTHS, (excess >> dropped << dropped) + _EXACT_LENGTHS, lengths).astype(np.int32)


def length_norm(lengths: NDArray[Any], mean: float) -> NDArray[np.float64]:
    """Return what texts of these lengths add to the count of a word in the divisor of its part of a score."""
    norm: NDArray[np.float64] = _K1 * (1 - _B + _B * lengths / mean)
    return norm

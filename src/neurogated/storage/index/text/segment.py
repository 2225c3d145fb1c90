"""Immutable arrays of the words of texts: a forward index by text and posting lists by word."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.files.array_files import load_arrays, save_arrays

__all__ = ["ForwardIndex", "Impacts", "Places", "Rater", "Segment", "looked_up", "spread"]

# A word that more than one in this many texts hold becomes a dense row: about as large as its list, and quicker to add.
_DENSE_SHARE = 8
_HALF_BITS = 16

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
    """The count of each of `words` in its text; a single number if all counts are equal."""

    def __len__(self) -> int:
        return self.keys.size

    def entries(self, places: Places) -> tuple[Rows, Rows]:
        """Return the positions in `words` of the texts at `places`, text by text, and the number of words of each."""
        ends, starts = self.ends[places], self.ends[places - 1]
        starts[places == 0] = 0
        sizes = ends - starts
        return spread(starts, sizes), sizes

    def all_counts(self) -> NDArray[Any]:
        """Return the counts of all `words`."""
        return self.counts if self.counts.size > 1 else np.broadcast_to(self.counts[:1], self.words.size)

    def counts_at(self, entries: Rows) -> NDArray[Any]:
        """Return the counts at the positions `entries` of `words`."""
        return self.counts[entries] if self.counts.size > 1 else np.broadcast_to(self.counts[:1], entries.size)

    def take(self, places: Places) -> ForwardIndex:
        """Return the texts at `places`, in that order."""
        entries, sizes = self.entries(places)
        counts = self.counts[entries] if self.counts.size > 1 else self.counts
        return ForwardIndex(self.keys[places], np.cumsum(sizes), self.words[entries], counts)

    @classmethod
    def packed(
        cls, keys: NDArray[np.int64], ends: NDArray[np.int64], words: NDArray[np.int32], counts: NDArray[Any]
    ) -> ForwardIndex:
        """Return texts with their counts in the smallest dtype that holds them."""
        if not counts.size:
            return cls(keys, ends, words, np.ones(1, dtype=np.uint8))
        most = counts.max()
        alike = counts.min() == most
        return cls(keys, ends, words, (counts[:1] if alike else counts).astype(np.min_scalar_type(most)))

    @classmethod
    def joined(cls, parts: Sequence[ForwardIndex]) -> ForwardIndex:
        """Return the texts of all parts, whose keys are disjoint, in the order of their keys."""
        keys = np.concatenate([part.keys for part in parts])
        ends = np.cumsum(np.concatenate([np.diff(part.ends, prepend=0) for part in parts]))
        words = np.concatenate([part.words for part in parts])
        joined = cls.packed(keys, ends, words, np.concatenate([part.all_counts() for part in parts]))
        return joined if (keys[1:] > keys[:-1]).all() else joined.take(np.argsort(keys))


class Impacts(NamedTuple):
    """The impact of each word on the score of its text, without the word's weight."""

    lengths: NDArray[Any]
    """(n,) rounded lengths of the texts."""
    values: NDArray[np.uint8]
    """One for each word of each text, above 0."""
    mean: float
    """The mean length for which the impacts were computed."""


Rater = Callable[[ForwardIndex], Impacts]


@dataclass(frozen=True, slots=True)
class Segment:
    """Texts with the posting lists of their words."""

    name: str
    """Globally unique."""
    serial: int
    """Unique in its table."""
    mean: float
    """The mean length for which the impacts were computed."""
    lengths: NDArray[Any]
    """(n,) rounded lengths of the texts."""
    held: NDArray[np.int32]
    """The words of the texts, ascending, except the common ones."""
    ends: NDArray[np.int64]
    """The end of each posting list of `held` in `places`."""
    places: NDArray[np.int32]
    """The posting lists, word by word: places of the texts that hold the word, ascending."""
    impacts: NDArray[np.uint8]
    """The impact of the word at each of `places`, 1 for a tag."""
    place_times: NDArray[Any]
    """The count of the word at each of `places`; a single number if all counts are equal."""
    max_impacts: NDArray[np.uint8]
    """The highest impact of each of `held`."""
    common: NDArray[np.int32]
    """The words that many texts hold, ascending."""
    rows: NDArray[np.uint8]
    """The impact of each of `common` on each text, 0 for texts without it."""
    row_times: NDArray[Any]
    """The count of each of `common` in each text."""
    row_max_impacts: NDArray[np.uint8]
    """The highest impact of each of `common`."""
    texts: ForwardIndex

    def __len__(self) -> int:
        return len(self.texts)

    @classmethod
    def of(cls, texts: ForwardIndex, rate: Rater, name: str, serial: int) -> Segment:
        """Build a segment of these texts."""
        lengths, values, mean = rate(texts)
        width = int(texts.words.max(initial=-1)) + 1
        entries = _by_word(texts.words)
        holders = np.repeat(np.arange(len(texts), dtype=np.int32), np.diff(texts.ends, prepend=0))[entries]
        sizes = np.bincount(texts.words, minlength=width)
        word_ends = np.cumsum(sizes)
        is_common = sizes > len(texts) / _DENSE_SHARE
        common = np.flatnonzero(is_common)
        rows = np.zeros((common.size, len(texts)), dtype=np.uint8)
        row_times = np.zeros_like(rows, dtype=texts.counts.dtype)
        for row, word in enumerate(common.tolist()):
            of_word = slice(word_ends[word] - sizes[word], word_ends[word])
            rows[row, holders[of_word]] = values[entries[of_word]]
            row_times[row, holders[of_word]] = texts.counts_at(entries[of_word])
        held = np.flatnonzero(~is_common & (sizes > 0))
        kept = np.repeat(~is_common, sizes)
        entries, holders = entries[kept], holders[kept]
        impacts, ends = values[entries], np.cumsum(sizes[held], dtype=np.int64)
        max_impacts = np.maximum.reduceat(impacts, ends - sizes[held]) if held.size else impacts
        return cls(
            name=name,
            serial=serial,
            mean=mean,
            lengths=lengths,
            held=held.astype(np.int32),
            ends=ends,
            places=holders,
            impacts=impacts,
            place_times=texts.counts[entries] if texts.counts.size > 1 else texts.counts,
            max_impacts=max_impacts,
            common=common.astype(np.int32),
            rows=rows,
            row_times=row_times,
            row_max_impacts=rows.max(axis=1, initial=0),
            texts=texts,
        )

    @classmethod
    def load(cls, folder: Path, name: str, serial: int, mean: float) -> Segment:
        """Memory-map a segment that `save` wrote; raises OSError or ValueError."""
        texts = ForwardIndex(**load_arrays(folder, f"{name}.texts", ForwardIndex))
        return cls(name=name, serial=serial, mean=mean, texts=texts, **load_arrays(folder, name, cls))

    def save(self, folder: Path) -> None:
        """Write the arrays to files named after the segment; raises OSError."""
        save_arrays(folder, self.name, self)
        save_arrays(folder, f"{self.name}.texts", self.texts)

    def numbered(self, serial: int) -> Segment:
        """Return the same segment with another serial number."""
        return replace(self, serial=serial)

    def column(self, word: int) -> NDArray[np.uint8] | None:
        """Return the impact of a common word on each text; None for other words."""
        # An int32 key, since numpy would otherwise convert the whole array to the wider type.
        at = int(self.common.searchsorted(np.int32(word)))
        return self.rows[at] if at < self.common.size and self.common[at] == word else None

    def postings(self, word: int) -> slice:
        """Return the slice of `places` that is the posting list of a word that is not common."""
        at = int(self.held.searchsorted(np.int32(word)))
        if at == self.held.size or self.held[at] != word:
            return slice(0, 0)
        return slice(int(self.ends[at - 1]) if at else 0, int(self.ends[at]))

    def times(self, words: NDArray[np.int64]) -> Iterator[tuple[Places | None, NDArray[Any]]]:
        """Yield for each of `words` the places of the texts that hold it, or None for all texts, and its counts."""
        numbers = words.astype(np.int32)
        ends, sole = self.ends, self.place_times.size <= 1
        (rows, is_common), (columns, is_held) = (looked_up(known, numbers) for known in (self.common, self.held))
        for row, column, common, held in zip(*(x.tolist() for x in (rows, columns, is_common, is_held)), strict=True):
            if common:
                yield None, self.row_times[row]
            elif held:
                postings = slice(int(ends[column - 1]) if column else 0, int(ends[column]))
                yield self.places[postings], self.place_times if sole else self.place_times[postings]
            else:
                yield self.places[:0], self.place_times[:0]

    def max_impacts_of(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the highest impact of each of `words`; 0 for words that no text holds."""
        max_impacts = np.zeros(words.size, dtype=np.int64)
        for known, highest in ((self.common, self.row_max_impacts), (self.held, self.max_impacts)):
            at, found = looked_up(known, words.astype(np.int32))
            max_impacts[found] = highest[at[found]]
        return max_impacts

    def having(self, word: int, places: Places) -> NDArray[np.bool_]:
        """Return whether the texts at `places` hold a word."""
        row = self.column(word)
        if row is not None:
            return row[places] > 0
        found = self.places[self.postings(word)]
        at = found.searchsorted(places.astype(np.int32))
        return (found.take(at, mode="clip") == places) if found.size else np.zeros(places.size, dtype=np.bool_)

    def holding(self, words: Sequence[int], begin: int = 0, end: int | None = None) -> Rows:
        """Return the places in [`begin`, `end`) whose texts hold all of `words`, ascending.

        `words` must not be empty.
        """
        rows = [self.column(word) for word in words]
        columns = [row[begin:end] for row in rows if row is not None]
        places = [self.places[self.postings(word)] for word, row in zip(words, rows, strict=True) if row is None]
        if not places:
            # Scanning flags is several times as fast as intersecting places.
            return begin + np.flatnonzero(np.minimum.reduce(columns) > 0)
        fewest, *others = sorted(places, key=len)
        if begin or end is not None:
            first, last = fewest.searchsorted(np.array([begin, len(self) if end is None else end], dtype=np.int32))
            fewest = fewest[first:last]
        for held in others:
            fewest = np.intersect1d(fewest, held, assume_unique=True)
        for column in columns:
            fewest = fewest[column[fewest - begin] > 0]
        return fewest.astype(np.int64)

    def at_most(self, words: Sequence[int]) -> int:
        """Return a cheap upper bound on the number of texts that hold all of `words`."""
        found = (self.postings(word) for word in words if self.column(word) is None)
        return min((held.stop - held.start for held in found), default=len(self))


def _by_word(words: NDArray[np.int32]) -> Rows:
    """Return the stable order that sorts `words`, by numpy's radix sort of each 16-bit half."""
    order = np.argsort(words.astype(np.uint16), kind="stable")
    high = words >> _HALF_BITS
    return order[np.argsort(high.astype(np.uint16)[order], kind="stable")] if high.any() else order


def looked_up(known: NDArray[np.int32], numbers: NDArray[np.int32]) -> tuple[Rows, NDArray[np.bool_]]:
    """Return the insertion position of each of `numbers` in `known`, which is ascending, and whether it is there."""
    places: Rows = known.searchsorted(numbers)
    if not known.size:
        return places, np.zeros(numbers.size, dtype=np.bool_)
    return places, known.take(places, mode="clip") == numbers


def spread(starts: Rows, sizes: Rows) -> Rows:
    """Return the concatenated ranges that begin at `starts` and have the lengths `sizes`."""
    ends = sizes.cumsum()
    numbers: Rows = (starts - ends + sizes).repeat(sizes)
    numbers += np.arange(numbers.size)
    return numbers

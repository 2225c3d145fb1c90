"""How often texts hold which keywords, and BM25 from these counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows

__all__ = ["NO_SLOT", "KeywordTable", "Statistics", "inverse_frequency"]

NO_SLOT = -1
# The parameters tantivy has built in; Robertson and Zaragoza (2009) give the formula.
_K1 = 1.2
_B = 0.75
# Lengths are kept in a byte by tantivy, as by Lucene: exact up to 40, then to four significant bits above 24.
_EXACT_LENGTHS = 24
_LENGTH_BITS = 4


@dataclass(frozen=True, slots=True)
class Statistics:
    """What BM25 needs to know of all texts to weigh the words of one query."""

    texts: int
    keywords: int
    """Sum of the lengths of all texts."""
    frequencies: NDArray[np.int64]
    """How many texts hold each word of the query, in the order of its numbers."""

    @property
    def mean_length(self) -> float:
        """Mean number of keywords of a text."""
        return self.keywords / max(self.texts, 1)

    def __add__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.texts + other.texts, self.keywords + other.keywords, self.frequencies + other.frequencies
        )

    def __sub__(self, other: Statistics) -> Statistics:
        return Statistics(
            self.texts - other.texts, self.keywords - other.keywords, self.frequencies - other.frequencies
        )


class KeywordTable:
    """How often each text holds which keyword, a text a slot, in arrays; slots are given in the order of arrival.

    Replaced and removed texts leave dead slots behind until the table is copied.
    """

    def __init__(self, words: dict[str, int] | None = None) -> None:
        """Begin an empty table; with `words`, the numbers of another's, which are then shared."""
        self.size = 0
        self.texts = 0
        self.words: dict[str, int] = {} if words is None else words
        self.entry_words = _Column(np.int32)
        self.entry_counts = _Column(np.int32)
        self._keywords = 0
        self._frequencies = _Column(np.int64)
        self._slots = _Column(np.int64)
        self._keys = _Column(np.int64)
        self.ends = _Column(np.int64)
        self.lengths = _Column(np.int64)
        self._rounded = _Column(np.float64)
        self._wanted = np.zeros(0, dtype=np.bool_)

    @property
    def mean_length(self) -> float:
        """Mean number of keywords of a text."""
        return self._keywords / max(self.texts, 1)

    def put(self, key: int, counts: Counter[str]) -> None:
        """Give the text of `key` a new slot."""
        words = self.words
        self._add(
            key,
            np.fromiter((words.setdefault(word, len(words)) for word in counts), np.int32, len(counts)),
            np.fromiter(counts.values(), np.int32, len(counts)),
        )

    def remove(self, key: int) -> None:
        """Let the slot of `key` die, if it has one."""
        slot = int(self.slots_of(np.array([key]))[0])
        if slot == NO_SLOT:
            return
        self._slots.data[key] = NO_SLOT
        self._keys.data[slot] = NO_SLOT
        self._frequencies.data[self.entries(slot)[0]] -= 1
        self._keywords -= int(self.lengths.data[slot])
        self.texts -= 1

    def compacted(self) -> KeywordTable:
        """Return a copy without dead slots; words keep their numbers."""
        copy = KeywordTable(self.words)
        for slot in self.alive(np.arange(self.size)).tolist():
            copy._add(int(self._keys.data[slot]), *self.entries(slot))
        return copy

    def entries(self, slot: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the words of a slot and how often it holds each."""
        entries = slice(self._start(slot), int(self.ends.data[slot]))
        return self.entry_words.data[entries], self.entry_counts.data[entries]

    def keywords_of(self, key: int) -> dict[str, int]:
        """Return the keywords of the text of `key` and how often it holds each, none where there is no text."""
        (slot,) = self.slots_of(np.array([key])).tolist()
        if slot == NO_SLOT:
            return {}
        words, counts = self.entries(slot)
        held = dict(zip(words.tolist(), counts.tolist(), strict=True))
        return {word: held[number] for word, number in self.words.items() if number in held}

    def known(self, keywords: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of those keywords that some text holds, each once, in ascending order."""
        words = np.array(sorted({self.words[k] for k in keywords if k in self.words}), dtype=np.int64)
        return words[self.frequencies_of(words) > 0]

    def frequencies_of(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many texts hold each word, 0 for a number that is none."""
        return self._frequencies.get(words, 0)

    def slots_of(self, keys: Rows) -> Rows:
        """Return the slot of each key's text, `NO_SLOT` where there is none."""
        return self._slots.get(keys, NO_SLOT)

    def keys_of(self, slots: Rows) -> Rows:
        """Return the keys of slots that are alive."""
        keys: Rows = self._keys.data[slots]
        return keys

    def alive(self, slots: Rows) -> Rows:
        """Return those slots whose texts have been neither replaced nor removed."""
        living: Rows = slots[self._keys.data[slots] != NO_SLOT]
        return living

    def statistics(self, words: NDArray[np.int64], slots: Rows | None = None) -> Statistics:
        """Return what there is to know of `words`, ascending, in all texts, or in those at `slots` alone."""
        if slots is None:
            return Statistics(self.texts, self._keywords, self.frequencies_of(words))
        held = self._held(words, slots)[0]
        frequencies = np.bincount(np.searchsorted(words, held), minlength=words.size)
        return Statistics(slots.size, int(self.lengths.data[slots].sum()), frequencies)

    def scores(
        self, words: NDArray[np.int64], slots: Rows, statistics: Statistics | None = None
    ) -> NDArray[np.float64]:
        """Return BM25 of each slot for `words`, ascending numbers of words that some text holds.

        Every slot's terms are added in the same order, so that equal texts score equal to the last bit.

        Args:
            words: the words of a query.
            slots: slots that are alive.
            statistics: of all texts that count; of this table's when left out.
        """
        scores = np.zeros(slots.size)
        if not slots.size or not words.size:
            return scores
        known = self.statistics(words) if statistics is None else statistics
        held, owners, times = self._held(words, slots)
        weights = inverse_frequency(known.texts, known.frequencies[np.searchsorted(words, held)])
        damping = _K1 * (1 - _B + _B * self._rounded.data[slots[owners]] / known.mean_length)
        np.add.at(scores, owners, weights * (_K1 + 1) * times / (times + damping))
        return scores

    def _held(self, words: NDArray[np.int64], slots: Rows) -> tuple[NDArray[np.int32], Rows, NDArray[np.float64]]:
        """Return which of `words` the slots hold: the word, the slot's position and how often, ordered by word."""
        if self._wanted.size < len(self.words):
            self._wanted = np.zeros(2 * len(self.words), dtype=np.bool_)
        starts = np.where(slots > 0, self.ends.data[slots - 1], 0)
        counts = self.ends.data[slots] - starts
        firsts = np.cumsum(counts) - counts
        entries = np.repeat(starts - firsts, counts) + np.arange(int(counts.sum()))
        held = self.entry_words.data[entries]
        # A flag a word, set for the moment, tells quicker than a search does which entries count.
        self._wanted[words] = True
        hits = np.flatnonzero(self._wanted[held])
        self._wanted[words] = False
        hits = hits[np.argsort(held[hits], kind="stable")]
        # Slots without keywords begin where their successor begins; the last of those that begin there is the owner.
        owners = np.searchsorted(firsts, hits, side="right") - 1
        return held[hits], owners, self.entry_counts.data[entries[hits]].astype(np.float64)

    def _start(self, slot: int) -> int:
        return int(self.ends.data[slot - 1]) if slot else 0

    def _add(self, key: int, words: NDArray[np.int32], counts: NDArray[np.int32]) -> None:
        self.remove(key)
        length = int(counts.sum())
        self.entry_words.append(words)
        self.entry_counts.append(counts)
        self.ends.append([self.entry_words.size])
        self.lengths.append([length])
        self._rounded.append([_rounded_length(length)])
        self._keys.append([key])
        self._slots.reserve(key + 1, NO_SLOT)
        self._slots.data[key] = self.size
        self._frequencies.reserve(len(self.words), 0)
        self._frequencies.data[words] += 1
        self._keywords += length
        self.texts += 1
        self.size += 1


class _Column:
    """An array that grows at its end."""

    def __init__(self, dtype: type[Any]) -> None:
        self.data: NDArray[Any] = np.empty(0, dtype=dtype)
        self.size = 0

    def append(self, values: Sequence[Any] | NDArray[Any]) -> None:
        """Add values at the end."""
        start = self.size
        self.reserve(start + len(values), 0)
        self.data[start : self.size] = values

    def reserve(self, size: int, filling: int) -> None:
        """Make the column at least `size` long."""
        if size > self.data.size:
            grown = np.full(max(size, 2 * self.data.size), filling, dtype=self.data.dtype)
            grown[: self.size] = self.data[: self.size]
            self.data = grown
        self.size = max(self.size, size)

    def get(self, places: Rows, missing: int) -> NDArray[Any]:
        """Return the values at `places`, `missing` where the column does not reach."""
        within = (places >= 0) & (places < self.size)
        values = np.full(places.size, missing, dtype=self.data.dtype)
        values[within] = self.data[places[within]]
        return values


def inverse_frequency(texts: int, frequencies: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much words weigh that `frequencies` of `texts` texts hold."""
    return np.log1p((texts - frequencies + (1 / 2)) / (frequencies + 1 / 2))


def _rounded_length(length: int) -> int:
    """Return a text's length as tantivy keeps it."""
    excess = length - _EXACT_LENGTHS
    dropped = max(excess.bit_length() - _LENGTH_BITS, 0) if excess > 0 else 0
    return (excess >> dropped << dropped) + _EXACT_LENGTHS

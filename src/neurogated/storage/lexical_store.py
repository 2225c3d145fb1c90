"""Texts and keyword search among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from threading import RLock
from typing import Any

import numpy as np
import tantivy
from numpy.typing import NDArray

from neurogated.core.keywords import split_keywords
from neurogated.core.view import Rows

__all__ = ["LexicalStore"]

_NONE = -1
# The parameters tantivy has built in; Robertson and Zaragoza (2009) give the formula.
_K1 = 1.2
_B = 0.75
# Lengths are kept in a byte by tantivy, as by Lucene: exact up to 40, then to four significant bits above 24.
_EXACT_LENGTHS = 24
_LENGTH_BITS = 4
# Bound on the single precision operations behind a score of tantivy's, beside one for each keyword of the query.
_ROUNDINGS = 16
# The smallest heap tantivy's writer accepts, in bytes.
_HEAP = 15_000_000
# How much further tantivy is asked when the first candidates do not settle the order.
_GROWTH = 4
_TAIL_TEXTS = 1000


class LexicalStore:
    """Texts under integer keys, searched by BM25 with the statistics of all texts it holds at that moment.

    tantivy proposes candidates among the texts it has been given, the base; newer ones, the tail, are all candidates.
    Candidates are scored here from the counts of their keywords, so that the engine's snapshot, its removed texts and
    its rounding decide how many candidates are looked at but never what is returned. Methods may be called from
    several threads.

    Args:
        tail_texts: how many texts may wait before tantivy is given them; more make searches slower, puts quicker.
    """

    def __init__(self, tail_texts: int = _TAIL_TEXTS) -> None:
        self._tail_texts = tail_texts
        self._lock = RLock()
        self._table = _KeywordTable()
        self._base = _Base()

    def __len__(self) -> int:
        return self._table.texts

    def put(self, keys: Rows, texts: Sequence[str]) -> None:
        """Add texts, or put them in the place of those with the same keys.

        Args:
            keys: (n,) keys, 0 or larger, each once.
            texts: n texts of any content.
        """
        counted = [Counter(split_keywords(text)) for text in texts]
        with self._lock:
            for key, counts in zip(keys.tolist(), counted, strict=True):
                self._table.put(key, counts)
            self._merge()

    def remove(self, keys: Rows) -> None:
        """Forget the texts of `keys`; keys without one are passed over."""
        with self._lock:
            for key in keys.tolist():
                self._table.remove(key)
            self._merge()

    def search(self, query: str, k: int) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and scores of the `k` best texts, best first, ties in order of key.

        Only texts that share a keyword with the query appear, each keyword of the query counting once. All that tie
        with the k-th are returned too, for the caller to break the tie.
        """
        keywords = split_keywords(query)
        with self._lock:
            table = self._table
            words = table.known(keywords)
            if not words.size or k < 1:
                return np.empty(0, dtype=np.int64), np.empty(0)
            tail = table.alive(np.arange(self._base.size, table.size))
            slots, scores = tail, table.scores(words, tail)
            limit, complete = 2 * k, not self._base.size
            while not complete:
                proposed, ceiling = self._base.propose(table, words, limit)
                proposed = table.alive(proposed)
                slots = np.concatenate([tail, proposed])
                scores = np.concatenate([scores[: tail.size], table.scores(words, proposed)])
                complete = ceiling < _kth_best(scores, k)
                limit *= _GROWTH
            keys = table.keys_of(slots)
        order = np.lexsort((keys, -scores))
        order = order[scores[order] >= max(_kth_best(scores, k), np.nextafter(0, 1))]
        return keys[order], scores[order]

    def scores(self, query: str, keys: Rows) -> NDArray[np.float64]:
        """Return the score of each key as `search` gives it, 0 where there is no text or no keyword is shared."""
        keywords = split_keywords(query)
        with self._lock:
            slots = self._table.slots_of(keys)
            found = slots != _NONE
            scores = np.zeros(keys.size)
            scores[found] = self._table.scores(self._table.known(keywords), slots[found])
        return scores

    def _merge(self) -> None:
        """Give tantivy a tail that has become long; begin anew where more than half of the slots are dead."""
        if self._table.size > 2 * self._table.texts + self._tail_texts:
            self._table = self._table.compacted()
            self._base = _Base()
        if self._table.size - self._base.size > self._tail_texts:
            # Cut short, it leaves an empty base behind, which only makes everything tail until the next write.
            base, self._base = self._base, _Base()
            base.extend(self._table)
            self._base = base


class _KeywordTable:
    """How often each text holds which keyword, a text a slot, in arrays; slots are given in the order of arrival.

    Replaced and removed texts leave dead slots behind until the table is copied.
    """

    def __init__(self) -> None:
        self.size = 0
        self.texts = 0
        self.words: dict[str, int] = {}
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
        if slot == _NONE:
            return
        self._slots.data[key] = _NONE
        self._keys.data[slot] = _NONE
        self._frequencies.data[self.entries(slot)[0]] -= 1
        self._keywords -= int(self.lengths.data[slot])
        self.texts -= 1

    def compacted(self) -> _KeywordTable:
        """Return a copy without dead slots; words keep their numbers."""
        copy = _KeywordTable()
        copy.words = self.words
        for slot in self.alive(np.arange(self.size)).tolist():
            copy._add(int(self._keys.data[slot]), *self.entries(slot))
        return copy

    def entries(self, slot: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the words of a slot and how often it holds each."""
        entries = slice(self._start(slot), int(self.ends.data[slot]))
        return self.entry_words.data[entries], self.entry_counts.data[entries]

    def known(self, keywords: Sequence[str]) -> NDArray[np.int64]:
        """Return the numbers of those keywords that some text holds, each once, in ascending order."""
        words = np.array(sorted({self.words[k] for k in keywords if k in self.words}), dtype=np.int64)
        return words[self.frequencies_of(words) > 0]

    def frequencies_of(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many texts hold each word, 0 for a number that is none."""
        return self._frequencies.get(words, 0)

    def slots_of(self, keys: Rows) -> Rows:
        """Return the slot of each key's text, `_NONE` where there is none."""
        return self._slots.get(keys, _NONE)

    def keys_of(self, slots: Rows) -> Rows:
        """Return the keys of slots that are alive."""
        keys: Rows = self._keys.data[slots]
        return keys

    def alive(self, slots: Rows) -> Rows:
        """Return those slots whose texts have been neither replaced nor removed."""
        living: Rows = slots[self._keys.data[slots] != _NONE]
        return living

    def scores(self, words: NDArray[np.int64], slots: Rows) -> NDArray[np.float64]:
        """Return BM25 of each slot for words that some text holds.

        Every slot's terms are added in the same order, so that equal texts score equal to the last bit.
        """
        scores = np.zeros(slots.size)
        if not slots.size or not words.size:
            return scores
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
        times = self.entry_counts.data[entries[hits]].astype(np.float64)
        weights = _inverse_frequency(self.texts, self.frequencies_of(held[hits].astype(np.int64)))
        damping = _K1 * (1 - _B + _B * self._rounded.data[slots[owners]] / self.mean_length)
        parts = weights * (_K1 + 1) * times / (times + damping)
        np.add.at(scores, owners, parts)
        return scores

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
        self._slots.reserve(key + 1, _NONE)
        self._slots.data[key] = self.size
        self._frequencies.reserve(len(self.words), 0)
        self._frequencies.data[words] += 1
        self._keywords += length
        self.texts += 1
        self.size += 1


class _Base:
    """What tantivy has been given: the first slots of a table. Nothing is ever deleted from it.

    Its statistics are therefore known here exactly: tantivy weighs a word by its own frequencies, and a boost on each
    word of a query puts the present weights in their place.
    """

    def __init__(self) -> None:
        schema = tantivy.SchemaBuilder()
        schema.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        schema.add_integer_field("slot", fast=True)
        self._index = tantivy.Index(schema.build())
        self._index.config_reader("manual")
        self._frequencies = np.empty(0, dtype=np.int64)
        self._texts = 0
        self._keywords = 0
        self.size = 0

    def extend(self, table: _KeywordTable) -> None:
        """Add the slots that have come since."""
        slots = table.alive(np.arange(self.size, table.size)).tolist()
        frequencies = np.zeros(len(table.words), dtype=np.int64)
        frequencies[: self._frequencies.size] = self._frequencies
        # A writer keeps threads; it lives no longer than its work, and waits for them.
        with self._index.writer(_HEAP, num_threads=1) as writer:
            for slot in slots:
                words, counts = table.entries(slot)
                frequencies[words] += 1
                # Numbers in place of words: any text fits, and no token is too long.
                text = " ".join(np.repeat(words, counts).astype(str).tolist())
                writer.add_document(tantivy.Document(words=text, slot=slot))
        self._index.reload()
        self._frequencies = frequencies
        self._texts += len(slots)
        self._keywords += int(table.lengths.data[slots].sum())
        self.size = table.size

    def propose(self, table: _KeywordTable, words: NDArray[np.int64], limit: int) -> tuple[Rows, float]:
        """Return the slots tantivy ranks highest, and a bound that no score of the others exceeds."""
        known = words[words < self._frequencies.size]
        known = known[self._frequencies[known] > 0]
        if not known.size:
            return np.empty(0, dtype=np.int64), -1
        boosts = _inverse_frequency(table.texts, table.frequencies_of(known)) / _inverse_frequency(
            self._texts, self._frequencies[known]
        )
        terms = [
            (tantivy.Occur.Should, tantivy.Query.boost_query(self._term(word), boost))
            for word, boost in zip(known.tolist(), boosts.tolist(), strict=True)
        ]
        limit = min(limit, self._texts + 1)
        searcher = self._index.searcher()
        hits = searcher.search(tantivy.Query.boolean_query(terms), limit, count=False).hits
        slots = searcher.fast_field_values("slot", [address for _, address in hits])
        if len(hits) < limit:
            return np.array(slots, dtype=np.int64), -1
        # A text's score grows at most in proportion when the mean length does, and falls no faster.
        drift = table.mean_length * self._texts / self._keywords
        rounding = 1 + (_ROUNDINGS + len(known)) * float(np.finfo(np.float32).eps)
        return np.array(slots, dtype=np.int64), hits[-1][0] * max(drift, 1) * rounding

    def _term(self, word: int) -> tantivy.Query:
        return tantivy.Query.term_query(self._index.schema, "words", str(word), index_option="freq")


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


def _inverse_frequency(texts: int, frequencies: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return how much words weigh that `frequencies` of `texts` texts hold."""
    return np.log1p((texts - frequencies + (1 / 2)) / (frequencies + 1 / 2))


def _rounded_length(length: int) -> int:
    """Return a text's length as tantivy keeps it."""
    excess = length - _EXACT_LENGTHS
    dropped = max(excess.bit_length() - _LENGTH_BITS, 0) if excess > 0 else 0
    return (excess >> dropped << dropped) + _EXACT_LENGTHS


def _kth_best(scores: NDArray[np.float64], k: int) -> float:
    """Return the k-th best score, 0 where there are fewer."""
    if scores.size < k:
        return 0
    return float(np.partition(scores, scores.size - k)[scores.size - k])

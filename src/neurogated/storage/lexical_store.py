"""Texts and keyword search among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from threading import RLock

import numpy as np
import tantivy
from numpy.typing import NDArray

from neurogated.core.keywords import split_keywords
from neurogated.core.view import Rows
from neurogated.storage.keyword_table import NO_SLOT, KeywordTable, inverse_frequency

__all__ = ["LexicalStore", "OverlaidLexicalStore"]

_NOTHING = np.empty(0, dtype=np.int64)
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
        self._table = KeywordTable()
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

    def search(self, query: str, k: int, without: Rows = _NOTHING) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and scores of the `k` best texts, best first, ties in order of key.

        Only texts that share a keyword with the query appear, each keyword of the query counting once. All that tie
        with the k-th are returned too, for the caller to break the tie.

        Args:
            query: any text.
            k: how many.
            without: keys of texts that are not to appear; they count in the statistics all the same.
        """
        keywords = split_keywords(query)
        with self._lock:
            table = self._table
            words = table.known(keywords)
            if not words.size or k < 1:
                return np.empty(0, dtype=np.int64), np.empty(0)
            tail = self._eligible(np.arange(self._base.size, table.size), without)
            slots, scores = tail, table.scores(words, tail)
            limit, complete = 2 * k, not self._base.size
            while not complete:
                proposed, ceiling = self._base.propose(table, words, limit)
                proposed = self._eligible(proposed, without)
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
            found = slots != NO_SLOT
            scores = np.zeros(keys.size)
            scores[found] = self._table.scores(self._table.known(keywords), slots[found])
        return scores

    def keywords_of(self, key: int) -> dict[str, int]:
        """Return the keywords of a text and how often it holds each, none where there is no text."""
        with self._lock:
            return self._table.keywords_of(key)

    def overlaid(self, changed: Rows) -> OverlaidLexicalStore:
        """Return keyword search among the texts here but those of `changed`, beside which others can be put."""
        return OverlaidLexicalStore(self._table, self._lock, changed)

    def _eligible(self, slots: Rows, without: Rows) -> Rows:
        return _but(self._table, self._table.alive(slots), without)

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


class OverlaidLexicalStore:
    """The texts of a table but those of some keys, with others in their place: what the texts once were.

    The statistics are those of exactly these texts, so every candidate is looked at; it is of use as long as the table
    underneath does not change.
    """

    def __init__(self, table: KeywordTable, lock: RLock, changed: Rows) -> None:
        self._lock = lock
        self._table = table
        self._changed = changed
        self._own = KeywordTable(table.words)

    def hide(self, keys: Rows) -> None:
        """Let texts of the table no longer count, because they change there."""
        self._changed = np.union1d(self._changed, keys)

    def __len__(self) -> int:
        return self._kept(_NOTHING).size + self._own.texts

    def put(self, keys: Rows, texts: Sequence[str]) -> None:
        """Add texts, or put them in the place of those added here with the same keys."""
        with self._lock:
            for key, text in zip(keys.tolist(), texts, strict=True):
                self._own.put(key, Counter(split_keywords(text)))

    def remove(self, keys: Rows) -> None:
        """Forget texts that were added here."""
        with self._lock:
            for key in keys.tolist():
                self._own.remove(key)

    def keywords_of(self, key: int) -> dict[str, int]:
        """Return the keywords of a text and how often it holds each, none where there is no text."""
        with self._lock:
            own = self._own.keywords_of(key)
            return own or ({} if key in self._changed else self._table.keywords_of(key))

    def search(self, query: str, k: int, without: Rows = _NOTHING) -> tuple[Rows, NDArray[np.float64]]:
        """Return what `LexicalStore.search` would return if it held these texts."""
        with self._lock:
            kept, own = self._kept(without), _but(self._own, self._own.alive(np.arange(self._own.size)), without)
            keys = np.concatenate((self._table.keys_of(kept), self._own.keys_of(own)))
            scores = self._scores(query, kept, own)
        order = np.lexsort((keys, -scores))
        order = order[scores[order] >= max(_kth_best(scores, k), np.nextafter(0, 1))] if k > 0 else order[:0]
        return keys[order], scores[order]

    def scores(self, query: str, keys: Rows) -> NDArray[np.float64]:
        """Return the score of each key as `search` gives it, 0 where there is no text or no keyword is shared."""
        with self._lock:
            own = self._own.slots_of(keys)
            base = np.where(np.isin(keys, self._changed), NO_SLOT, self._table.slots_of(keys))
            found = self._scores(query, base[base != NO_SLOT], own[own != NO_SLOT])
        scores = np.zeros(keys.size)
        scores[base != NO_SLOT], scores[own != NO_SLOT] = np.split(found, [int((base != NO_SLOT).sum())])
        return scores

    def _scores(self, query: str, kept: Rows, own: Rows) -> NDArray[np.float64]:
        table, numbers = self._table, self._table.words
        words = np.array(sorted({numbers[k] for k in split_keywords(query) if k in numbers}), dtype=np.int64)
        replaced = table.slots_of(self._changed)
        known = table.statistics(words) - table.statistics(words, replaced[replaced != NO_SLOT])
        known += self._own.statistics(words)
        return np.concatenate((table.scores(words, kept, known), self._own.scores(words, own, known)))

    def _kept(self, without: Rows) -> Rows:
        alive = self._table.alive(np.arange(self._table.size))
        return _but(self._table, alive, np.concatenate((self._changed, without)))


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

    def extend(self, table: KeywordTable) -> None:
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

    def propose(self, table: KeywordTable, words: NDArray[np.int64], limit: int) -> tuple[Rows, float]:
        """Return the slots tantivy ranks highest, and a bound that no score of the others exceeds."""
        known = words[words < self._frequencies.size]
        known = known[self._frequencies[known] > 0]
        if not known.size:
            return np.empty(0, dtype=np.int64), -1
        boosts = inverse_frequency(table.texts, table.frequencies_of(known)) / inverse_frequency(
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


def _but(table: KeywordTable, slots: Rows, keys: Rows) -> Rows:
    """Return those of `slots`, which are alive, that are not of `keys`."""
    return slots[~np.isin(table.keys_of(slots), keys)] if keys.size else slots


def _kth_best(scores: NDArray[np.float64], k: int) -> float:
    """Return the k-th best score, 0 where there are fewer."""
    if scores.size < k:
        return 0
    return float(np.partition(scores, scores.size - k)[scores.size - k])

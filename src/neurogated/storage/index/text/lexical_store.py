"""The inverted index of texts: keyword search, and lookup of the texts that hold a keyword or a tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.text.bm25 import Statistics, Weights, rated
from neurogated.storage.index.text.keyword_search import Found, best, joined, scores, search, statistics, statistics_of
from neurogated.storage.index.text.posting_table import MEMTABLE_TEXTS, PostingTable, TableView
from neurogated.storage.index.text.table_files import TableSnapshot
from neurogated.storage.index.text.term_dictionary import UNKNOWN, ExtendedVocabulary
from neurogated.storage.index.text.term_lookup import (
    holding,
    keys_with,
    keys_with_among,
    keys_with_each,
    keys_with_each_among,
)
from neurogated.text.keywords import split_keywords

__all__ = ["LexicalStore", "OverlaidLexicalStore"]

_NOTHING = np.empty(0, dtype=np.int64)


class LexicalStore:
    """Texts with tags under integer keys, searched by BM25 with the statistics of all present texts.

    A term is a keyword or a tag. A tag contains a blank, a keyword never does. Tags do not count in scores. The
    distribution of texts over segments affects speed but never results: scores are computed in double precision from
    the counts of keywords. Methods are thread-safe.

    Args:
        memtable_texts: capacity of the memtable; a larger one makes searches slower and puts quicker.
        table: the texts; a new empty table if omitted.
    """

    def __init__(self, memtable_texts: int = MEMTABLE_TEXTS, table: PostingTable | None = None) -> None:
        self._table = PostingTable(rated, memtable_texts) if table is None else table
        # The last query, the change counter then, and the query's weights: a query is usually repeated.
        self._asked = "", 0, Weights(_NOTHING, Statistics(0, 0, _NOTHING))
        # The same for the last query with `among`.
        self._asked_among = "", 0, _NOTHING, self._asked[2]

    def __len__(self) -> int:
        return self._table.texts

    def put(self, keys: Rows, texts: Sequence[str], tags: Sequence[Collection[str]] = ()) -> None:
        """Upsert texts by their keys.

        Args:
            keys: (n,) distinct keys, 0 or larger.
            texts: n texts of any content.
            tags: the tags of each text; none if omitted.
        """
        _put(self._table, keys, texts, tags)

    def remove(self, keys: Rows) -> None:
        """Remove the texts of `keys`; keys without a text are skipped."""
        self._table.remove(keys)

    def search(
        self, query: str, k: int, without: Rows = _NOTHING, among: Rows | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and scores of the `k` best texts, best first, ties in order of key.

        Only texts that share a keyword with the query are results. Each distinct keyword of the query counts once. The
        result includes all texts that tie with the k-th, so that the caller can break the tie.

        Args:
            query: any text.
            k: how many.
            without: keys of texts that are no results; they still count in the statistics.
            among: keys of the texts that may be results; only they count in the statistics. All if omitted.
        """
        hidden = np.unique(without) if without.size else without
        if among is not None:
            shown = np.setdiff1d(among, hidden) if hidden.size else among
            return best(Found(shown, self.scores(query, shown, among)), k)
        return best(self._table.read(lambda view: search(view, self._asked_weights(query), k, hidden)), k)

    def scores(self, query: str, keys: Rows, among: Rows | None = None) -> NDArray[np.float64]:
        """Return the score of each key as in `search`; 0 for a missing text or one that shares no keyword."""
        if among is not None:
            return self._table.read(lambda view: scores(view, self._weights_among(view, query, among), keys, each=True))
        return self._table.read(lambda view: scores(view, self._asked_weights(query), keys))

    def terms_of(self, key: int, at_most: int | None = None) -> dict[str, int]:
        """Return the terms of a text with their counts, 0 for a tag; an empty dict for a missing text.

        With `at_most`, terms that more texts hold are omitted.
        """
        return self.terms_of_each([key], at_most)[0]

    def terms_of_each(self, keys: Sequence[int], at_most: int | None = None) -> list[dict[str, int]]:
        """Return the result of `terms_of` for each key."""
        return self._table.words_of(np.array(keys, dtype=np.int64), at_most)

    def keys_with(self, terms: Collection[str], limit: int | None = None, among: Rows | None = None) -> Rows:
        """Return the first `limit` keys, or all, whose texts hold all of `terms`, ascending.

        Without terms the result is empty. With `among`, ascending, only these keys are searched.
        """
        with self._table.lock:
            numbers = self._table.vocabulary.numbers(list(terms))
        if not numbers or UNKNOWN in numbers:
            return _NOTHING
        if among is not None:
            return self._table.read(lambda view: keys_with_among(view, numbers, among))[:limit]
        return self._table.read(lambda view: keys_with(view, numbers, limit))

    def rare_keys_with(self, limits: Mapping[str, int], among: Rows | None = None) -> dict[str, Rows]:
        """Return the keys whose texts hold each term, ascending, for terms within their limit.

        With `among`, ascending, only these keys are searched and counted.
        """
        terms = list(limits)
        with self._table.lock:
            numbers = np.array(self._table.vocabulary.numbers(terms), dtype=np.int64)
        if among is not None:
            most = list(limits.values())
            few = self._table.read(lambda view: list(keys_with_each_among(view, numbers, among, most)))
            return {terms[place]: keys for place, keys in few}
        with self._table.lock:
            frequencies = self._table.frequencies_of(numbers)
            # Under the lock, so that the counts match the view.
            view = self._table.view()
            rare = np.flatnonzero(frequencies <= np.fromiter(limits.values(), np.int64, len(terms)))
            asked = rare[frequencies[rare] > 0]
            found = dict(zip(asked.tolist(), keys_with_each(view, numbers[asked]), strict=True))
            return {terms[place]: found.get(place, _NOTHING) for place in rare.tolist()}

    def existing(self, terms: Iterable[str], without: Rows = _NOTHING, among: Rows | None = None) -> frozenset[str]:
        """Return those of `terms` that a text holds whose key is in `among` and not in `without`."""
        asked = list(terms)
        if among is not None:
            shown = np.setdiff1d(among, without) if without.size else among
            return frozenset(asked).difference(self.rare_keys_with(dict.fromkeys(asked, 0), shown))
        with self._table.lock:
            numbers = self._table.vocabulary.numbers(asked)
            # Most of the queried terms are usually unknown.
            known = {term: number for term, number in zip(asked, numbers, strict=True) if number != UNKNOWN}
            frequencies = self._table.frequencies_of(np.array(list(known.values()), dtype=np.int64)).tolist()
        # A term that more texts hold than `without` has keys needs no lookup.
        return frozenset(
            term
            for term, count in zip(known, frequencies, strict=True)
            if count > without.size or (count and not np.isin(self.keys_with([term]), without).all())
        )

    def having(self, terms: Collection[str], keys: Rows) -> NDArray[np.bool_]:
        """Return (terms, keys) bool: whether the text of each key holds each of `terms`."""
        with self._table.lock:
            numbers = self._table.vocabulary.numbers(list(terms))
        return self._table.read(lambda view: holding(view, numbers, keys))

    def isolated(self) -> LexicalStore:
        """Return a read-only index of the same texts, isolated from later changes."""
        return LexicalStore(table=self._table.isolated())

    def wait(self) -> None:
        """Wait until the background work ends."""
        self._table.wait()

    def freeze(self) -> TableSnapshot:
        """Return the present state. This is quick; no other thread may change the index meanwhile."""
        return self._table.freeze()

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return an index over the files of a written state; raises OSError or ValueError."""
        return cls(table=PostingTable.load(folder, rated))

    def remap(self, folder: Path) -> None:
        """Use the files of a written state of this index instead of memory; raises OSError or ValueError."""
        self._table.remap(folder)

    def overlaid(self, changed: Rows) -> OverlaidLexicalStore:
        """Return an overlay on this index that hides the texts of `changed` and can hold others for them."""
        return OverlaidLexicalStore(self, self._table, changed)

    def _weights_among(self, view: TableView, query: str, among: Rows) -> Weights:
        """Return the weights of a query among the texts of some keys, cached for repeated calls."""
        asked, changes, keys, weights = self._asked_among
        if asked != query or changes != self._table.changes or keys is not among:
            with self._table.lock:
                changes, words = self._table.changes, _numbers(self._table, split_keywords(query))
            weights = Weights(words, statistics_of(view, words, among))
            self._asked_among = query, changes, among, weights
        return weights

    def _asked_weights(self, query: str) -> Weights:
        asked, changes, weights = self._asked
        if asked != query or changes != self._table.changes:
            keywords = split_keywords(query)
            with self._table.lock:
                changes, weights = self._table.changes, self._weights(keywords)
            self._asked = query, changes, weights
        return weights

    def _weights(self, keywords: Sequence[str]) -> Weights:
        with self._table.lock:
            words = _numbers(self._table, keywords)
            return Weights(words, statistics(self._table, words))


class OverlaidLexicalStore:
    """An index of past texts: the texts of a base index, except those of some keys, for which it holds others.

    The statistics are those of exactly these texts. It is valid until the base index changes.
    """

    def __init__(self, base: LexicalStore, table: PostingTable, changed: Rows) -> None:
        """Overlay `base`, whose texts are in `table`."""
        self._base = base
        self._table = table
        self._changed = np.unique(changed)
        # Both tables number common words equally, so that equal texts have equal scores to the last bit. Words that
        # only the overlay holds must not enter the base table: its files would list words that it does not count.
        with table.lock:
            self._own = PostingTable(rated, vocabulary=ExtendedVocabulary(table.vocabulary))
        self._above = LexicalStore(table=self._own)

    def hide(self, keys: Rows) -> None:
        """Hide texts of the base index, because they change there."""
        self._changed = np.union1d(self._changed, keys)

    def __len__(self) -> int:
        return self._table.texts - statistics_of(self._table.view(), _NOTHING, self._changed).texts + self._own.texts

    def put(self, keys: Rows, texts: Sequence[str], tags: Sequence[Collection[str]] = ()) -> None:
        """Upsert texts of the overlay by their keys."""
        # The base table's lock guards the lookup of words.
        with self._table.lock:
            _put(self._own, keys, texts, tags)

    def remove(self, keys: Rows) -> None:
        """Remove texts of the overlay."""
        self._own.remove(keys)

    def terms_of(self, key: int, at_most: int | None = None) -> dict[str, int]:
        """Return the terms of a text; see `LexicalStore.terms_of`."""
        terms = (self._above if key in self._changed else self._base).terms_of(key)
        if at_most is None:
            return terms
        rare = self.rare_keys_with(dict.fromkeys(terms, at_most))
        return {term: count for term, count in terms.items() if term in rare}

    def terms_of_each(self, keys: Sequence[int], at_most: int | None = None) -> list[dict[str, int]]:
        """Return the result of `terms_of` for each key."""
        return [self.terms_of(key, at_most) for key in keys]

    def keys_with(self, terms: Collection[str], limit: int | None = None, among: Rows | None = None) -> Rows:
        """Return the first `limit` keys, or all, whose texts hold all of `terms`, ascending."""
        below = self._base.keys_with(terms, None if limit is None else limit + self._changed.size, among)
        return np.union1d(below[~np.isin(below, self._changed)], self._above.keys_with(terms, limit, among))[:limit]

    def rare_keys_with(self, limits: Mapping[str, int], among: Rows | None = None) -> dict[str, Rows]:
        """Return the keys whose texts hold each term, ascending, for terms within their limit."""
        found = ((term, self.keys_with([term], limit + 1, among)) for term, limit in limits.items())
        return {term: keys for term, keys in found if keys.size <= limits[term]}

    def existing(self, terms: Iterable[str], without: Rows = _NOTHING, among: Rows | None = None) -> frozenset[str]:
        """Return those of `terms` that a text holds whose key is in `among` and not in `without`."""
        asked = list(terms)
        below = self._base.existing(asked, np.union1d(self._changed, without), among)
        return below | self._above.existing(asked, without, among)

    def having(self, terms: Collection[str], keys: Rows) -> NDArray[np.bool_]:
        """Return (terms, keys) bool: whether the text of each key holds each of `terms`."""
        above = np.isin(keys, self._changed)
        held: NDArray[np.bool_] = np.where(above, self._above.having(terms, keys), self._base.having(terms, keys))
        return held

    def search(
        self, query: str, k: int, without: Rows = _NOTHING, among: Rows | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and scores of the `k` best texts; see `LexicalStore.search`."""
        hidden = np.unique(without)
        if among is not None:
            shown = np.setdiff1d(among, hidden)
            return best(Found(shown, self.scores(query, shown, among)), k)
        weights = self._weights(query)
        below = self._table.read(lambda view: search(view, weights, k, np.union1d(hidden, self._changed)))
        above = self._own.read(lambda view: search(view, weights, k, hidden))
        return best(joined(below, above), k)

    def scores(self, query: str, keys: Rows, among: Rows | None = None) -> NDArray[np.float64]:
        """Return the score of each key as in `search`; 0 for a missing text or one that shares no keyword."""
        weights = self._weights(query, among)
        below = self._table.read(lambda view: scores(view, weights, keys))
        below[np.isin(keys, self._changed)] = 0
        return below + self._own.read(lambda view: scores(view, weights, keys))

    def _weights(self, query: str, among: Rows | None = None) -> Weights:
        keywords = split_keywords(query)
        with self._table.lock:
            # The number of a word that only the overlay holds may mean another word in the base table. Only changed
            # texts hold that word, and they count neither in the statistics nor in the results.
            words = _numbers(self._own, keywords)
            if among is not None:
                below = statistics_of(self._table.view(), words, np.setdiff1d(among, self._changed))
                return Weights(words, below + statistics_of(self._own.view(), words, among))
            below = statistics(self._table, words) - statistics_of(self._table.view(), words, self._changed)
            return Weights(words, below + statistics(self._own, words))


def _put(table: PostingTable, keys: Rows, texts: Sequence[str], tags: Sequence[Collection[str]]) -> None:
    terms: list[dict[str, int]] = [Counter(split_keywords(text)) for text in texts]
    for counts, own in zip(terms, tags, strict=bool(tags)):
        counts.update(dict.fromkeys(own, 0))
    table.put(keys, terms, np.array([count for counts in terms for count in counts.values()], dtype=np.int64))


def _numbers(table: PostingTable, keywords: Sequence[str]) -> NDArray[np.int64]:
    """Return the numbers of keywords, ascending and distinct."""
    return np.array(sorted({*table.vocabulary.numbers(list(dict.fromkeys(keywords)))} - {-1}), dtype=np.int64)

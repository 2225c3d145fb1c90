"""The inverted index of texts: keyword search, and lookup of the texts that hold a keyword or a tag."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import compress
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.text.bm25 import Statistics
from neurogated.storage.index.text.keyword_search import Found, best, scores, search, statistics_of
from neurogated.storage.index.text.posting_table import MEMTABLE_TEXTS, PostingTable, TableView
from neurogated.storage.index.text.table_files import TableSnapshot
from neurogated.storage.index.text.term_dictionary import UNKNOWN
from neurogated.storage.index.text.term_lookup import (
    held_by_any,
    holding,
    keys_with,
    keys_with_among,
    keys_with_each,
    keys_with_each_among,
    sharing,
)
from neurogated.storage.index.text.weights import Weights
from neurogated.text.keywords import search_terms

_NOTHING = np.empty(0, dtype=np.int64)
# A recall scores each of its questions in several steps, and threads recall at once.
_QUERIES = 8


class LexicalStore:
    """Texts with tags under integer keys, searched by BM25 with the statistics of all present texts.

    A term is a tag, or a keyword or part of `search_terms`. Tags and parts contain a blank, keywords never do. Tags do
    not count in scores. The distribution of texts over segments affects speed but never results: scores are computed
    in double precision from the counts of terms. Methods are thread-safe.

    Args:
        memtable_texts: up to this many of the newest texts are merged at once.
        table: the texts; a new empty table if omitted.
    """

    def __init__(self, memtable_texts: int = MEMTABLE_TEXTS, table: PostingTable | None = None) -> None:
        self._table = PostingTable(memtable_texts) if table is None else table
        # Of the last queries: the query, its `among`, the change counter then, and its weights.
        self._asked: tuple[tuple[str, Rows | None, int, Weights], ...] = ()

    def __len__(self) -> int:
        return self._table.texts

    def put(self, keys: Rows, texts: Sequence[str], tags: Sequence[Collection[str]] = ()) -> None:
        """Upsert texts by their keys.

        Args:
            keys: (n,) distinct keys, 0 or larger.
            texts: n texts of any content.
            tags: the tags of each text; none if omitted.
        """
        terms: list[dict[str, int]] = [Counter(search_terms(text)) for text in texts]
        for counts, own in zip(terms, tags, strict=bool(tags)):
            counts.update(dict.fromkeys(own, 0))
        flat = np.array([count for counts in terms for count in counts.values()], dtype=np.int64)
        self._table.put(keys, terms, flat)

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
        return self._table.read(lambda view: search(view, self._weights(view, query), k, hidden))

    def scores(self, query: str, keys: Rows, among: Rows | None = None) -> NDArray[np.float64]:
        """Return the score of each key as in `search`; 0 for a missing text or one that shares no keyword."""
        each = among is not None
        return self._table.read(lambda view: scores(view, self._weights(view, query, among), keys, each=each))

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
        return self._table.read(lambda view: keys_with(view, numbers))[:limit]

    def rare_keys_with(self, limits: Mapping[str, int], among: Rows | None = None) -> dict[str, Rows]:
        """Return the keys whose texts hold each term, ascending, for terms within their limit.

        With `among`, ascending, only these keys are searched and counted.
        """
        if not limits:
            return {}
        terms = list(limits)
        with self._table.lock:
            numbers = np.array(self._table.vocabulary.numbers(terms), dtype=np.int64)
        if among is not None:
            most = list(limits.values())
            total = int(self._table.frequencies_of(numbers).sum())
            few = self._table.read(lambda view: list(keys_with_each_among(view, numbers, among, most, total)))
            return {terms[place]: keys for place, keys in few}
        with self._table.lock:
            frequencies = self._table.frequencies_of(numbers)
            # Under the lock, so that the counts match the view.
            view = self._table.view()
            (rare,) = (frequencies <= np.fromiter(limits.values(), np.int64, len(terms))).nonzero()
            asked = rare[frequencies[rare] > 0]
            found = dict(zip(asked.tolist(), keys_with_each(view, numbers[asked]), strict=True))
            return {terms[place]: found.get(place, _NOTHING) for place in rare.tolist()}

    def sharing(self, keys: Rows, among: Rows, most: int) -> tuple[Rows, Rows, NDArray[np.float64]]:
        """Return which texts share a keyword that at most `most` texts hold; see `term_lookup.sharing`."""
        return self._table.read(lambda view: sharing(self._table, view, keys, among, most))

    def existing(self, terms: Iterable[str], without: Rows = _NOTHING, among: Rows | None = None) -> frozenset[str]:
        """Return those of `terms` that a text holds whose key is in `among` and not in `without`."""
        asked = list(terms)
        with self._table.lock:
            numbers = self._table.vocabulary.numbers(asked)
            # Most of the queried terms are usually unknown.
            known = {term: number for term, number in zip(asked, numbers, strict=True) if number != UNKNOWN}
            if not known:
                return frozenset()
            frequencies = self._table.frequencies_of(np.array(list(known.values()), dtype=np.int64)).tolist()
        if among is not None:
            shown = np.setdiff1d(among, without) if without.size else among
            held = [term for term, count in zip(known, frequencies, strict=True) if count]
            words = [known[term] for term in held]
            return frozenset(compress(held, self._table.read(lambda view: held_by_any(view, words, shown))))
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

    def marks(self, terms: Sequence[str], keys: Rows) -> NDArray[np.uint8]:
        """Return the bits of those of up to eight terms that the text of each key holds; the first is the lowest."""
        with self._table.lock:
            numbers = self._table.vocabulary.numbers(terms)

        def marked(view: TableView) -> NDArray[np.uint8]:
            found = np.zeros(keys.size, dtype=np.uint8)
            for part, here, places in view.located(keys):
                found[here] = part.marks(numbers)[places]
            return found

        return self._table.read(marked)

    def isolated(self) -> LexicalStore:
        """Return an index of the same texts, isolated from later changes; its own changes do not reach this index."""
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
        return cls(table=PostingTable.load(folder))

    def remap(self, folder: Path) -> None:
        """Use the files of a written state of this index instead of memory; raises OSError or ValueError."""
        self._table.remap(folder)

    def _weights(self, view: TableView, query: str, among: Rows | None = None) -> Weights:
        """Return the weights of a query among the texts of some keys, or of all, cached for repeated calls."""
        now = self._table.changes
        for asked, searched, changes, weights in self._asked:
            if asked == query and searched is among and changes == now:
                return weights
        keywords = list(dict.fromkeys(search_terms(query)))
        with self._table.lock:
            changes, numbers = self._table.changes, self._table.vocabulary.numbers(keywords)
            words = np.array(sorted({*numbers} - {UNKNOWN}), dtype=np.int64)
            known = Statistics(self._table.texts, self._table.total, self._table.frequencies_of(words))
        weights = Weights(words, known if among is None else statistics_of(view, words, among))
        self._asked = ((query, among, changes, weights), *self._asked[: _QUERIES - 1])
        return weights

"""Texts and keyword search among them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.keywords import split_keywords
from neurogated.core.view import Rows
from neurogated.storage.index.text.best_texts import Eligible, best_texts, kth_best
from neurogated.storage.index.text.bm25 import Statistics, Weights, rated
from neurogated.storage.index.text.checkpointed_table import KeptTable
from neurogated.storage.index.text.posting_table import TAIL_TEXTS, PostingTable, TableView, Tail
from neurogated.storage.index.text.segment import Impacts, Places, Segment, TextWords
from neurogated.storage.index.text.term_dictionary import ExtendedVocabulary

__all__ = ["LexicalStore", "OverlaidLexicalStore"]

_NOTHING = np.empty(0, dtype=np.int64)
# What scores less shares no keyword.
_LEAST_SCORE = float(np.nextafter(0, 1))


class _Found(NamedTuple):
    keys: Rows
    scores: NDArray[np.float64]


class LexicalStore(KeptTable):
    """Texts under integer keys, searched by BM25 with the statistics of all texts it holds at that moment.

    How the texts are spread over segments decides how many of them are looked at but never what is returned: scores are
    computed in double precision from the counts of keywords. See `KeptTable`.
    """

    def __init__(self, tail_texts: int = TAIL_TEXTS) -> None:
        super().__init__(tail_texts)
        # The last question, how much had changed by then, and its weights: a question is asked several times over.
        self._asked = "", 0, Weights(_NOTHING, Statistics(0, 0, _NOTHING))
        # The same of the last question among some texts.
        self._asked_among = "", 0, _NOTHING, self._asked[2]

    @staticmethod
    def _rate(texts: TextWords) -> Impacts:
        return rated(texts)

    def __len__(self) -> int:
        return self._table.texts

    def put(self, keys: Rows, texts: Sequence[str]) -> None:
        """Add texts, or put them in the place of those with the same keys.

        Args:
            keys: (n,) keys, 0 or larger, each once.
            texts: n texts of any content.
        """
        _put(self._table, keys, texts)

    def remove(self, keys: Rows) -> None:
        """Forget the texts of `keys`; keys without one are passed over."""
        self._table.remove(keys)

    def search(
        self, query: str, k: int, without: Rows = _NOTHING, among: Rows | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return keys and scores of the `k` best texts, best first, ties in order of key.

        Only texts that share a keyword with the query appear, each keyword of the query counting once. All that tie
        with the k-th are returned too, for the caller to break the tie.

        Args:
            query: any text.
            k: how many.
            without: keys of texts that are not to appear; they count in the statistics all the same.
            among: keys of the texts that may appear and that alone count in the statistics; all when left out.
        """
        hidden = np.unique(without) if without.size else without
        if among is not None:
            shown = np.setdiff1d(among, hidden)
            return _best(_Found(shown, self.scores(query, shown, among)), k)
        return _best(self._table.read(lambda view: _search(view, self._asked_weights(query), k, hidden)), k)

    def scores(self, query: str, keys: Rows, among: Rows | None = None) -> NDArray[np.float64]:
        """Return the score of each key as `search` gives it, 0 where there is no text or no keyword is shared."""
        if among is not None:
            return self._table.read(
                lambda view: _scores(view, self._weights_among(view, query, among), keys, each=True)
            )
        return self._table.read(lambda view: _scores(view, self._asked_weights(query), keys))

    def keywords_of(self, key: int) -> dict[str, int]:
        """Return the keywords of a text and how often it holds each, none where there is no text."""
        words, counts = self._table.words_of(key)
        return dict(zip(words, counts.tolist(), strict=True))

    def overlaid(self, changed: Rows) -> OverlaidLexicalStore:
        """Return keyword search among the texts here but those of `changed`, beside which others can be put."""
        return OverlaidLexicalStore(self._table, changed)

    def _weights_among(self, view: TableView, query: str, among: Rows) -> Weights:
        """Return the weights of a query among the texts of some keys, which are asked for several times in a row."""
        asked, changes, keys, weights = self._asked_among
        if asked != query or changes != self._table.changes or keys is not among:
            with self._table.lock:
                changes, words = self._table.changes, _numbers(self._table, split_keywords(query))
            weights = Weights(words, _statistics_of(view, words, among))
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
            return Weights(words, _statistics(self._table, words))


class OverlaidLexicalStore:
    """The texts of a table but those of some keys, with others in their place: what the texts once were.

    The statistics are those of exactly these texts. It is of use as long as the table underneath does not change.
    """

    def __init__(self, table: PostingTable, changed: Rows) -> None:
        self._table = table
        self._changed = np.unique(changed)
        # Words of both tables have the same numbers, so that equal texts score equal to the last bit. Words that only
        # these texts hold must not reach the table: its files would list words that it does not count.
        with table.lock:
            self._own = PostingTable(rated, vocabulary=ExtendedVocabulary(table.vocabulary))

    def hide(self, keys: Rows) -> None:
        """Let texts of the table no longer count, because they change there."""
        self._changed = np.union1d(self._changed, keys)

    def __len__(self) -> int:
        return self._table.texts - _statistics_of(self._table.view(), _NOTHING, self._changed).texts + self._own.texts

    def put(self, keys: Rows, texts: Sequence[str]) -> None:
        """Add texts, or put them in the place of those added here with the same keys."""
        # The table's lock first, because words are looked up there.
        with self._table.lock:
            _put(self._own, keys, texts)

    def remove(self, keys: Rows) -> None:
        """Forget texts that were added here."""
        self._own.remove(keys)

    def keywords_of(self, key: int) -> dict[str, int]:
        """Return the keywords of a text and how often it holds each, none where there is no text."""
        words, counts = self._own.words_of(key)
        if not words and key not in self._changed:
            words, counts = self._table.words_of(key)
        return dict(zip(words, counts.tolist(), strict=True))

    def search(
        self, query: str, k: int, without: Rows = _NOTHING, among: Rows | None = None
    ) -> tuple[Rows, NDArray[np.float64]]:
        """Return what `LexicalStore.search` would return if it held these texts."""
        hidden = np.unique(without)
        if among is not None:
            shown = np.setdiff1d(among, hidden)
            return _best(_Found(shown, self.scores(query, shown, among)), k)
        weights = self._weights(query)
        below = self._table.read(lambda view: _search(view, weights, k, np.union1d(hidden, self._changed)))
        above = self._own.read(lambda view: _search(view, weights, k, hidden))
        return _best(_joined(below, above), k)

    def scores(self, query: str, keys: Rows, among: Rows | None = None) -> NDArray[np.float64]:
        """Return the score of each key as `search` gives it, 0 where there is no text or no keyword is shared."""
        weights = self._weights(query, among)
        below = self._table.read(lambda view: _scores(view, weights, keys))
        below[np.isin(keys, self._changed)] = 0
        return below + self._own.read(lambda view: _scores(view, weights, keys))

    def _weights(self, query: str, among: Rows | None = None) -> Weights:
        keywords = split_keywords(query)
        with self._table.lock:
            # A number of a word that only these texts hold may be another word's in the table. Only texts that have
            # changed hold that one, and these count neither in the statistics nor in what is found.
            words = _numbers(self._own, keywords)
            if among is not None:
                below = _statistics_of(self._table.view(), words, np.setdiff1d(among, self._changed))
                return Weights(words, below + _statistics_of(self._own.view(), words, among))
            below = _statistics(self._table, words) - _statistics_of(self._table.view(), words, self._changed)
            return Weights(words, below + _statistics(self._own, words))


def _put(table: PostingTable, keys: Rows, texts: Sequence[str]) -> None:
    counted = [Counter(split_keywords(text)) for text in texts]
    table.put(keys, counted, np.array([count for counts in counted for count in counts.values()], dtype=np.int64))


def _numbers(table: PostingTable, keywords: Sequence[str]) -> NDArray[np.int64]:
    """Return the numbers of keywords, ascending, each once."""
    return np.array(sorted({*table.vocabulary.numbers(list(dict.fromkeys(keywords)))} - {-1}), dtype=np.int64)


def _statistics(table: PostingTable, words: NDArray[np.int64]) -> Statistics:
    return Statistics(table.texts, table.total, table.frequencies_of(words))


def _statistics_of(view: TableView, words: NDArray[np.int64], keys: Rows) -> Statistics:
    """Return what the texts of some keys add to the statistics."""
    known = Statistics(0, 0, np.zeros(words.size, dtype=np.int64))
    for part, here, places in view.located(keys):
        entries, _ = part.texts.entries(places)
        held = part.texts.words[entries]
        frequencies = np.bincount(np.searchsorted(words, held[np.isin(held, words)]), minlength=words.size)
        known += Statistics(here.size, int(part.texts.counts_at(entries).sum()), frequencies)
    return known


def _search(view: TableView, weights: Weights, k: int, without: Rows) -> _Found:
    """Return texts with their scores, among them the `k` best and all that tie with them."""
    found = _Found(_NOTHING, np.empty(0))
    if k < 1 or not weights.words.size:
        return found
    # The longest segment comes first: the k-th best score that is known from there saves work in the others.
    for part in view.parts:
        if not len(part.texts):
            continue
        eligible = partial(_eligible, view, part, without)
        places: Places = np.arange(len(part.texts))
        if isinstance(part, Segment):
            least = kth_best(found.scores, k)
            of_all = weights.scores_of_all(part)
            if of_all is not None:
                found = _joined(found, _best_of_all(part, of_all, k, least, eligible))
                continue
            places = best_texts(part, weights, k, least, eligible)
        places = eligible(places)
        scores = weights.scores(part.texts, part.lengths, places)
        found = _joined(found, _Found(part.texts.keys[places], scores))
    return found


def _best_of_all(part: Segment, scores: NDArray[np.float64], k: int, least: float, eligible: Eligible) -> _Found:
    """Return the `k` best texts of a segment that score `least` or more, and all that tie, from the scores of all."""
    places = np.flatnonzero(scores >= max(least, kth_best(scores, k), _LEAST_SCORE))
    counting = eligible(places)
    if counting.size < min(places.size, k):
        # What does not count has taken the places of others.
        counting = eligible(np.flatnonzero(scores >= max(least, _LEAST_SCORE)))
    return _Found(part.texts.keys[counting], scores[counting])


def _eligible(view: TableView, part: Segment | Tail, without: Rows, places: Places) -> Places:
    """Return those of the places in a part whose texts may appear."""
    living = view.living(part, places)
    if not without.size:
        return living
    keys = part.texts.keys[living]
    shown: Places = living[without.take(np.searchsorted(without, keys), mode="clip") != keys]
    return shown


def _joined(some: _Found, others: _Found) -> _Found:
    return _Found(np.concatenate((some.keys, others.keys)), np.concatenate((some.scores, others.scores)))


def _scores(view: TableView, weights: Weights, keys: Rows, *, each: bool = False) -> NDArray[np.float64]:
    """Return the score of each key; with `each` only their texts are scored, otherwise whole segments may be."""
    scores = np.zeros(keys.size)
    for part, here, places in view.located(keys):
        of_all = weights.scores_of_all(part) if isinstance(part, Segment) and not each else None
        scores[here] = of_all[places] if of_all is not None else weights.scores(part.texts, part.lengths, places)
    return scores


def _best(found: _Found, k: int) -> tuple[Rows, NDArray[np.float64]]:
    """Return what is among the `k` best and shares a keyword, best first, ties in order of key."""
    if k < 1:
        return found.keys[:0], found.scores[:0]
    good = np.flatnonzero(found.scores >= max(kth_best(found.scores, k), _LEAST_SCORE))
    keys, scores = found.keys[good], found.scores[good]
    order = np.lexsort((keys, -scores))
    return keys[order], scores[order]

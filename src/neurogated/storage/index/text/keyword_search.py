"""Keyword search in a posting table at one moment."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.text.best_texts import Eligible, best_texts, kth_best
from neurogated.storage.index.text.bm25 import Statistics, Weights
from neurogated.storage.index.text.memtable import Memtable
from neurogated.storage.index.text.posting_table import PostingTable, TableView
from neurogated.storage.index.text.segment import Places, Segment

__all__ = ["Found", "best", "joined", "scores", "search", "statistics", "statistics_of"]

_NOTHING = np.empty(0, dtype=np.int64)
# A text with a lower score shares no keyword.
_LEAST_SCORE = float(np.nextafter(0, 1))


class Found(NamedTuple):
    """Texts found by a search."""

    keys: Rows
    scores: NDArray[np.float64]


def statistics(table: PostingTable, words: NDArray[np.int64]) -> Statistics:
    """Return the statistics of all texts."""
    return Statistics(table.texts, table.total, table.frequencies_of(words))


def statistics_of(view: TableView, words: NDArray[np.int64], keys: Rows) -> Statistics:
    """Return the statistics of the texts of some keys."""
    known = Statistics(0, 0, np.zeros(words.size, dtype=np.int64))
    for part, here, places in view.located(keys):
        entries, _ = part.texts.entries(places)
        held = part.texts.words[entries]
        frequencies = np.bincount(np.searchsorted(words, held[np.isin(held, words)]), minlength=words.size)
        known += Statistics(here.size, int(part.texts.counts_at(entries).sum()), frequencies)
    return known


def search(view: TableView, weights: Weights, k: int, without: Rows) -> Found:
    """Return texts with their scores; they include the `k` best and all ties."""
    found = Found(_NOTHING, np.empty(0))
    if k < 1 or not weights.words.size:
        return found
    # The longest segment comes first: its k-th best score is a pruning threshold for the others.
    for part in view.parts:
        if not len(part.texts):
            continue
        eligible = partial(_eligible, view, part, without)
        places: Places = np.arange(len(part.texts))
        if isinstance(part, Segment):
            least = kth_best(found.scores, k)
            of_all = weights.scores_of_all(part)
            if of_all is not None:
                found = joined(found, _best_of_all(part, of_all, k, least, eligible))
                continue
            places = best_texts(part, weights, k, least, eligible)
        places = eligible(places)
        scores = weights.scores(part.texts, part.lengths, places)
        found = joined(found, Found(part.texts.keys[places], scores))
    return found


def _best_of_all(part: Segment, scores: NDArray[np.float64], k: int, least: float, eligible: Eligible) -> Found:
    """Return the `k` best texts of a segment with a score of at least `least`, and all ties, given all scores."""
    places = np.flatnonzero(scores >= max(least, kth_best(scores, k), _LEAST_SCORE))
    counting = eligible(places)
    if counting.size < min(places.size, k):
        # Ineligible texts took places among the `k` best; search again without that bound.
        counting = eligible(np.flatnonzero(scores >= max(least, _LEAST_SCORE)))
    return Found(part.texts.keys[counting], scores[counting])


def _eligible(view: TableView, part: Segment | Memtable, without: Rows, places: Places) -> Places:
    """Return those of the places in a part whose texts may be results."""
    living = view.living(part, places)
    if not without.size:
        return living
    keys = part.texts.keys[living]
    shown: Places = living[without.take(np.searchsorted(without, keys), mode="clip") != keys]
    return shown


def joined(some: Found, others: Found) -> Found:
    """Return the texts of two searches."""
    return Found(np.concatenate((some.keys, others.keys)), np.concatenate((some.scores, others.scores)))


def scores(view: TableView, weights: Weights, keys: Rows, *, each: bool = False) -> NDArray[np.float64]:
    """Return the score of each key. With `each` only these texts are scored; otherwise whole segments may be."""
    scores = np.zeros(keys.size)
    for part, here, places in view.located(keys):
        of_all = weights.scores_of_all(part) if isinstance(part, Segment) and not each else None
        scores[here] = of_all[places] if of_all is not None else weights.scores(part.texts, part.lengths, places)
    return scores


def best(found: Found, k: int) -> tuple[Rows, NDArray[np.float64]]:
    """Return the `k` best texts that share a keyword, and all ties, best first, equal scores in order of key."""
    if k < 1:
        return found.keys[:0], found.scores[:0]
    good = np.flatnonzero(found.scores >= max(kth_best(found.scores, k), _LEAST_SCORE))
    keys, scores = found.keys[good], found.scores[good]
    order = np.lexsort((keys, -scores))
    return keys[order], scores[order]

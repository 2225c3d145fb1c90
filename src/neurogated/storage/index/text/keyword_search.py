"""Keyword search in a posting table at one moment."""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import contained
from neurogated.core.view import Rows
from neurogated.storage.index.text.best_texts import best_texts, kth_best
from neurogated.storage.index.text.bm25 import Statistics
from neurogated.storage.index.text.posting_table import TableView
from neurogated.storage.index.text.segment import Places, Segment
from neurogated.storage.index.text.weights import Weights

# A text with a lower score shares no keyword.
_LEAST_SCORE = float(np.nextafter(0, 1))
# Up to this fraction of a segment, its texts are read one by one.
_FEW_SHARE = 8


class Found(NamedTuple):
    """Texts found by a search."""

    keys: Rows
    scores: NDArray[np.float64]


def statistics_of(view: TableView, words: Rows, keys: Rows) -> Statistics:
    """Return the statistics of the texts of some keys."""
    texts, total, frequencies = 0, 0, np.zeros(words.size, dtype=np.int64)
    for part, here, places in view.located(keys):
        texts += here.size
        if _are_few(part, places):
            entries, _ = part.texts.entries(places)
            held = part.texts.words[entries]
            total += int(part.texts.counts[entries].sum(dtype=np.int64))
            frequencies += np.bincount(np.searchsorted(words, held[contained(words, held)]), minlength=words.size)
        else:
            wanted = np.zeros(len(part), dtype=np.bool_)
            wanted[places] = True
            terms, holders = part.pairs(words)
            total += int(part.true_lengths[places].sum())
            frequencies += np.bincount(terms[wanted[holders]], minlength=words.size)
    return Statistics(texts, total, frequencies)


def _are_few(part: Segment, places: Places) -> bool:
    """Return whether some texts of a segment are read quicker one by one than through its posting lists."""
    return places.size * _FEW_SHARE < len(part)


def search(view: TableView, weights: Weights, k: int, without: Rows) -> Found:
    """Return the `k` best texts with their scores, and all ties, best first, ties in order of key."""
    found = Found(np.empty(0, dtype=np.int64), np.empty(0))
    # The longest segment comes first: its k-th best score is a pruning threshold for the others.
    for part in view.segments if k > 0 and weights.words.size else ():
        eligible = partial(_eligible, view, part, without)
        least = max(kth_best(found.scores, k), _LEAST_SCORE)
        of_all = weights.scores_of_all(part)
        if of_all is None:
            places = eligible(best_texts(part, weights, k, least, eligible))
            of_places = weights.scores(part, places)
        else:
            places = np.flatnonzero(of_all >= max(least, kth_best(of_all, k)))
            counting = eligible(places)
            if counting.size < min(places.size, k):
                # Ineligible texts took places among the `k` best; search again without that bound.
                counting = eligible(np.flatnonzero(of_all >= least))
            places, of_places = counting, of_all[counting]
        keys = np.concatenate((found.keys, part.texts.keys[places]))
        found = Found(keys, np.concatenate((found.scores, of_places)))
    return best(found, k)


def _eligible(view: TableView, part: Segment, without: Rows, places: Places) -> Places:
    """Return those of the places in a segment whose texts may be results."""
    living = view.living(part, places)
    if not without.size:
        return living
    keys = part.texts.keys[living]
    shown: Places = living[without.take(np.searchsorted(without, keys), mode="clip") != keys]
    return shown


def scores(view: TableView, weights: Weights, keys: Rows, *, each: bool = False) -> NDArray[np.float64]:
    """Return the score of each key. With `each`, segments that have few of these texts are not scored as a whole."""
    scores = np.zeros(keys.size)
    for part, here, places in view.located(keys) if weights.words.size else ():
        of_all = None if each and _are_few(part, places) else weights.scores_of_all(part)
        scores[here] = weights.scores(part, places) if of_all is None else of_all[places]
    return scores


def best(found: Found, k: int) -> Found:
    """Return the `k` best texts that share a keyword, and all ties, best first, equal scores in order of key."""
    least = max(kth_best(found.scores, k), _LEAST_SCORE) if k > 0 else np.inf
    good = np.flatnonzero(found.scores >= least)
    keys, scores = found.keys[good], found.scores[good]
    order = np.lexsort((keys, -scores))
    return Found(keys[order], scores[order])

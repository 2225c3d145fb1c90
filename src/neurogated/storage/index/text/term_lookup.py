"""Lookup of the texts that hold a term, in a posting table at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.text.memtable import Memtable
from neurogated.storage.index.text.posting_table import TableView
from neurogated.storage.index.text.segment import Segment, looked_up, spread
from neurogated.storage.index.text.term_dictionary import UNKNOWN

__all__ = ["among", "holding", "keys_with", "keys_with_among", "keys_with_each", "keys_with_each_among"]

_NOTHING = np.empty(0, dtype=np.int64)
# How many texts the first step scans when only the first few matches are wanted, and the growth of each step.
_FEW = 4096
_WIDENING = 8
# Up to this many texts are scanned by their words; more are found through the posting lists of the terms.
_LATEST = 1024


def keys_with_among(view: TableView, numbers: Sequence[int], keys: Rows) -> Rows:
    """Return those of `keys`, ascending, whose texts hold all of one or more terms."""
    if keys.size > _LATEST:
        return among(keys, keys_with(view, numbers))
    return keys[holding(view, numbers, keys).all(axis=0)]


def keys_with(view: TableView, numbers: Sequence[int], limit: int | None = None) -> Rows:
    """Return the first `limit` keys, or all, whose texts hold all of one or more terms, ascending."""
    found = [_first_with(view, part, numbers, limit) for part in view.parts]
    # Each part is sorted already, which makes the stable sort fast.
    return np.sort(np.concatenate(found), kind="stable")[:limit]


def _first_with(view: TableView, part: Segment | Memtable, numbers: Sequence[int], limit: int | None) -> Rows:
    """Return the first matching keys of a part: at least `limit`, or all if there are fewer."""
    size = len(part.texts)
    # Rare terms are looked up completely; for common terms the beginning suffices.
    step = size if limit is None or part.at_most(numbers) <= _FEW else _FEW
    begin, found, count = 0, [_NOTHING], 0
    while begin < size and (limit is None or count < limit):
        places = part.holding(numbers, begin, min(begin + step, size))
        found.append(part.texts.keys[view.living(part, places)])
        count += found[-1].size
        begin, step = begin + step, step * _WIDENING
    return np.concatenate(found)


def holding(view: TableView, numbers: Sequence[int], keys: Rows) -> NDArray[np.bool_]:
    """Return (terms, keys) bool: whether the text of each key holds each term."""
    held = np.zeros((len(numbers), keys.size), dtype=np.bool_)
    known = [(place, number) for place, number in enumerate(numbers) if number != UNKNOWN]
    for part, here, places in view.located(keys) if known else ():
        for place, number in known:
            held[place, here] = part.having(number, places)
    return held


def keys_with_each_among(
    view: TableView, numbers: Rows, keys: Rows, limits: Sequence[int]
) -> Iterator[tuple[int, Rows]]:
    """Yield the position of each term within its limit among some keys, and the keys that hold it, ascending.

    It first scans the newest texts. That is quick, and shows for most terms that they exceed their limit.
    """
    latest = keys[-_LATEST:]
    held = [(place, found) for place, found in enumerate(_looked_through(view, numbers, latest))]
    few = [(place, found) for place, found in held if found.size <= limits[place]]
    if latest.size < keys.size:
        known = [place for place, _ in few if numbers[place] != UNKNOWN]
        every = dict(zip(known, keys_with_each(view, numbers[known]), strict=True))
        few = [(place, among(keys, every.get(place, _NOTHING))) for place, _ in few]
    return ((place, found) for place, found in few if found.size <= limits[place])


def among(keys: Rows, found: Rows) -> Rows:
    """Return those of `found` that are in `keys`, which is ascending."""
    return found[keys.take(keys.searchsorted(found), mode="clip") == found] if keys.size else found[:0]


def _looked_through(view: TableView, numbers: Rows, keys: Rows) -> list[Rows]:
    """Return for each term those of `keys`, ascending, whose texts hold it, by scanning the texts."""
    order = np.argsort(numbers, kind="stable")
    wanted = numbers[order]
    held, holders = [_NOTHING], [_NOTHING]
    for part, here, places in view.located(keys):
        entries, sizes = part.texts.entries(places)
        words = part.texts.words[entries]
        which = np.searchsorted(wanted, words)
        hits = np.flatnonzero(wanted.take(which, mode="clip") == words) if wanted.size else _NOTHING
        held.append(which[hits])
        holders.append(keys[here][np.searchsorted(sizes.cumsum(), hits, side="right")])
    terms, found = np.concatenate(held), np.concatenate(holders)
    by_term = np.lexsort((found, terms))
    counts = np.bincount(terms, minlength=wanted.size)
    found, ends = found[by_term], counts.cumsum().tolist()
    split = [found[begin:end] for begin, end in pairwise([0, *ends])]
    return [split[place] for place in order.argsort(kind="stable").tolist()]


def keys_with_each(view: TableView, numbers: Rows) -> list[Rows]:
    """Return for each of some distinct terms the keys whose texts hold it, ascending."""
    if not numbers.size:
        return []
    order = np.argsort(numbers)
    held, keys = [_NOTHING], [_NOTHING]
    for part in view.parts:
        wanted = numbers[order]
        which, places = _in_memtable(part, wanted) if isinstance(part, Memtable) else _in_segment(part, wanted)
        living = view.owners[part.texts.keys[places]] == part.serial
        held.append(order[which[living]])
        keys.append(part.texts.keys[places[living]])
    terms, holders = np.concatenate(held), np.concatenate(keys)
    by_term = np.lexsort((holders, terms))
    holders, ends = holders[by_term], np.bincount(terms, minlength=numbers.size).cumsum().tolist()
    return [holders[begin:end] for begin, end in pairwise([0, *ends])]


def _in_memtable(memtable: Memtable, numbers: Rows) -> tuple[Rows, Rows]:
    """Return pairs of a position in `numbers`, which is ascending, and the place of a text that holds that word."""
    words = memtable.texts.words
    which = np.searchsorted(numbers, words)
    entries = np.flatnonzero(numbers.take(which, mode="clip") == words)
    return which[entries], np.searchsorted(memtable.texts.ends, entries, side="right")


def _in_segment(segment: Segment, numbers: Rows) -> tuple[Rows, Rows]:
    """Return the same pairs for a segment."""
    wanted = numbers.astype(np.int32)
    at, found = looked_up(segment.held, wanted)
    rare = np.flatnonzero(found)
    ends = segment.ends[at[rare]]
    starts = np.where(at[rare] > 0, segment.ends[at[rare] - 1], 0)
    at, found = looked_up(segment.common, wanted)
    common = np.flatnonzero(found)
    columns, dense = np.nonzero(segment.rows[at[common]])
    which = np.concatenate((rare.repeat(ends - starts), common[columns]))
    return which, np.concatenate((segment.places[spread(starts, ends - starts)], dense)).astype(np.int64)

"""Lookup of the texts that hold a term, in a posting table at one moment."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial, reduce
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import contained, distinct, firsts
from neurogated.core.view import Rows
from neurogated.storage.index.text.posting_table import PostingTable, TableView
from neurogated.storage.index.text.segment import Places, spread
from neurogated.storage.index.text.term_dictionary import UNKNOWN

_NOTHING = np.empty(0, dtype=np.int64)
# Up to this many texts are scanned by their words; more are found through the posting lists of the terms.
_LATEST = 1024
# Reading a posting takes as long as scanning so many words of a text, of which it has about 20.
_FEW_PER_KEY = 4


def keys_with(view: TableView, numbers: Sequence[int]) -> Rows:
    """Return the keys whose texts hold all of one or more terms, ascending."""
    found = [_NOTHING]
    for part in view.segments:
        lists: list[Places] = sorted(map(part.postings, numbers), key=len)
        places = reduce(partial(_intersection, len(part)), lists)
        found.append(part.texts.keys[view.living(part, places)])
    # Each part is sorted already, which makes the stable sort fast.
    return np.sort(np.concatenate(found), kind="stable")


def _intersection(size: int, some: Places, others: Places) -> Places:
    """Return those of `some` places below `size` that are in `others`, which is longer."""
    if some.size <= _LATEST:
        return some[contained(others, some)]
    # Flags are several times as fast as searches.
    held = np.zeros(size, dtype=np.bool_)
    held[others] = True
    both: Places = some[held[some]]
    return both


def keys_with_among(view: TableView, numbers: Sequence[int], keys: Rows) -> Rows:
    """Return those of `keys`, ascending, whose texts hold all of one or more terms."""
    if keys.size > _LATEST:
        found = keys_with(view, numbers)
        return found[contained(keys, found)]
    return keys[holding(view, numbers, keys).all(axis=0)]


def holding(view: TableView, numbers: Sequence[int], keys: Rows) -> NDArray[np.bool_]:
    """Return (terms, keys) bool: whether the text of each key holds each term."""
    held = np.zeros((len(numbers), keys.size), dtype=np.bool_)
    known = [term for term, number in enumerate(numbers) if number != UNKNOWN]
    words = [numbers[term] for term in known]
    for part, here, places in view.located(keys) if known else ():
        for position, holders in part.postings_of(words):
            held[known[position], here] = contained(holders, places)
    return held


def held_by_any(view: TableView, numbers: Sequence[int], keys: Rows) -> list[bool]:
    """Return for each term whether the text of one of `keys`, ascending, holds it."""
    found = [False] * len(numbers)
    for part, _, places in view.located(keys) if numbers else ():
        for term, held in part.postings_of(numbers):
            both = contained(held, places) if places.size < held.size else contained(places, held)
            found[term] = found[term] or bool(both.any())
    return found


def keys_with_each(view: TableView, numbers: Rows) -> list[Rows]:
    """Return for each of some distinct terms the keys whose texts hold it, ascending."""
    return _grouped(*_posted(view, numbers), numbers.size)


def keys_with_each_among(
    view: TableView, numbers: Rows, keys: Rows, limits: Sequence[int], total: int
) -> Iterator[tuple[int, Rows]]:
    """Yield the position of each term within its limit among some keys, and the keys that hold it, ascending."""
    held = _grouped(*pairs_among(view, numbers, keys, np.array(limits), total), numbers.size)
    return ((term, each) for term, each in enumerate(held) if each.size <= limits[term])


def pairs_among(view: TableView, numbers: Rows, keys: Rows, limits: NDArray[np.int64], total: int) -> tuple[Rows, Rows]:
    """Return pairs of the position of a term and one of some keys that holds it; of a term beyond its limit not all.

    If the terms occur `total` times in all texts, and that is not often, it reads their posting lists. Otherwise it
    first scans the newest texts. That is quick, and shows for most terms that they exceed their limit.
    """
    if total >= _FEW_PER_KEY * keys.size:
        latest = keys[-_LATEST:]
        terms, held = _scanned(view, numbers, latest)
        if latest.size == keys.size:
            return terms, held
        counts = np.bincount(terms, minlength=numbers.size)
        (few,) = (counts <= limits).nonzero()
        beyond = counts[terms] > limits[terms]
        known = terms[beyond], held[beyond]
        place, held = _posted(view, numbers[few])
        inside = contained(keys, held)
        return np.concatenate((known[0], few[place[inside]])), np.concatenate((known[1], held[inside]))
    terms, held = _posted(view, numbers)
    inside = contained(keys, held)
    return terms[inside], held[inside]


def sharing(
    table: PostingTable, view: TableView, keys: Rows, among: Rows, most: int
) -> tuple[Rows, Rows, NDArray[np.float64]]:
    """Return for each of some keys the others among which a keyword joins it that at most `most` of these hold.

    Args:
        table: the texts.
        view: these at one moment.
        keys: distinct keys, all in `among`.
        among: the keys of the texts that count, ascending.
        most: a keyword that more of them hold joins none.

    Returns:
        Three arrays: places in `keys`, other keys, and the sums of 1 / n of the common keywords, at most 1, by place
        and then by key.
    """
    found = [(here, *part.texts.entries(places), part) for part, here, places in view.located(keys)]
    owner = np.concatenate([_NOTHING, *(here.repeat(sizes) for here, _, sizes, _ in found)])
    words = np.concatenate([_NOTHING, *(part.texts.words[entries] for _, entries, _, part in found)])
    frequencies = table.frequencies
    times = frequencies[words]
    # Where all texts count, their frequency says at once whether a word is rare.
    (shared,) = ((times > 1) & (times <= most) if among.size == table.texts else times > 1).nonzero()
    owner, words = owner[shared], words[shared]
    numbers = distinct(words)
    terms, held = pairs_among(view, numbers, among, np.full(numbers.size, most), int(frequencies[numbers].sum()))
    counts = np.bincount(terms, minlength=numbers.size)
    rare = (counts > 1) & (counts <= most)
    # A tag and a part of a keyword contain a blank, a keyword does not.
    rare[rare] = [" " not in word for word in table.vocabulary.words(numbers[rare])]
    counts[~rare] = 0
    (kept,) = rare[terms].nonzero()
    held = held[kept[terms[kept].argsort(kind="stable")]]
    place = numbers.searchsorted(words)
    (kept,) = rare[place].nonzero()
    owner, place = owner[kept], place[kept]
    sizes = counts[place]
    other = held[spread(counts.cumsum()[place] - sizes, sizes)]
    owner, share = owner.repeat(sizes), (1 / sizes).repeat(sizes)
    (differ,) = (keys[owner] != other).nonzero()
    owner, other = owner[differ], other[differ]
    first, place = firsts(owner * (int(among[-1]) + 1 if among.size else 1) + other)
    weight = np.bincount(place, share[differ], first.size)
    return owner[first], other[first], np.minimum(weight, 1.0)


def _posted(view: TableView, numbers: Rows) -> tuple[Rows, Rows]:
    """Return pairs of the position of a term and a key that holds it, by the posting lists."""
    held, keys = [_NOTHING], [_NOTHING]
    for part in view.segments:
        terms, places = part.pairs(numbers)
        living = view.owners[part.texts.keys[places]] == part.serial
        held.append(terms[living])
        keys.append(part.texts.keys[places[living]])
    return np.concatenate(held), np.concatenate(keys)


def _scanned(view: TableView, numbers: Rows, keys: Rows) -> tuple[Rows, Rows]:
    """Return pairs of the position of a term and one of `keys`, ascending, that holds it, by scanning the texts."""
    held, holders = [_NOTHING], [_NOTHING]
    # A table of all words is several times as fast as searches; unknown words have negative numbers.
    last = int(numbers.max(initial=-1))
    position = np.zeros(last + 2, dtype=np.int64)
    position[numbers] = np.arange(1, numbers.size + 1)
    position[-1] = 0
    for part, here, places in view.located(keys) if last >= 0 else ():
        entries, sizes = part.texts.entries(places)
        at = position.take(part.texts.words[entries], mode="clip")
        (hits,) = at.nonzero()
        held.append(at[hits] - 1)
        holders.append(keys[here][np.searchsorted(sizes.cumsum(), hits, side="right")])
    return np.concatenate(held), np.concatenate(holders)


def _grouped(terms: Rows, keys: Rows, count: int) -> list[Rows]:
    """Return for each of `count` terms the keys of its pairs, ascending."""
    by_term = keys[np.lexsort((keys, terms))]
    ends = np.bincount(terms, minlength=count).cumsum().tolist()
    return [by_term[begin:end] for begin, end in pairwise([0, *ends])]

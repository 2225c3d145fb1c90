"""Marks of nodes: short words that a node carries or not, such as what it is about."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.text.checkpointed_table import KeptTable
from neurogated.storage.index.text.posting_table import TableView, Tail
from neurogated.storage.index.text.segment import Impacts, Segment, TextWords, looked_up, spread
from neurogated.storage.index.text.term_dictionary import UNKNOWN

__all__ = ["MarkIndex", "OverlaidMarkIndex"]

_NOTHING = np.empty(0, dtype=np.int64)
# How many texts are looked through at once where the first few are wanted, and how much more each time.
_FEW = 4096
_WIDENING = 8


class MarkIndex(KeptTable):
    """Which marks each key carries; see `KeptTable`."""

    @staticmethod
    def _rate(texts: TextWords) -> Impacts:  # noqa: ARG004 - whichever
        # Marks are carried or not.
        return Impacts(np.empty(0, dtype=np.int32), np.empty(0, dtype=np.uint8), 1)

    def put(self, keys: Rows, marks: Sequence[Collection[str]]) -> None:
        """Give every key its marks, in the place of those it had."""
        self._table.put(keys, marks)

    def remove(self, keys: Rows) -> None:
        """Take all marks from `keys`; keys without marks are passed over."""
        self._table.remove(keys)

    def carried(self, marks: Iterable[str], without: Rows = _NOTHING, among: Rows | None = None) -> frozenset[str]:
        """Return those of `marks` that some key carries that is not among `without`, and is among `among`."""
        asked = list(marks)
        if among is not None:
            few = self.few_holders(dict.fromkeys(asked, among.size), np.setdiff1d(among, without))
            return frozenset(mark for mark, keys in few.items() if keys.size)
        with self._table.lock:
            numbers = self._table.vocabulary.numbers(asked)
            # Most are mostly no marks at all.
            known = {mark: number for mark, number in zip(asked, numbers, strict=True) if number != UNKNOWN}
            carriers = self._table.frequencies_of(np.array(list(known.values()), dtype=np.int64)).tolist()
        # More keys than are left out cannot all be among them.
        return frozenset(
            mark
            for mark, count in zip(known, carriers, strict=True)
            if count > without.size or (count and not np.isin(self.holders([mark]), without).all())
        )

    def holders(self, marks: Collection[str], limit: int | None = None, among: Rows | None = None) -> Rows:
        """Return the keys that carry all of `marks`, ascending, the first `limit` of them where it is given.

        No key carries no marks. With `among`, ascending, only these keys are looked at.
        """
        with self._table.lock:
            numbers = self._table.vocabulary.numbers(list(marks))
        if not numbers or UNKNOWN in numbers:
            return _NOTHING
        if among is not None:
            return self._table.read(lambda view: among[_carry(np.logical_and, view, numbers, among)])[:limit]
        return self._table.read(lambda view: _holders(view, numbers, limit))

    def few_holders(self, limits: Mapping[str, int], among: Rows | None = None) -> dict[str, Rows]:
        """Return the keys that carry each mark, ascending, but for the marks that more carry than their limit.

        With `among`, ascending, only these keys are looked at and counted.
        """
        marks = list(limits)
        with self._table.lock:
            numbers = np.array(self._table.vocabulary.numbers(marks), dtype=np.int64)
        if among is not None:
            held = self._table.read(lambda view: _holders_among(view, numbers, among))
            return {mark: keys for mark, keys in zip(marks, held, strict=True) if keys.size <= limits[mark]}
        with self._table.lock:
            carriers = self._table.frequencies_of(numbers)
            # Under the lock, so that no more carry a mark than were counted.
            view = self._table.view()
            few = np.flatnonzero(carriers <= np.fromiter(limits.values(), np.int64, len(marks)))
            asked = few[carriers[few] > 0]
            found = dict(zip(asked.tolist(), _holders_of_each(view, numbers[asked]), strict=True))
            return {marks[place]: found.get(place, _NOTHING) for place in few.tolist()}

    def marks_of(self, key: int, at_most: int | None = None) -> frozenset[str]:
        """Return the marks of a key, without those that more than `at_most` keys carry."""
        return frozenset(self._table.words_of(key, at_most)[0])

    def overlaid(self, changed: Rows) -> OverlaidMarkIndex:
        """Return the marks here but those of the keys `changed`, beside which others can be put."""
        return OverlaidMarkIndex(self, changed)

    def carriers(self, marks: Collection[str], keys: Rows) -> NDArray[np.bool_]:
        """Return whether each key carries one of `marks`."""
        with self._table.lock:
            numbers = [number for number in self._table.vocabulary.numbers(list(marks)) if number != UNKNOWN]
        return self._table.read(lambda view: _carry(np.logical_or, view, numbers, keys))


class OverlaidMarkIndex:
    """Marks of some keys in the place of those they have in another index: what the marks once were."""

    def __init__(self, base: MarkIndex, changed: Rows) -> None:
        self._base = base
        self._own = MarkIndex()
        self._changed = changed

    def hide(self, keys: Rows) -> None:
        """Let marks of the other index no longer count, because they change there."""
        self._changed = np.union1d(self._changed, keys)

    def put(self, keys: Rows, marks: Sequence[Collection[str]]) -> None:
        """Give every key its marks, in the place of those it had."""
        self._own.put(keys, marks)

    def remove(self, keys: Rows) -> None:
        """Take all marks from `keys` that were put here."""
        self._own.remove(keys)

    def carried(self, marks: Iterable[str], without: Rows = _NOTHING, among: Rows | None = None) -> frozenset[str]:
        """Return those of `marks` that some key carries that is not among `without`, and is among `among`."""
        asked = list(marks)
        below = self._base.carried(asked, np.union1d(self._changed, without), among)
        return below | self._own.carried(asked, without, among)

    def holders(self, marks: Collection[str], limit: int | None = None, among: Rows | None = None) -> Rows:
        """Return the keys that carry all of `marks`, ascending, the first `limit` of them where it is given."""
        below = self._base.holders(marks, None if limit is None else limit + self._changed.size, among)
        return np.union1d(below[~np.isin(below, self._changed)], self._own.holders(marks, limit, among))[:limit]

    def few_holders(self, limits: Mapping[str, int], among: Rows | None = None) -> dict[str, Rows]:
        """Return the keys that carry each mark, ascending, but for the marks that more carry than their limit."""
        found = ((mark, self.holders([mark], limit + 1, among)) for mark, limit in limits.items())
        return {mark: keys for mark, keys in found if keys.size <= limits[mark]}

    def marks_of(self, key: int, at_most: int | None = None) -> frozenset[str]:
        """Return the marks of a key, without those that more than `at_most` keys carry."""
        marks = self._own.marks_of(key) if key in self._changed else self._base.marks_of(key)
        return marks if at_most is None else frozenset(self.few_holders(dict.fromkeys(marks, at_most)))

    def carriers(self, marks: Collection[str], keys: Rows) -> NDArray[np.bool_]:
        """Return whether each key carries one of `marks`."""
        own = np.isin(keys, self._changed)
        carries: NDArray[np.bool_] = np.where(own, self._own.carriers(marks, keys), self._base.carriers(marks, keys))
        return carries


def _holders(view: TableView, numbers: Sequence[int], limit: int | None) -> Rows:
    found = [_first_holders(view, part, numbers, limit) for part in view.parts]
    # Each part is in order already, and this sort makes use of it.
    return np.sort(np.concatenate(found), kind="stable")[:limit]


def _first_holders(view: TableView, part: Segment | Tail, numbers: Sequence[int], limit: int | None) -> Rows:
    """Return the first keys of a part that carry all of the marks: `limit` or more of them, if there are so many."""
    size = len(part.texts)
    # What few can carry is looked up whole; of what many carry the beginning is enough.
    step = size if limit is None or part.at_most(numbers) <= _FEW else _FEW
    begin, found, count = 0, [_NOTHING], 0
    while begin < size and (limit is None or count < limit):
        places = part.holding(numbers, begin, min(begin + step, size))
        found.append(part.texts.keys[view.living(part, places)])
        count += found[-1].size
        begin, step = begin + step, step * _WIDENING
    return np.concatenate(found)


def _carry(join: np.ufunc, view: TableView, numbers: Sequence[int], keys: Rows) -> NDArray[np.bool_]:
    """Return whether each key carries the marks, all or one of them as `join` says."""
    carries = np.zeros(keys.size, dtype=np.bool_)
    for part, here, places in view.located(keys) if numbers else ():
        carries[here] = join.reduce([part.having(number, places) for number in numbers])
    return carries


def _holders_among(view: TableView, numbers: Rows, keys: Rows) -> list[Rows]:
    """Return those of some keys, ascending, that carry each of some marks; the keys' own marks are looked through."""
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
    marks, found = np.concatenate(held), np.concatenate(holders)
    by_mark = np.lexsort((found, marks))
    counts = np.bincount(marks, minlength=wanted.size)
    split = np.split(found[by_mark], np.cumsum(counts)[:-1]) if wanted.size else []
    return [split[place] for place in np.argsort(order, kind="stable").tolist()]


def _holders_of_each(view: TableView, numbers: Rows) -> list[Rows]:
    """Return the keys that carry each of some marks, which are different ones, ascending."""
    if not numbers.size:
        return []
    order = np.argsort(numbers)
    held, keys = [_NOTHING], [_NOTHING]
    for part in view.parts:
        wanted = numbers[order]
        which, places = _in_tail(part, wanted) if isinstance(part, Tail) else _in_segment(part, wanted)
        living = view.owners[part.texts.keys[places]] == part.serial
        held.append(order[which[living]])
        keys.append(part.texts.keys[places[living]])
    marks, carriers = np.concatenate(held), np.concatenate(keys)
    by_mark = np.lexsort((carriers, marks))
    return np.split(carriers[by_mark], np.cumsum(np.bincount(marks, minlength=numbers.size))[:-1])


def _in_tail(tail: Tail, numbers: Rows) -> tuple[Rows, Rows]:
    """Return which of the ascending `numbers` the texts of a tail hold, and the places of the texts, pair by pair."""
    words = tail.texts.words
    which = np.searchsorted(numbers, words)
    entries = np.flatnonzero(numbers.take(which, mode="clip") == words)
    return which[entries], np.searchsorted(tail.texts.ends, entries, side="right")


def _in_segment(segment: Segment, numbers: Rows) -> tuple[Rows, Rows]:
    """Return the same of a segment."""
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

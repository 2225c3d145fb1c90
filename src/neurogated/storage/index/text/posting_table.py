"""Which words which texts hold, while texts come and go: segments that never change, and a short memtable."""

from __future__ import annotations

import logging
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from threading import RLock, Thread
from typing import Any, Self, TypeVar
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.background import JOB_FAILURES, started
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.text.memtable import Memtable, NewTexts
from neurogated.storage.index.text.segment import ForwardIndex, Places, Rater, Segment
from neurogated.storage.index.text.table_files import Counters, Numbers, TableSnapshot
from neurogated.storage.index.text.term_dictionary import Vocabulary

__all__ = ["MEMTABLE_TEXTS", "NOWHERE", "PostingTable", "TableView"]

NOWHERE = -1
"""The owner of a key without text."""
MEMTABLE_TEXTS = 512
"""How many texts wait before they are made a segment."""
# A segment is so many times as long as the next: larger means fewer segments to search, and more merging.
_RATIO = 8
# Merges of more texts than that take longer than a writer should wait.
_SHORT_MERGE = 4096
# How many segments may wait for a long merge before writers do.
_MOST_SEGMENTS = 12

_logger = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class TableView:
    """A table at one moment, to be read without its lock."""

    segments: tuple[Segment, ...]
    memtable: Memtable
    owners: NDArray[np.int32]

    @property
    def parts(self) -> Sequence[Segment | Memtable]:
        """The segments and the memtable."""
        return (*self.segments, self.memtable)

    def owner_of(self, keys: Rows) -> NDArray[np.int32]:
        """Return which part has the text of each key, by serial number."""
        return _get(self.owners, keys, NOWHERE)

    def living(self, part: Segment | Memtable, places: Places | None = None) -> Places:
        """Return those of the places in a part, all when left out, whose texts were neither replaced nor removed."""
        keys = part.texts.keys if places is None else part.texts.keys[places]
        alive = self.owners[keys] == part.serial
        return np.flatnonzero(alive) if places is None else places[alive]

    def located(self, keys: Rows) -> Iterator[tuple[Segment | Memtable, Rows, Rows]]:
        """Yield each part that has texts of `keys`, which of the keys they are, and their places in the part."""
        owners = self.owner_of(keys)
        for part in self.parts:
            if not len(part.texts):
                continue
            (here,) = (owners == part.serial).nonzero()
            if here.size:
                places = np.searchsorted(part.texts.keys, keys[here])
                # The owners are live: texts may have come into the memtable since this view was taken.
                there = part.texts.keys.take(places, mode="clip") == keys[here]
                yield part, here[there], places[there]


class PostingTable:
    """Texts under integer keys, each a set of words with how often it holds them.

    New texts are put into a short memtable, which becomes a segment when it is full; segments are merged so that each
    is much longer than the next, long merges in a thread of their own. Replaced and removed texts stay in their
    segments, without counting, until these are merged. Readers wait only for the moments in which something changes.

    Args:
        rate: tells what the words of texts count for.
        memtable_texts: how many texts may wait in the memtable.
        vocabulary: numbers of words, shared with no other table; a new one when left out.
    """

    def __init__(self, rate: Rater, memtable_texts: int = MEMTABLE_TEXTS, vocabulary: Vocabulary | None = None) -> None:
        self.lock = RLock()
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self.rate = rate
        self.texts = 0
        self.total = 0
        self._memtable_texts = memtable_texts
        self._last_serial = 0
        # Exchanged as one, so that an interrupt leaves either the old or the new.
        self._parts: tuple[tuple[Segment, ...], NewTexts] = ((), NewTexts(0, rate))
        self._owners = _Places(np.int32)
        self._frequencies = _Places(np.int32)
        self._view: TableView | None = None
        self.changes = 0
        self._merging: Thread | None = None
        self._last_merging = NOWHERE

    def put(self, keys: Rows, words: Sequence[Collection[str]], counts: NDArray[Any]) -> None:
        """Add texts, or put them in the place of those with the same keys.

        Args:
            keys: (n,) keys, 0 or larger, each once.
            words: for each key the words its text holds, each once.
            counts: how often the texts hold their words, one text after the other; 0 for a tag.
        """
        with self.lock:
            held = list(chain.from_iterable(words))
            flat = np.fromiter(map(self.vocabulary.add(held).__getitem__, held), np.int32, len(held))
            sizes = np.fromiter(map(len, words), np.int64, len(words))
            order = np.lexsort((flat, np.repeat(np.arange(sizes.size), sizes)))
            flat, counts, ends = flat[order], counts[order], np.cumsum(sizes)
            self.remove(keys)
            self._owners.reach(int(keys.max(initial=-1)) + 1, NOWHERE)
            self._frequencies.reach(len(self.vocabulary), 0)
            memtable = self._parts[1]
            memtable.put(ForwardIndex(keys, ends, flat, counts))
            self._owners.values[keys] = memtable.serial
            self._count(flat, counts, sizes.size, 1)
            self._changed()
            if len(memtable) > self._memtable_texts:
                self._flush()
        if len(self._parts[0]) > _MOST_SEGMENTS:
            self.wait()

    def remove(self, keys: Rows) -> None:
        """Forget the texts of `keys`; keys without one are passed over."""
        with self.lock:
            keys = np.unique(keys[_get(self._owners.values, keys, NOWHERE) != NOWHERE])
            if not keys.size:
                return
            for part, here, places in self.view().located(keys):
                entries, _ = part.texts.entries(places)
                self._count(part.texts.words[entries], part.texts.counts_at(entries), -here.size, -1)
                self._owners.values[keys[here]] = NOWHERE
            self._parts[1].remove(keys)
            self._changed()
            self._tidy()

    def frequencies_of(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many texts hold each word, 0 for a number that is none."""
        return _get(self._frequencies.values, words, 0).astype(np.int64)

    def words_of(self, keys: Rows, at_most: int | None = None) -> list[dict[str, int]]:
        """Return for each key the words of its text in the order of their numbers, and how often it holds each.

        Words that more than `at_most` texts hold are left out, where it is given. A key without text has none.
        """
        found: list[dict[str, int]] = [{} for _ in range(keys.size)]
        with self.lock:
            for part, here, places in self.view().located(keys):
                entries, sizes = part.texts.entries(places)
                words, owners = part.texts.words[entries].astype(np.int64), here.repeat(sizes)
                if at_most is not None:
                    few = np.flatnonzero(self.frequencies_of(words) <= at_most)
                    words, entries, owners = words[few], entries[few], owners[few]
                distinct, which = np.unique(words, return_inverse=True)
                names, counts = self.vocabulary.words(distinct), part.texts.counts_at(entries).tolist()
                for owner, place, count in zip(owners.tolist(), which.tolist(), counts, strict=True):
                    found[owner][names[place]] = count
        return found

    def view(self) -> TableView:
        """Return the table as it is now, to be read as long as nothing changes."""
        with self.lock:
            if self._view is None:
                segments, new = self._parts
                self._view = TableView(segments, new.joined(), self._owners.values)
            return self._view

    def read(self, question: Callable[[TableView], _Answer]) -> _Answer:
        """Return the answer to a question that only reads, asked again should the table have changed meanwhile."""
        with self.lock:
            view, changes = self.view(), self.changes
        answer = question(view)
        with self.lock:
            return answer if changes == self.changes else question(self.view())

    def isolated(self) -> PostingTable:
        """Return a table with the same texts, for reading, which later changes here do not reach; segments are shared.

        It shares the lock too, which guards the vocabulary.
        """
        with self.lock:
            table = PostingTable(self.rate, self._memtable_texts, self.vocabulary)
            table.lock = self.lock
            table.texts, table.total, table._last_serial = self.texts, self.total, self._last_serial
            table._view = replace(self.view(), owners=self._owners.values.copy())
            table._frequencies.extend(self._frequencies.values)
            return table

    def wait(self) -> None:
        """Wait until no merge is under way."""
        while (merging := self._merging) is not None:
            merging.join()

    def freeze(self) -> TableSnapshot:
        """Return the present state, to be written while the table goes on changing."""
        with self.lock:
            view, kept = self.view(), self.vocabulary.kept
            counters = Counters(view.owners.copy(), self._frequencies.values.copy())
            return TableSnapshot(
                view.segments, view.memtable.texts, counters, kept, self.vocabulary.new_words(), self._numbers()
            )

    @classmethod
    def load(cls, folder: Path, rate: Rater) -> Self:
        """Return a table over the files of a state that was written; raises OSError or ValueError."""
        state = TableSnapshot.read(folder)
        table = cls(rate, vocabulary=Vocabulary(state.words))
        table.texts, table.total = state.numbers.texts, state.numbers.total
        table._last_serial = state.numbers.last_serial
        table._owners.extend(state.counters.owners)
        table._frequencies.extend(state.counters.frequencies)
        memtable = NewTexts(state.numbers.memtable_serial, rate)
        # Copied, so that the files do not stay in use.
        memtable.put(state.memtable.take(np.arange(len(state.memtable))))
        table._parts = state.segments, memtable
        return table

    def remap(self, folder: Path) -> None:
        """Use the files of a state of this table in the place of what is in memory; raises OSError or ValueError."""
        state = TableSnapshot.read(folder)
        mapped = {segment.name: segment for segment in state.segments}
        with self.lock:
            segments, memtable = self._parts
            self._parts = tuple(mapped.get(segment.name, segment) for segment in segments), memtable
            self.vocabulary.cover(state.words)
            self._view = None

    def _numbers(self) -> Numbers:
        return Numbers(self.texts, self.total, self._parts[1].serial, self._last_serial)

    def _count(self, words: NDArray[np.int32], counts: NDArray[Any], texts: int, sign: int) -> None:
        np.add.at(self._frequencies.values, words, sign)
        self.total += sign * int(counts.sum())
        self.texts += texts

    def _changed(self) -> None:
        self._view = None
        self.changes += 1

    # Segments

    def _new_serial(self) -> int:
        self._last_serial += 1
        return self._last_serial

    def _flush(self) -> None:
        """Make a segment of the memtable."""
        segments, new = self._parts
        segment = Segment.of(new.joined().texts, self.rate, uuid4().hex, new.serial)
        self._parts = (*segments, segment), NewTexts(self._new_serial(), self.rate)
        self._changed()
        self._tidy()

    def _tidy(self) -> None:
        """Merge segments that have become too many for their lengths, or hold too little that counts."""
        segments = self._parts[0]
        if self._merging is None and sum(map(len, segments)) > 2 * self.texts + self._memtable_texts:
            first = 0
        else:
            # Those that are being merged stay what they are until then, and so do the longer ones before them.
            free = 1 + max((place for place, s in enumerate(segments) if s.serial == self._last_merging), default=-1)
            first = free + _first_to_merge(segments[free:])
            if first >= len(segments) - 1:
                return
        run = segments[first:]
        if sum(map(len, run)) <= _SHORT_MERGE:
            self._merge(run)
        elif self._merging is None:
            merging = Thread(target=self._merge_aside, args=(run,), name="neurogated-merging", daemon=True)
            if started(merging):
                self._merging, self._last_merging = merging, run[-1].serial

    def _merge_aside(self, run: Sequence[Segment]) -> None:
        try:
            self._merge(run)
        except JOB_FAILURES:
            # What was to be merged is searched as it is.
            _logger.exception("%d segments cannot be merged; searching goes on without", len(run))
        finally:
            with self.lock:
                self._merging, self._last_merging = None, NOWHERE

    def _merge(self, run: Sequence[Segment]) -> None:
        """Put one segment in the place of those of `run`, which follow each other."""
        with self.lock:
            view, serial = self.view(), self._new_serial()
        texts = ForwardIndex.joined([part.texts.take(view.living(part)) for part in run])
        merged = Segment.of(texts, self.rate, uuid4().hex, serial)
        old = [part.serial for part in run]
        with self.lock:
            segments, memtable = self._parts
            at = 1 + max(place for place, part in enumerate(segments) if part.serial in old)
            # Both are there while the texts change hands, so that an interrupt loses and doubles nothing.
            self._parts = (*segments[:at], merged, *segments[at:]), memtable
            owners = self._owners.values
            owners[texts.keys[np.isin(owners[texts.keys], old)]] = serial
            kept = tuple(part for part in self._parts[0] if part.serial not in old and len(part))
            self._parts = kept, memtable
            self._changed()


def _first_to_merge(segments: Sequence[Segment]) -> int:
    """Return which segment, with all that follow it, should become one; the last if none should."""
    first = max(len(segments) - 1, 0)
    length = sum(map(len, segments[first:]))
    while first and len(segments[first - 1]) < _RATIO * length:
        first -= 1
        length += len(segments[first])
    return first


class _Places(Column):
    """A column whose values may change."""

    def reach(self, size: int, filling: int) -> None:
        """Make the column at least `size` long."""
        if size > len(self):
            self.extend(np.full(size - len(self), filling))


def _get(values: NDArray[Any], places: Rows, missing: int) -> NDArray[Any]:
    """Return the values at `places`, `missing` where there are none."""
    if places.size and places.min() >= 0 and places.max() < values.size:
        return values[places]
    within = (places >= 0) & (places < values.size)
    found = np.full(places.size, missing, dtype=values.dtype)
    found[within] = values[places[within]]
    return found

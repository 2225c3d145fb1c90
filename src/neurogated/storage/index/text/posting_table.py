"""A mutable table of the words of texts: immutable segments and a short memtable."""

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
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.text.memtable import Memtable, NewTexts
from neurogated.storage.index.text.segment import ForwardIndex, Places, Rater, Segment
from neurogated.storage.index.text.table_files import Counters, Numbers, TableSnapshot
from neurogated.storage.index.text.term_dictionary import Vocabulary
from neurogated.utils.background import JOB_FAILURES, started

__all__ = ["MEMTABLE_TEXTS", "NOWHERE", "PostingTable", "TableView"]

NOWHERE = -1
"""The owner of a key without a text."""
MEMTABLE_TEXTS = 512
"""How many texts the memtable holds before it is flushed to a segment."""
# A segment is at least this many times as long as the next. A larger ratio means fewer segments and more merging.
_RATIO = 8
# Merges of more texts run in the background, since a writer should not wait that long.
_SHORT_MERGE = 4096
# With more segments than this, writers wait for the running merge.
_MOST_SEGMENTS = 12

_logger = logging.getLogger(__name__)
_Answer = TypeVar("_Answer")


@dataclass(frozen=True, slots=True)
class TableView:
    """A table at one moment, which readers use without its lock."""

    segments: tuple[Segment, ...]
    memtable: Memtable
    owners: NDArray[np.int32]

    @property
    def parts(self) -> Sequence[Segment | Memtable]:
        """The segments and the memtable."""
        return (*self.segments, self.memtable)

    def owner_of(self, keys: Rows) -> NDArray[np.int32]:
        """Return the serial number of the part that owns the text of each key."""
        return _get(self.owners, keys, NOWHERE)

    def living(self, part: Segment | Memtable, places: Places | None = None) -> Places:
        """Return those of the places in a part whose texts are live; all live places if omitted."""
        keys = part.texts.keys if places is None else part.texts.keys[places]
        alive = self.owners[keys] == part.serial
        return np.flatnonzero(alive) if places is None else places[alive]

    def located(self, keys: Rows) -> Iterator[tuple[Segment | Memtable, Rows, Rows]]:
        """Yield each part that has texts of `keys`, the positions of these keys, and their places in the part."""
        owners = self.owner_of(keys)
        for part in self.parts:
            if not len(part.texts):
                continue
            (here,) = (owners == part.serial).nonzero()
            if here.size:
                places = np.searchsorted(part.texts.keys, keys[here])
                # The owners are live: texts may have entered the memtable after this view was taken.
                there = part.texts.keys.take(places, mode="clip") == keys[here]
                yield part, here[there], places[there]


class PostingTable:
    """Texts under integer keys; each text is a set of words with their counts.

    New texts go to a short memtable. A full memtable is flushed to a segment. Merges keep each segment much longer than
    the next; long merges run in a thread. Replaced and removed texts stay in their segments as tombstones until a
    merge. Readers take the lock only briefly.

    Args:
        rate: computes the impacts of the words of texts.
        memtable_texts: capacity of the memtable.
        vocabulary: the numbers of words, shared with no other table; a new one if omitted.
    """

    def __init__(self, rate: Rater, memtable_texts: int = MEMTABLE_TEXTS, vocabulary: Vocabulary | None = None) -> None:
        self.lock = RLock()
        self.vocabulary = Vocabulary() if vocabulary is None else vocabulary
        self.rate = rate
        self.texts = 0
        self.total = 0
        self._memtable_texts = memtable_texts
        self._last_serial = 0
        # Replaced together, so that an interrupt leaves either the old or the new parts.
        self._parts: tuple[tuple[Segment, ...], NewTexts] = ((), NewTexts(0, rate))
        self._owners = _Places(np.int32)
        self._frequencies = _Places(np.int32)
        self._view: TableView | None = None
        self.changes = 0
        self._merging: Thread | None = None
        self._last_merging = NOWHERE

    def put(self, keys: Rows, words: Sequence[Collection[str]], counts: NDArray[Any]) -> None:
        """Upsert texts by their keys.

        Args:
            keys: (n,) distinct keys, 0 or larger.
            words: for each key the distinct words of its text.
            counts: the counts of all words, text after text; 0 for a tag.
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
        """Remove the texts of `keys`; keys without a text are skipped."""
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
        """Return how many texts hold each word; 0 for an unknown number."""
        return _get(self._frequencies.values, words, 0).astype(np.int64)

    def words_of(self, keys: Rows, at_most: int | None = None) -> list[dict[str, int]]:
        """Return for each key the words of its text with their counts, in the order of the words' numbers.

        With `at_most`, words that more texts hold are omitted. A key without a text has no words.
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
        """Return the present table; the view is valid until the next change."""
        with self.lock:
            if self._view is None:
                segments, new = self._parts
                self._view = TableView(segments, new.joined(), self._owners.values)
            return self._view

    def read(self, question: Callable[[TableView], _Answer]) -> _Answer:
        """Return the answer to a read-only question; ask again if the table changed meanwhile."""
        with self.lock:
            view, changes = self.view(), self.changes
        answer = question(view)
        with self.lock:
            return answer if changes == self.changes else question(self.view())

    def isolated(self) -> PostingTable:
        """Return a read-only table with the same texts, isolated from later changes. It shares the segments.

        It also shares the lock, which guards the vocabulary.
        """
        with self.lock:
            table = PostingTable(self.rate, self._memtable_texts, self.vocabulary)
            table.lock = self.lock
            table.texts, table.total, table._last_serial = self.texts, self.total, self._last_serial
            table._view = replace(self.view(), owners=self._owners.values.copy())
            table._frequencies.extend(self._frequencies.values)
            return table

    def wait(self) -> None:
        """Wait until no merge is running."""
        while (merging := self._merging) is not None:
            merging.join()

    def freeze(self) -> TableSnapshot:
        """Return the present state, to be written while the table changes."""
        with self.lock:
            view, kept = self.view(), self.vocabulary.kept
            counters = Counters(view.owners.copy(), self._frequencies.values.copy())
            return TableSnapshot(
                view.segments, view.memtable.texts, counters, kept, self.vocabulary.new_words(), self._numbers()
            )

    @classmethod
    def load(cls, folder: Path, rate: Rater) -> Self:
        """Return a table over the files of a written state; raises OSError or ValueError."""
        state = TableSnapshot.read(folder)
        table = cls(rate, vocabulary=Vocabulary(state.words))
        table.texts, table.total = state.numbers.texts, state.numbers.total
        table._last_serial = state.numbers.last_serial
        table._owners.extend(state.counters.owners)
        table._frequencies.extend(state.counters.frequencies)
        memtable = NewTexts(state.numbers.memtable_serial, rate)
        # A copy, so that the files do not stay in use.
        memtable.put(state.memtable.take(np.arange(len(state.memtable))))
        table._parts = state.segments, memtable
        return table

    def remap(self, folder: Path) -> None:
        """Use the files of a written state of this table instead of memory; raises OSError or ValueError."""
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
        """Turn the memtable into a segment."""
        segments, new = self._parts
        segment = Segment.of(new.joined().texts, self.rate, uuid4().hex, new.serial)
        self._parts = (*segments, segment), NewTexts(self._new_serial(), self.rate)
        self._changed()
        self._tidy()

    def _tidy(self) -> None:
        """Merge segments that are too many for their lengths, or that hold too many tombstones."""
        segments = self._parts[0]
        if self._merging is None and sum(map(len, segments)) > 2 * self.texts + self._memtable_texts:
            first = 0
        else:
            # The segments of a running merge, and the longer ones before them, are not merged again now.
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
            # The unmerged segments remain searchable.
            _logger.exception("merging %d segments failed; searches use them unmerged", len(run))
        finally:
            with self.lock:
                self._merging, self._last_merging = None, NOWHERE

    def _merge(self, run: Sequence[Segment]) -> None:
        """Replace the consecutive segments of `run` by one."""
        with self.lock:
            view, serial = self.view(), self._new_serial()
        texts = ForwardIndex.joined([part.texts.take(view.living(part)) for part in run])
        merged = Segment.of(texts, self.rate, uuid4().hex, serial)
        old = [part.serial for part in run]
        with self.lock:
            segments, memtable = self._parts
            at = 1 + max(place for place, part in enumerate(segments) if part.serial in old)
            # Old and new segments coexist while the owners change, so an interrupt neither loses nor doubles a text.
            self._parts = (*segments[:at], merged, *segments[at:]), memtable
            owners = self._owners.values
            owners[texts.keys[np.isin(owners[texts.keys], old)]] = serial
            kept = tuple(part for part in self._parts[0] if part.serial not in old and len(part))
            self._parts = kept, memtable
            self._changed()


def _first_to_merge(segments: Sequence[Segment]) -> int:
    """Return the position of the first segment to merge with all that follow; the last position for no merge."""
    first = max(len(segments) - 1, 0)
    length = sum(map(len, segments[first:]))
    while first and len(segments[first - 1]) < _RATIO * length:
        first -= 1
        length += len(segments[first])
    return first


class _Places(Column):
    """A column with mutable values."""

    def reach(self, size: int, filling: int) -> None:
        """Extend the column to at least `size` values."""
        if size > len(self):
            self.extend(np.full(size - len(self), filling))


def _get(values: NDArray[Any], places: Rows, missing: int) -> NDArray[Any]:
    """Return the values at `places`; `missing` for places out of range."""
    if places.size and places.min() >= 0 and places.max() < values.size:
        return values[places]
    within = (places >= 0) & (places < values.size)
    found = np.full(places.size, missing, dtype=values.dtype)
    found[within] = values[places[within]]
    return found

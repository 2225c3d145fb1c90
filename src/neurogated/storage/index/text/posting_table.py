"""A mutable table of the words of texts, in immutable segments."""

from __future__ import annotations

import json
import logging
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from pathlib import Path
from threading import RLock, Thread
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import distinct
from neurogated.core.files import write_text
from neurogated.core.view import Rows
from neurogated.storage.files import link_arrays, load_arrays, save_arrays
from neurogated.storage.index.text.segment import ForwardIndex, Places, TextSegment
from neurogated.utils.background import JOB_FAILURES, started

UNKNOWN = -1


class Vocabulary:
    """Numbers of words, assigned in order of arrival and never reassigned. Tables with common texts share it."""

    def __init__(self, words: Iterable[str] = ()) -> None:
        """Start with distinct words."""
        self._words = list(words)
        self._numbers = dict(zip(self._words, range(len(self)), strict=True))

    def __len__(self) -> int:
        return len(self._words)

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word, or `UNKNOWN`."""
        return list(map(self._numbers.get, words, repeat(UNKNOWN)))

    def add(self, words: Iterable[str]) -> dict[str, int]:
        """Return the number of each word; assign numbers to new words."""
        distinct = list(dict.fromkeys(words))
        numbers = dict(zip(distinct, self.numbers(distinct), strict=True))
        following = len(self)
        for word in [word for word, number in numbers.items() if number == UNKNOWN]:
            # In this order no interrupt can give one number to two words.
            self._words.append(word)
            self._numbers[word] = numbers[word] = following
            following += 1
        return numbers

    def words(self, numbers: Rows) -> list[str]:
        """Return the words of some numbers."""
        return [self._words[number] for number in numbers.tolist()]

    def first(self, count: int) -> list[str]:
        """Return the words of the first numbers."""
        return self._words[:count]


_FORMAT = 11
_STATE = "state.json"
_COUNTERS = "counters"
_WORDS = "words.json"
_NUMBERS = "texts", "spoken", "total"
NOWHERE = -1
"""The owner of a key without a text."""
MEMTABLE_TEXTS = 512
"""The newest texts up to this many are merged at once, so that a search visits few segments."""
# A segment is at least this many times as long as the next. A larger ratio means fewer segments and more merging.
_RATIO = 8
# Merges of more texts run in the background, since a writer should not wait that long.
_SHORT_MERGE = 4096
# With more segments than this, writers wait for the running merge.
_MOST_SEGMENTS = 12

_logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class TableView:
    """A table at one moment; it never changes."""

    segments: tuple[TextSegment, ...] = ()
    """The oldest and longest first."""
    owners: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """For each key the serial number of the segment that owns its text, or `NOWHERE`."""
    frequencies: NDArray[np.int32] = field(default_factory=lambda: np.empty(0, dtype=np.int32))
    """For each word the number of texts that hold it."""
    texts: int = 0
    spoken: int = 0
    """Number of texts with words that are no tags."""
    total: int = 0
    """Number of words of all texts, with repetitions."""

    def living(self, part: TextSegment, places: Places) -> Places:
        """Return those of the places in a segment whose texts are live."""
        living: Places = places[self.owners[part.texts.keys[places]] == part.serial]
        return living

    def located(self, keys: Rows) -> Iterator[tuple[TextSegment, Rows, Rows]]:
        """Yield each segment that has texts of `keys`, the positions of these keys, and their places in the segment."""
        owners = _get(self.owners, keys, NOWHERE)
        for part in self.segments:
            (here,) = (owners == part.serial).nonzero()
            if here.size:
                yield part, here, part.texts.keys.searchsorted(keys[here])

    def frequencies_of(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many texts hold each word; 0 for an unknown number."""
        return _get(self.frequencies, words, 0).astype(np.int64)

    def without(self, keys: Rows) -> TableView:
        """Return the table without the texts of `keys`; keys without a text are skipped."""
        keys = keys[_get(self.owners, keys, NOWHERE) != NOWHERE]
        if not keys.size:
            return self
        keys, view = distinct(keys), self
        for part, _, places in self.located(keys):
            view = view.counted(part.texts.take(places), -1)
        owners = self.owners.copy()
        owners[keys] = NOWHERE
        return replace(view, owners=owners)

    def counted(self, texts: ForwardIndex, sign: int, words: int = 0, **changes: Any) -> TableView:  # noqa: ANN401
        """Return the table with the counts of more texts, or less by `sign`, and other changes.

        `words` is how many words there are.
        """
        frequencies, lengths = _extended(self.frequencies, words, 0), texts.lengths()
        np.add.at(frequencies, texts.words, sign)
        return replace(
            self,
            frequencies=frequencies,
            texts=self.texts + sign * lengths.size,
            spoken=self.spoken + sign * int(np.count_nonzero(lengths)),
            total=self.total + sign * int(np.add.reduce(lengths)),
            **changes,
        )


class PostingTable:
    """Texts under integer keys; each text is a set of words with their counts.

    Each change adds a segment. Merges keep each segment much longer than the next; long merges run in a thread.
    Replaced and removed texts stay in their segments as tombstones until a merge. Each change replaces the view as a
    whole, so readers take it without a lock, and an interrupt leaves either the old or the new one.
    """

    def __init__(self) -> None:
        # Serialises the changes.
        self.lock = RLock()
        self.vocabulary = Vocabulary()
        self.view = TableView()
        self.last_serial = 0
        # How many segments belong to another table, too, and are not merged.
        self._shared = 0
        self._merging: Thread | None = None
        self._last_merging = NOWHERE

    def put_words(self, keys: Rows, words: Sequence[Collection[str]], counts: NDArray[Any]) -> None:
        """Upsert texts by their keys.

        Args:
            keys: (n,) distinct keys, 0 or larger.
            words: for each key the distinct words of its text.
            counts: the counts of all words, text after text; 0 for a tag.
        """
        if not keys.size:
            return
        with self.lock:
            texts, view = self._numbered(keys, words, counts), self.view.without(keys)
            run = self._memtable(keys.size)
            whole = ForwardIndex.joined([*self._living(view, run), texts]) if run else texts
            segment = TextSegment.of(whole, self._new_serial())
            owners = _extended(view.owners, int(np.maximum.reduce(keys)) + 1, NOWHERE)
            owners[segment.texts.keys] = segment.serial
            segments = (*view.segments[: len(view.segments) - len(run)], segment)
            self.view = view.counted(texts, 1, len(self.vocabulary), segments=segments, owners=owners)
            if len(segments) > 1:
                self._tidy()
        if len(self.view.segments) > _MOST_SEGMENTS + self._shared:
            self.wait()

    def _numbered(self, keys: Rows, words: Sequence[Collection[str]], counts: NDArray[Any]) -> ForwardIndex:
        """Return texts in the order of their keys, as numbers of words; arguments as of `put_words`."""
        held = list(chain.from_iterable(words))
        flat = np.fromiter(map(self.vocabulary.add(held).__getitem__, held), np.int32, len(held))
        sizes = np.fromiter(map(len, words), np.int64, len(words))
        by_key = keys.argsort()
        order = np.lexsort((flat, by_key.argsort().repeat(sizes)))
        small = np.min_scalar_type(int(np.maximum.reduce(counts, initial=0)))
        return ForwardIndex(keys[by_key], sizes[by_key].cumsum(), flat[order], counts[order].astype(small))

    def remove(self, keys: Rows) -> None:
        """Remove the texts of `keys`; keys without a text are skipped."""
        with self.lock:
            view, self.view = self.view, self.view.without(keys)
            if view is not self.view:
                self._tidy()

    def words_of(self, keys: Rows, at_most: int | None = None) -> list[dict[str, int]]:
        """Return for each key the words of its text with their counts, in the order of the words' numbers.

        With `at_most`, words that more texts hold are omitted. A key without a text has no words.
        """
        found: list[dict[str, int]] = [{} for _ in range(keys.size)]
        view = self.view
        for part, here, places in view.located(keys):
            entries, sizes = part.texts.entries(places)
            words, owners = part.texts.words[entries].astype(np.int64), here.repeat(sizes)
            if at_most is not None:
                few = (view.frequencies_of(words) <= at_most).nonzero()[0]
                words, entries, owners = words[few], entries[few], owners[few]
            distinct, which = np.unique(words, return_inverse=True)
            names, counts = self.vocabulary.words(distinct), part.texts.counts[entries].tolist()
            for owner, place, count in zip(owners.tolist(), which.tolist(), counts, strict=True):
                found[owner][names[place]] = count
        return found

    def isolated(self) -> Self:
        """Return a table with the same texts, isolated from later changes; it shares segments and vocabulary."""
        with self.lock:
            table = self._of(self.vocabulary, self.view, self.last_serial, shared=len(self.view.segments))
            # It guards the vocabulary.
            table.lock = self.lock
            return table

    @classmethod
    def _of(cls, vocabulary: Vocabulary, view: TableView, last_serial: int, shared: int = 0) -> Self:
        table = cls()
        table.vocabulary, table.view, table.last_serial, table._shared = vocabulary, view, last_serial, shared
        return table

    def wait(self) -> None:
        """Wait until no merge is running."""
        while (merging := self._merging) is not None:
            merging.join()

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write files into the empty `folder`, with links to unchanged segments in `previous`; raises OSError.

        The table must not change meanwhile; see `isolated`.
        """
        view = self.view
        for part in view.segments:
            if previous is None or not link_arrays(previous, folder, part.name):
                part.save(folder)
        save_arrays(folder, _COUNTERS, view)
        write_text(folder / _WORDS, json.dumps(self.vocabulary.first(view.frequencies.size)))
        state = {
            "format": _FORMAT,
            "segments": [{"name": s.name, "serial": s.serial, "mean": s.mean} for s in view.segments],
            "numbers": {name: getattr(view, name) for name in _NUMBERS} | {"last_serial": self.last_serial},
        }
        write_text(folder / _STATE, json.dumps(state))

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return a table over the mapped files of a written one; raises OSError, or ValueError for another format."""
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        try:
            listed, numbers = {_FORMAT: state["segments"]}[state["format"]], state["numbers"]
            segments = tuple(TextSegment.load(folder, **found) for found in listed)
            vocabulary = Vocabulary(json.loads((folder / _WORDS).read_text(encoding="utf-8")))
            counters = load_arrays(folder, _COUNTERS, TableView)
            view = TableView(segments, **counters, **{name: numbers[name] for name in _NUMBERS})
            last_serial = numbers["last_serial"]
        except (KeyError, TypeError, EOFError) as error:
            raise ValueError(f"{folder} holds no keyword index of format {_FORMAT}; rebuild the index") from error
        if view.frequencies.size != len(vocabulary):
            raise ValueError(f"the files in {folder} belong to different states; rebuild the index")
        return cls._of(vocabulary, view, last_serial)

    def remap(self, folder: Path) -> None:
        """Use the files of a written state of this table instead of memory; raises OSError or ValueError."""
        mapped = {segment.name: segment for segment in self.load(folder).view.segments}
        with self.lock:
            segments = tuple(mapped.get(segment.name, segment) for segment in self.view.segments)
            self.view = replace(self.view, segments=segments)

    # Segments

    def _new_serial(self) -> int:
        self.last_serial += 1
        return self.last_serial

    def _tidy(self) -> None:
        """Merge segments that are too many for their lengths, or that hold too many tombstones."""
        run = self.view.segments
        is_sparse = sum(map(len, run)) > 2 * self.view.texts + MEMTABLE_TEXTS
        if self._merging is not None or self._shared or not is_sparse:
            # The segments of a running merge, and the longer ones before them, are not merged again now.
            free = 1 + max((place for place, s in enumerate(run) if s.serial == self._last_merging), default=-1)
            run = run[max(free, self._shared) :]
            run = run[self._first_to_merge(list(map(len, run))) :]
            while self._merging is not None and sum(map(len, run)) > _SHORT_MERGE:
                run = run[1:]
            if len(run) <= 1:
                return
        if sum(map(len, run)) <= _SHORT_MERGE:
            self._merge(run)
            return
        merging = Thread(target=self._merge_aside, args=(run,), name="neurogated-merging", daemon=True)
        if started(merging):
            self._merging, self._last_merging = merging, run[-1].serial

    def _first_to_merge(self, lengths: Sequence[int]) -> int:
        """Return the position of the first segment to merge with all that follow; the last position for no merge."""
        first = max(len(lengths) - 1, 0)
        length = sum(lengths[first:])
        while first and lengths[first - 1] < max(_RATIO * length, MEMTABLE_TEXTS - length + 1):
            first -= 1
            length += lengths[first]
        return first

    def _memtable(self, added: int) -> Sequence[TextSegment]:
        """Return the last segments, to be merged at once with a new one of so many texts."""
        lengths = [*map(len, self.view.segments), added]
        first = self._first_to_merge(lengths)
        is_long = self._merging is not None or self._shared or sum(lengths[first:]) > _SHORT_MERGE
        return () if is_long else self.view.segments[first:]

    @staticmethod
    def _living(view: TableView, run: Sequence[TextSegment]) -> list[ForwardIndex]:
        """Return the texts of segments without those that were replaced or removed."""
        living = [(part.texts, view.living(part, np.arange(len(part)))) for part in run]
        return [texts if places.size == texts.keys.size else texts.take(places) for texts, places in living]

    def _merge_aside(self, run: Sequence[TextSegment]) -> None:
        try:
            self._merge(run)
        except JOB_FAILURES:
            # The unmerged segments remain searchable.
            _logger.exception("merging %d segments failed; searches use them unmerged", len(run))
        finally:
            with self.lock:
                self._merging, self._last_merging = None, NOWHERE

    def _merge(self, run: Sequence[TextSegment]) -> None:
        with self.lock:
            view, serial = self.view, self._new_serial()
        merged = TextSegment.of(ForwardIndex.joined(self._living(view, run)), serial)
        keys = merged.texts.keys
        old = [part.serial for part in run]
        with self.lock:
            segments, owners = self.view.segments, self.view.owners.copy()
            at = 1 + max(place for place, part in enumerate(segments) if part.serial in old)
            owners[keys[np.isin(owners[keys], old)]] = serial
            every = (*segments[:at], merged, *segments[at:])
            left = tuple(part for part in every if part.serial not in old and len(part))
            self.view = replace(self.view, segments=left, owners=owners)


def _extended(values: NDArray[np.int32], size: int, filling: int) -> NDArray[np.int32]:
    """Return a copy of at least so many values."""
    return np.concatenate((values, np.array([filling], dtype=np.int32).repeat(max(size - values.size, 0))))


def _get(values: NDArray[Any], places: Rows, missing: int) -> NDArray[Any]:
    """Return the values at `places`; `missing` for places out of range."""
    # As a number without sign, a negative place is large.
    within = places.view(np.uint64) < values.size
    if np.logical_and.reduce(within):
        return values[places]
    found = np.array(missing, dtype=values.dtype).repeat(places.size)
    found[within] = values[places[within]]
    return found

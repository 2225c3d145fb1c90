"""The memtable: the newest texts of a table, which are in no segment yet."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.index.graph.columns import Column
from neurogated.storage.index.text.segment import ForwardIndex, Rater

__all__ = ["Memtable", "NewTexts"]


class Memtable(NamedTuple):
    """The newest texts at one moment."""

    serial: int
    texts: ForwardIndex
    lengths: NDArray[Any]

    def having(self, word: int, places: Rows) -> NDArray[np.bool_]:
        """Return whether the texts at `places` hold a word."""
        held = np.zeros(len(self.texts), dtype=np.bool_)
        held[self.holding([word])] = True
        return held[places]

    def holding(self, words: Sequence[int], begin: int = 0, end: int | None = None) -> Rows:
        """Return the places in [`begin`, `end`) whose texts hold all of `words`, ascending."""
        texts = self.texts
        found = [np.searchsorted(texts.ends, np.flatnonzero(texts.words == word), side="right") for word in words]
        places: Rows = found[0] if len(found) == 1 else reduce(np.intersect1d, found)
        return places[places.searchsorted(begin) : None if end is None else places.searchsorted(end)]

    def at_most(self, words: Sequence[int]) -> int:  # noqa: ARG002 - the bound is the same for all words
        """Return a cheap upper bound on the number of texts that hold all of `words`."""
        return len(self.texts)


class NewTexts:
    """The mutable contents of the memtable."""

    def __init__(self, serial: int, rate: Rater) -> None:
        self.serial = serial
        self._rate = rate
        self._texts: dict[int, tuple[NDArray[np.int32], NDArray[Any]]] = {}
        # All texts in columns. Texts in ascending order of keys are appended; any other change rebuilds the columns.
        self._columns = _Columns.empty()
        self._is_joined = True

    def __len__(self) -> int:
        return len(self._texts)

    def put(self, texts: ForwardIndex) -> None:
        """Upsert texts by their keys."""
        known, is_joined = self._columns.keys.values, self._is_joined
        self._is_joined = False
        counts, start = texts.all_counts(), 0
        for key, end in zip(texts.keys.tolist(), texts.ends.tolist(), strict=True):
            self._texts[key] = texts.words[start:end], counts[start:end]
            start = end
        if is_joined and (np.diff(texts.keys, prepend=known[-1] if known.size else -1) > 0).all():
            self._columns.append(texts, self._rate(texts).lengths)
            self._is_joined = True

    def remove(self, keys: Rows) -> None:
        """Remove the texts of `keys`; keys without a text are skipped."""
        for key in keys.tolist():
            if self._texts.pop(key, None) is not None:
                self._is_joined = False

    def joined(self) -> Memtable:
        """Return the texts in the order of their keys."""
        if not self._is_joined:
            order = sorted(self._texts)
            held = [self._texts[key] for key in order]
            words = np.concatenate([np.empty(0, dtype=np.int32), *(words for words, _ in held)])
            counts = np.concatenate([np.empty(0, dtype=np.uint8), *(counts for _, counts in held)])
            ends = np.cumsum([words.size for words, _ in held], dtype=np.int64)
            texts = ForwardIndex(np.array(order, dtype=np.int64), ends, words, counts)
            self._columns = _Columns.empty()
            self._columns.append(texts, self._rate(texts).lengths)
            self._is_joined = True
        keys, ends, words, counts, lengths = (column.values for column in self._columns)
        return Memtable(self.serial, ForwardIndex.packed(keys, ends, words, counts), lengths)


class _Columns(NamedTuple):
    """Texts in growing columns; see `ForwardIndex`."""

    keys: Column
    ends: Column
    words: Column
    counts: Column
    lengths: Column

    @classmethod
    def empty(cls) -> _Columns:
        return cls(Column(np.int64), Column(np.int64), Column(np.int32), Column(np.int64), Column(np.int32))

    def append(self, texts: ForwardIndex, lengths: NDArray[Any]) -> None:
        self.keys.extend(texts.keys)
        self.ends.extend(texts.ends + len(self.words))
        self.words.extend(texts.words)
        self.counts.extend(texts.all_counts())
        self.lengths.extend(lengths)

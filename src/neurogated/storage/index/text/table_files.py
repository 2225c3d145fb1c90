"""One state of a table of texts and words, in files."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurogated.storage.checkpoint.array_files import link_arrays, load_arrays, save_arrays
from neurogated.storage.index.text.segment import ForwardIndex, Segment
from neurogated.storage.index.text.term_dictionary import TermDictionary

__all__ = ["Counters", "Numbers", "TableSnapshot"]

_FORMAT = 4
_STATE = "state.json"
# A list of words is so many times as long as the next: longer ones are seldom written again.
_RATIO = 8


@dataclass(frozen=True, slots=True)
class Counters:
    """What changes in place: who has each text, and how many texts hold each word."""

    owners: NDArray[np.int32]
    """For each key the serial number of the part that has its text, or none."""
    frequencies: NDArray[np.int32]
    """For each word how many texts hold it."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What is known of a table as a whole."""

    texts: int
    total: int
    """How many words the texts hold, repeated as often as they occur."""
    memtable_serial: int
    last_serial: int


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """A state of a table; nothing in it changes any more."""

    segments: tuple[Segment, ...]
    memtable: ForwardIndex
    counters: Counters
    words: tuple[TermDictionary, ...]
    new_words: list[str]
    """Words that come after those in the lists."""
    numbers: Numbers

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write files into `folder`, which is empty; raises OSError.

        Args:
            folder: where to.
            previous: the folder of an earlier state of the same table; segments and words are linked from there.
        """
        words = self._dictionaries()
        parts: list[Segment | TermDictionary] = [*self.segments, *words]
        for part in parts:
            if previous is None or not link_arrays(previous, folder, part.name):
                part.save(folder)
        save_arrays(folder, "memtable", self.memtable)
        save_arrays(folder, "counters", self.counters)
        state = {
            "format": _FORMAT,
            "segments": [{"name": s.name, "serial": s.serial, "mean": s.mean} for s in self.segments],
            "words": [one.name for one in words],
            "numbers": asdict(self.numbers),
        }
        (folder / _STATE).write_text(json.dumps(state), encoding="utf-8")

    @classmethod
    def read(cls, folder: Path) -> Self:
        """Map the files of a state; raises OSError, or ValueError for files of another form."""
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        try:
            return cls._read(folder, state)
        except (KeyError, TypeError, EOFError) as error:
            message = f"{folder} holds no keyword index of format {_FORMAT}; make the index anew"
            raise ValueError(message) from error

    @classmethod
    def _read(cls, folder: Path, state: dict[str, Any]) -> Self:
        if state["format"] != _FORMAT:
            raise TypeError(state["format"])
        segments = tuple(Segment.load(folder, **found) for found in state["segments"])
        words = tuple(TermDictionary.load(folder, name) for name in state["words"])
        memtable = ForwardIndex(**load_arrays(folder, "memtable", ForwardIndex))
        counters = Counters(**load_arrays(folder, "counters", Counters))
        if counters.frequencies.size != sum(map(len, words)):
            message = f"the files in {folder} belong to different states; make the index anew"
            raise ValueError(message)
        return cls(segments, memtable, counters, words, [], Numbers(**state["numbers"]))

    def _dictionaries(self) -> list[TermDictionary]:
        """Return all words, as lists of which each is much longer than the next."""
        lists = [*self.words]
        if self.new_words:
            lists.append(TermDictionary.of(self.new_words))
        while len(lists) > 1 and len(lists[-2]) < _RATIO * len(lists[-1]):
            last = lists.pop()
            lists[-1] = lists[-1].followed_by(last)
        return lists

"""Files of one state of a posting table."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurogated.storage.files.array_files import link_arrays, load_arrays, save_arrays
from neurogated.storage.index.text.segment import Segment
from neurogated.storage.index.text.term_dictionary import TermDictionary

__all__ = ["Counters", "Numbers", "TableSnapshot"]

_FORMAT = 6
_STATE = "state.json"
# A dictionary is at least this many times as long as the next, so that long ones are seldom rewritten.
_RATIO = 8


@dataclass(frozen=True, slots=True)
class Counters:
    """The arrays that a table changes in place."""

    owners: NDArray[np.int32]
    """For each key the serial number of the segment that owns its text, or `NOWHERE`."""
    frequencies: NDArray[np.int32]
    """For each word the number of texts that hold it."""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The totals of a table."""

    texts: int
    total: int
    """Number of words of all texts, with repetitions."""
    last_serial: int


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """An immutable state of a table."""

    segments: tuple[Segment, ...]
    counters: Counters
    words: tuple[TermDictionary, ...]
    new_words: list[str]
    """Words after those in `words`, in the order of their numbers."""
    numbers: Numbers

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write files into `folder`, which is empty; raises OSError.

        Args:
            folder: the target.
            previous: the folder of an earlier state of the same table; unchanged segments and words become hard links.
        """
        words = self._dictionaries()
        parts: list[Segment | TermDictionary] = [*self.segments, *words]
        for part in parts:
            if previous is None or not link_arrays(previous, folder, part.name):
                part.save(folder)
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
        """Memory-map the files of a state; raises OSError, or ValueError for another format."""
        state = json.loads((folder / _STATE).read_text(encoding="utf-8"))
        try:
            return cls._read(folder, state)
        except (KeyError, TypeError, EOFError) as error:
            message = f"{folder} holds no keyword index of format {_FORMAT}; rebuild the index"
            raise ValueError(message) from error

    @classmethod
    def _read(cls, folder: Path, state: dict[str, Any]) -> Self:
        if state["format"] != _FORMAT:
            raise TypeError(state["format"])
        segments = tuple(Segment.load(folder, **found) for found in state["segments"])
        words = tuple(TermDictionary.load(folder, name) for name in state["words"])
        counters = Counters(**load_arrays(folder, "counters", Counters))
        if counters.frequencies.size != sum(map(len, words)):
            message = f"the files in {folder} belong to different states; rebuild the index"
            raise ValueError(message)
        return cls(segments, counters, words, [], Numbers(**state["numbers"]))

    def _dictionaries(self) -> list[TermDictionary]:
        """Return dictionaries of all words, each much longer than the next."""
        lists = [*self.words]
        if self.new_words:
            lists.append(TermDictionary.of(self.new_words))
        while len(lists) > 1 and len(lists[-2]) < _RATIO * len(lists[-1]):
            last = lists.pop()
            lists[-1] = lists[-1].followed_by(last)
        return lists

"""Files of one state of a posting table."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from neurogated.core.files import write_text
from neurogated.storage.files.array_files import link_arrays, load_arrays, save_arrays
from neurogated.storage.index.text.segment import Segment

_FORMAT = 10
_STATE = "state.json"
_COUNTERS = "counters"
_WORDS = "words.json"


@dataclass(frozen=True, slots=True)
class TableSnapshot:
    """An immutable state of a table."""

    segments: tuple[Segment, ...]
    owners: NDArray[np.int32]
    """For each key the serial number of the segment that owns its text, or `NOWHERE`."""
    frequencies: NDArray[np.int32]
    """For each word the number of texts that hold it."""
    words: list[str]
    """In the order of their numbers."""
    texts: int
    total: int
    """Number of words of all texts, with repetitions."""
    last_serial: int

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write files into `folder`, which is empty; raises OSError.

        Args:
            folder: the target.
            previous: the folder of an earlier state of the same table; unchanged segments become hard links.
        """
        for part in self.segments:
            if previous is None or not link_arrays(previous, folder, part.name):
                part.save(folder)
        save_arrays(folder, _COUNTERS, self)
        write_text(folder / _WORDS, json.dumps(self.words))
        state = {
            "format": _FORMAT,
            "segments": [{"name": s.name, "serial": s.serial, "mean": s.mean} for s in self.segments],
            "numbers": {"texts": self.texts, "total": self.total, "last_serial": self.last_serial},
        }
        write_text(folder / _STATE, json.dumps(state))

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
        words = json.loads((folder / _WORDS).read_text(encoding="utf-8"))
        counters = load_arrays(folder, _COUNTERS, cls)
        if counters["frequencies"].size != len(words):
            message = f"the files in {folder} belong to different states; rebuild the index"
            raise ValueError(message)
        return cls(segments=segments, words=words, **counters, **state["numbers"])

"""Files of a vector index: part of a checkpoint, memory-mapped when loaded."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from neurogated.core.files import write_text
from neurogated.storage.files.array_files import linked, save_array
from neurogated.storage.index.vectors.codes import Codes
from neurogated.storage.index.vectors.matrix import KeptBlock, VectorMatrix
from neurogated.storage.index.vectors.slots import Slots
from neurogated.storage.index.vectors.state import VectorState

_ABOUT = "vectors.json"
_KEYS = "keys.npy"
_ALIVE = "alive.npy"


class VectorSnapshot(NamedTuple):
    """One state of an index, to be written while the index changes."""

    state: VectorState | None
    """None for an index that never held a vector."""

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write files into `folder`, which is empty; unchanged files are links to those in `previous`.

        Raises:
            OSError: a file cannot be written.
        """
        about = None if self.state is None else _write(self.state, folder, previous)
        write_text(folder / _ABOUT, json.dumps(about, indent=1))


def _write(state: VectorState, folder: Path, previous: Path | None) -> dict[str, object]:
    def keep(name: str, write: Callable[[Path], None]) -> None:
        if previous is None or not linked(previous / name, folder / name):
            write(folder / name)

    slots, matrix = state.slots, state.matrix
    save_array(folder / _KEYS, slots.columns.keys[: slots.size])
    save_array(folder / _ALIVE, slots.alive)
    blocks, begin = matrix.files(), 0
    for name, count in blocks:
        keep(name, functools.partial(matrix.write, begin=begin, end=begin + count))
        begin += count
    codes = state.codes
    if codes is not None:
        keep(codes.name, codes.write)
    return {
        "dimension": matrix.dimension,
        "epoch": state.epoch,
        "blocks": blocks,
        "codes": None if codes is None else (codes.name, codes.trained_on, codes.end),
    }


def load_vectors(folder: Path) -> VectorState | None:
    """Load the state in `folder`; None if the index never held a vector.

    Raises:
        OSError: a file is missing or cannot be read.
        ValueError: the files have another format.
    """
    about = json.loads((folder / _ABOUT).read_text(encoding="utf-8"))
    if about is None:
        return None
    try:
        kept = [KeptBlock(name, count) for name, count in about["blocks"]]
        matrix = VectorMatrix.mapped(folder, about["dimension"], kept)
        codes = None
        if about.get("codes") is not None:  # earlier versions kept another index here
            name, trained_on, end = about["codes"]
            codes = Codes(trained_on, end, None, name).read(folder / name, matrix.dimension)
        slots = Slots.of_columns(np.load(folder / _KEYS), np.load(folder / _ALIVE))
        epoch = about["epoch"]
    except (EOFError, KeyError, TypeError) as error:
        raise ValueError(f"{folder} holds another format than this version writes ({error!r}); rebuild it") from error
    if slots.size != matrix.size:
        raise ValueError(f"{folder} holds {slots.size} keys of {matrix.size} vectors; rebuild it")
    return VectorState(slots, matrix, codes, epoch)

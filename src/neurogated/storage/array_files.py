"""Arrays of a dataclass in files of their own, to be mapped into memory."""

from __future__ import annotations

import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

__all__ = ["link_arrays", "load_arrays", "save_arrays"]


def save_arrays(folder: Path, name: str, values: object) -> None:
    """Write each field of a dataclass that is an array to `name.field.npy`; raises OSError."""
    for field in _array_fields(type(values)):
        np.save(folder / f"{name}.{field}.npy", getattr(values, field), allow_pickle=False)


def load_arrays(folder: Path, name: str, kind: type[Any]) -> dict[str, Any]:
    """Map the array fields of a dataclass that `save_arrays` wrote; raises OSError, or ValueError for other files."""
    return {field: _mapped(folder / f"{name}.{field}.npy") for field in _array_fields(kind)}


def link_arrays(source: Path, folder: Path, name: str) -> bool:
    """Put the files of `name` in `source` into `folder` too, and return whether there are any.

    They are linked, or copied where the file system has no links; raises OSError.
    """
    files = sorted(source.glob(f"{name}.*.npy"))
    for file in files:
        try:
            (folder / file.name).hardlink_to(file)
        except OSError:
            # Another disk, or one without links; where copying fails too, that is said.
            shutil.copyfile(file, folder / file.name)
    return bool(files)


def _array_fields(kind: type[Any]) -> list[str]:
    return [field.name for field in fields(kind) if "NDArray" in str(field.type)]


def _mapped(path: Path) -> np.ndarray[Any, Any]:
    # As a plain array: each look at a memmap itself takes ten times as long.
    mapped = np.load(path, mmap_mode="r", allow_pickle=False)
    return np.asarray(mapped).view(np.ndarray)

"""Files of a checkpoint: arrays in separate files, of which large ones are mapped into memory."""

from __future__ import annotations

import shutil
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from neurogated.core.files import make_file, private

_WORTH_MAPPING = 1 << 20


class PartSnapshot(Protocol):
    """One state of a derived part; writing it does not block changes of the part."""

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write files into `folder`, which is empty.

        Args:
            folder: the target.
            previous: the folder of an earlier state of the same part; unchanged files may be linked from it.

        Raises:
            OSError: a file cannot be written.
        """


def save_array(path: Path, values: NDArray[Any]) -> None:
    """Write an array to a `.npy` file; raises OSError."""
    values = np.ascontiguousarray(values)
    with open(path, "wb", opener=private) as file:
        np.lib.format.write_array_header_1_0(file, np.lib.format.header_data_from_array_1_0(values))
        # `np.save` and `tofile` silently lose the last bytes on a full disk.
        file.write(values.data)


def load_array(path: Path) -> NDArray[Any]:
    """Return the array in a `.npy` file, read-only, and memory-mapped if it is large.

    Raises:
        OSError: the file cannot be read.
        EOFError: the file is empty.
        ValueError: the file has another content.
    """
    mode: Literal["r"] | None = "r" if _is_worth_mapping(path) else None
    # Converted to a plain array, because each access to a memmap takes ten times as long.
    values = np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False)).view(np.ndarray)
    values.setflags(write=False)
    return values


def load_bytes(path: Path) -> NDArray[np.uint8]:
    """Return the content of a file, read-only, and memory-mapped if it is large; raises OSError."""
    mapped = _is_worth_mapping(path)
    content = np.memmap(path, np.uint8, "r").view(np.ndarray) if mapped else np.fromfile(path, np.uint8)
    content.setflags(write=False)
    return content


def _is_worth_mapping(path: Path) -> bool:
    # Every mapping takes one of the few file descriptors of a process.
    return path.stat().st_size >= _WORTH_MAPPING


def save_arrays(folder: Path, name: str, values: object) -> None:
    """Write each array field of a dataclass to `name.field.npy`; raises OSError."""
    for field in _array_fields(type(values)):
        save_array(folder / f"{name}.{field}.npy", getattr(values, field))


def load_arrays(folder: Path, name: str, kind: type[Any]) -> dict[str, Any]:
    """Load the array fields of a dataclass that `save_arrays` wrote; raises like `load_array`."""
    return {field: load_array(folder / f"{name}.{field}.npy") for field in _array_fields(kind)}


def link_arrays(source: Path, folder: Path, name: str) -> bool:
    """Hard-link the files of `name` in `source` into `folder`; return whether there are any.

    They are copied where the file system has no hard links; raises OSError.
    """
    files = sorted(source.glob(f"{name}.*.npy"))
    for file in files:
        if not linked(file, folder / file.name):
            # If linking failed because the file is missing, the copy raises the error.
            make_file(folder / file.name)
            shutil.copyfile(file, folder / file.name)
    return bool(files)


def linked(old: Path, new: Path) -> bool:
    """Make `new` a hard link to the file `old`; return whether that was possible."""
    try:
        new.hardlink_to(old)
    except OSError:  # `old` is missing or on another disk, or the file system has no hard links
        return False
    return True


def _array_fields(kind: type[Any]) -> list[str]:
    return [field.name for field in fields(kind) if "NDArray" in str(field.type)]

"""New files and folders of a memory: only their owner may read them. Existing ones keep their mode."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

FILE_MODE, _FOLDER_MODE = 0o600, 0o700


def make_folder(folder: Path) -> None:
    """Make a folder and those above it, unless they exist; raises OSError."""
    if not folder.is_dir():
        make_folder(folder.parent)
        folder.mkdir(_FOLDER_MODE, exist_ok=True)


def make_file(path: Path) -> None:
    """Make an empty file, unless it exists, for a library that opens it next and reports errors."""
    with contextlib.suppress(OSError):
        os.close(private(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC))


def private(path: str | Path, flags: int) -> int:
    """Open a file; an `opener` of `open`."""
    return os.open(path, flags, FILE_MODE)


def write_text(path: Path, text: str) -> None:
    """Write a whole file as UTF-8; raises OSError."""
    with open(path, "w", encoding="utf-8", opener=private) as file:
        file.write(text)

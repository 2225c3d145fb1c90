"""Files that survive a crash of the machine."""

from __future__ import annotations

import os
from pathlib import Path

from neurogated.core.private import make_folder, private


def sync_folder(folder: Path) -> None:
    """Sync the directory entries of `folder` to disk; raises OSError."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def replace_file(path: Path, text: str) -> None:
    """Write a whole file as UTF-8 in one step: a crash leaves the old file or the new one.

    Only its owner may read it. Raises OSError.
    """
    make_folder(path.parent)
    draft = path.with_name(f"{path.name}.new")
    with open(draft, "w", encoding="utf-8", opener=private) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
    sync_folder(path.parent)

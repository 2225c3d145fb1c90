"""A part of the graph index that a checkpoint stores."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol


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

"""What is derived from the truth and kept beside it, so that opening a memory need not derive it again."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

__all__ = ["PartSnapshot"]


class PartSnapshot(Protocol):
    """One state of a derived part, to be written while the part itself goes on changing."""

    def write(self, folder: Path, previous: Path | None) -> None:
        """Write files into `folder`, which is empty.

        Args:
            folder: where to.
            previous: the folder of an earlier state of the same part; files that only grew may be linked from there.

        Raises:
            OSError: a file cannot be written.
        """

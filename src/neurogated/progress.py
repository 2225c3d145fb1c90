"""Progress bars."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from tqdm import tqdm

__all__ = ["show_progress"]

T = TypeVar("T")


def show_progress(
    iterable: Iterable[T], what: str, unit: str, *, total: int | None = None, progress: bool | None = None
) -> Iterable[T]:
    """Return `iterable` with a progress bar; None shows the bar if the output is a terminal."""
    bar: Iterable[T] = tqdm(
        iterable, desc=what, unit=unit, total=total, disable=None if progress is None else not progress
    )
    return bar

"""Progress bars."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

T = TypeVar("T")


def show_progress(
    iterable: Iterable[T], what: str, unit: str, *, total: int | None = None, progress: bool | None = None
) -> Iterable[T]:
    """Return `iterable` with a progress bar on standard error; None shows the bar if that is a terminal."""
    if progress is False:
        return iterable
    screen = Console(stderr=True)
    return _tracked(iterable, what, unit, total, screen) if progress or screen.is_terminal else iterable


def _tracked(iterable: Iterable[T], what: str, unit: str, total: int | None, screen: Console) -> Iterator[T]:
    first, last = (TextColumn("{task.description}"), BarColumn()), (TextColumn(f"{unit}s"), TimeRemainingColumn())
    with Progress(*first, MofNCompleteColumn(), *last, console=screen) as bar:
        yield from bar.track(iterable, total=total, description=what)

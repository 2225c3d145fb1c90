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
    shown = screen.is_terminal if progress is None else progress
    return _tracked(iterable, what, unit, total, screen) if shown else iterable


def _tracked(iterable: Iterable[T], what: str, unit: str, total: int | None, screen: Console) -> Iterator[T]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(f"{unit}s"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=screen) as bar:
        yield from bar.track(iterable, total=total, description=what)

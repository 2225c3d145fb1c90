"""Progress reports of long work."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

__all__ = ["Progress", "silent"]

T = TypeVar("T")


class Progress(Protocol):
    """Wraps an iterable, as a progress bar does."""

    def __call__(self, items: Iterable[T], total: int) -> Iterable[T]:
        """Return `items`; `total` is their number."""


def silent(items: Iterable[T], total: int) -> Iterable[T]:  # noqa: ARG001 - signature of Progress
    """Return `items` and report nothing."""
    return items

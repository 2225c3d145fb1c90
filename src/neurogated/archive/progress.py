"""How long work is followed from outside."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol, TypeVar

__all__ = ["Progress", "silent"]

T = TypeVar("T")


class Progress(Protocol):
    """Wraps what is walked, as a progress bar does."""

    def __call__(self, items: Iterable[T], total: int) -> Iterable[T]:
        """Return `items`, of which there are `total`."""


def silent(items: Iterable[T], total: int) -> Iterable[T]:  # noqa: ARG001 - as Progress has it
    """Return `items`; nobody watches."""
    return items

"""When texts were read: a value computed from them is unfit for a cache if texts were erased since then."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, runtime_checkable

_EPOCHS: ContextVar[Mapping[Path, int]] = ContextVar("epochs", default=MappingProxyType({}))
"""By file of a cache: how often it had been cleared when the running operation began to read texts."""


@runtime_checkable
class SupportsReading(Protocol):
    """Ability of a cache: to know when texts were read."""

    def reading(self, *, stale: bool = False) -> AbstractContextManager[None]:
        """Run a block that reads texts and computes values from them.

        If the cache is cleared meanwhile, by any process, it stores none of these values. In nested blocks, the
        beginning of the outermost one counts.

        Args:
            stale: texts were read before and may be erased already, so no value is stored.
        """


@contextmanager
def reading_since(file: Path, epoch: int) -> Iterator[None]:
    """Run a block whose values count as computed from texts read at an epoch of a cache, or in an outer block."""
    outer = _EPOCHS.get()
    token = _EPOCHS.set({**outer, file: min(epoch, outer.get(file, epoch))})
    try:
        yield
    finally:
        _EPOCHS.reset(token)


def epoch_of(file: Path) -> int | None:
    """Return the epoch of the outermost block about a cache; None outside of such blocks."""
    return _EPOCHS.get().get(file)


@contextmanager
def reading(parts: Iterable[SupportsReading], *, stale: bool = False) -> Iterator[None]:
    """Run a block that reads texts for each of some caches; see `SupportsReading`."""
    with ExitStack() as stack:
        for part in parts:
            stack.enter_context(part.reading(stale=stale))
        yield

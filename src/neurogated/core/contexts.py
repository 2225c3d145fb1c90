"""What the calls of a context share: when they began, when they read texts, and caches of values derived from texts.

All caches of the process are emptied together when a text is erased. Its calls share one look at a database. A value
computed from texts is unfit for a cache if texts were erased since they were read.
"""

from __future__ import annotations

import functools
import math
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from neurogated.text.keywords import language_of
from neurogated.text.normalise import plain_text
from neurogated.text.sentences import sentences_in
from neurogated.text.times import locate_times

if TYPE_CHECKING:
    from functools import _lru_cache_wrapper

_C = TypeVar("_C", bound="SupportsCacheClear")
_R = TypeVar("_R")


class SupportsCacheClear(Protocol):
    """Something that keeps texts, words, or values that derive from them."""

    def cache_clear(self) -> None:
        """Forget them all."""


_caches: weakref.WeakSet[SupportsCacheClear] = weakref.WeakSet()


def forgets(cache: _C) -> _C:
    """Register a cache for `forget_texts` as long as it lives, and return it."""
    _caches.add(cache)
    return cache


def remembered(size: int) -> Callable[[Callable[..., _R]], _lru_cache_wrapper[_R]]:
    """Return a decorator that keeps the `size` latest results of a function until `forget_texts`."""
    return lambda function: forgets(functools.lru_cache(size)(function))


def forget_texts() -> None:
    """Empty all registered caches; call it when a text is erased, or when its write is taken back."""
    for cache in (*_caches, language_of, locate_times, plain_text, sentences_in):
        cache.cache_clear()


_began: ContextVar[float] = ContextVar("neurogated_work_began", default=math.inf)


def work_began() -> float:
    """Return when the work of this context began, by `time.monotonic`; ∞ outside of work."""
    return _began.get()


@contextmanager
def work(began: float | None = None) -> Iterator[None]:
    """Run a block and its threads as one piece of work, from `began` (`time.monotonic`), the outer one's, or now."""
    token = _began.set(min(_began.get(), time.monotonic()) if began is None else began)
    try:
        yield
    finally:
        _began.reset(token)


def outside_work() -> AbstractContextManager[None]:
    """Run a block outside of the work of this context, so that it reads the present of a database."""
    return work(math.inf)


_EPOCHS: ContextVar[Mapping[Path, int]] = ContextVar("epochs", default=MappingProxyType({}))
"""By file of a cache: how often it had been cleared when the running operation began to read texts."""


@runtime_checkable
class SupportsReading(Protocol):
    """Ability of a cache: to know when texts were read."""

    def epoch(self) -> tuple[Path, int]:
        """Return its file, and how often it had been cleared when this `reading` began, or else until now."""


NEVER = -1
"""The epoch of texts that may be erased already, and of a cache that cannot be read."""


def epoch_of(file: Path) -> int | None:
    """Return the epoch of the outermost block about a cache; None outside of such blocks."""
    return _EPOCHS.get().get(file)


@contextmanager
def reading(parts: Iterable[SupportsReading], *, stale: bool = False) -> Iterator[None]:
    """Run a block that reads texts and computes values from them, for each of some caches.

    If a cache is cleared meanwhile, by any process, it stores none of these values, and none at all of `stale` texts,
    which were read before and may be erased already. In nested blocks, the beginning of the outermost one counts.
    """
    epochs = dict([part.epoch() for part in parts])
    token = _EPOCHS.set({**_EPOCHS.get(), **(dict.fromkeys(epochs, NEVER) if stale else epochs)})
    try:
        yield
    finally:
        _EPOCHS.reset(token)

"""Caches of values that derive from texts. All caches of the process are emptied together when a text is erased."""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeVar

from neurogated.text.normalise import plain_text
from neurogated.text.sentences import forget_sentences

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
    for cache in list(_caches):
        cache.cache_clear()
    forget_sentences()
    plain_text.cache_clear()

"""Caches of values that derive from texts: all are emptied together."""

import gc
import weakref

from neurogated.core.text_caches import forget_texts, forgets, remembered


class _Words:
    """Remembers words by itself, and by the cache of a method."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.read = remembered(2)(self._read)
        forgets(self)

    def _read(self, text: str) -> list[str]:
        self.seen.append(text)
        return text.split()

    def cache_clear(self) -> None:
        self.seen.clear()


def test_a_result_is_remembered_until_texts_are_forgotten() -> None:
    words, other = _Words(), _Words()
    assert words.read("a b") is words.read("a b")
    other.read("c")
    assert (words.seen, other.seen) == (["a b"], ["c"])
    forget_texts()
    assert (words.seen, other.seen, words.read.cache_info().currsize) == ([], [], 0)
    assert words.read("a b") == ["a", "b"] == words.seen[0].split()


def test_a_registered_cache_is_not_kept_alive() -> None:
    words = _Words()
    there = weakref.ref(words)
    del words
    gc.collect()
    assert there() is None
    forget_texts()

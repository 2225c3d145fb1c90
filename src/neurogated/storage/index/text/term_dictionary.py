"""Numbers of words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat

from neurogated.core.view import Rows

UNKNOWN = -1


class Vocabulary:
    """Numbers of words, assigned in order of arrival and never reassigned.

    The first words may be those of a base. Words that the base gets later are unknown here, so their numbers are free
    for own words.
    """

    def __init__(self, words: Iterable[str] = (), base: Vocabulary | None = None) -> None:
        """Start with the present words of `base`, and with distinct further words."""
        self._base = base
        self._covered = 0 if base is None else len(base)
        self._new = list(words)
        self._numbers = dict(zip(self._new, range(self._covered, len(self)), strict=True))

    def __len__(self) -> int:
        return self._covered + len(self._new)

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word, or `UNKNOWN`."""
        numbers = list(map(self._numbers.get, words, repeat(UNKNOWN)))
        for place, number in enumerate([] if self._base is None else self._base.numbers(words)):
            if UNKNOWN < number < self._covered:
                numbers[place] = number
        return numbers

    def add(self, words: Iterable[str]) -> dict[str, int]:
        """Return the number of each word; assign numbers to new words."""
        distinct = list(dict.fromkeys(words))
        numbers = dict(zip(distinct, self.numbers(distinct), strict=True))
        for word, number in numbers.items():
            if number == UNKNOWN:
                numbers[word] = len(self)
                # In this order no interrupt can give one number to two words.
                self._new.append(word)
                self._numbers[word] = numbers[word]
        return numbers

    def words(self, numbers: Rows) -> list[str]:
        """Return the words of `numbers`, which are ascending."""
        first = int(numbers.searchsorted(self._covered))
        old = self._base.words(numbers[:first]) if self._base is not None else []
        return old + [self._new[number - self._covered] for number in numbers[first:].tolist()]

    def all(self) -> list[str]:
        """Return all words in the order of their numbers."""
        old = self._base.all()[: self._covered] if self._base is not None else []
        return old + self._new

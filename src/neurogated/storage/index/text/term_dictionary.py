"""Numbers of words: words in files are looked up by checksum, new words in a dict."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import repeat
from pathlib import Path
from uuid import uuid4
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from neurogated.core.view import Rows
from neurogated.storage.files.array_files import load_arrays, save_arrays

__all__ = ["UNKNOWN", "ExtendedVocabulary", "TermDictionary", "Vocabulary"]

UNKNOWN = -1
# How many words from files are cached in memory, where a lookup is quickest.
_REMEMBERED = 100_000


@dataclass(frozen=True, slots=True)
class TermDictionary:
    """An immutable list of words, numbered from 0, in arrays that may be mapped from files."""

    name: str
    """Globally unique."""
    text: NDArray[np.uint8]
    """All words concatenated, in UTF-8."""
    ends: NDArray[np.int64]
    """The end of each word in `text`."""
    checksums: NDArray[np.uint32]
    """CRC-32 of each word, ascending."""
    order: NDArray[np.int32]
    """The number of the word of each checksum."""

    @classmethod
    def of(cls, words: Sequence[str]) -> TermDictionary:
        """Return a dictionary of distinct words."""
        encoded = [_bytes(word) for word in words]
        ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
        checksums = np.fromiter(map(crc32, encoded), np.uint32, len(encoded))
        return cls._ordered(np.frombuffer(b"".join(encoded), dtype=np.uint8), ends, checksums)

    @classmethod
    def _ordered(
        cls, text: NDArray[np.uint8], ends: NDArray[np.int64], checksums: NDArray[np.uint32]
    ) -> TermDictionary:
        order = np.argsort(checksums, kind="stable").astype(np.int32)
        return cls(uuid4().hex, text, ends, checksums[order], order)

    @classmethod
    def load(cls, folder: Path, name: str) -> TermDictionary:
        """Memory-map a dictionary that `save` wrote; raises OSError or ValueError."""
        words = cls(name, **load_arrays(folder, name, cls))
        if not words.ends.size == words.checksums.size == words.order.size:
            message = f"the word arrays in {folder} have different lengths; rebuild the index"
            raise ValueError(message)
        return words

    def save(self, folder: Path) -> None:
        """Write the dictionary to files named after it; raises OSError."""
        save_arrays(folder, self.name, self)

    def __len__(self) -> int:
        return self.ends.size

    def followed_by(self, other: TermDictionary) -> TermDictionary:
        """Return the words of both; the numbers of `other` follow those of this one."""
        checksums = np.empty(len(self) + len(other), dtype=np.uint32)
        checksums[self.order] = self.checksums
        checksums[len(self) + other.order] = other.checksums
        ends = np.concatenate((self.ends, other.ends + self.text.size))
        return self._ordered(np.concatenate((self.text, other.text)), ends, checksums)

    def find(self, words: Sequence[bytes], checksums: NDArray[np.uint32]) -> dict[int, int]:
        """Return for each known word its position in `words` and its number; `checksums` are those of `words`."""
        found: dict[int, int] = {}
        if not len(self):
            return found
        starts = self.checksums.searchsorted(checksums)
        for place in (self.checksums.take(starts, mode="clip") == checksums).nonzero()[0].tolist():
            at = int(starts[place])
            while at < len(self) and self.checksums[at] == checksums[place]:
                number = int(self.order[at])
                if self._bytes_of(number) == words[place]:
                    found[place] = number
                    break
                at += 1
        return found

    def words(self, numbers: Rows) -> list[str]:
        """Return the words of these numbers."""
        ends = self.ends[numbers].tolist()
        starts = np.where(numbers > 0, self.ends[numbers - 1], 0).tolist()
        text = self.text.data
        return [str(text[start:end], "utf-8", "surrogatepass") for start, end in zip(starts, ends, strict=True)]

    def _bytes_of(self, number: int) -> bytes:
        start = int(self.ends[number - 1]) if number else 0
        return self.text[start : int(self.ends[number])].tobytes()


class Vocabulary:
    """Numbers of words, assigned in order of arrival and never reassigned.

    The first words may be in files, in dictionaries of which each is much longer than the next. The rest is in memory.
    """

    def __init__(self, kept: Sequence[TermDictionary] = ()) -> None:
        """Start with the words of `kept`."""
        self._kept = tuple(kept)
        self._covered = sum(map(len, self._kept))
        self._new: list[str] = []
        self._numbers: dict[str, int] = {}
        self._remembered: dict[str, int] = {}

    def __len__(self) -> int:
        return self._covered + len(self._new)

    @property
    def kept(self) -> tuple[TermDictionary, ...]:
        """The dictionaries of the first words."""
        return self._kept

    def number(self, word: str) -> int:
        """Return the number of a word, or `UNKNOWN`."""
        return self.numbers([word])[0]

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word, or `UNKNOWN`."""
        numbers = list(map(self._numbers.get, words, repeat(UNKNOWN)))
        if not self._covered:
            return numbers
        if self._remembered:
            numbers = list(map(self._remembered.get, words, numbers))
        asked = [place for place, number in enumerate(numbers) if number == UNKNOWN]
        if not asked:
            return numbers
        encoded = [_bytes(words[place]) for place in asked]
        checksums = np.array(list(map(crc32, encoded)), dtype=np.uint32)
        if len(self._remembered) > _REMEMBERED:
            self._remembered = {}
        start = 0
        for words_kept in self._kept:
            for place, number in words_kept.find(encoded, checksums).items():
                numbers[asked[place]] = start + number
                self._remembered[words[asked[place]]] = start + number
            start += len(words_kept)
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
        words: list[str] = []
        start = 0
        for words_kept in self._kept:
            within = numbers[np.searchsorted(numbers, start) : np.searchsorted(numbers, start + len(words_kept))]
            words += words_kept.words(within - start)
            start += len(words_kept)
        new = numbers[np.searchsorted(numbers, start) :] - start
        return words + [self._new[number] for number in new.tolist()]

    def new_words(self) -> list[str]:
        """Return a copy of the words that are in no dictionary, in the order of their numbers."""
        return self._new.copy()

    def cover(self, kept: Sequence[TermDictionary]) -> None:
        """Use dictionaries of this vocabulary's first words instead of memory."""
        covered = sum(map(len, kept))
        if covered >= self._covered:
            new = self._new[covered - self._covered :]
            self._kept, self._covered, self._new = tuple(kept), covered, new
            self._numbers = {word: covered + place for place, word in enumerate(new)}


class ExtendedVocabulary(Vocabulary):
    """The present words of another vocabulary, and own words, which the other one never gets.

    Words that the other vocabulary gets later are unknown here, so their numbers are free for own words.
    """

    def __init__(self, base: Vocabulary) -> None:
        super().__init__()
        self._base = base
        self._covered = len(base)

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word, or `UNKNOWN`."""
        known = self._base.numbers(words)
        return [
            number if UNKNOWN < number < self._covered else self._numbers.get(word, UNKNOWN)
            for word, number in zip(words, known, strict=True)
        ]

    def words(self, numbers: Rows) -> list[str]:
        """Return the words of `numbers`, which are ascending."""
        shared = int(np.searchsorted(numbers, self._covered))
        own = (numbers[shared:] - self._covered).tolist()
        return self._base.words(numbers[:shared]) + [self._new[number] for number in own]


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")

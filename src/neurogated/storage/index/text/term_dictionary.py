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

UNKNOWN = -1
# How many words of the base are cached in memory, where a lookup is quickest.
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
        text, ends = np.empty(0, dtype=np.uint8), np.empty(0, dtype=np.int64)
        return cls("", text, ends, np.empty(0, dtype=np.uint32), np.empty(0, dtype=np.int32)).with_words(words)

    def with_words(self, words: Sequence[str]) -> TermDictionary:
        """Return a dictionary with more words; they must be new and distinct."""
        encoded = [_bytes(word) for word in words]
        ends = self.text.size + np.cumsum([len(word) for word in encoded], dtype=np.int64)
        checksums = np.fromiter(map(crc32, encoded), np.uint32, len(encoded))
        by_checksum = checksums.argsort()
        # Inserting takes a tenth of the time of sorting all words.
        at = self.checksums.searchsorted(checksums[by_checksum])
        return TermDictionary(
            name=uuid4().hex,
            text=np.concatenate((self.text, np.frombuffer(b"".join(encoded), dtype=np.uint8))),
            ends=np.concatenate((self.ends, ends)),
            checksums=np.insert(self.checksums, at, checksums[by_checksum]),
            order=np.insert(self.order, at, len(self) + by_checksum),
        )

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

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word, or `UNKNOWN`."""
        numbers = [UNKNOWN] * len(words)
        encoded = [_bytes(word) for word in words]
        checksums = np.fromiter(map(crc32, encoded), np.uint32, len(encoded))
        starts, ends = (self.checksums.searchsorted(checksums, side) for side in ("left", "right"))
        for place in np.flatnonzero(starts < ends).tolist():
            for number in self.order[starts[place] : ends[place]].tolist():
                if self._bytes_of(number) == encoded[place]:
                    numbers[place] = number
        return numbers

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

    The first words are those of a base: a dictionary, or another vocabulary. Words that the base gets later are unknown
    here, so their numbers are free for own words.
    """

    def __init__(self, base: TermDictionary | Vocabulary | None = None) -> None:
        """Start with the present words of `base`; with none if omitted."""
        self._base = TermDictionary.of(()) if base is None else base
        self._covered = len(self._base)
        self._new: list[str] = []
        # The numbers of all new words, and of words of the base that were looked up.
        self._numbers: dict[str, int] = {}

    def __len__(self) -> int:
        return self._covered + len(self._new)

    def numbers(self, words: Sequence[str]) -> list[int]:
        """Return the number of each word, or `UNKNOWN`."""
        numbers = list(map(self._numbers.get, words, repeat(UNKNOWN)))
        asked = [place for place, number in enumerate(numbers) if number == UNKNOWN]
        if not asked or not self._covered:
            return numbers
        if len(self._numbers) > len(self._new) + _REMEMBERED:
            self._forget()
        for place, number in zip(asked, self._base.numbers([words[place] for place in asked]), strict=True):
            if UNKNOWN < number < self._covered:
                numbers[place] = self._numbers[words[place]] = number
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
        new = (numbers[first:] - self._covered).tolist()
        return self._base.words(numbers[:first]) + [self._new[number] for number in new]

    def snapshot(self) -> tuple[TermDictionary, list[str]]:
        """Return a dictionary of the first words, and the later words in the order of their numbers."""
        if isinstance(self._base, TermDictionary):
            return self._base, self._new.copy()
        return TermDictionary.of(self.words(np.arange(len(self)))), []

    def cover(self, words: TermDictionary) -> None:
        """Use a dictionary of this vocabulary's first words instead of memory."""
        if len(words) >= self._covered:
            new = self._new[len(words) - self._covered :]
            self._base, self._covered, self._new = words, len(words), new
            self._forget()

    def _forget(self) -> None:
        """Drop the cached numbers of words of the base."""
        self._numbers = {word: self._covered + place for place, word in enumerate(self._new)}


def _bytes(word: str) -> bytes:
    return word.encode("utf-8", "surrogatepass")

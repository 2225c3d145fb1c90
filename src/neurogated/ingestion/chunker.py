"""Cutting text into chunks of whole sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from neurogated.ingestion.sentences import split_sentences

__all__ = ["Chunker"]

# Where a sentence is longer than a chunk it is cut before a word, in scripts without spaces before a character; the
# marks on a character and the punctuation after it stay with it.
_UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff][^\w\s]*\s*|[^\s\u3040-\u30ff\u3400-\u9fff]+\s*|\s+")


class Chunker:
    """Packs whole sentences into chunks of at most `size` tokens, each repeating the end of the one before.

    A sentence longer than `size` is cut between words, and repeated by words; a word longer than `size` stays whole and
    makes a chunk of its own. White space around a chunk is dropped and nothing else.
    """

    def __init__(self, size: int, overlap: int, count_tokens: Callable[[Sequence[str]], list[int]]) -> None:
        """Set the measure.

        Args:
            size: most tokens of a chunk.
            overlap: most tokens of whole sentences repeated from the chunk before; less than `size`.
            count_tokens: tokens of each of several texts.
        """
        self._size = size
        self._overlap = overlap
        self._count_tokens = count_tokens

    def split(self, text: str, frame: str = "") -> list[str]:
        """Return the chunks of `text` in order; a text that fits is one chunk.

        `frame` is what is put around each chunk, such as a title; a chunk leaves room for it, at most half of its size.
        """
        if frame:
            (tokens,) = self._count_tokens([frame])
            size = max(self._size - tokens, self._size // 2, 1)
            return Chunker(size, min(self._overlap, size - 1), self._count_tokens).split(text)
        pieces = self._pieces(text)
        chunks: list[str] = []
        begin = 0
        while begin < len(pieces):
            end = self._end(pieces, begin)
            chunks.append("".join(piece for piece, _ in pieces[begin:end]).strip())
            if end == len(pieces):
                break
            begin = self._next_begin(pieces, begin, end)
        return [chunk for chunk in chunks if chunk]

    def _pieces(self, text: str) -> list[tuple[str, int]]:
        """Return the parts that are never cut, with their tokens; together they are `text`."""
        sentences = split_sentences(text)
        pieces: list[tuple[str, int]] = []
        for sentence, tokens in zip(sentences, self._count_tokens(sentences), strict=True):
            if tokens <= self._size:
                pieces.append((sentence, tokens))
            else:
                units = _UNIT.findall(sentence)
                pieces.extend(zip(units, self._count_tokens(units), strict=True))
        return pieces

    def _end(self, pieces: Sequence[tuple[str, int]], begin: int) -> int:
        """Return where the chunk that starts at `begin` ends; it holds at least one piece."""
        tokens, end = pieces[begin][1], begin + 1
        while end < len(pieces) and tokens + pieces[end][1] <= self._size:
            tokens += pieces[end][1]
            end += 1
        return end

    def _next_begin(self, pieces: Sequence[tuple[str, int]], begin: int, end: int) -> int:
        """Return where the chunk after `begin:end` starts: as far back as overlap and the next piece allow."""
        room = min(self._overlap, self._size - pieces[end][1])
        start = end
        while room > 0 and start > begin + 1 and pieces[start - 1][1] <= room:
            start -= 1
            room -= pieces[start][1]
        return start

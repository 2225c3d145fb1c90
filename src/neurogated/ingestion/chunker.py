"""Splitting of texts into chunks of whole sentences."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from neurogated.text.sentences import split_sentences

# Units of a sentence that is longer than a chunk: words, or characters in scripts without spaces. Combining marks and
# punctuation stay with the preceding character.
_UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff][^\w\s]*\s*|[^\s\u3040-\u30ff\u3400-\u9fff]+\s*|\s+")


class Chunker:
    """Packs whole sentences into chunks of at most `size` tokens. Each chunk repeats the end of the previous chunk.

    A sentence longer than `size` is cut between words, and its overlap consists of words. A word longer than `size` is
    a chunk of its own. Only white space around chunks is dropped.
    """

    def __init__(self, size: int, overlap: int, count_tokens: Callable[[Sequence[str]], list[int]]) -> None:
        """Set the limits.

        Args:
            size: maximum tokens of a chunk.
            overlap: maximum tokens of the sentences repeated from the previous chunk; less than `size`.
            count_tokens: returns the number of tokens of each text.
        """
        self._size = size
        self._overlap = overlap
        self._count_tokens = count_tokens

    def split(self, text: str, frame: str = "") -> list[str]:
        """Return the chunks of `text` in order; a text that fits is one chunk.

        `frame` is the text around each chunk, such as a title. A chunk leaves room for it, at most half of its size.
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
        """Return the indivisible parts of `text`, with their numbers of tokens."""
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
        """Return the end of the chunk that starts at `begin`; the chunk has at least one piece."""
        tokens, end = pieces[begin][1], begin + 1
        while end < len(pieces) and tokens + pieces[end][1] <= self._size:
            tokens += pieces[end][1]
            end += 1
        return end

    def _next_begin(self, pieces: Sequence[tuple[str, int]], begin: int, end: int) -> int:
        """Return the start of the chunk after `begin:end`: the earliest one that overlap and the next piece allow."""
        room = min(self._overlap, self._size - pieces[end][1])
        start = end
        while room > 0 and start > begin + 1 and pieces[start - 1][1] <= room:
            start -= 1
            room -= pieces[start][1]
        return start

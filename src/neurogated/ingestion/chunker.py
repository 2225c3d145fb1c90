"""Splitting of texts into chunks: whole sentences of prose, whole blocks of Markdown where they fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, Self

from neurogated.config.groups import IndexingSettings
from neurogated.core.ports import Embedder
from neurogated.core.tokens import fitting, graphemes_of, window_tokens
from neurogated.ingestion.markdown import Block, blocks, is_markdown
from neurogated.text.sentences import split_sentences

# Units of a sentence that is longer than a chunk: words, or characters in scripts without spaces. Combining marks and
# punctuation stay with the preceding character.
_UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff][^\w\s]*\s*|[^\s\u3040-\u30ff\u3400-\u9fff]+\s*|\s+")


class _Piece(NamedTuple):
    """A part of a text that no chunk cuts."""

    text: str
    tokens: int
    is_prose: bool = True
    """Whether the next chunk may repeat it."""
    head: str = ""
    """The header of its table, if the piece does not have it."""
    head_tokens: int = 0


class Chunker:
    """Packs sentences into chunks of at most `size` tokens. Each chunk repeats the end of the previous chunk.

    A sentence longer than `size` is cut between words, and its overlap consists of words. A word longer than `size` is
    cut between graphemes, so that only a single grapheme can be longer than `size`. Only white space around chunks is
    dropped.

    Of a Markdown text, a heading is in the chunk of the text under it. Lists, tables and code stay whole if they fit;
    else they are cut between items, rows and lines. Every chunk of a table begins with its header.
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

    @classmethod
    def of(cls, indexing: IndexingSettings, embedder: Embedder) -> Self:
        """Return the chunker for an embedder; see `window_tokens` for what it counts."""
        return cls(indexing.chunk_size, indexing.chunk_overlap, window_tokens(embedder.count_tokens))

    def split(self, text: str, frame: str = "", *, markdown: bool | None = None) -> list[str]:
        """Return the chunks of `text` in order; a text that fits is one chunk.

        Args:
            text: the text.
            frame: the text around each chunk, such as a title. A chunk leaves room for it, at most half of its size.
            markdown: whether the text is Markdown; by default if it shows that it is.
        """
        if frame:
            (tokens,) = self._count_tokens([frame])
            size = max(self._size - tokens, self._size // 2, 1)
            return Chunker(size, min(self._overlap, size - 1), self._count_tokens).split(text, markdown=markdown)
        if self._fits(text):
            return [whole] if (whole := text.strip()) else []
        if is_markdown(text) if markdown is None else markdown:
            pieces = list(self._blocks(blocks(text)))
        else:
            pieces = self._sentences(text, self._size)
        chunks: list[str] = []
        begin = 0
        while begin < len(pieces):
            end = self._end(pieces, begin)
            chunks.append(_joined(pieces[begin:end]))
            if end == len(pieces):
                break
            begin = self._next_begin(pieces, begin, end)
        return [chunk for chunk in chunks if chunk]

    def _fits(self, text: str) -> bool:
        return self._count_tokens([text])[0] <= self._size

    def _sentences(self, text: str, room: int) -> list[_Piece]:
        """Return the sentences of `text`, and the words of those with more tokens than `room`."""
        sentences = split_sentences(text)
        pieces: list[_Piece] = []
        for sentence, tokens in zip(sentences, self._count_tokens(sentences), strict=True):
            if tokens <= room:
                pieces.append(_Piece(sentence, tokens))
                continue
            units = _UNIT.findall(sentence)
            for unit, size in zip(units, self._count_tokens(units), strict=True):
                pieces += [_Piece(unit, size)] if size <= room else self._graphemes(unit, room)
        return pieces

    def _graphemes(self, word: str, room: int) -> Iterator[_Piece]:
        """Yield the parts of a word, each as long as `room` allows, but at least one grapheme."""
        graphemes, begin = graphemes_of(word), 0
        while begin < len(graphemes):
            end = max(begin + 1, fitting(graphemes, begin, room, self._count_tokens))
            part = "".join(graphemes[begin:end])
            yield _Piece(part, self._count_tokens([part])[0])
            begin = end

    def _blocks(self, found: Sequence[Block]) -> Iterator[_Piece]:
        """Yield the pieces of Markdown blocks, each heading with the first piece under it."""
        heading, taken = "", 0
        for block in found:
            (tokens,) = self._count_tokens([block.text])
            if block.is_heading and taken + tokens <= self._size // 2:
                heading, taken = heading + block.text, taken + tokens
                continue
            first, *rest = self._block(block, tokens, self._size - taken)
            yield _Piece(heading + first.text, taken + first.tokens, is_prose=False) if heading else first
            yield from rest
            heading, taken = "", 0
        if heading:
            yield _Piece(heading, taken, is_prose=False)

    def _block(self, block: Block, tokens: int, room: int) -> list[_Piece]:
        """Return the block as one piece if it has parts and fits; else the sentences of it or of its parts."""
        if not block.parts:
            return self._sentences(block.text, room)
        if tokens <= room:
            return [_Piece(block.text, tokens, is_prose=False)]
        (head_tokens,) = self._count_tokens([block.head])
        head, head_tokens = (block.head, head_tokens) if head_tokens <= room // 2 else ("", 0)
        pieces: list[_Piece] = []
        for part, size in zip(block.parts, self._count_tokens(block.parts), strict=True):
            left = room - (head_tokens if pieces else 0)
            cut = [_Piece(part, size)] if size <= left else self._sentences(part, room - head_tokens)
            for one in cut:
                beside = (head, head_tokens) if pieces else ("", 0)
                pieces.append(_Piece(one.text, one.tokens, False, *beside))
        return pieces

    def _end(self, pieces: Sequence[_Piece], begin: int) -> int:
        """Return the end of the chunk that starts at `begin`; the chunk has at least one piece."""
        first = pieces[begin]
        tokens, end = first.tokens + first.head_tokens, begin + 1
        while end < len(pieces) and tokens + pieces[end].tokens <= self._size:
            tokens += pieces[end].tokens
            end += 1
        # A text can have more tokens than its pieces together.
        while end > begin + 1 and not self._fits(_joined(pieces[begin:end])):
            end -= 1
        return end

    def _next_begin(self, pieces: Sequence[_Piece], begin: int, end: int) -> int:
        """Return the start of the chunk after `begin:end`: the earliest one that overlap and the next piece allow."""
        room = min(self._overlap, self._size - pieces[end].tokens)
        start = end
        while room > 0 and start > begin + 1 and pieces[start - 1].is_prose and pieces[start - 1].tokens <= room:
            start -= 1
            room -= pieces[start].tokens
        return start


def _joined(pieces: Sequence[_Piece]) -> str:
    return (pieces[0].head + "".join(piece.text for piece in pieces)).strip()

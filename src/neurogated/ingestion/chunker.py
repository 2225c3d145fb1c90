"""Splitting of texts into chunks: whole sentences of prose, whole blocks of Markdown where they fit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple, Self

from neurogated.config.groups import IndexingSettings
from neurogated.core.ports import Embedder
from neurogated.core.tokens import fitting, graphemes_of, window_tokens
from neurogated.ingestion.markdown import Block, blocks, is_markdown
from neurogated.text.sentences import sentences_of
from neurogated.text.strings import SECTION

# Units of a sentence that is longer than a chunk: words, or characters in scripts without spaces. Combining marks and
# punctuation stay with the preceding character.
_UNIT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff][^\w\s]*\s*|[^\s\u3040-\u30ff\u3400-\u9fff]+\s*|\s+")
_BATCH = 1_000
"""Texts whose tokens are counted at once."""


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
            unread = self._blocks(blocks(text))
        else:
            unread = self._sentences(text, self._size)
        chunks: list[str] = []
        pieces = list(islice(unread, 1))
        while pieces:
            end = self._end(pieces, unread)
            chunks.append(_joined(pieces[:end]))
            # Those that the next chunk does not repeat are freed.
            del pieces[: self._next_begin(pieces, end) if end < len(pieces) else end]
        return [chunk for chunk in chunks if chunk]

    def _fits(self, text: str) -> bool:
        # The beginning of a long text says enough, and other threads wait while a tokenizer reads a whole one.
        if len(text) > SECTION and self._count_tokens([text[:SECTION]])[0] > 2 * self._size:
            return False
        return self._count_tokens([text])[0] <= self._size

    def _sentences(self, text: str, room: int) -> Iterator[_Piece]:
        """Yield the sentences of `text`, and the words of those with more tokens than `room`."""
        for sentence, tokens in self._counted(sentences_of(text)):
            if tokens <= room:
                yield _Piece(sentence, tokens)
                continue
            for unit, size in self._counted(one[0] for one in _UNIT.finditer(sentence)):
                if size <= room:
                    yield _Piece(unit, size)
                else:
                    yield from self._graphemes(unit, room)

    def _counted(self, texts: Iterator[str]) -> Iterator[tuple[str, int]]:
        """Yield texts with their tokens; they are counted in batches, since an embedder is slow at single texts."""
        while batch := list(islice(texts, _BATCH)):
            yield from zip(batch, self._count_tokens(batch), strict=True)

    def _graphemes(self, word: str, room: int) -> Iterator[_Piece]:
        """Yield the parts of a word, each as long as `room` allows, but at least one grapheme."""
        graphemes, begin = graphemes_of(word), 0
        while begin < len(graphemes):
            end = max(begin + 1, fitting(graphemes, begin, room, self._count_tokens))
            part = "".join(graphemes[begin:end])
            yield _Piece(part, self._count_tokens([part])[0])
            begin = end

    def _blocks(self, read: Iterable[Block]) -> Iterator[_Piece]:
        """Yield the pieces of Markdown blocks, each heading with the first piece under it."""
        heading, taken = "", 0
        for block in read:
            (tokens,) = self._count_tokens([block.text])
            if block.is_heading and taken + tokens <= self._size // 2:
                heading, taken = heading + block.text, taken + tokens
                continue
            found = self._block(block, tokens, self._size - taken)
            first = next(found)
            yield _Piece(heading + first.text, taken + first.tokens, is_prose=False) if heading else first
            yield from found
            heading, taken = "", 0
        if heading:
            yield _Piece(heading, taken, is_prose=False)

    def _block(self, block: Block, tokens: int, room: int) -> Iterator[_Piece]:
        """Yield the block as one piece if it has parts and fits; else the sentences of it or of its parts."""
        if not block.parts:
            yield from self._sentences(block.text, room)
            return
        if tokens <= room:
            yield _Piece(block.text, tokens, is_prose=False)
            return
        (head_tokens,) = self._count_tokens([block.head])
        head, head_tokens = (block.head, head_tokens) if head_tokens <= room // 2 else ("", 0)
        beside = ("", 0)
        for part, size in self._counted(iter(block.parts)):
            cut = [_Piece(part, size)] if size <= room - beside[1] else self._sentences(part, room - head_tokens)
            for one in cut:
                yield _Piece(one.text, one.tokens, False, *beside)
                beside = (head, head_tokens)

    def _end(self, pieces: list[_Piece], unread: Iterator[_Piece]) -> int:
        """Return how many pieces the chunk has, at least one; the pieces get the next one, too, if there is one."""
        tokens, end = pieces[0].tokens + pieces[0].head_tokens, 1
        while True:
            if end == len(pieces):
                pieces += islice(unread, 1)
            if end == len(pieces) or tokens + pieces[end].tokens > self._size:
                break
            tokens += pieces[end].tokens
            end += 1
        # A text can have more tokens than its pieces together.
        while end > 1 and not self._fits(_joined(pieces[:end])):
            end -= 1
        return end

    def _next_begin(self, pieces: Sequence[_Piece], end: int) -> int:
        """Return the start of the chunk after `:end`: the earliest one that overlap and the next piece allow."""
        room = min(self._overlap, self._size - pieces[end].tokens)
        start = end
        while room > 0 and start > 1 and pieces[start - 1].is_prose and pieces[start - 1].tokens <= room:
            start -= 1
            room -= pieces[start].tokens
        return start


def _joined(pieces: Sequence[_Piece]) -> str:
    return (pieces[0].head + "".join(piece.text for piece in pieces)).strip()

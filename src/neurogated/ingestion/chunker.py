"""Splits texts into chunks of a bounded size, by paragraphs, sentences and the blocks of Markdown."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cache
from itertools import islice, pairwise
from typing import Any, NamedTuple, Self

import yaml
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from neurogated.config.groups import IndexingSettings
from neurogated.core.clock import read_moment
from neurogated.core.model import checked_metadata
from neurogated.core.ports import Embedder
from neurogated.core.tokens import fitting, graphemes_of, window_tokens
from neurogated.errors import InputError
from neurogated.ingestion.document import Document
from neurogated.text.sentences import sentences_of
from neurogated.text.strings import SECTION

_STRUCTURE = re.compile(
    r"^[ ]{0,3}(?:\#{1,6}[ \t]+\S|```|\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+\|?[ \t]*$)", re.MULTILINE
)
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+")
_FRONT_MATTER = re.compile(
    r"\A\ufeff?---[ \t]*\r?\n(?P<fields>.*?)^(?:---|\.\.\.)[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE
)
_HEADING, _TABLE = "heading_open", "table_open"
_LISTS = frozenset({"bullet_list_open", "ordered_list_open"})
_LINES = frozenset({"fence", "code_block", "html_block"})
_SPECIAL = 8
"""Tokens at most that an embedder adds to a title and a text, such as marks of their ends."""
_HEAD_LINES = 2
"""The header of a table and the row of dashes below it."""


class _PlainLoader(yaml.SafeLoader):
    """Refuses aliases, by which a few lines can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


class MarkdownBlock(NamedTuple):
    """A heading, a paragraph, a list, a table, or code, with the blank lines after it."""

    text: str
    parts: Sequence[str] = ()
    """The rows of a table, the items of a list, or the lines of code, which are cut last; none of a paragraph."""
    head: str = ""
    """The header of a table, which its first part has, too."""
    is_heading: bool = False
    has_tokens: bool = False
    """Whether the parser makes tokens of its parts, as for lists and quotations."""


def is_markdown(text: str) -> bool:
    """Return whether a text shows that it is Markdown."""
    return _STRUCTURE.search(text) is not None


def blocks(text: str) -> Iterator[MarkdownBlock]:
    """Yield the blocks of a Markdown text. Joined, they are exactly the text.

    A long text is read in sections, so that few tokens exist at a time. A list is cut between items at their ends.
    """
    begin, size = 0, SECTION
    while begin < len(text):
        end = text.find("\n", begin + size) + 1 or len(text)
        found = _blocks(text[begin:end])
        if end < len(text) and len(found) > 1:
            # The next lines may belong to the last block.
            found.pop()
        elif end < len(text) and not found[0].has_tokens:
            size *= 2
            continue
        yield from found
        begin, size = begin + sum(len(block.text) for block in found), SECTION


def _blocks(text: str) -> list[MarkdownBlock]:
    lines = _LINE.findall(text)
    tokens = _parser().parse(text)
    tops = [place for place, one in enumerate(tokens) if one.level == 0 and one.map is not None]
    if not tops:
        return [MarkdownBlock(text)] if text else []
    # Lines that belong to no block, such as definitions of links, go with the block before them.
    begins = [0, *(_begin(tokens[place]) for place in tops[1:]), len(lines)]
    spans = zip(pairwise([*tops, len(tokens)]), pairwise(begins), strict=True)
    found = list[MarkdownBlock]()
    for (first, after), (begin, end) in spans:
        block = tokens[first:after]
        # Of a list or quotation with tables, what is before, in and after each of them is a block.
        for head, tail in (one.map for one in block[1:] if one.type == _TABLE and one.map is not None):
            found += [_block(block, lines, begin, head)] if begin < head else []
            found.append(_table_block(lines, head, tail))
            begin = tail  # noqa: PLW2901 - what follows the table
        found += [_block(block, lines, begin, end)] if begin < end else []
    return found


def with_front_matter(document: Document) -> Document:
    """Return a document whose text begins with front matter with its fields instead: title, tags, date and metadata.

    Given fields have priority. A message keeps its text, and so does a text whose front matter is not a YAML mapping.
    """
    first = document.passages[0]
    found = None if document.in_session or first.role or first.speaker else _FRONT_MATTER.match(first.text)
    if found is None or not (rest := first.text[found.end() :].lstrip("\r\n")).strip():
        return document
    try:
        fields = yaml.load(found["fields"], _PlainLoader)  # noqa: S506 - a safe loader
    except (yaml.YAMLError, ValueError, RecursionError):
        return document
    if not isinstance(fields, dict) or not all(isinstance(key, str) for key in fields):
        return document
    title, tags, moment = fields.get("title"), _tags(fields.get("tags")), _moment(fields.get("date"))
    title = title if isinstance(title, str) and title else None
    used = {name for name, value in (("title", title), ("tags", tags), ("date", moment)) if value}
    metadata = {key: _json(value) for key, value in fields.items() if key not in used}
    try:
        return replace(
            document,
            passages=(replace(first, text=rest), *document.passages[1:]),
            title=document.title or title,
            tags=document.tags or tags,
            timestamp=document.timestamp or moment,
            metadata=checked_metadata({**metadata, **document.metadata}),
        )
    except InputError:
        return document


@cache
def _parser() -> MarkdownIt:
    # Only blocks matter, so no line is parsed.
    parser = MarkdownIt("commonmark").enable("table").disable("inline")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    return parser


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001 - called by the parser
    """Read a table as one token; the rule of the parser makes a dozen of each row."""
    if not table(state, start, end, silent=True):
        return False
    if not silent:
        ends = state.md.block.ruler.getRules("blockquote")
        line = start + _HEAD_LINES
        while line < end and not state.isEmpty(line) and state.sCount[line] >= state.blkIndent:
            if state.is_code_block(line) or any(rule(state, line, end, True) for rule in ends):
                break
            line += 1
        state.push(_TABLE, "table", 0).map = [start, line]
        state.line = line
    return True


def _begin(token: Token) -> int:
    return 0 if token.map is None else token.map[0]


def _block(tokens: Sequence[Token], lines: Sequence[str], begin: int, end: int) -> MarkdownBlock:
    kind, text = tokens[0].type, "".join(lines[begin:end])
    if kind == _TABLE:
        return _table_block(lines, begin, end)
    if kind in _LISTS:
        items = [_begin(one) for one in tokens if one.type == "list_item_open" and one.level == 1]
        starts = [begin, *(one for one in items if begin < one < end), end]
        return MarkdownBlock(text, ["".join(lines[first:after]) for first, after in pairwise(starts)], has_tokens=True)
    parts = lines[begin:end] if kind in _LINES else ()
    return MarkdownBlock(text, parts, is_heading=kind == _HEADING, has_tokens=kind == "blockquote_open")


def _table_block(lines: Sequence[str], begin: int, end: int) -> MarkdownBlock:
    head = "".join(lines[begin : begin + _HEAD_LINES])
    rows = lines[begin + _HEAD_LINES : end]
    return MarkdownBlock("".join(lines[begin:end]), [head + "".join(rows[:1]), *rows[1:]], head)


def _tags(value: object) -> tuple[str, ...]:
    """Return the tags of front matter: a list of texts, or a text with commas or spaces."""
    listed = re.split(r"[,\s]+", value) if isinstance(value, str) else value if isinstance(value, list) else []
    tags = [one.strip().removeprefix("#") for one in listed if isinstance(one, str)]
    return tuple(filter(None, tags)) if len(tags) == len(listed) else ()


def _moment(value: object) -> datetime | None:
    if isinstance(value, date) and not isinstance(value, datetime):
        value = datetime(value.year, value.month, value.day)  # noqa: DTZ001 - a day without a zone, as a text has it
    try:
        return read_moment("date", value) if isinstance(value, str | datetime) else None
    except InputError:
        return None


def _json(value: object) -> Any:  # noqa: ANN401 - a JSON value
    """Return a value of YAML as a JSON value: times as texts."""
    if isinstance(value, dict):
        return {str(key): _json(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return list(map(_json, value))
    return value if isinstance(value, str | int | float | None) else str(value)


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

    The repeated sentences have at most `overlap` tokens, less than `size`. A sentence longer than `size` is cut between
    words, and its overlap consists of words. A word longer than `size` is cut between graphemes, so that only a single
    grapheme can be longer than `size`. Only blank lines before chunks and white space after them are dropped.

    Of a Markdown text, a heading is in the chunk of the text under it. Lists, tables and code stay whole if they fit;
    else they are cut between items, rows and lines. Every chunk of a table begins with its header.
    """

    def __init__(self, size: int, overlap: int, count_tokens: Callable[[Sequence[str]], list[int]]) -> None:
        self._size = size
        self._overlap = overlap
        self._count_tokens = count_tokens

    @classmethod
    def of(cls, indexing: IndexingSettings, embedder: Embedder) -> Self:
        """Return the chunker for an embedder; see `window_tokens` for what it counts."""
        return cls(indexing.chunk_size, indexing.chunk_size // 8, window_tokens(embedder.count_tokens))

    def split(self, text: str, frame: str = "", *, markdown: bool | None = None) -> list[str]:
        """Return the chunks of `text` in order; a text that fits is one chunk.

        Args:
            text: the text.
            frame: the text around each chunk, such as a title. A chunk leaves room for it, at most half of its size.
            markdown: whether the text is Markdown; by default if it shows that it is.
        """
        if len(frame) + len(text) + _SPECIAL <= self._size and text.isascii() and frame.isascii():
            # A token has at least one character.
            return [whole] if (whole := _trimmed(text)) else []
        if frame:
            (tokens,) = self._count_tokens([frame])
            size = max(self._size - tokens, self._size // 2, 1)
            return Chunker(size, min(self._overlap, size - 1), self._count_tokens).split(text, markdown=markdown)
        if self._fits(text):
            return [whole] if (whole := _trimmed(text)) else []
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

    def _blocks(self, read: Iterable[MarkdownBlock]) -> Iterator[_Piece]:
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

    def _block(self, block: MarkdownBlock, tokens: int, room: int) -> Iterator[_Piece]:
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
    return _trimmed(pieces[0].head + "".join(piece.text for piece in pieces))


def _trimmed(text: str) -> str:
    """Return a text without blank lines before it and white space after it; an indented line stays as it is."""
    return re.sub(r"\A\s*[\r\n]", "", text).rstrip()

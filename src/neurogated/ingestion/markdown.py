"""The structure of Markdown: the blocks of a text, and its front matter.

A text is Markdown if its owner says so, or if it has a fenced block, a table with a row of dashes, or a heading with
`#`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime
from functools import cache
from itertools import chain, pairwise
from typing import Any, NamedTuple

import yaml
from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.token import Token

from neurogated.core.clock import read_moment
from neurogated.core.model import checked_metadata
from neurogated.errors import InputError
from neurogated.ingestion.document import Document
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
_HEAD_LINES = 2
"""The header of a table and the row of dashes below it."""


class _PlainLoader(yaml.SafeLoader):
    """Refuses aliases, by which a few lines can stand for gigabytes."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        if self.check_event(yaml.AliasEvent):
            raise yaml.YAMLError("an alias")
        return super().compose_node(parent, index)


class Block(NamedTuple):
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


def blocks(text: str) -> Iterator[Block]:
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


def _blocks(text: str) -> list[Block]:
    lines = _LINE.findall(text)
    tokens = _parser().parse(text)
    tops = [place for place, one in enumerate(tokens) if one.level == 0 and one.map is not None]
    if not tops:
        return [Block(text)] if text else []
    # Lines that belong to no block, such as definitions of links, go with the block before them.
    begins = [0, *(_begin(tokens[place]) for place in tops[1:]), len(lines)]
    spans = zip(pairwise([*tops, len(tokens)]), pairwise(begins), strict=True)
    divided = (_divided(tokens[first:after], lines, begin, end) for (first, after), (begin, end) in spans)
    return list(chain.from_iterable(divided))


def _divided(tokens: Sequence[Token], lines: Sequence[str], begin: int, end: int) -> Iterator[Block]:
    """Yield a block; of a list or quotation with tables, what is before, in and after each of them."""
    for first, after in (one.map for one in tokens[1:] if one.type == _TABLE and one.map is not None):
        if begin < first:
            yield _block(tokens, lines, begin, first)
        yield _table_block(lines, first, after)
        begin = after
    if begin < end:
        yield _block(tokens, lines, begin, end)


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
    used = {name for name, value in (("title", title), ("tags", tags), ("date", moment)) if value}
    used -= set() if isinstance(title, str) else {"title"}
    metadata = {key: _json(value) for key, value in fields.items() if key not in used}
    try:
        return replace(
            document,
            passages=(replace(first, text=rest), *document.passages[1:]),
            title=document.title or (title if "title" in used else None),
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
    """Return the first line of a block."""
    return 0 if token.map is None else token.map[0]


def _block(tokens: Sequence[Token], lines: Sequence[str], begin: int, end: int) -> Block:
    kind, text = tokens[0].type, "".join(lines[begin:end])
    if kind == _TABLE:
        return _table_block(lines, begin, end)
    if kind in _LISTS:
        items = [_begin(one) for one in tokens if one.type == "list_item_open" and one.level == 1]
        starts = [begin, *(one for one in items if begin < one < end), end]
        return Block(text, ["".join(lines[first:after]) for first, after in pairwise(starts)], has_tokens=True)
    parts = lines[begin:end] if kind in _LINES else ()
    return Block(text, parts, is_heading=kind == _HEADING, has_tokens=kind == "blockquote_open")


def _table_block(lines: Sequence[str], begin: int, end: int) -> Block:
    head = "".join(lines[begin : begin + _HEAD_LINES])
    rows = lines[begin + _HEAD_LINES : end]
    return Block("".join(lines[begin:end]), [head + "".join(rows[:1]), *rows[1:]], head)


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

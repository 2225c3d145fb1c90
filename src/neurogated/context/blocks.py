"""Blocks of memories that a message quotes as a recall or a context printed them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import UTC, timedelta, timezone
from itertools import product

from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, GAP, LATER_LINE, OPENING, quoted, quoted_memory, sentences_of

_OMITTED = GAP.strip()
_ZONES = (UTC, timezone(timedelta(hours=-12)), timezone(timedelta(hours=14)))
"""Any zone has the day of one of these."""
_BREAK = re.compile(f"\n(?!{re.escape(LATER_LINE[1:])})")
"""Between two memories."""
_MARKS = re.compile(r"- (?:\([^()]*\) (?=[^:]))*")
"""The marks before the speaker or the day, which change with what is known."""


def without_blocks(text: str, nodes: Sequence[MemoryNode]) -> tuple[str, list[str]]:
    """Return a text without the blocks that consist of lines of memories, and the ids of these memories.

    A block is made by `Recall.as_text` or `get_context`. It is kept if anything in it was changed or added, except
    marks and whole sentences that were left out.

    Args:
        text: a message.
        nodes: the memories that it may quote.
    """
    before, *parts = text.split(f"{OPENING}\n")
    kept, found = [before], list[str]()
    for part in parts:
        block, closing, rest = part.partition(f"\n{CLOSING}")
        names = [_quoted(_bare(line), nodes) for line in _BREAK.split(block)] if closing else [None]
        if None not in names:
            found += [name for name in names if name is not None]
            kept.append(rest)
        else:
            kept.append(f"{OPENING}\n{part}")
    return ("".join(kept).strip(), list(dict.fromkeys(found))) if found else (text, [])


def _bare(line: str) -> str:
    """Return a line without marks."""
    return _MARKS.sub("- ", line, count=1)


def _quoted(line: str, nodes: Sequence[MemoryNode]) -> str | None:
    """Return the memory whose line this is, whole or cut to sentences; None if it is none's."""
    for node, zone in product(nodes, _ZONES):
        head = _bare(quoted_memory(node, content="", zone=zone))
        if line == _bare(quoted_memory(node, zone=zone)):
            return node.id
        if _OMITTED in line and line.startswith(head) and _is_cut(_on_one_line(line.removeprefix(head)), node.content):
            return node.id
    return None


def _on_one_line(text: str) -> str:
    return " ".join(text.replace(LATER_LINE, " ").split())


def _is_cut(text: str, content: str) -> bool:
    """Return whether a text has only whole sentences of a memory, in their order, or the beginning of one of them."""
    sentences = [_on_one_line(quoted(one)) for one in sentences_of(content)]
    pieces = [piece.strip() for piece in text.split(_OMITTED) if piece.strip()]
    if len(pieces) == 1 and text.endswith(_OMITTED) and any(one.startswith(pieces[0]) for one in sentences):
        return True
    place = 0
    for piece in pieces:
        starts = (at for at in range(place, len(sentences)) if piece.startswith(sentences[at]))
        place = next((end for at in starts if (end := _end(sentences, at, piece))), 0)
        if not place:
            return False
    return bool(pieces)


def _end(sentences: Sequence[str], begin: int, piece: str) -> int:
    """Return the end of the sentences from `begin` on that are exactly a piece; 0 if there is none."""
    text = ""
    for end in range(begin, len(sentences)):
        text = f"{text} {sentences[end]}".strip()
        if len(text) >= len(piece):
            return end + 1 if text == piece else 0
    return 0

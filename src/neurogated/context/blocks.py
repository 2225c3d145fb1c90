"""Blocks of memories that a message quotes as a recall or a context printed them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, timedelta, timezone

from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, GAP, LATER_LINE, OPENING, quoted_memory

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
    marks and omissions.

    Args:
        text: a message.
        nodes: the memories that it may quote.
    """
    before, *parts = text.split(f"{OPENING}\n")
    lines = {_bare(quoted_memory(one, zone=zone)): one.id for one in nodes for zone in _ZONES} if parts else {}
    kept, found = [before], list[str]()
    for part in parts:
        block, closing, rest = part.partition(f"\n{CLOSING}")
        names = [_quoted(_bare(line), lines) for line in _BREAK.split(block)] if closing else [None]
        if None not in names:
            found += [name for name in names if name is not None]
            kept.append(rest)
        else:
            kept.append(f"{OPENING}\n{part}")
    return ("".join(kept).strip(), list(dict.fromkeys(found))) if found else (text, [])


def _bare(line: str) -> str:
    """Return a line without marks."""
    return _MARKS.sub("- ", line, count=1)


def _quoted(line: str, lines: Mapping[str, str]) -> str | None:
    """Return the memory whose line this is, whole or with omissions; None if it is none's."""
    if line in lines or _OMITTED not in line:
        return lines.get(line)
    first, *others = map(_on_one_line, line.split(_OMITTED))
    return next((name for other, name in lines.items() if _has(_on_one_line(other), first, others)), None)


def _on_one_line(text: str) -> str:
    return " ".join(text.replace(LATER_LINE, " ").split())


def _has(text: str, first: str, others: Sequence[str]) -> bool:
    """Return whether a text begins with `first`, and has the others after it in this order."""
    place = len(first) if text.startswith(first) else -1
    for piece in others if place >= 0 else ():
        if (place := text.find(piece, place)) < 0:
            break
        place += len(piece)
    return place >= 0

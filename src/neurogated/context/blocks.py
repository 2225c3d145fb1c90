"""Blocks of memories that a message quotes as a recall or a context printed them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from neurogated.context.layout import FACTS, OTHERS, line_of
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, OPENING, quoted_memory

_BREAK = re.compile("\n(?!  )")
"""Between two memories; the later lines of a memory are indented."""


def without_blocks(text: str, nodes: Sequence[MemoryNode]) -> tuple[str, list[str]]:
    """Return a text without the blocks that consist of lines of memories, and the ids of these memories.

    A block is made by `Recall.as_text` or `get_context`. It is kept if anything in it was changed or added.
    """
    before, *parts = text.split(f"{OPENING}\n")
    names = dict(line for node in nodes for line in _lines(node)) if parts else {}
    kept, found = [before], list[str]()
    for part in parts:
        block, closing, rest = part.partition(f"\n{CLOSING}")
        lines = list(_divided(block)) if closing else []
        if lines and all(line in names for line in lines):
            found += [names[line] for line in lines]
            kept.append(rest)
        else:
            kept.append(f"{OPENING}\n{part}")
    return ("".join(kept).strip(), list(dict.fromkeys(found))) if found else (text, [])


def _lines(node: MemoryNode) -> Iterator[tuple[str, str]]:
    """Yield the lines of a memory in all states, as a recall and as a context print it, each with its id."""
    for state in (None, *get_args(Verdict)):
        marks = () if state is None else (state,)
        yield line_of(node, 0, marks=marks).text, node.id
        yield quoted_memory(node, marks), node.id


def _divided(block: str) -> Iterator[str]:
    """Yield the lines of the memories of a block, and also all else but headings."""
    yield from (part for part in _BREAK.split(block) if part not in {FACTS, OTHERS})

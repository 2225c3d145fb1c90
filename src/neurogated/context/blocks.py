"""Blocks of memories that a message quotes as a recall or a context printed them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import get_args

from neurogated.context.layout import line_of
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, OPENING, quoted_memory

__all__ = ["without_blocks"]

# Neither texts nor attributes have angle brackets, because they are escaped.
_PART = re.compile(r"(?P<memory><memory[^<>]*>[^<>]*</memory>)|(?P<heading><(?:facts|group)[^<>]*>)|</(?:facts|group)>")


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
    """Yield the elements of a memory in all states, with and without a heading, each with the id of the memory."""
    for state in (None, *get_args(Verdict)):
        line = line_of(node, 0, state=state)
        yield line.heading + line.text, node.id
        yield quoted_memory(node, state), node.id


def _divided(block: str) -> Iterator[str]:
    """Yield the elements of a block, each after its heading if it has one, and also all else but line breaks."""
    heading, end, has_memory = "", 0, True
    for part in _PART.finditer(block):
        between = block[end : part.start()].strip("\n")
        if between or not (part["memory"] or has_memory):
            yield between or heading
        end = part.end()
        if part["memory"]:
            yield heading + part["memory"]
            has_memory = True
        else:
            heading, has_memory = part["heading"] or "", not part["heading"]
    if (rest := block[end:].strip("\n")) or not has_memory:
        yield rest or heading

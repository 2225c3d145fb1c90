"""Blocks of memories that a message quotes as a recall or a context printed them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import get_args

from neurogated.context.layout import line_of
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, OPENING, quoted_memory

__all__ = ["without_blocks"]

_ELEMENT, _END = "<memory", "</memory>"
_LATER_LINE, _JOINT = "\n  ", "\0"


def without_blocks(text: str, nodes: Sequence[MemoryNode]) -> tuple[str, list[str]]:
    """Return a text without the blocks that consist of lines of memories, and the ids of these memories.

    A block is made by `Recall.as_text` or `get_context`. It is kept if anything in it was changed or added.
    """
    before, *parts = text.split(f"{OPENING}\n")
    names = dict(line for node in nodes for line in _lines(node)) if parts else {}
    kept, found = [before], list[str]()
    for part in parts:
        block, closing, rest = part.partition(f"\n{CLOSING}")
        lines = _divided(block) if closing else []
        if lines and all(line in names for line in lines):
            found += [names[line] for line in lines]
            kept.append(rest)
        else:
            kept.append(f"{OPENING}\n{part}")
    return ("".join(kept).strip(), list(dict.fromkeys(found))) if found else (text, [])


def _lines(node: MemoryNode) -> Iterator[tuple[str, str]]:
    """Yield the elements and lines of a memory in all states, each with the id of the memory."""
    for state in (None, *get_args(Verdict)):
        line = line_of(node, 0, state=state)
        yield f"{line.heading}\n{line.text}", node.id
        yield quoted_memory(node, state), node.id


def _divided(block: str) -> list[str]:
    """Return the elements of `Recall.as_text`, or else the lines of `get_context`, each with its heading.

    Later lines of a memory are indented there, so they stay with the first.
    """
    if block.startswith(_ELEMENT):
        *elements, last = f"{block}\n".split(f"{_END}\n")
        return [*(f"{element}{_END}" for element in elements), *([last] if last else [])]
    before, *groups = f"\n{block}".replace(_LATER_LINE, _JOINT).split("\n# ")
    divided = [before] if before else []
    for group in groups:
        heading, *lines = group.split("\n")
        divided += [f"# {heading}\n{line}".replace(_JOINT, _LATER_LINE) for line in lines or [""]]
    return divided

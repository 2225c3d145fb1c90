"""Blocks of memories that a message quotes as a recall or a context printed them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import product
from typing import get_args

from neurogated.context.layout import FACTS, OTHERS, fact_line, line_of
from neurogated.core.fact_words import ended
from neurogated.core.facts import Fact
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, OPENING, quoted_memory

_BREAK = re.compile("\n(?!  )")
"""Between two memories; the later lines of a memory are indented."""


def without_blocks(text: str, nodes: Sequence[MemoryNode], facts: Sequence[Fact] = ()) -> tuple[str, list[str]]:
    """Return a text without the blocks that consist of lines of memories, and the ids of these memories.

    A block is made by `Recall.as_text` or `get_context`. It is kept if anything in it was changed or added.

    Args:
        text: a message.
        nodes: the memories that it may quote.
        facts: the facts that were read from them.
    """
    before, *parts = text.split(f"{OPENING}\n")
    names = dict(line for node in nodes for line in _lines(node, facts)) if parts else {}
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


def _lines(node: MemoryNode, facts: Sequence[Fact]) -> Iterator[tuple[str, str]]:
    """Yield the lines of a memory in all states, as a recall and as a context print it, each with its id."""
    own = [fact for fact in facts if node.id in fact.sources]
    changes = ended(fact for fact in own if fact.valid_to is not None)
    for marks in ((), *((state,) for state in get_args(Verdict)), changes, ("contested", *changes)):
        yield line_of(node, 0, marks=marks).text, node.id
        yield quoted_memory(node, marks), node.id
    for fact, is_contested in product(own, (False, True)):
        yield fact_line(fact, line_of(node, 0), is_contested=is_contested).text, node.id


def _divided(block: str) -> Iterator[str]:
    """Yield the lines of the memories of a block, and also all else but headings."""
    yield from (part for part in _BREAK.split(block) if part not in {FACTS, OTHERS})

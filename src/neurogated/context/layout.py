"""The text of a context: facts first, then other memories by time, one line each."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from neurogated.core.fact_words import fact_text
from neurogated.core.facts import Fact
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import FACT, PROFILE
from neurogated.core.quoting import CLOSING, OPENING, held_from_to, quoted, quoted_memory
from neurogated.text.strings import one_line

EMPTY = f"{OPENING}\n{CLOSING}"
"""The text around the memories."""
FACTS = "Facts:"
OTHERS = "Quotations:"
"""The line between facts and other memories. No text of a memory begins at the margin, so none can imitate it."""
_ROUND = str.maketrans("()", "[]")


class Line(NamedTuple):
    """A memory or a fact as text."""

    text: str
    is_fact: bool
    order: tuple[object, ...]
    """By time, then by place in the session."""


def line_of(node: MemoryNode, place: int, content: str | None = None, marks: Sequence[str] = ()) -> Line:
    """Return a memory as a line.

    Args:
        node: the memory.
        place: orders memories of the same time that are in no session.
        content: replaces its text.
        marks: remarks such as `contested`.
    """
    position = -1 if node.position is None else node.position
    order = node.timestamp or node.created_at, node.scope.session_id or "", position, place
    is_fact = node.kind in {FACT, PROFILE}
    if is_fact:
        parts = node.found.statement
        words = content or (node.content if parts is None else fact_text(parts))
        text = _fact(words, held_from_to(node.valid_from, node.valid_to), marks)
    else:
        text = quoted_memory(node, marks, content)
    return Line(text, is_fact, order)


def fact_line(fact: Fact, beside: Line, *, is_contested: bool = False) -> Line:
    """Return a fact that was read from a memory as a line such as `- home: Antwerp (since 1 October 2026)`.

    Args:
        fact: with its three parts.
        beside: the line of its memory, which gives its order.
        is_contested: whether an open conflict is about it.
    """
    held, marks = held_from_to(fact.valid_from, fact.valid_to), ("contested",) * is_contested
    return Line(_fact(fact_text(fact), held, marks), is_fact=True, order=beside.order)


def _fact(words: str, held: str, marks: Sequence[str] = ()) -> str:
    """Return the line of a fact. It can imitate no other fact, no time and no mark: brackets become square."""
    shown = [
        *(f"({mark})" for mark in marks),
        quoted(one_line(words)).translate(_ROUND),
        *([f"({held})"] if held else []),
    ]
    return f"- {' '.join(shown)}"


def text_of(lines: Iterable[Line]) -> str:
    """Return the text of the lines, which it sorts; "" if there are none."""
    ordered = sorted(lines, key=lambda line: line.order)
    facts = [line.text for line in ordered if line.is_fact]
    others = [line.text for line in ordered if not line.is_fact]
    if not ordered:
        return ""
    parts = [FACTS, *facts, *([OTHERS] if others else [])] if facts else []
    return "\n".join((OPENING, *parts, *others, CLOSING))

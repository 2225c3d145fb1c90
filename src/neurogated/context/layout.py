"""The text of a context: one element a memory, in groups of memories that share their day and title."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby
from typing import NamedTuple

from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import FACT
from neurogated.core.quoting import CLOSING, OPENING, opening_tag, quoted_memory

__all__ = ["EMPTY", "Line", "framed", "line_of", "text_of"]

EMPTY = f"{OPENING}\n{CLOSING}"
"""The text around the memories."""
_FACTS = "<facts>"


class Line(NamedTuple):
    """A memory as text."""

    node: MemoryNode
    heading: str
    """The line above it and the other memories of its group."""
    text: str
    order: tuple[object, ...]
    """Facts first, then by time, then by place in the session."""

    @property
    def group(self) -> tuple[str, str]:
        """Memories with the same heading and session follow one another."""
        return self.heading, self.node.scope.session_id or ""


def line_of(node: MemoryNode, place: int, content: str | None = None, state: Verdict | None = None) -> Line:
    """Return a memory as a line.

    Args:
        node: the memory.
        place: orders memories of the same time that are in no session.
        content: replaces its text.
        state: of a memory in a conflict.
    """
    is_fact, moment = node.kind == FACT, node.timestamp or node.created_at
    day = None if node.timestamp is None else f"{node.timestamp:%Y-%m-%d}"
    heading = _FACTS if is_fact else opening_tag("group", {"date": day, "title": node.title})
    text = quoted_memory(node, state, content, is_grouped=not is_fact)
    position = -1 if node.position is None else node.position
    return Line(node, heading, text, (not is_fact, moment, node.scope.session_id or "", position, place))


def text_of(lines: Iterable[Line]) -> str:
    """Return the text of the lines, which it sorts; "" if there are none."""
    ordered = sorted(lines, key=lambda line: line.order)
    body = [
        framed(heading, *(line.text for line in group))
        for (heading, _), group in groupby(ordered, key=lambda line: line.group)
    ]
    return "\n".join((OPENING, *body, CLOSING)) if body else ""


def framed(heading: str, *texts: str) -> str:
    """Return texts between a heading and its end."""
    return "\n".join((heading, *texts, "</facts>" if heading == _FACTS else "</group>"))

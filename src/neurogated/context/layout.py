"""The text of a context: one line a memory, under a heading that several memories share.

Only headings and first lines of memories begin at the margin, because later lines of a memory are indented. So no
memory can imitate a heading or another memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import groupby
from typing import NamedTuple

from neurogated.core.facts import FACT
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.quoting import CLOSING, OPENING, escaped, outcome_of

__all__ = ["EMPTY", "Line", "line_of", "text_of"]

EMPTY = f"{OPENING}\n{CLOSING}"
"""The text around the memories."""
_FACTS = "# facts"
_DAY = "%Y-%m-%d"


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
    said = escaped(node.content if content is None else content).replace("\n", "\n  ")
    moment = node.timestamp or node.created_at
    is_fact = node.kind == FACT
    by = node.speaker or node.role
    mark = f"[{state}] " if state else ""
    text = f"- {mark}{_word(by)}: {said}" if by else f"- {mark}{said}"
    heading = _FACTS if is_fact else "# " + ", ".join(_about(node))
    if outcome := outcome_of(node):
        text += f" (outcome: {outcome})"
    if is_fact:
        text += "".join(f" ({about})" for about in [", ".join((*_about(node), *_held(node)))] if about)
    position = -1 if node.position is None else node.position
    return Line(node, heading, text, (not is_fact, moment, node.scope.session_id or "", position, place))


def text_of(lines: Iterable[Line]) -> str:
    """Return the text of the lines, which it sorts; "" if there are none."""
    ordered = sorted(lines, key=lambda line: line.order)
    body = [
        "\n".join((heading, *(line.text for line in group)))
        for (heading, _), group in groupby(ordered, key=lambda line: line.group)
    ]
    return "\n".join((OPENING, *body, CLOSING)) if body else ""


def _about(node: MemoryNode) -> Sequence[str]:
    """Return the day and the title of a memory."""
    day = [] if node.timestamp is None else [_day(node.timestamp)]
    return [*day, *([_word(node.title)] if node.title else [])] or ([] if node.kind == FACT else ["undated"])


def _held(node: MemoryNode) -> Sequence[str]:
    """Return the time in which a fact holds."""
    return [f"{word} {_day(day)}" for word, day in (("from", node.valid_from), ("until", node.valid_to)) if day]


def _day(moment: datetime) -> str:
    return f"{moment:{_DAY}}"


def _word(text: str) -> str:
    """Return a name on one line."""
    return " ".join(escaped(text).split())

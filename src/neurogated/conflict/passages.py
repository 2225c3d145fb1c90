"""The statements of a memory: its sentences, without code, tables and other text that nobody says."""

from __future__ import annotations

import re

from neurogated.conflict.judge import Content
from neurogated.core.conflicts import CONFLICT
from neurogated.core.facts import FACT
from neurogated.core.model import MemoryNode
from neurogated.core.sentences import split_sentences

__all__ = ["Owner", "content_of", "is_compared", "owner_of", "statements_in"]

Owner = tuple[str | None, str | None, str | None]
"""User, agent, and the session if there is no user, because such sessions may be those of different persons."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_LONGEST = 600
"""Characters of a sentence. A longer one is a list or a table."""
_OTHERS = frozenset({"assistant", "system", "tool", "function"})
"""Roles whose messages are not evidence about the user."""


def owner_of(node: MemoryNode) -> Owner:
    """Return the owner of a memory. Only memories of one owner can be in conflict."""
    scope = node.scope
    return scope.user_id, scope.agent_id, scope.session_id if scope.user_id is None else None


def is_compared(node: MemoryNode) -> bool:
    """Return whether a memory states things that others may contradict."""
    return node.kind != CONFLICT and node.role not in _OTHERS and bool(node.content.strip())


def statements_in(node: MemoryNode) -> list[str]:
    """Return the sentences of a memory; a fact is one."""
    if node.found.statement is not None:
        return [node.content]
    text = _CODE.sub(" ", node.content)
    parts = (" ".join(part.split()) for part in split_sentences(text))
    return [part for part in parts if part and len(part) <= _LONGEST]


def content_of(node: MemoryNode, text: str) -> Content:
    """Return a statement of a memory, as the judge of pairs reads it."""
    times = {"valid_from": node.valid_from, "valid_to": node.valid_to}
    said = node.valid_from or node.timestamp
    if said is None and (node.kind == FACT or node.position is not None):
        said = node.created_at
    content = {name: time.isoformat() for name, time in {**times, "timestamp": said}.items() if time is not None}
    if node.found.statement is None:
        return {**content, "content": text}
    parts = node.found.statement
    return {**content, "subject": parts.subject, "attribute": parts.attribute, "value": parts.value}

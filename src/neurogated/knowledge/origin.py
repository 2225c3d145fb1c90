"""Who states what in a memory, and which memories are pieces of one document or of one message."""

import re

from neurogated.core.conflicts import CONFLICT
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM, EVENT, FACT
from neurogated.text.sentences import split_sentences

Owner = tuple[object, ...]
"""The owner of a memory, and more."""

_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_KINDS = frozenset({CONFLICT, CLAIM, EVENT})
"""Kinds of memories that the user did not state; an agent records events, and claims are read from others."""
_OTHERS = frozenset({"assistant", "system", "tool", "function"})
"""Roles whose messages are not evidence about the user."""
_NOBODY: Owner = (None, None, None)
_MOST_WORDS = 2_000
"""Words of a message that a person writes; a longer one is a document in a message."""


def voice_of(node: MemoryNode) -> Owner:
    """Return the owner of a memory with the speaker and the document: others may say different things."""
    return (*node.scope.owner, node.role, node.speaker, node.title)


def is_compared(node: MemoryNode) -> bool:
    """Return whether a memory states things that others may contradict. A derived fact repeats its sources."""
    if node.kind in _KINDS or node.role in _OTHERS or not node.content.strip():
        return False
    if node.found.statement is not None or node.kind == FACT:
        return node.found.statement is not None
    # A document that belongs to nobody, or a message so long that it was pasted, states nothing about its owner.
    is_pasted = node.found.part is not None and node.found.part[1] > _MOST_WORDS
    return not (is_pasted or (node.found.document_id is not None and node.scope.owner == _NOBODY))


def is_message(node: MemoryNode) -> bool:
    """Return whether a memory states things in sentences, as opposed to a stated fact."""
    return node.found.statement is None and is_compared(node)


def is_read(node: MemoryNode) -> bool:
    """Return whether a model reads a memory: any text but one that the memory made, or that states one fact."""
    return node.found.statement is None and node.kind not in {*_KINDS, FACT} and bool(node.content.strip())


def statements_in(node: MemoryNode) -> list[str]:
    """Return the sentences of a memory; a fact is one."""
    if node.found.statement is not None:
        return [node.content]
    return [" ".join(part.split()) for part in split_sentences(said_in(node)) if part.strip()]


def sentence_of(node: MemoryNode, place: int) -> str:
    """Return a sentence of a memory by its place; the whole text if it has no such sentence."""
    found = statements_in(node)
    return found[place] if place < len(found) else node.content


def said_in(node: MemoryNode) -> str:
    """Return the text of a memory without code."""
    return _CODE.sub(" ", node.content)


def are_one_text(one: MemoryNode, other: MemoryNode) -> bool:
    """Return whether two memories are pieces of one document or of one message."""
    document = _document(one)
    return (document is not None and document == _document(other)) or _is_one_message(one, other)


def _document(node: MemoryNode) -> object:
    """Return a key of the document of a memory; None for a message. The chunks of a text with an id share its id."""
    if node.found.document_id is not None or node.position is not None:
        return node.found.document_id
    return node.id.partition("#")[0], node.created_at


def _is_one_message(one: MemoryNode, other: MemoryNode) -> bool:
    parts, places = (one.found.part, other.found.part), (one.position, other.position)
    if None in parts or None in places or _source(one) != _source(other):
        return False
    (first, words), (second, others) = parts  # type: ignore[misc]
    # Turns between them may have moved, so positions tell the order only.
    return words == others and first != second and (first < second) == (places[0] < places[1])  # type: ignore[operator]


def _source(node: MemoryNode) -> tuple[object, ...]:
    return node.scope, node.role, node.speaker, node.found.document_id, node.said_at

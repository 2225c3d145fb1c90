"""Which memories are pieces of one document or of one message."""

from __future__ import annotations

from neurogated.core.model import MemoryNode

__all__ = ["are_one_text"]


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
    """Return the properties that all pieces of a message share."""
    return node.scope, node.role, node.speaker, node.found.document_id, node.timestamp or node.created_at

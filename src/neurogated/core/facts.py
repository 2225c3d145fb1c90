"""`Fact`: a memory of kind `fact`, as programs and SQL tables read it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Self

from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.scope import Scope

__all__ = ["FACT", "Fact", "derives"]

FACT = "fact"
"""The kind of the nodes that are facts."""
_DERIVED_FROM = "DERIVED_FROM"


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact, stated by the caller or derived from other memories."""

    id: str
    """The id of its memory."""
    statement: str
    """The fact as text."""
    subject: str | None = None
    """Whom or what it is about; None if only the text is known."""
    attribute: str | None = None
    value: str | None = None
    confidence: float | None = None
    """How sure its source is, 0–1; None if unknown."""
    valid_from: datetime | None = None
    """When the fact began to hold; None if it always did."""
    valid_to: datetime | None = None
    """When the fact ceased to hold; None if it still holds."""
    timestamp: datetime | None = None
    """When it was said."""
    expires_at: datetime | None = None
    sources: tuple[str, ...] = ()
    """The ids of the memories from which it is derived, sorted."""
    scope: Scope = field(default_factory=Scope)
    """Its owner."""

    @classmethod
    def of(cls, node: MemoryNode, edges: Iterable[MemoryEdge] = ()) -> Self:
        """Return the fact of a node and of the edges that leave it."""
        parts = node.found.statement
        return cls(
            node.id,
            node.content,
            subject=None if parts is None else parts.subject,
            attribute=None if parts is None else parts.attribute,
            value=None if parts is None else parts.value,
            confidence=None if parts is None else parts.confidence,
            valid_from=node.valid_from,
            valid_to=node.valid_to,
            timestamp=node.timestamp,
            expires_at=node.expires_at,
            sources=tuple(sorted(edge.target_id for edge in edges if derives(edge.type.name))),
            scope=node.scope,
        )


def derives(edge_type: str) -> bool:
    """Return whether edges with this name of a type lead from a memory to the sources from which it is derived."""
    return edge_type == _DERIVED_FROM

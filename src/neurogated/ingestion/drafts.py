"""Data that is about to be stored: chunks, parts of documents, and batches of parts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from neurogated.core.delta import PendingTask
from neurogated.core.found import Found
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.scope import Scope
from neurogated.ingestion.revision import with_lifetime

__all__ = ["Analysed", "Batch", "Draft", "Part", "SessionKey"]

SessionKey = tuple[str | None, str]
"""User and name of a session."""


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk that may become a node."""

    id: str
    content: str
    metadata: Mapping[str, object]
    lifetime: Mapping[str, datetime | None]
    """Given times by the name of the node's field."""
    found: Found
    """Findings from the content, without entities."""
    scope: Scope
    fields: Mapping[str, Any]
    """Other given fields of the node, by name."""
    named: bool = False
    """Whether the caller has chosen the id."""
    message: str | None = None
    """The whole message, of which this chunk is a piece; None for any other chunk."""

    @property
    def is_unjudged(self) -> bool:
        """Whether the caller gives no importance."""
        return "importance" not in self.fields

    @property
    def session(self) -> SessionKey | None:
        """User and name of the turn's session, None for a chunk of a document."""
        return None if self.scope.session_id is None else (self.scope.user_id, self.scope.session_id)

    def moves(self, node: MemoryNode) -> bool:
        """Return whether the draft moves the stored `node` to another session, or to another place in its session."""
        if not self.named or self.session is None:
            return False
        is_elsewhere = node.position is None or node.scope.session_id != self.scope.session_id
        return is_elsewhere or self.fields.get("timestamp", node.timestamp) != node.timestamp

    def owned_as(self, node: MemoryNode) -> Draft:
        """Return the draft with missing parts of its scope taken from a stored node."""
        given, known = self.scope, node.scope
        if given.user_id != known.user_id:
            return self
        session_id = given.session_id or known.session_id
        scope = Scope(given.user_id, given.agent_id or known.agent_id, session_id, given.path or known.path)
        return replace(self, scope=scope)

    def changes(self, node: MemoryNode) -> bool:
        """Return whether the draft changes metadata, times or other fields of `node`."""
        given = {**self.lifetime, **self.fields, "scope": self.scope}
        return (
            any(getattr(node, name) != value for name, value in given.items())
            or self._metadata_over(node) != node.metadata
        )

    def merged_over(self, other: Draft | None) -> Draft:
        """Return the draft with its values merged over those of `other`; a named draft replaces all metadata."""
        if other is None:
            return self
        metadata = self.metadata if self.named else {**other.metadata, **self.metadata}
        lifetime, fields = {**other.lifetime, **self.lifetime}, {**other.fields, **self.fields}
        return replace(self, metadata=metadata, lifetime=lifetime, fields=fields)

    def replacing(self, stored: MemoryNode) -> MemoryNode:
        """Return the stored node with the text, the metadata and the given fields of the draft."""
        node = replace(
            stored, content=self.content, metadata=self.metadata, found=self.found, scope=self.scope, **self.fields
        )
        return with_lifetime(node, self.lifetime)

    def node(self, stored: MemoryNode | None, at: datetime) -> MemoryNode:
        """Return the node of the draft, without a new vector. A stored node keeps its text, energy and times."""
        if stored is not None:
            return replace(stored, metadata=self._metadata_over(stored), scope=self.scope, **self.fields)
        return MemoryNode(
            self.id,
            self.content,
            metadata=self.metadata,
            last_accessed=at,
            created_at=at,
            scope=self.scope,
            found=self.found,
            **self.fields,
        )

    def _metadata_over(self, stored: MemoryNode) -> Mapping[str, object]:
        """Return the new metadata of a stored node with the same text."""
        return self.metadata if self.named else {**stored.metadata, **self.metadata}


@dataclass(frozen=True, slots=True)
class Part:
    """Chunks of one document that are stored together: all chunks of a short document, or some of a long one."""

    document: Sequence[Draft]
    begin: int
    end: int

    @property
    def is_last(self) -> bool:
        """Whether this is the last part of the document."""
        return self.end == len(self.document)

    @property
    def drafts(self) -> Sequence[Draft]:
        """The chunks of the part."""
        return self.document[self.begin : self.end]

    def with_previous(self) -> Iterator[tuple[Draft, Draft | None]]:
        """Yield the chunks of the part, each with the previous chunk of the document."""
        for place in range(self.begin, self.end):
            yield self.document[place], self.document[place - 1] if place else None

    def with_neighbours(self, reach: int) -> tuple[str, ...]:
        """Return the ids of the part and of `reach` chunks on each side of it."""
        return tuple(draft.id for draft in self.document[max(0, self.begin - reach) : self.end + reach])


@dataclass(frozen=True, slots=True)
class Batch:
    """Parts of documents that are stored together, and the plan of their writes."""

    parts: Sequence[Part]
    old: Mapping[str, MemoryNode]
    """Stored nodes of the parts, and their stored neighbours, by id."""
    to_write: Sequence[Draft]
    """Drafts of new nodes, and of stored nodes with changed fields."""
    to_revise: Sequence[Draft] = ()
    """Drafts of stored nodes with an id of the caller and a changed text."""
    chains: Sequence[Sequence[str]] = ()
    """Successive ids: a chain for each part with its neighbours, and a chain for each session's turns."""
    parted: Sequence[EdgeKey] = ()
    """SEQ edges to remove: their turns are no longer successive."""
    joined: Sequence[EdgeKey] = ()
    """SEQ edges to add between stored turns, because a turn moves to or from their place."""
    sequence: int = -1
    """Number of the last delta that the plan includes."""

    @property
    def basis(self) -> object:
        """The input of the analysis: plans of the same parts with equal bases have the same analysis."""
        stored = {name: replace(node, last_accessed=node.created_at, uses=0) for name, node in self.old.items()}
        return self.to_write, stored, self.chains, self.parted, self.joined

    def nodes(self, at: datetime) -> list[MemoryNode]:
        """Return the nodes to write, without new vectors."""
        return [draft.node(self.old.get(draft.id), at) for draft in self.to_write]


@dataclass(frozen=True, slots=True)
class Analysed:
    """The analysis of the texts of a batch, before they are linked with other memories."""

    new: Sequence[MemoryNode]
    """New nodes with their entities and vectors."""
    known: Sequence[MemoryNode]
    """Changed stored nodes with new vectors."""
    sequences: Sequence[MemoryEdge]
    parted: Sequence[EdgeKey]
    """SEQ edges to remove."""
    causes: Sequence[MemoryEdge]
    failed: tuple[PendingTask, ...]
    """Judgements that have failed."""
    at: datetime

    @property
    def nodes(self) -> list[MemoryNode]:
        """All nodes to write."""
        return [*self.new, *self.known]

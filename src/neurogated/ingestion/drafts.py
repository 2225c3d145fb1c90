"""What is about to be stored: chunks, the parts of documents that are stored together, and batches of these."""

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
    """Times that were given, by the node's field."""
    found: Found
    """What the content tells by itself, but for the names in it."""
    scope: Scope
    fields: Mapping[str, Any]
    """Other fields of the node that were given, by name."""
    named: bool = False
    """Whether its id is the caller's own."""

    @property
    def session(self) -> SessionKey | None:
        """User and name of the session that it is a turn of, None for a chunk of a document."""
        return None if self.scope.session_id is None else (self.scope.user_id, self.scope.session_id)

    def moves(self, node: MemoryNode) -> bool:
        """Return whether the draft gives the stored `node` another session, or a place of its own in its session."""
        if not self.named or self.session is None:
            return False
        is_elsewhere = node.position is None or node.scope.session_id != self.scope.session_id
        return is_elsewhere or self.fields.get("timestamp", node.timestamp) != node.timestamp

    def owned_as(self, node: MemoryNode) -> Draft:
        """Return the draft with those parts of the scope of a stored node that were not given."""
        given, known = self.scope, node.scope
        if given.user_id != known.user_id:
            return self
        session_id = given.session_id or known.session_id
        scope = Scope(given.user_id, given.agent_id or known.agent_id, session_id, given.path or known.path)
        return replace(self, scope=scope)

    def changes(self, node: MemoryNode) -> bool:
        """Return whether the draft brings metadata, times or other fields that `node` does not have."""
        given = {**self.lifetime, **self.fields, "scope": self.scope}
        return (
            any(getattr(node, name) != value for name, value in given.items())
            or self._metadata_over(node) != node.metadata
        )

    def merged_over(self, other: Draft | None) -> Draft:
        """Return the draft with what `other` brings beside; metadata under an id of the caller's own replaces his."""
        if other is None:
            return self
        metadata = self.metadata if self.named else {**other.metadata, **self.metadata}
        lifetime, fields = {**other.lifetime, **self.lifetime}, {**other.fields, **self.fields}
        return replace(self, metadata=metadata, lifetime=lifetime, fields=fields)

    def replacing(self, stored: MemoryNode) -> MemoryNode:
        """Return the stored node with the text, the metadata and what is given of the draft."""
        node = replace(
            stored, content=self.content, metadata=self.metadata, found=self.found, scope=self.scope, **self.fields
        )
        return with_lifetime(node, self.lifetime)

    def node(self, stored: MemoryNode | None, at: datetime) -> MemoryNode:
        """Return the node that it becomes, without a vector; a stored one keeps its text, its energy and its times."""
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
        """Return the metadata of a stored node with the same text once it is given this draft's."""
        return self.metadata if self.named else {**stored.metadata, **self.metadata}


@dataclass(frozen=True, slots=True)
class Part:
    """Chunks of one document that are stored together: all of a short document, some of a long one."""

    document: Sequence[Draft]
    begin: int
    end: int

    @property
    def is_last(self) -> bool:
        """Whether the document ends with it."""
        return self.end == len(self.document)

    @property
    def drafts(self) -> Sequence[Draft]:
        """The chunks of the part."""
        return self.document[self.begin : self.end]

    def with_previous(self) -> Iterator[tuple[Draft, Draft | None]]:
        """Yield the chunks of the part, each with the one before it in the document."""
        for place in range(self.begin, self.end):
            yield self.document[place], self.document[place - 1] if place else None

    def with_neighbours(self, reach: int) -> tuple[str, ...]:
        """Return the ids of the part and of `reach` chunks on each side of it."""
        return tuple(draft.id for draft in self.document[max(0, self.begin - reach) : self.end + reach])


@dataclass(frozen=True, slots=True)
class Batch:
    """Parts of documents that are stored together, and what is to be written of them."""

    parts: Sequence[Part]
    old: Mapping[str, MemoryNode]
    """Those of their nodes, and of the nodes beside them, that are stored."""
    to_write: Sequence[Draft]
    """Drafts of new nodes, and of old ones that they change."""
    to_revise: Sequence[Draft] = ()
    """Drafts of stored nodes, named by the caller, whose text is another."""
    chains: Sequence[Sequence[str]] = ()
    """Ids in the order in which they follow one another: of each part with its neighbours, of each session's turns."""
    parted: Sequence[EdgeKey] = ()
    """SEQ edges between stored turns that no longer follow one another."""
    joined: Sequence[EdgeKey] = ()
    """SEQ edges that are to be between stored turns, because one of them moves or moved away between them."""
    sequence: int = -1
    """Number of the last delta that it knows of."""

    @property
    def basis(self) -> object:
        """What the analysis rests on: another plan of the same parts with an equal basis has the same analysis."""
        stored = {name: replace(node, last_accessed=node.created_at, uses=0) for name, node in self.old.items()}
        return self.to_write, stored, self.chains, self.parted, self.joined

    def nodes(self, at: datetime) -> list[MemoryNode]:
        """Return the nodes that are to be written, without new vectors."""
        return [draft.node(self.old.get(draft.id), at) for draft in self.to_write]


@dataclass(frozen=True, slots=True)
class Analysed:
    """What follows from the texts of a batch alone, before it is linked with the other memories."""

    new: Sequence[MemoryNode]
    """With names found in them, and vectors."""
    known: Sequence[MemoryNode]
    """Nodes that are there and change, with new vectors."""
    sequences: Sequence[MemoryEdge]
    parted: Sequence[EdgeKey]
    """SEQ edges that end."""
    causes: Sequence[MemoryEdge]
    failed: tuple[PendingTask, ...]
    """Judgements that a model could not make."""
    at: datetime

    @property
    def nodes(self) -> list[MemoryNode]:
        """All nodes to be put."""
        return [*self.new, *self.known]

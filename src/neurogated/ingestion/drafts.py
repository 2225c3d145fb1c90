"""What is about to be stored: chunks, the parts of documents that are stored together, and batches of these."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from neurogated.core.delta import PendingTask
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.rendering import render
from neurogated.core.scope import Scope

__all__ = ["Analysed", "Batch", "Draft", "Part"]


@dataclass(frozen=True, slots=True)
class Draft:
    """A chunk that may become a node."""

    id: str
    content: str
    metadata: Mapping[str, object]
    lifetime: Mapping[str, datetime | None]
    """Times that were given, by the node's field."""
    times: Sequence[str]
    """Words of the content that tell when."""
    scope: Scope
    fields: Mapping[str, Any]
    """Other fields of the node that were given, by name."""

    def changes(self, node: MemoryNode) -> bool:
        """Return whether the draft brings metadata, times or other fields that `node` does not have."""
        given = {**self.lifetime, **self.fields}
        return (
            any(getattr(node, name) != value for name, value in given.items())
            or {**node.metadata, **self.metadata} != node.metadata
        )

    def merged_over(self, other: Draft | None) -> Draft:
        """Return the draft with what `other` brings beside."""
        if other is None:
            return self
        metadata, lifetime = {**other.metadata, **self.metadata}, {**other.lifetime, **self.lifetime}
        return replace(self, metadata=metadata, lifetime=lifetime, fields={**other.fields, **self.fields})

    def rendered(self, node: MemoryNode | None) -> str:
        """Return what is embedded of the node that the draft becomes, given the one that is stored, if there is one."""
        return render(
            *((self.content, self.metadata) if node is None else (node.content, {**node.metadata, **self.metadata}))
        )


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

    def before(self, count: int) -> Sequence[Draft]:
        """Return the `count` chunks before the part."""
        return self.document[max(0, self.begin - count) : self.begin]

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

    @property
    def basis(self) -> object:
        """What the analysis rests on: another plan of the same parts with an equal basis has the same analysis."""
        return self.to_write, {
            name: replace(node, last_accessed=node.created_at, uses=0) for name, node in self.old.items()
        }


@dataclass(frozen=True, slots=True)
class Analysed:
    """What follows from the texts of a batch alone, before it is linked with the other memories."""

    new: Sequence[MemoryNode]
    """With names found in them, and vectors."""
    known: Sequence[MemoryNode]
    """Nodes that are there and change, with new vectors."""
    sequences: Sequence[MemoryEdge]
    causes: Sequence[MemoryEdge]
    failed: tuple[PendingTask, ...]
    """Judgements that a model could not make."""
    at: datetime

    @property
    def nodes(self) -> list[MemoryNode]:
        """All nodes to be put."""
        return [*self.new, *self.known]

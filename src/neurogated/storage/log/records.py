"""What nodes and edges hold beside the columns of a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from neurogated.core.model import MemoryEdge, MemoryNode

__all__ = ["EdgeRecord", "NodeRecord"]


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """What a node holds beside its columns and its vector."""

    content: str
    metadata: Mapping[str, Any]
    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    expires_at: datetime | None
    timestamp: datetime | None
    role: str | None
    speaker: str | None
    title: str | None
    position: int | None
    tags: tuple[str, ...]

    def fields(self) -> dict[str, Any]:
        """Return what it holds by name."""
        return {name: getattr(self, name) for name in self.__slots__}

    @classmethod
    def of(cls, node: MemoryNode) -> NodeRecord:
        """Return what `node` holds beside its columns and its vector."""
        return cls(**{name: getattr(node, name) for name in cls.__slots__})


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """What an edge holds beside its columns."""

    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None
    relation: str | None

    @classmethod
    def of(cls, edge: MemoryEdge) -> EdgeRecord:
        """Return what `edge` holds beside its columns."""
        return cls(**{name: getattr(edge, name) for name in cls.__slots__})

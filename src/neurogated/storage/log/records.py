"""What nodes and edges hold beside the columns of a view."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

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


@dataclass(frozen=True, slots=True)
class EdgeRecord:
    """What an edge holds beside its columns."""

    created_at: datetime
    valid_from: datetime | None
    valid_to: datetime | None

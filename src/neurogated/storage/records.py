"""What nodes and edges hold beside the columns of a view."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from neurogated.core.clock import from_micros
from neurogated.core.model import MemoryEdge, MemoryNode, Vector
from neurogated.core.view import GraphView, Rows

__all__ = ["EdgeRecord", "NodeRecord", "edges_at", "nodes_at"]


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


def nodes_at(
    view: GraphView, rows: Rows, records: Sequence[NodeRecord], vector: Callable[[int], Vector | None]
) -> list[MemoryNode]:
    """Return the nodes at `rows`, each with its record; `vector` gives the embedding at a row."""
    energies, accessed = view.base_energy.take(rows).tolist(), view.last_accessed.take(rows).tolist()
    return [
        MemoryNode.restored(
            id=view.ids[row],
            content=record.content,
            embedding=vector(row),
            base_energy=energy,
            last_accessed=from_micros(moment),
            metadata=record.metadata,
            created_at=record.created_at,
            valid_from=record.valid_from,
            valid_to=record.valid_to,
            expires_at=record.expires_at,
        )
        for row, record, energy, moment in zip(rows.tolist(), records, energies, accessed, strict=True)
    ]


def edges_at(view: GraphView, rows: Rows, records: Sequence[EdgeRecord]) -> list[MemoryEdge]:
    """Return the edges at `rows`, each with its record."""
    weights, activated = view.weight.take(rows).tolist(), view.last_activated.take(rows).tolist()
    return [
        MemoryEdge(
            *view.edge_key(row),
            weight=weight,
            created_at=record.created_at,
            last_activated=from_micros(moment),
            valid_from=record.valid_from,
            valid_to=record.valid_to,
        )
        for row, record, weight, moment in zip(rows.tolist(), records, weights, activated, strict=True)
    ]

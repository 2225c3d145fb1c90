"""`Fact`: a memory of kind `fact`, as programs and SQL tables read it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import FACT
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView

__all__ = ["FACT", "Fact", "fact_ids", "facts_of"]


@dataclass(frozen=True, slots=True)
class Fact:
    """A fact, stated by the caller or derived from other memories."""

    id: str
    """The id of its memory."""
    statement: str
    """The fact as text."""
    subject: str | None = None
    """The person or thing that it is about; None if only the text is known."""
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


def fact_ids(view: GraphView) -> list[str]:
    """Return the ids of the facts that a view admits, in the order they were added."""
    kinds = list(view.kinds)
    if FACT not in kinds:
        return []
    rows = view.admitted_nodes()
    return [view.ids[row] for row in rows[view.kind.take(rows) == kinds.index(FACT)].tolist()]


def facts_of(store: GraphStorePort, view: GraphView, node_ids: Sequence[str]) -> list[Fact]:
    """Return the facts among some nodes that still exist, with the sources that a view of the store shows."""
    nodes = [node for node in store.get_nodes(node_ids, missing_ok=True) if node.kind == FACT]
    sources = _sources(view, [node.id for node in nodes])
    return [_fact(node, sources[node.id]) for node in nodes]


def _fact(node: MemoryNode, sources: Iterable[str]) -> Fact:
    parts = node.found.statement
    return Fact(
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
        sources=tuple(sorted(sources)),
        scope=node.scope,
    )


def _sources(view: GraphView, node_ids: Iterable[str]) -> Mapping[str, list[str]]:
    """Return the ids of the nodes from which nodes are derived."""
    found: dict[str, list[str]] = defaultdict(list)
    rows = view.known_rows(node_ids)
    if rows.size:
        arcs = view.arcs(rows, EdgeType.DERIVED_FROM)
        for origin, target in zip(rows[arcs.origin].tolist(), arcs.target.tolist(), strict=True):
            found[view.ids[origin]].append(view.ids[target])
    return found

"""`Conflict`: two memories that cannot both stand as they are, and the node that records it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, Self

import numpy as np

from neurogated.core.edge_type import EdgeType
from neurogated.core.judgements import RelationKind, Verdict
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView

__all__ = [
    "CONFLICT",
    "MODEL",
    "Conflict",
    "Instruction",
    "Status",
    "Validity",
    "as_given",
    "conflicts_about",
    "edges_of",
    "given_times",
    "moment_of",
    "undisputed",
]

CONFLICT = "conflict"
"""The kind of the nodes that record conflicts. No recall returns them, and no count includes them."""

MODEL = "model"
"""The rule of a conflict that a language model found."""
Status = Literal["open", "resolved"]
Instruction = Literal["confirm", "restructure"]
Validity = tuple[datetime | None, datetime | None]
"""`valid_from` and `valid_to` of a memory."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two memories of one owner that contradict or supersede each other. Both stay in the memory."""

    id: str
    first: str
    """The id of the memory that was there before."""
    second: str
    """The id of the memory that came later."""
    kind: RelationKind
    """A contradiction or a supersession."""
    confidence: float
    """0–1."""
    outcome: Verdict = "contested"
    """The state of the memory `loser`: true no longer, or never true; or both stand."""
    loser: str | None = None
    """The id of the memory that is superseded or wrong; None if both stand."""
    status: Status = "open"
    """Resolved, by the memory itself or by `resolve`; else open."""
    because: str | None = None
    """The reason that `resolve` was given."""
    reason: str = ""
    """One sentence, computed from the present texts, or given by the language model that found the conflict."""
    question: str = ""
    """The question to ask the user, in the language of the memories."""
    instruction: Instruction = "confirm"
    """The task of an agent: confirm, that is ask the question; or restructure, that is to use the new memory."""
    scope: Scope = field(default_factory=Scope)
    """The owner of both memories."""
    created_at: datetime | None = None
    sentences: tuple[int, int] = (0, 0)
    """The places of the conflicting sentences in both texts, from 0."""
    rule: str = "statement"
    """How it was found: by comparing two statements; by a later one that says that something changed, or denies it; or
    by a language model."""
    by_user: bool = False
    """Whether `resolve` gave the outcome. Then only another `resolve` changes it."""
    evidence: tuple[str, ...] = ()
    """The ids of the next messages of the session that may answer the question, in order; only from `conflicts()`."""

    @property
    def sides(self) -> tuple[str, str]:
        """The ids of both memories, the earlier stored one first."""
        return self.first, self.second

    def other(self, node_id: str) -> str:
        """Return the id of the other side."""
        return self.second if node_id == self.first else self.first

    def node(self, sides: Iterable[MemoryNode], at: datetime) -> MemoryNode:
        """Return the node that records the conflict. It holds ids, and a reason only from a language model."""
        ends = [side.expires_at for side in sides if side.expires_at is not None]
        values: dict[str, Any] = {
            "first": self.first,
            "second": self.second,
            "kind": self.kind.value,
            "confidence": self.confidence,
            "outcome": self.outcome,
            "loser": self.loser,
            "status": self.status,
            "because": self.because,
            "reason": self.reason if self.rule == MODEL else "",
            "sentences": list(self.sentences),
            "rule": self.rule,
            "by_user": self.by_user,
        }
        created = self.created_at or at
        return MemoryNode(
            self.id,
            "",
            metadata=values,
            kind=CONFLICT,
            scope=self.scope,
            created_at=created,
            last_accessed=created,
            expires_at=min(ends, default=None),
        )

    @classmethod
    def of(cls, node: MemoryNode) -> Self:
        """Return the conflict that a node records, without question, and without a reason that is computed."""
        values = node.metadata
        return cls(
            node.id,
            values["first"],
            values["second"],
            RelationKind(values["kind"]),
            values["confidence"],
            values["outcome"],
            values["loser"],
            values["status"],
            values["because"],
            values.get("reason", ""),
            instruction="restructure" if values["status"] == "resolved" and values["loser"] else "confirm",
            scope=node.scope,
            created_at=node.created_at,
            sentences=(values["sentences"][0], values["sentences"][1]),
            rule=values["rule"],
            by_user=values["by_user"],
        )

    def settled(self, outcome: Verdict, loser: str | None) -> Conflict:
        """Return the conflict with an outcome for the side `loser`."""
        instruction: Instruction = "confirm" if loser is None else "restructure"
        return replace(self, outcome=outcome, loser=loser, status="resolved", instruction=instruction)

    def opened(self) -> Conflict:
        """Return the conflict without an outcome."""
        return replace(
            self, outcome="contested", loser=None, status="open", instruction="confirm", because=None, by_user=False
        )


def moment_of(node: MemoryNode) -> datetime:
    """Return the time from which a memory counts: when it began to hold, was said, or was stored."""
    return node.valid_from or node.timestamp or node.created_at


def edges_of(conflict: Conflict, at: datetime) -> tuple[MemoryEdge, MemoryEdge]:
    """Return the edges from the node of a conflict to both sides."""
    first, second = (MemoryEdge(conflict.id, side, EdgeType.CONFLICT, created_at=at) for side in conflict.sides)
    return first, second


def conflicts_about(view: GraphView, node_ids: Iterable[str]) -> list[str]:
    """Return the ids of the conflicts of which one of the nodes is a side, in the order they were stored."""
    arcs = view.arcs(view.known_rows(node_ids), EdgeType.CONFLICT, inwards=True)
    return [view.ids[row] for row in np.unique(arcs.target).tolist()]


def undisputed(store: GraphStorePort, view: GraphView, nodes: Iterable[MemoryNode]) -> list[MemoryNode]:
    """Return the memories that are no side of an open conflict, and that no conflict calls superseded or wrong."""
    kept = {node.id: node for node in nodes}
    for found in store.get_nodes(conflicts_about(view, kept), missing_ok=True):
        conflict = Conflict.of(found)
        for side in conflict.sides:
            if conflict.status == "open" or side == conflict.loser:
                kept.pop(side, None)
    return list(kept.values())


def given_times(node: MemoryNode) -> Validity:
    """Return the valid time that a memory has without conflicts."""
    return node.found.given or (node.valid_from, node.valid_to)


def as_given(node: MemoryNode) -> MemoryNode:
    """Return a memory with the valid time that it has without conflicts."""
    begin, end = given_times(node)
    return replace(node, valid_from=begin, valid_to=end, found=replace(node.found, given=None))

"""`Conflict`: two memories that cannot both stand as they are, and the node that records it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, get_args

import numpy as np

from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.habits import explains_reading
from neurogated.core.judgements import RelationKind, Verdict
from neurogated.core.model import MemoryEdge, MemoryNode, checked_count, checked_unit
from neurogated.core.ports import GraphStorePort, Snapshot
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.text.strings import checked_text

CONFLICT = "conflict"
"""The kind of the nodes that record conflicts. No recall returns them, and no count includes them."""

MODEL = "model"
"""The rule of a conflict that a language model found."""
Status = Literal["open", "resolved"]
Instruction = Literal["confirm", "restructure"]
_ID = re.compile(f"{CONFLICT}-[0-9a-f]{{32}}")
_RECORDED = (
    *("first", "second", "kind", "confidence", "outcome", "loser", "status", "because", "reason", "sentences"),
    *("rule", "by_user"),
)
"""The fields of a conflict in the metadata of its node."""
_SIDES = 2
Validity = tuple[datetime | None, datetime | None]
"""`valid_from` and `valid_to` of a memory."""


@explains_reading("read .question, .first, .second, .id")
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
        values = {name: getattr(self, name) for name in _RECORDED}
        values |= {"kind": self.kind.value, "sentences": list(self.sentences)}
        values |= {} if self.rule == MODEL else {"reason": ""}
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
    def of(cls, node: MemoryNode) -> Conflict:
        """Return the conflict that a node records, without question and computed reason; raises InputError."""
        try:
            return _parsed(node)
        except (InputError, KeyError, TypeError, ValueError) as error:
            raise InputError(f"node {node.id!r} records no conflict: {error}") from None

    def settled(self, outcome: Verdict, loser: str | None) -> Conflict:
        """Return the conflict with an outcome for the side `loser`."""
        instruction: Instruction = "confirm" if loser is None else "restructure"
        return replace(self, outcome=outcome, loser=loser, status="resolved", instruction=instruction)

    def opened(self) -> Conflict:
        """Return the conflict without an outcome."""
        return replace(
            self, outcome="contested", loser=None, status="open", instruction="confirm", because=None, by_user=False
        )


def _parsed(node: MemoryNode) -> Conflict:
    values = node.metadata
    earlier, later = sides = [checked_text(name, values[name]) for name in ("first", "second")]
    if node.kind != CONFLICT or "" in sides or earlier == later:
        raise InputError(f"its kind is {node.kind!r} and its sides are {sides}; a conflict has two memories")
    loser, status = values["loser"], _one_of(values, "status", Status)
    if loser not in (None, *sides) or (loser is not None and status == "open"):
        raise InputError(f"the loser {loser!r} of the status {status!r} is no side of a resolved conflict")
    if not isinstance(values["by_user"], bool):
        raise InputError(f"by_user is {values['by_user']!r}, but must be true or false")
    first, second = (checked_count("a sentence", place) for place in values["sentences"])
    return Conflict(
        node.id,
        earlier,
        later,
        RelationKind(values["kind"]),
        checked_unit("confidence of", node.id, values["confidence"]),
        _one_of(values, "outcome", Verdict),
        loser,
        status,
        values["because"] and checked_text("because", values["because"]),
        instruction="confirm" if loser is None else "restructure",
        scope=node.scope,
        created_at=node.created_at,
        sentences=(first, second),
        reason=checked_text("reason", values.get("reason", "")),
        rule=checked_text("rule", values.get("rule", "")),
        by_user=values["by_user"],
    )


def _one_of(values: Mapping[str, Any], name: str, allowed: Any) -> Any:  # noqa: ANN401 - a Literal and its value
    if values[name] not in get_args(allowed):
        raise InputError(f"{name} is {values[name]!r}, but must be one of {', '.join(get_args(allowed))}")
    return values[name]


def is_conflict_id(node_id: str) -> bool:
    """Return whether only conflicts have ids of this form."""
    return _ID.fullmatch(node_id) is not None


def edges_of(conflict: Conflict, at: datetime) -> tuple[MemoryEdge, MemoryEdge]:
    """Return the edges from the node of a conflict to both sides."""
    first, second = (MemoryEdge(conflict.id, side, EdgeType.CONFLICT, created_at=at) for side in conflict.sides)
    return first, second


def conflicts_about(view: GraphView, node_ids: Iterable[str]) -> list[str]:
    """Return the ids of the conflicts of which one of the nodes is a side, in the order they were stored."""
    if EdgeType.CONFLICT not in view.edge_types:
        return []
    arcs = view.arcs(view.known_rows(node_ids), EdgeType.CONFLICT, inwards=True)
    return [view.ids[row] for row in np.unique(arcs.target).tolist()]


def conflicts_in(view: GraphView, nodes: Iterable[MemoryNode]) -> list[Conflict]:
    """Return the conflicts that nodes record, without those that are invalid or lack a side; see `defects_of`."""
    found = list(nodes)
    defects = defects_of(view, found)
    return [Conflict.of(node) for node in found if node.id not in defects]


def disputes_about(snapshot: Snapshot, node_ids: Collection[str]) -> list[Conflict]:
    """Return the conflicts of which one of the nodes is a side, stored or between values of slots."""
    view, stored = snapshot.view, conflicts_about(snapshot.view, node_ids)
    told = conflicts_in(view, snapshot.nodes(view.known_rows(stored))) if stored else ()
    return [*told, *snapshot.disputes(node_ids)]


def conflicts_made(store: GraphStorePort, delta: GraphDelta) -> list[Conflict]:
    """Return the conflicts that a delta would add to those of a graph, stored or between values of slots."""
    put = (one for one in delta.nodes if one.kind == CONFLICT and not store.get_nodes([one.id], missing_ok=True))
    stored = list(map(Conflict.of, put))
    may_dispute = delta.removed_nodes or any(node.found.statement is not None for node in delta.nodes)
    return [*stored, *(store.foreseen(delta).conflicts if may_dispute else ())]


def defects_of(view: GraphView, nodes: Sequence[MemoryNode]) -> dict[str, str]:
    """Return by id what a node lacks that should record a conflict: a valid record, no text, edges to both sides."""
    ends: dict[str, set[str]] = defaultdict(set)
    rows = view.known_rows(node.id for node in nodes)
    arcs = view.arcs(rows, EdgeType.CONFLICT)
    for origin, target in zip(rows[arcs.origin].tolist(), arcs.target.tolist(), strict=True):
        ends[view.ids[origin]].add(view.ids[target])
    defects: dict[str, str] = {}
    for node in nodes:
        try:
            missing = sorted(set(Conflict.of(node).sides) - ends[node.id])
        except InputError as error:
            defects[node.id] = str(error)
        else:
            if node.content:
                defects[node.id] = f"conflict {node.id!r} has a text, but records of conflicts have none"
            if missing:
                defects[node.id] = f"conflict {node.id!r} has no edge to {', '.join(map(repr, missing))}"
    return defects


def orphaned_conflicts(store: GraphStorePort, view: GraphView) -> list[str]:
    """Return the ids of the conflicts that lack an edge to a side. A node with a text is none, whatever its kind."""
    if CONFLICT not in view.kinds:
        return []
    every = np.arange(view.node_count)
    rows = every[view.alive.take(every) & (view.kind.take(every) == view.kinds.index(CONFLICT))]
    count = np.bincount(view.arcs(rows, EdgeType.CONFLICT).origin, minlength=rows.size)
    few = view.names(rows[count < _SIDES])
    return [node.id for node in store.get_nodes(few, missing_ok=True) if not node.content]


def undisputed(
    store: GraphStorePort, view: GraphView, nodes: Iterable[MemoryNode], at: datetime | None = None
) -> list[MemoryNode]:
    """Return the memories without open conflicts that none calls wrong, or superseded before the time `at`."""
    kept = {node.id: node for node in nodes}
    for conflict in disputes_about(store.snapshot(view), kept):
        for side in conflict.sides:
            end = kept[side].valid_to if side in kept else None
            still_holds = at is not None and end is not None and end > at and conflict.outcome == "superseded"
            if conflict.status == "open" or (side == conflict.loser and not still_holds):
                kept.pop(side, None)
    return list(kept.values())


def given_times(node: MemoryNode) -> Validity:
    """Return the valid time that a memory has without conflicts."""
    return node.found.given or (node.valid_from, node.valid_to)


def with_outcome(node: MemoryNode, valid: Validity | None) -> MemoryNode:
    """Return a memory with the valid time that its conflicts leave it, all of it for None. It keeps the given one."""
    if valid in (None, (node.valid_from, node.valid_to)):
        return node
    found = replace(node.found, given=(node.valid_from, node.valid_to))
    return node.changed(valid_from=valid[0], valid_to=valid[1], found=found)


def as_given(node: MemoryNode) -> MemoryNode:
    """Return a memory with the valid time that it has without conflicts."""
    if node.found.given is None:
        return node
    begin, end = node.found.given
    return node.changed(valid_from=begin, valid_to=end, found=replace(node.found, given=None))

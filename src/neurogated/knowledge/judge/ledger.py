"""The claims that a delta adds, changes and removes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

import numpy as np

from neurogated.core.claims import Change, Claim, ClaimReader, Slot
from neurogated.core.delta import GraphDelta
from neurogated.core.derivation import claims_of, sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import FACTS
from neurogated.core.filters import Filter
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.node_kind import CLAIM
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import slot_tag, subject_tag
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView, Rows
from neurogated.knowledge.judge.claim_nodes import (
    claim_node,
    claim_of,
    claims_in,
    latest_expiry,
    other_speaker,
    said_at,
    time_of,
)
from neurogated.knowledge.judge.slots import meets, slot_key
from neurogated.knowledge.origin import Owner, is_compared
from neurogated.knowledge.read.table import attribute_named
from neurogated.knowledge.read.values import compare_values
from neurogated.knowledge.settlement import Settlement


class ClaimLedger:
    """Holds the claims of a graph as they are after a delta. The write lock is held, so nothing else changes them."""

    def __init__(
        self, store: GraphStorePort, reader: ClaimReader, settlement: Settlement, delta: GraphDelta, most: int
    ) -> None:
        """Take the parts; of a slot, the latest `most` claims before a time and after it are read."""
        self._store = store
        self._view = store.view()
        self._reader = reader
        self._settlement = settlement
        self._at = delta.at
        self._removed = frozenset(delta.removed_nodes)
        self._most = most
        self._written = {node.id: node for node in delta.nodes}
        self._claims: dict[str, list[Claim]] = {}
        self._slots: dict[tuple[Owner, Slot], list[str]] = {}
        self._sources: dict[str, list[str]] = {}
        self.gone: dict[str, None] = {}
        self.edges: dict[EdgeKey, MemoryEdge] = {}
        self.parted: list[EdgeKey] = []

    def claims_of(self, source: MemoryNode) -> list[Claim]:
        """Return the claims of a memory, which is read once."""
        if source.id not in self._claims:
            is_read = is_compared(source) and source.found.statement is None
            self._claims[source.id] = claims_in(self._reader, source) if is_read else []
        return self._claims[source.id]

    def update(self, fresh: Sequence[MemoryNode]) -> list[MemoryNode]:
        """Remove the claims that no memory makes any more; return those that another memory still makes."""
        told = {node.id: node for node in fresh}
        known = claims_of(self._view, [*self._removed, *told])
        kept = []
        for claim in self._store.get_nodes([name for name in known if name not in self._removed]):
            sources = self._sources_of(claim.id)
            there = [name for name in sources if name not in self._removed]
            staying = [name for name in there if name not in told or self._match(claim, told[name]) is not None]
            self._sources[claim.id] = staying
            self.parted += [EdgeKey(claim.id, name, EdgeType.DERIVED_FROM) for name in there if name not in staying]
            if staying:
                kept.append(self._put(self._retold(claim)))
            else:
                self.gone[claim.id] = None
        return kept

    def say(self, claim: Claim, source: MemoryNode) -> MemoryNode:
        """Return the node of a claim of a memory: the standing one that says the same, or else a new one."""
        node = claim_node(claim, source)
        mates = self.mates(node)
        standing = next((other for other in mates if self._is_one(other, node, source, mates)), None)
        name = node.id if standing is None else standing.id
        known = [] if standing is None else self._sources_of(name)
        if source.id in known and standing is not None:
            return standing
        self._sources[name] = [*known, source.id]
        edge = MemoryEdge(name, source.id, EdgeType.DERIVED_FROM, created_at=self._at)
        self.edges[edge.key] = edge
        if standing is None:
            return self._put(node)
        change = claim.change or claim_of(standing).change
        return self._put(self._retold(standing, change))

    def mates(self, node: MemoryNode) -> list[MemoryNode]:
        """Return the claims and stated facts of the slot of a node, in order of time, without itself."""
        owner, slot = node.scope.owner, slot_key(claim_of(node).slot)
        names = self._near(self._names(node, slot), time_of(node))
        found = [one for one in self._settlement.nodes(names) if one.id != node.id and one.id not in self.gone]
        alike = [one for one in found if one.scope.owner == owner and slot_key(claim_of(one).slot) == slot]
        return sorted(alike, key=time_of)

    def enter(self, fact: MemoryNode) -> None:
        """Take in a claim or a stated fact that the delta writes, as a mate of others."""
        names = self._names(fact, slot_key(claim_of(fact).slot))
        if fact.id not in names:
            names.append(fact.id)

    def _names(self, node: MemoryNode, slot: Slot) -> list[str]:
        """Return the ids of the nodes of a slot and owner."""
        key = node.scope.owner, slot
        if key not in self._slots:
            self._slots[key] = self._stored(node, slot)
        return self._slots[key]

    def _stored(self, node: MemoryNode, slot: Slot) -> list[str]:
        """Return the ids of the stored nodes of a slot.

        A stated fact may name its attribute in other words; the latest facts about the subject are read to find it.
        """
        view = self._store.view(filters=Filter(scope=ScopeFilter(node.scope.user_id, alone=True)))
        words = dict.fromkeys((slot.attribute, claim_of(node).slot.attribute))
        tags, about = [slot_tag(slot.subject, word) for word in words], subject_tag(slot.subject)
        known = self._store.existing_tags([*tags, about], view)
        rows = self._rows_with([tag for tag in tags if tag in known], view)
        facts = np.setdiff1d(self._rows_with([about] if about in known else [], view), rows)[-self._most :]
        others = self._store.get_nodes([view.ids[row] for row in facts.tolist()])
        alike = [one.id for one in others if slot_key(claim_of(one).slot) == slot]
        return [*(view.ids[row] for row in rows.tolist()), *alike]

    def _rows_with(self, tags: Sequence[str], view: GraphView) -> Rows:
        """Return the rows of the claims and stated facts with one of some tags."""
        names = chain.from_iterable(self._store.nodes_with([tag], view=view) for tag in tags)
        rows = np.unique(view.known_rows(names))
        return rows[np.isin(view.kind.take(rows), [view.kinds.index(kind) for kind in FACTS if kind in view.kinds])]

    def _near(self, names: list[str], at: datetime) -> list[str]:
        """Return the latest of many nodes, of those that hold at a time and of the others."""
        if len(names) <= self._most:
            return names
        rows = self._view.known_rows(names)
        holds = ~np.isin(rows, self._store.view(valid_at=at).hidden)
        kept = {
            self._view.ids[row] for part in (rows[holds], rows[~holds]) for row in np.sort(part)[-self._most :].tolist()
        }
        return [name for name in names if name in kept or self._view.find(name) is None]

    def _is_one(self, other: MemoryNode, node: MemoryNode, source: MemoryNode, mates: Sequence[MemoryNode]) -> bool:
        """Return whether a claim stands and says the same as a new one, and no other value comes between them."""
        if other.kind != CLAIM or not is_same(claim_of(other), claim_of(node)):
            return False
        if source.id in self._sources_of(other.id):
            return True
        begin, end, at = time_of(other), other.valid_to, time_of(node)
        between = (one for one in mates if at <= time_of(one) < begin and meets(claim_of(one), claim_of(node)))
        return (
            other.scope.path == node.scope.path
            and (end is None or at < end or claim_of(node).is_past)
            and not any(between)
        )

    def _retold(self, claim: MemoryNode, change: Change | None = None) -> MemoryNode:
        """Return a claim in the words and with the times of the first of its memories."""
        names = self._sources[claim.id]
        stored = self._store.get_nodes([name for name in names if name not in self._written], missing_ok=True)
        sources = sorted((*stored, *(self._written[name] for name in names if name in self._written)), key=said_at)
        told = self._match(claim, sources[0]) or replace(claim_of(claim), quote="")
        node = claim_node(replace(told, change=change or told.change), sources[0])
        speakers = [other_speaker(told.slot.subject, source) for source in sources]
        metadata = {**node.metadata, "speaker": None if None in speakers else speakers[0]}
        return node.changed(id=claim.id, expires_at=latest_expiry(sources), metadata=metadata)

    def _match(self, claim: MemoryNode, source: MemoryNode) -> Claim | None:
        """Return the claim of a memory that says the same as a node."""
        return next((one for one in self.claims_of(source) if is_same(one, claim_of(claim))), None)

    def _put(self, node: MemoryNode) -> MemoryNode:
        self.enter(node)
        self._settlement.write(node)
        return node

    def _sources_of(self, name: str) -> list[str]:
        if name not in self._sources:
            self._sources[name] = sources_of(self._view, [name]).get(name, [])
        return self._sources[name]


def is_same(one: Claim, other: Claim) -> bool:
    """Return whether two claims say the same."""
    if slot_key(one.slot) != slot_key(other.slot):
        return False
    fit = compare_values(attribute_named(one.slot.attribute), one.value, other.value)
    return (one.is_denied, one.is_past, fit) == (other.is_denied, other.is_past, "same")

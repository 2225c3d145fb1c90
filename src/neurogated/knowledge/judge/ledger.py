"""The claims and stated facts of a graph as they are after a delta, by slot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain

import numpy as np

from neurogated.core.claims import Change, Claim, Slot
from neurogated.core.delta import GraphDelta
from neurogated.core.derivation import claims_of, sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import FACTS, is_supported
from neurogated.core.filters import Filter
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.node_kind import CLAIM, FACT
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import slot_tag, subject_tag, value_tag
from neurogated.core.scope import ScopeFilter
from neurogated.core.view import GraphView, Rows
from neurogated.knowledge.judge.claim_nodes import (
    Mate,
    claim_node,
    claim_of,
    claims_in,
    latest_expiry,
    other_speaker,
    said_at,
)
from neurogated.knowledge.judge.mates import is_same
from neurogated.knowledge.judge.slots import meets, slot_key
from neurogated.knowledge.origin import Owner, is_message, said_in
from neurogated.knowledge.settlement import Settlement

_Key = tuple[Owner, Slot | str]
"""An owner with a slot, or with the tag of a value in a slot."""


class ClaimLedger:
    """Adds, changes and removes claims. The write lock is held, so nothing else changes them.

    A slot may have thousands of values, so a claim meets those with its value, and those next to it in time.
    """

    def __init__(
        self,
        store: GraphStorePort,
        settlement: Settlement,
        delta: GraphDelta,
        most: int,
        *,
        read: Mapping[str, Sequence[Claim]],
    ) -> None:
        """Take the parts.

        Args:
            store: the graph.
            settlement: the changes of the delta.
            delta: the memories that it writes and removes.
            most: how many claims of a slot that hold at a time are met, and as many others.
            read: the claims that a model read in memories, by their ids.
        """
        self._store = store
        self._view = settlement.view
        self._settlement = settlement
        self._at = delta.at
        self._most = most
        self._read_by_model = read
        self._removed = frozenset(delta.removed_nodes)
        self._written = {node.id: node for node in delta.nodes}
        self._claims: dict[str, list[Claim]] = {}
        self._sources: dict[str, list[str]] = {}
        self._stored: dict[_Key, Rows] = {}
        self._added = defaultdict[_Key, dict[str, None]](dict)
        self._mates: dict[str, Mate] = {}
        self._views: dict[str | None, GraphView] = {}
        self.gone: dict[str, None] = {}
        self.moved: dict[str, None] = {}
        self.edges: dict[EdgeKey, MemoryEdge] = {}
        self.parted: list[EdgeKey] = []

    def claims_of(self, source: MemoryNode) -> list[Claim]:
        """Return the claims that a model read in a memory."""
        if source.id not in self._claims:
            read = self._read_by_model.get(source.id, ()) if is_message(source) else ()
            self._claims[source.id] = claims_in(source, read)
        return self._claims[source.id]

    def update(self, fresh: Sequence[MemoryNode]) -> list[Mate]:
        """Remove the claims that no memory makes any more; return those that another memory still makes."""
        fresh_by_id = {node.id: node for node in fresh}
        known = [one for one in claims_of(self._view, [*self._removed, *fresh_by_id]) if one not in self._removed]
        kept = []
        for claim in self._store.get_nodes(known) if known else ():
            there = [name for name in self.sources_of(claim.id) if name not in self._removed]
            staying = [
                name for name in there if name not in fresh_by_id or self._match(claim, fresh_by_id[name]) is not None
            ]
            self._sources[claim.id] = staying
            self.parted += [EdgeKey(claim.id, name, EdgeType.DERIVED_FROM) for name in there if name not in staying]
            if staying:
                kept.append(self._put(self._retaken(claim)))
                if _times(kept[-1].claim) != _times(claim_of(claim)):
                    self.moved[claim.id] = None
            else:
                self.gone[claim.id] = None
        return kept

    def say(self, claim: Claim, source: MemoryNode) -> tuple[Mate, list[Mate]]:
        """Return the node of a claim of a memory, and its mates: the standing one that says the same, or a new one."""
        new = Mate.of(claim_node(claim, source))
        mates = self.mates(new)
        standing = next((other for other in mates if self._is_one(other, new, source, mates)), None)
        name, known = (new.node.id, []) if standing is None else (standing.node.id, self.sources_of(standing.node.id))
        others = [one for one in mates if one is not standing]
        if standing is not None and source.id in known:
            return standing, others
        self._sources[name] = [*known, source.id]
        edge = MemoryEdge(name, source.id, EdgeType.DERIVED_FROM, created_at=self._at)
        self.edges[edge.key] = edge
        if standing is None:
            return self._put(new.node), others
        return self._put(self._retaken(standing.node, claim.change or standing.claim.change)), others

    def mates(self, mate: Mate) -> list[Mate]:
        """Return the claims and stated facts that a claim may meet, in order of time."""
        slot = slot_key(mate.claim.slot)
        names = chain(
            self._with_value(mate.node, value_tag(*slot, mate.claim.value)),
            self._next_to(mate.node, slot, mate.claim.slot.attribute, mate.at),
        )
        found = self._there(names, mate.node)
        return sorted((one for one in found if slot_key(one.claim.slot) == slot), key=lambda one: one.at)

    def enter(self, node: MemoryNode) -> Mate:
        """Take in a claim or a stated fact that the delta writes."""
        mate, owner = Mate.of(node), node.scope.owner
        slot = slot_key(mate.claim.slot)
        self._mates[node.id] = mate
        self._added[owner, slot][node.id] = None
        self._added[owner, value_tag(*slot, mate.claim.value)][node.id] = None
        return mate

    # Claims

    def _is_one(self, other: Mate, new: Mate, source: MemoryNode, mates: Sequence[Mate]) -> bool:
        """Return whether a claim stands and says the same as a new one, and no other value comes between them."""
        if other.node.kind != CLAIM or not is_same(other.claim, new.claim):
            return False
        if source.id in self.sources_of(other.node.id):
            return True
        end, is_past = other.node.valid_to, new.claim.is_past
        if other.node.scope.path != new.node.scope.path or not (end is None or new.at < end or is_past):
            return False
        return not any(meets(one.claim, new.claim) for one in mates if new.at <= one.at < other.at)

    def _retaken(self, claim: MemoryNode, change: Change | None = None) -> MemoryNode:
        """Return a claim in the words and with the times of the first of its memories."""
        names = self._sources[claim.id]
        stored = self._store.get_nodes([name for name in names if name not in self._written], missing_ok=True)
        sources = sorted((*stored, *(self._written[name] for name in names if name in self._written)), key=said_at)
        known = claim_of(claim)
        # The words of a memory that is gone go with it.
        kept = known if known.quote in said_in(sources[0]) else replace(known, quote="")
        found = self._match(claim, sources[0]) or kept
        node = claim_node(replace(found, change=change or found.change), sources[0])
        speakers = [other_speaker(found.slot.subject, source) for source in sources]
        metadata = {**node.metadata, "speaker": None if None in speakers else speakers[0]}
        return node.changed(id=claim.id, expires_at=latest_expiry(sources), metadata=metadata)

    def _match(self, claim: MemoryNode, source: MemoryNode) -> Claim | None:
        """Return the claim of a memory that says the same as a node."""
        known = claim_of(claim)
        alike = (one for one in self.claims_of(source) if slot_key(one.slot) == slot_key(known.slot))
        return next((one for one in alike if is_same(one, known)), None)

    def _put(self, node: MemoryNode) -> Mate:
        self._settlement.write(node)
        return self.enter(node)

    def sources_of(self, name: str) -> list[str]:
        """Return the ids of the memories that make a claim, also of one that the delta adds."""
        if name not in self._sources:
            self._sources[name] = sources_of(self._view, [name]).get(name, [])
        return self._sources[name]

    # Mates

    def _there(self, names: Iterable[str], node: MemoryNode) -> list[Mate]:
        """Return the claims of the owner of a node among some nodes, in their latest versions, without the node."""
        wanted = [name for name in dict.fromkeys(names) if name != node.id and name not in self.gone]
        there = (one for one in self._settlement.nodes(wanted) if one.scope.owner == node.scope.owner)
        return [self._mate(one) for one in there if is_supported(one)]

    def _mate(self, node: MemoryNode) -> Mate:
        known = self._mates.get(node.id)
        if known is None or known.node is not node:
            known = self._mates[node.id] = Mate.of(node)
        return known

    def _with_value(self, node: MemoryNode, tag: str) -> Iterable[str]:
        """Return the latest claims of the owner of a node with the value of a tag."""
        key = node.scope.owner, tag
        if key not in self._stored:
            self._stored[key] = self._rows_with([tag], self._owned(node))[-self._most :]
        return (*self._ids(self._stored[key]), *self._added[key])

    def _next_to(self, node: MemoryNode, slot: Slot, attribute: str, at: datetime) -> Iterable[str]:
        """Return the latest claims of a slot, of those that hold at a time, of the others, and of the new ones."""
        key = node.scope.owner, slot
        if key not in self._stored:
            self._stored[key] = self._in_slot(self._owned(node), slot, attribute)
        rows = self._stored[key]
        if rows.size > self._most:
            holds = ~np.isin(rows, self._store.view(valid_at=at).hidden)
            rows = np.sort(np.concatenate([part[-self._most :] for part in (rows[holds], rows[~holds])]))
        return (*self._ids(rows), *[*self._added[key]][-self._most :])

    def _ids(self, rows: Rows) -> list[str]:
        return [self._view.ids[row] for row in rows.tolist()]

    def _in_slot(self, view: GraphView, slot: Slot, attribute: str) -> Rows:
        """Return the rows of the stored nodes of a slot, ascending.

        A stated fact may name its attribute in other words; the latest facts about the subject are read to find it.
        """
        tags = [slot_tag(slot.subject, word) for word in dict.fromkeys((slot.attribute, attribute))]
        rows = self._rows_with(tags, view)
        about = self._rows_with([subject_tag(slot.subject)], view, kinds=(FACT,)) if FACT in view.kinds else rows
        others = self._store.get_nodes(self._ids(np.setdiff1d(about, rows)[-self._most :]))
        alike = [one.id for one in others if one.found.statement and slot_key(claim_of(one).slot) == slot]
        return np.union1d(rows, view.known_rows(alike)) if alike else rows

    def _owned(self, node: MemoryNode) -> GraphView:
        user = node.scope.user_id
        if user not in self._views:
            self._views[user] = self._store.view(filters=Filter(scope=ScopeFilter(user, alone=True)))
        return self._views[user]

    def _rows_with(self, tags: Sequence[str], view: GraphView, kinds: Iterable[str] = FACTS) -> Rows:
        """Return the rows of the nodes of some kinds with one of some tags, ascending."""
        rows = np.unique(np.concatenate([self._store.reader(view).rows_with([tag]) for tag in tags]))
        return rows[np.isin(view.kind.take(rows), [view.kinds.index(kind) for kind in kinds if kind in view.kinds])]


def _times(claim: Claim) -> tuple[datetime | None, ...]:
    return claim.said, claim.valid_from, claim.valid_to

"""The claims that a delta adds, changes and removes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from neurogated.core.claims import Change, Claim, ClaimReader
from neurogated.core.delta import GraphDelta
from neurogated.core.derivation import claims_of, sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.node_kind import CLAIM
from neurogated.core.ports import GraphStorePort
from neurogated.knowledge.judge.claim_nodes import (
    Mate,
    claim_node,
    claim_of,
    claims_in,
    latest_expiry,
    other_speaker,
    said_at,
)
from neurogated.knowledge.judge.mates import Mates
from neurogated.knowledge.judge.placing import placed
from neurogated.knowledge.judge.slots import meets, slot_key
from neurogated.knowledge.origin import is_compared, said_in
from neurogated.knowledge.read.table import attribute_named
from neurogated.knowledge.read.values import compare_values
from neurogated.knowledge.settlement import Settlement


class ClaimLedger:
    """Holds the claims of a graph as they are after a delta. The write lock is held, so nothing else changes them."""

    def __init__(
        self,
        store: GraphStorePort,
        reader: ClaimReader,
        settlement: Settlement,
        delta: GraphDelta,
        most: int,
        *,
        read: Mapping[str, Sequence[Claim]],
    ) -> None:
        """Take the parts; see `Mates` for `most`. `read` has the claims that a model read in memories, by their ids."""
        self._store = store
        self._view = store.view()
        self._reader = reader
        self._settlement = settlement
        self._at = delta.at
        self._removed = frozenset(delta.removed_nodes)
        self._mates = Mates(store, settlement, most)
        self._read = read
        self._written = {node.id: node for node in delta.nodes}
        self._claims: dict[str, list[Claim]] = {}
        self._sources: dict[str, list[str]] = {}
        self.gone: dict[str, None] = {}
        self.edges: dict[EdgeKey, MemoryEdge] = {}
        self.parted: list[EdgeKey] = []

    def claims_of(self, source: MemoryNode) -> list[Claim]:
        """Return the claims of a memory, which is read once."""
        if source.id not in self._claims:
            is_read = is_compared(source) and source.found.statement is None
            claims = claims_in(self._reader, source, self._read.get(source.id, ())) if is_read else []
            self._claims[source.id] = list(filter(None, (self._placed(claim, source) for claim in claims)))
        return self._claims[source.id]

    def _placed(self, claim: Claim, source: MemoryNode) -> Claim | None:
        node = claim_node(claim, source)
        return placed(claim, lambda slots: self._mates.among(node, slots, self.gone))

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

    def say(self, claim: Claim, source: MemoryNode) -> tuple[Mate, list[Mate]]:
        """Return the node of a claim of a memory, and its mates: the standing one that says the same, or a new one."""
        new = Mate.of(claim_node(claim, source))
        mates = self.mates(new.node)
        standing = next((other for other in mates if self._is_one(other, new, source, mates)), None)
        name, known = (new.node.id, []) if standing is None else (standing.node.id, self._sources_of(standing.node.id))
        others = [one for one in mates if one is not standing]
        if standing is not None and source.id in known:
            return standing, others
        self._sources[name] = [*known, source.id]
        edge = MemoryEdge(name, source.id, EdgeType.DERIVED_FROM, created_at=self._at)
        self.edges[edge.key] = edge
        if standing is None:
            self._put(new.node)
            return new, others
        change = claim.change or standing.claim.change
        return Mate.of(self._put(self._retold(standing.node, change))), others

    def mates(self, node: MemoryNode) -> list[Mate]:
        """Return the claims and stated facts that a claim may meet, in order of time."""
        return self._mates.of(node, self.gone)

    def enter(self, fact: MemoryNode) -> None:
        """Take in a stated fact that the delta writes."""
        self._mates.enter(fact)

    def _is_one(self, other: Mate, new: Mate, source: MemoryNode, mates: Sequence[Mate]) -> bool:
        """Return whether a claim stands and says the same as a new one, and no other value comes between them."""
        if other.node.kind != CLAIM or not is_same(other.claim, new.claim):
            return False
        if source.id in self._sources_of(other.node.id):
            return True
        end, is_past = other.node.valid_to, new.claim.is_past
        if other.node.scope.path != new.node.scope.path or not (end is None or new.at < end or is_past):
            return False
        return not any(meets(one.claim, new.claim) for one in mates if new.at <= one.at < other.at)

    def _retold(self, claim: MemoryNode, change: Change | None = None) -> MemoryNode:
        """Return a claim in the words and with the times of the first of its memories."""
        names = self._sources[claim.id]
        stored = self._store.get_nodes([name for name in names if name not in self._written], missing_ok=True)
        sources = sorted((*stored, *(self._written[name] for name in names if name in self._written)), key=said_at)
        known = claim_of(claim)
        # The words of a memory that is gone go with it.
        kept = known if known.quote in said_in(sources[0]) else replace(known, quote="")
        told = self._match(claim, sources[0]) or kept
        node = claim_node(replace(told, change=change or told.change), sources[0])
        speakers = [other_speaker(told.slot.subject, source) for source in sources]
        metadata = {**node.metadata, "speaker": None if None in speakers else speakers[0]}
        return node.changed(id=claim.id, expires_at=latest_expiry(sources), metadata=metadata)

    def _match(self, claim: MemoryNode, source: MemoryNode) -> Claim | None:
        """Return the claim of a memory that says the same as a node."""
        return next((one for one in self.claims_of(source) if is_same(one, claim_of(claim))), None)

    def _put(self, node: MemoryNode) -> MemoryNode:
        self._mates.enter(node)
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

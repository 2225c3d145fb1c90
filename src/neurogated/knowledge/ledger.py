"""The claims of memories as nodes: what a delta adds, changes and removes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from neurogated.core.claims import Change, Claim, Entry
from neurogated.core.delta import GraphDelta
from neurogated.core.derivation import claims_of, sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.knowledge.origin import is_message, said_in
from neurogated.slots.claims import claim_node, claim_of, claims_in, entry_of, other_speaker, said_at
from neurogated.slots.judge import is_same, meets, slot_key

_LATEST = 16
"""Latest values of a slot with which a claim is compared, to find the one that says the same in other words."""


class ClaimLedger:
    """Adds, changes and removes claims. The write lock is held, so nothing else changes them."""

    def __init__(self, store: GraphStorePort, delta: GraphDelta, read: Mapping[str, Sequence[Claim]]) -> None:
        """Take the graph, the memories that a delta writes and removes, and the claims that a model read, by memory."""
        self._store = store
        self._graph = store.snapshot()
        self._view = self._graph.view
        self._at = delta.at
        self._read_by_model = read
        self._removed = frozenset(delta.removed_nodes)
        self._written = {node.id: node for node in delta.nodes}
        self._sources: dict[str, list[str]] = {}
        self.claims: dict[str, MemoryNode] = {}
        """The new and changed claims."""
        self.gone: dict[str, None] = {}
        self.edges: dict[EdgeKey, MemoryEdge] = {}
        self.parted: list[EdgeKey] = []

    def update(self, fresh: Sequence[MemoryNode]) -> None:
        """Remove the claims that no memory makes any more, and add those of new memories."""
        fresh_by_id = {node.id: node for node in fresh}
        known = [one for one in claims_of(self._view, [*self._removed, *fresh_by_id]) if one not in self._removed]
        for claim in self._store.get_nodes(known) if known else ():
            there = [name for name in self.sources_of(claim.id) if name not in self._removed]
            staying = [
                name for name in there if name not in fresh_by_id or self._match(claim, fresh_by_id[name]) is not None
            ]
            self._sources[claim.id] = staying
            self.parted += [EdgeKey(claim.id, name, EdgeType.DERIVED_FROM) for name in there if name not in staying]
            if staying:
                self.claims[claim.id] = self._retaken(claim)
            else:
                self.gone[claim.id] = None
        for node in fresh:
            for said in self._claims_of(node):
                self._say(said, node)

    def sources_of(self, name: str) -> list[str]:
        """Return the ids of the memories that make a claim, also of one that the delta adds."""
        if name not in self._sources:
            self._sources[name] = sources_of(self._view, [name]).get(name, [])
        return self._sources[name]

    def _claims_of(self, source: MemoryNode) -> list[Claim]:
        """Return the claims that a model read in a memory."""
        return claims_in(source, self._read_by_model.get(source.id, ())) if is_message(source) else []

    def _say(self, claim: Claim, source: MemoryNode) -> None:
        """Let a memory make a claim: the standing one that says the same, or a new one."""
        node = claim_node(claim, source)
        new = entry_of(node)
        if new is None:
            raise ValueError(f"the claim {node.id!r} has no parts")
        # The values of the slot of the claim, by time.
        stored = self._graph.values_in(new.owner, new.slot)
        added = filter(None, map(entry_of, self.claims.values()))
        here = {one.id: one for one in added if (one.owner, one.slot) == (new.owner, new.slot)}
        left_out = here.keys() | self.gone.keys() | self._removed
        mates = sorted((*(one for one in stored if one.id not in left_out), *here.values()), key=lambda one: one.at)
        alike = [*(one for one in mates[:-_LATEST] if one.claim.value == new.claim.value), *mates[-_LATEST:]]
        standing = next((one for one in alike if self._is_one(one, new, source, mates)), None)
        name, known = (node.id, []) if standing is None else (standing.id, self.sources_of(standing.id))
        if standing is not None and source.id in known:
            return
        self._sources[name] = [*known, source.id]
        edge = MemoryEdge(name, source.id, EdgeType.DERIVED_FROM, created_at=self._at)
        self.edges[edge.key] = edge
        if standing is not None:
            node = self._retaken(self._node(name), claim.change or standing.claim.change)
        self.claims[name] = node

    def _node(self, name: str) -> MemoryNode:
        return self.claims.get(name) or self._store.get_nodes([name])[0]

    def _is_one(self, other: Entry, new: Entry, source: MemoryNode, mates: Sequence[Entry]) -> bool:
        """Return whether a claim stands and says the same as a new one, and no other value comes between them."""
        if not (other.is_claim and is_same(other.claim, new.claim)):
            return False
        if source.id in self.sources_of(other.id):
            return True
        end = self._node(other.id).valid_to
        if other.fact.scope.path != new.fact.scope.path or not (end is None or new.at < end or new.claim.is_past):
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
        # It expires with the last of its memories.
        ends = [one.expires_at for one in sources]
        end = None if None in ends else max(filter(None, ends))
        return node.changed(id=claim.id, expires_at=end, metadata=metadata)

    def _match(self, claim: MemoryNode, source: MemoryNode) -> Claim | None:
        """Return the claim of a memory that says the same as a node."""
        known = claim_of(claim)
        alike = (one for one in self._claims_of(source) if slot_key(one.slot) == slot_key(known.slot))
        return next((one for one in alike if is_same(one, known)), None)

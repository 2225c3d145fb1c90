"""The stage of the write path that turns claims into nodes, and what follows from new facts."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain, product

from neurogated.core.commit import JUDGED
from neurogated.core.conflicts import (
    CONFLICT,
    MODEL,
    Conflict,
    conflicts_about,
    conflicts_in,
    disputes_about,
)
from neurogated.core.delta import GraphDelta, Owner, PendingTask
from neurogated.core.derivation import claims_of, sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import FACTS, Change, Claim, Entry
from neurogated.core.filters import NO_MEMORIES
from neurogated.core.judgements import Relation, RelationKind
from neurogated.core.model import EdgeKey, MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.same_as import anyone, others_of
from neurogated.core.scope import Scope
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.knowledge.effects import recorded, with_consequences
from neurogated.knowledge.origin import is_message, is_read, said_in, voice_of
from neurogated.knowledge.pairs import TextPair
from neurogated.slots.claims import (
    claim_node,
    claim_of,
    claims_in,
    entry_of,
    is_same,
    meets,
    other_speaker,
    slot_key,
)
from neurogated.slots.table import conflict_between

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
        sources = sorted(
            (*stored, *(self._written[name] for name in names if name in self._written)), key=lambda one: one.said_at
        )
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
        known = claim_of(claim)
        alike = (one for one in self._claims_of(source) if slot_key(one.slot) == slot_key(known.slot))
        return next((one for one in alike if is_same(one, known)), None)


CLAIMS, WAITING = "claims", "conflict"
"""The kinds of pending tasks of a memory that a language model will read, or whose conflicts it will judge."""
_NOTHING: Mapping[str, Sequence[Claim]] = {}


@dataclass(frozen=True, slots=True)
class ConflictChecker:
    """Adds the claims of new memories, and what follows from them, to the delta that writes the memories."""

    store: GraphStorePort
    queues: Sequence[str] = ()
    """The kinds of tasks for which memories with new texts wait."""

    def checked(
        self,
        delta: GraphDelta,
        fresh: Sequence[MemoryNode] = (),
        view: GraphView | None = None,
        *,
        read: Mapping[str, Sequence[Claim]] = _NOTHING,
    ) -> GraphDelta:
        """Return a delta with the claims of the memories `fresh`, and without the claims and conflicts that it ends.

        A claim goes with the last memory that makes it, and a conflict with one of its sides. The conflicts between
        values of a slot are computed from them, see `slots.table`. `read` has the claims that a model found, by memory.
        The write lock is held.

        Raises:
            InputError: a text has the id of a claim or a conflict.
        """
        if taken := next((node for node in fresh if node.kind in NO_MEMORIES), None):
            raise InputError(f"only the memory itself makes the {taken.kind} {taken.id!r}; choose another id")
        view = self.store.view() if view is None else view
        delta = self._queued(view, delta, fresh)
        if not (read or _may_matter(view, delta)):
            return delta
        ledger = ClaimLedger(self.store, delta, read)
        ledger.update(fresh)
        facts = [*ledger.claims.values(), *(node for node in fresh if node.kind in FACTS)]
        # An answer that was taken back left its conflict stored; from now on, the conflict is computed again.
        stored = self._stored(view, [one.id for one in facts])
        outdated = [one.id for one in stored if one.rule != MODEL and not one.by_user]
        gone = (*ledger.gone, *conflicts_about(view, ledger.gone), *outdated)
        if ledger.claims or ledger.parted or gone:
            delta = replace(
                delta,
                nodes=(*delta.nodes, *ledger.claims.values()),
                removed_nodes=tuple(dict.fromkeys((*delta.removed_nodes, *gone))),
                removed_edges=tuple(dict.fromkeys((*delta.removed_edges, *ledger.parted))),
                edges=(*delta.edges, *ledger.edges.values()),
                owner=Owner.MEMORY,
            )
        delta = recorded(self.store, delta, self._moved(view, delta))
        delta = self._without_twins(view, ledger, delta)
        return with_consequences(self.store, delta, self.store.foreseen(delta))

    def judged(
        self, found: Iterable[tuple[TextPair, Relation]], settled: Iterable[PendingTask], at: datetime
    ) -> GraphDelta:
        """Return the delta with the conflicts that a model found, and with those of claims that it decided.

        A model judges whole memories, which may say something else, too. So the user is asked, unless a later memory
        changes the one thing of which both have values: then the earlier value ends. Memories that are in
        conflict already, by their claims, and those of which the user answered for others that say the same, are not.
        Claims in one slot that exclude each other in no way both stand, and a new value ends an earlier one.
        """
        view, conflicts = self.store.view(), dict[str, Conflict]()
        for (new, old, sentences, _, dispute), relation in found:
            if dispute is not None:
                if (decided := self._decided(view, dispute, new, old, relation)) is not None:
                    conflicts[decided.id] = decided
                continue
            if not relation.is_conflict:
                continue
            if changes := self._changes(view, new, old, relation):
                conflicts.update((one.id, one) for one in changes)
                continue
            ours, theirs = ({one.id, *claims_of(view, [one.id])} for one in (new, old))
            is_known = any(_between(self.store, view, ours, theirs))
            about = conflicts_in(view, self.store.get_nodes(conflicts_about(view, [old.id]), missing_ok=True))
            is_wrong = any(one.loser == old.id and one.outcome == "wrong" for one in about)
            if is_known or is_wrong:
                continue
            # The user may have answered for others that say the same.
            ours, theirs = (
                {one.id, *chain.from_iterable(others_of(view, view.known_rows([one.id]), anyone))} for one in (new, old)
            )
            twins = _between(self.store, view, ours, theirs)
            if not any(one.status == "resolved" and one.loser not in ours for one in twins):
                conflict = conflict_between(old.id, new.id, relation, Scope(*old.scope.owner))
                conflicts[conflict.id] = replace(conflict, reason=relation.reason, sentences=sentences, rule=MODEL)
        delta = GraphDelta(settled=tuple(settled), reason=JUDGED, at=at)
        delta = recorded(self.store, delta, conflicts.values())
        return with_consequences(self.store, delta, self.store.foreseen(delta))

    def _changes(self, view: GraphView, new: MemoryNode, old: MemoryNode, relation: Relation) -> list[Conflict]:
        """Return the conflict by which a later memory ends the one value of an earlier one; none if unclear."""
        earlier, later = sorted((old, new), key=lambda one: one.moment)
        if relation.kind is not RelationKind.SUPERSESSION or earlier.moment == later.moment:
            return []
        first, second = (self.store.get_nodes([*claims_of(view, [one.id])]) for one in (earlier, later))
        rivals = []
        for pair in product(first, second):
            one, other = map(claim_of, pair)
            are_plain = not any(each.is_denied or each.is_past for each in (one, other))
            if are_plain and slot_key(one.slot) == slot_key(other.slot) and not is_same(one, other):
                rivals.append(pair)
        if len(rivals) != 1:
            return []
        ((loser, winner),) = rivals
        if any(_between(self.store, view, [loser.id], [winner.id])):
            return []
        sides = sorted(rivals[0], key=lambda one: one.created_at)
        found = conflict_between(sides[0].id, sides[1].id, relation, Scope(*old.scope.owner))
        return [replace(found, reason=relation.reason, rule=MODEL).settled("superseded", loser.id)]

    def _decided(
        self, view: GraphView, dispute: Conflict, new: MemoryNode, old: MemoryNode, relation: Relation
    ) -> Conflict | None:
        """Return a conflict of claims of two memories as a model decides it; None if the user is asked."""
        ours = claims_of(view, [new.id])
        if not any(one.id == dispute.id and one.status == "open" for one in self.store.snapshot(view).disputes(ours)):
            return None
        found = replace(dispute, reason=relation.reason, rule=MODEL)
        if not relation.is_conflict:
            return found.settled("contested", None)
        if relation.kind is RelationKind.CONTRADICTION or new.moment == old.moment:
            return None
        is_first = (dispute.first in ours) == (new.moment < old.moment)
        return found.settled("superseded", dispute.first if is_first else dispute.second)

    def _queued(self, view: GraphView, delta: GraphDelta, fresh: Sequence[MemoryNode]) -> GraphDelta:
        """Return a delta that queues memories with new texts or owners, and all that a model will read again."""
        if not self.queues:
            return delta
        texts = list(filter(is_read, fresh))
        names = [one.id for one in texts if view.find(one.id) is not None]
        stored = self.store.get_nodes(names, missing_ok=True) if names else ()
        known = {node.id: (node.content, voice_of(node)) for node in stored}
        news = {one.id for one in texts if known.get(one.id) != (one.content, voice_of(one))}
        tasks = tuple(
            PendingTask(kind, (one.id,))
            for one in texts
            for kind in self.queues
            if kind == CLAIMS or (one.id in news and is_message(one))
        )
        settled = tuple(task for task in delta.settled if task not in tasks)
        return replace(delta, queued=(*delta.queued, *tasks), settled=settled) if tasks else delta

    def _stored(self, view: GraphView, names: Iterable[str]) -> list[Conflict]:
        found = conflicts_about(view, names)
        return conflicts_in(view, self.store.get_nodes(found, missing_ok=True)) if found else []

    def _moved(self, view: GraphView, delta: GraphDelta) -> list[Conflict]:
        """Return the stored conflicts that expire at another time, together with a side."""
        if EdgeType.CONFLICT not in view.edge_types:
            return []
        stored = self.store.get_nodes([one.id for one in delta.nodes], missing_ok=True)
        ends = {one.id: one.expires_at for one in delta.nodes}
        moved = [one.id for one in stored if one.expires_at != ends[one.id]]
        return [one for one in self._stored(view, moved) if one.id not in delta.removed_nodes]

    def _without_twins(self, view: GraphView, ledger: ClaimLedger, delta: GraphDelta) -> GraphDelta:
        """Return a delta in which conflicts of claims replace, with their answers, those of their memories."""
        if EdgeType.CONFLICT not in view.edge_types:
            return delta
        replaced, answered = dict.fromkeys(delta.removed_nodes), list[Conflict]()
        for conflict in self.store.foreseen(delta).conflicts:
            for twin in _between(self.store, view, *map(ledger.sources_of, conflict.sides)):
                if twin.by_user:
                    answered.append(replace(conflict.settled("contested", None), by_user=True))
                else:
                    replaced[twin.id] = None
        return recorded(self.store, replace(delta, removed_nodes=tuple(replaced)), answered)


def _may_matter(view: GraphView, delta: GraphDelta) -> bool:
    """Return whether changes may be about facts or conflicts: new memories that no model has read are about none."""
    kinds = {CONFLICT, *FACTS}
    if not kinds.isdisjoint(node.kind for node in delta.nodes):
        return True
    changes = delta.removed_nodes or delta.removed_edges or any(view.find(node.id) is not None for node in delta.nodes)
    return bool(changes) and not kinds.isdisjoint(view.kinds)


def _between(
    store: GraphStorePort, view: GraphView, ours: Collection[str], theirs: Collection[str]
) -> Iterator[Conflict]:
    for one in disputes_about(store.snapshot(view), ours):
        first, second = one.sides
        if (first in ours and second in theirs) or (second in ours and first in theirs):
            yield one

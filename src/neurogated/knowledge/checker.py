"""The stage of the write path that compares stated facts, and claims that a model read, with those of one slot."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.claims import Claim, ClaimJudge
from neurogated.core.conflicts import CONFLICT, MODEL, Conflict, conflicts_about
from neurogated.core.delta import GraphDelta, Owner, PendingTask
from neurogated.core.derivation import claims_of, derived_from
from neurogated.core.facts import is_supported
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.judgements import Relation
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM
from neurogated.core.ports import GraphStorePort
from neurogated.core.reasons import JUDGED, READ
from neurogated.core.same_as import anyone, others_of
from neurogated.core.scope import Scope
from neurogated.errors import InputError
from neurogated.knowledge.judge.candidates import TextPair
from neurogated.knowledge.judge.claim_nodes import Mate, claim_of, speaks_for
from neurogated.knowledge.judge.ledger import ClaimLedger
from neurogated.knowledge.judge.mates import is_same, rivals_of
from neurogated.knowledge.origin import is_compared, is_message, is_read, voice_of
from neurogated.knowledge.settlement import Settlement
from neurogated.utils.hash_utils import compute_mdhash_id

CLAIMS, WAITING = "claims", "conflict"
"""The kinds of pending tasks of a memory that a language model will read, or whose conflicts it will judge."""
_NOTHING: Mapping[str, Sequence[Claim]] = {}
# Facts of one attribute with which a new fact is compared: those that hold, and as many others. With this bound, a slot
# with many values costs each write the same.
_MATES = 16
# Most conflicts of a new memory. More would bury the few that somebody resolves.
_MOST_CONFLICTS = 16


class ConflictChecker:
    """Adds the claims of new memories, and their conflicts, to the delta that writes the memories."""

    def __init__(
        self,
        store: GraphStorePort,
        judge: ClaimJudge,
        settings: MetabolismSettings,
        *,
        queues: Sequence[str] = (),
    ) -> None:
        """Take the parts; `queues` has the kinds of tasks for which memories with new texts wait."""
        self._store = store
        self._judge = judge
        self._settings = settings
        self._queues = queues

    def checked(
        self, delta: GraphDelta, fresh: Sequence[MemoryNode] = (), read: Mapping[str, Sequence[Claim]] = _NOTHING
    ) -> GraphDelta:
        """Return a delta with the claims and conflicts of the memories `fresh`, and without those that it ends.

        A claim goes with the last memory that makes it, and a conflict with one of its sides. Then the other side has
        the valid time that it would have without the conflict. The write lock is held, so nothing else changes them.

        Args:
            delta: the changes of memories.
            fresh: the memories that are read.
            read: the claims that a model has read in some of them.

        Raises:
            InputError: a text has the id of a claim or a conflict.
        """
        if taken := next((node for node in fresh if node.kind in NO_MEMORIES), None):
            raise InputError(f"only the memory itself makes the {taken.kind} {taken.id!r}; choose another id")
        settlement = Settlement(self._store, delta.at, delta.nodes)
        ledger = ClaimLedger(self._store, settlement, delta, _MATES, read=read)
        kept = ledger.update(fresh)
        removed = tuple(
            dict.fromkeys((*delta.removed_nodes, *ledger.gone, *conflicts_about(settlement.view, ledger.gone)))
        )
        # A claim whose time moved meets its neighbours again; what the user answered stands.
        outdated = [one.id for name in ledger.moved for one in settlement.about(name) if not one.by_user]
        parted = list(settlement.parted_by(frozenset((*removed, *ledger.moved, *outdated))))
        settlement.remove((*removed, *outdated))
        for node in delta.nodes:
            settlement.follow(node)
        for earlier, later in parted:
            relation = self._judge.compare(claim_of(earlier), claim_of(later))
            if relation.is_conflict and self._settings.check_conflicts:
                self._record(settlement, ledger, earlier, later, relation)
        for mate in kept:
            self._meet(settlement, ledger, mate, ledger.mates(mate), _MOST_CONFLICTS)
        for node in filter(is_compared, fresh):
            self._read(settlement, ledger, node)
        if ledger.edges or ledger.parted or ledger.gone:
            delta = replace(
                delta,
                removed_nodes=removed,
                removed_edges=tuple(dict.fromkeys((*delta.removed_edges, *ledger.parted))),
                edges=(*delta.edges, *ledger.edges.values()),
                owner=Owner.MEMORY,
            )
        return settlement.added_to(self._queued(delta, fresh))

    def without_rules(self, at: datetime) -> GraphDelta:
        """Return the delta without the claims that earlier versions read by rules, and what was made of them."""
        view = self._store.view()
        claims = [] if CLAIM not in view.kinds else self._store.find(Filter(kinds=(CLAIM,)))
        read = [one.id for one in claims if not is_supported(one)]
        gone = (*read, *derived_from(view, read))
        removed = tuple(dict.fromkeys((*gone, *conflicts_about(view, gone)))) if read else ()
        return self.checked(GraphDelta(removed_nodes=removed, reason=READ, at=at)) if read else GraphDelta()

    def judged(
        self, found: Iterable[tuple[TextPair, Relation]], settled: Iterable[PendingTask], at: datetime
    ) -> GraphDelta:
        """Return the delta with the conflicts that a model found.

        A model judges whole memories, which may say something else, too. So the user is asked. Memories that are in
        conflict already, by their claims, and those of which the user answered for others that say the same, are not.
        """
        settlement = Settlement(self._store, at)
        for (new, old, sentences, _), relation in found:
            is_known = any(_between(settlement, self._with_claims(new.id), self._with_claims(old.id)))
            if not (is_known or settlement.is_wrong(old.id) or self._is_answered(settlement, new.id, old.id)):
                conflict = _conflict(old, new, relation)
                settlement.put(replace(conflict, reason=relation.reason, sentences=sentences, rule=MODEL))
        return settlement.added_to(GraphDelta(settled=tuple(settled), reason=JUDGED, at=at))

    def _queued(self, delta: GraphDelta, fresh: Sequence[MemoryNode]) -> GraphDelta:
        """Return a delta that queues memories with new texts or owners, and all that a model will read again."""
        if not self._queues:
            return delta
        texts = list(filter(is_read, fresh))
        stored = self._store.get_nodes([one.id for one in texts], missing_ok=True)
        known = {node.id: (node.content, voice_of(node)) for node in stored}
        news = {one.id for one in texts if known.get(one.id) != (one.content, voice_of(one))}
        tasks = tuple(
            PendingTask(kind, (one.id,))
            for one in texts
            for kind in self._queues
            if kind == CLAIMS or (one.id in news and is_message(one))
        )
        settled = tuple(task for task in delta.settled if task not in tasks)
        return replace(delta, queued=(*delta.queued, *tasks), settled=settled) if tasks else delta

    def _read(self, settlement: Settlement, ledger: ClaimLedger, node: MemoryNode) -> None:
        """Write the claims of a memory, and compare them. A stated fact is its own claim."""
        left = _MOST_CONFLICTS
        if node.found.statement is not None:
            mate = ledger.enter(node)
            self._meet(settlement, ledger, mate, ledger.mates(mate), left)
        for claim in ledger.claims_of(node):
            left -= self._meet(settlement, ledger, *ledger.say(claim, node), left)

    def _meet(self, settlement: Settlement, ledger: ClaimLedger, mate: Mate, mates: Sequence[Mate], most: int) -> int:
        """Compare a claim with those next to it in time; return how many conflicts it has, up to `most`."""
        if not self._settings.check_conflicts:
            return 0
        rivals = list(islice(rivals_of(self._judge, mate, mates, settlement.is_wrong), most))
        for earlier, later, relation in rivals:
            if not _is_dismissed(settlement, earlier, later, mates):
                self._record(settlement, ledger, earlier.node, later.node, relation)
        return len(rivals)

    def _record(
        self, settlement: Settlement, ledger: ClaimLedger, earlier: MemoryNode, later: MemoryNode, relation: Relation
    ) -> None:
        """Record a conflict of claims, and settle it if the later one says that the earlier one is true no longer.

        It replaces what a model found about the memories of both, unless the user has answered that.
        """
        # A claim that the same delta adds is stored after the others.
        is_late = self._store.has_node(later.id) and not self._store.has_node(earlier.id)
        conflict = _conflict(later, earlier, relation) if is_late else _conflict(earlier, later, relation)
        known = settlement.conflict(conflict.id)
        twins = list(_between(settlement, ledger.sources_of(earlier.id), ledger.sources_of(later.id)))
        if any(one.by_user for one in (*twins, *([known] if known else ()))):
            return
        settlement.remove([one.id for one in twins])
        if relation.outcome == "superseded" and speaks_for(later, earlier):
            if known is None or known.loser != earlier.id:
                settlement.settle(replace(known or conflict, kind=relation.kind), "superseded", earlier.id)
        elif known is None:
            settlement.put(conflict)

    def _with_claims(self, name: str) -> set[str]:
        return {name, *claims_of(self._store.view(), [name])}

    def _is_answered(self, settlement: Settlement, new: str, old: str) -> bool:
        """Return whether a conflict of memories that say the same is resolved, and the new one did not lose."""
        view = self._store.view()
        ours, theirs = (
            {name, *chain.from_iterable(others_of(view, view.known_rows([name]), anyone))} for name in (new, old)
        )
        return any(one.status == "resolved" and one.loser not in ours for one in _between(settlement, ours, theirs))


def _conflict(first: MemoryNode, second: MemoryNode, relation: Relation) -> Conflict:
    """Return an open conflict of two nodes, the one first that was stored first."""
    name = compute_mdhash_id("\n".join(sorted((first.id, second.id))), prefix=f"{CONFLICT}-")
    scope = Scope(*first.scope.owner)
    return Conflict(name, first.id, second.id, relation.kind, relation.confidence, scope=scope)


def _between(settlement: Settlement, ours: Collection[str], theirs: Collection[str]) -> Iterator[Conflict]:
    """Yield the conflicts of some nodes with others."""
    return (one for name in ours for one in settlement.about(name) if one.other(name) in theirs)


def _is_dismissed(settlement: Settlement, earlier: Mate, later: Mate, mates: Sequence[Mate]) -> bool:
    """Return whether the user said of two claims that say the same that both stand."""
    ours, theirs = (
        {one.node.id, *(other.node.id for other in mates if is_same(other.claim, one.claim))}
        for one in (earlier, later)
    )
    return any(one.by_user and one.loser is None for one in _between(settlement, ours, theirs))

"""The stage of the write path that looks for conflicts between new memories and stored ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.conflict.judge import PairJudge
from neurogated.conflict.passages import content_of, is_compared, owner_of
from neurogated.conflict.settlement import Settlement
from neurogated.core.conflicts import CONFLICT, Conflict, Validity, moment_of
from neurogated.core.delta import GraphDelta
from neurogated.core.facts import FACT
from neurogated.core.filters import Filter
from neurogated.core.judgements import Relation, RelationKind
from neurogated.core.keywords import fold
from neurogated.core.model import MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import subject_tag
from neurogated.core.scope import Scope, ScopeFilter
from neurogated.core.words import split_words
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["ConflictChecker"]


class ConflictChecker:
    """Adds the conflicts of new memories to the delta that writes them."""

    def __init__(self, store: GraphStorePort, judge: PairJudge, settings: MetabolismSettings) -> None:
        self._store = store
        self.judge = judge
        self._settings = settings

    def checked(self, delta: GraphDelta, fresh: Sequence[MemoryNode] = ()) -> GraphDelta:
        """Return a delta with the conflicts of the memories `fresh` that it writes, and without those that it ends.

        A conflict ends when one side is deleted or its text changes. Then the other side has the valid time that it
        would have without the conflict. The write lock is held, so the candidates cannot change meanwhile.
        """
        settlement = Settlement(self._store, delta.nodes)
        settlement.remove(delta.removed_nodes)
        for node in delta.nodes:
            settlement.keep_outcomes(node)
        if self._settings.check_conflicts:
            gone = frozenset(delta.removed_nodes)
            before: list[MemoryNode] = []
            for node in filter(is_compared, fresh):
                self._check(settlement, node, before, gone)
                before.append(node)
        return settlement.added_to(delta)

    def _check(
        self, settlement: Settlement, node: MemoryNode, before: Sequence[MemoryNode], gone: frozenset[str]
    ) -> None:
        for old in self._facts_like(node, before):
            if old.id in gone or owner_of(node) != owner_of(old) or settlement.is_wrong(old.id):
                continue
            now, other = (_given(one, settlement.base(one)) for one in (node, old))
            relation = self.judge.compare(content_of(other, other.content), content_of(now, now.content))
            if relation.is_conflict:
                self._record(settlement, other, now, relation)

    def _record(self, settlement: Settlement, old: MemoryNode, new: MemoryNode, relation: Relation) -> None:
        """Record a conflict; the earlier fact is superseded if the judge says that both were true."""
        if _are_apart(old, new):
            return
        known = settlement.conflict(_conflict_id(old.id, new.id))
        conflict = known or Conflict(
            _conflict_id(old.id, new.id),
            old.id,
            new.id,
            relation.kind,
            relation.confidence,
            scope=_scope_of(old),
        )
        earlier = old if moment_of(old) < moment_of(new) else new if moment_of(new) < moment_of(old) else None
        if relation.kind is RelationKind.SUPERSESSION and earlier is not None:
            if known is None or known.loser != earlier.id:
                settlement.settle(conflict, "superseded", earlier)
        elif known is None:
            settlement.put(conflict)

    def _facts_like(self, node: MemoryNode, before: Sequence[MemoryNode]) -> Iterator[MemoryNode]:
        """Yield the stated facts about the subject of a fact, the latest first."""
        if node.found.statement is None:
            return
        subject = _words(node.found.statement.subject)
        view = self._store.view(filters=Filter(kinds=(FACT,), scope=ScopeFilter(node.scope.user_id, alone=True)))
        known = {one.id for one in before}
        names = [name for name in self._store.nodes_with([subject_tag(subject)], None, view) if name not in known]
        stored = self._store.get_nodes(names[::-1][: self._settings.conflict_facts], missing_ok=True)
        for other in chain(reversed(before), stored):
            parts = other.found.statement
            if other.id != node.id and parts is not None and _words(parts.subject) == subject:
                yield other


def _conflict_id(first: str, second: str) -> str:
    """Return the id of the conflict between two memories, in either order."""
    return compute_mdhash_id("\n".join(sorted((first, second))), prefix=f"{CONFLICT}-")


def _are_apart(one: MemoryNode, other: MemoryNode) -> bool:
    """Return whether two memories say when they hold, and hold at different times."""
    return any(
        first.valid_to is not None and second.valid_from is not None and first.valid_to <= second.valid_from
        for first, second in ((one, other), (other, one))
    )


def _given(node: MemoryNode, base: Validity) -> MemoryNode:
    return replace(node, valid_from=base[0], valid_to=base[1])


def _scope_of(node: MemoryNode) -> Scope:
    user, agent, session = owner_of(node)
    return Scope(user, agent, session)


def _words(name: str) -> str:
    return " ".join(split_words(fold(name)))

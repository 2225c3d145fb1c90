"""The stage of the write path that looks for conflicts between new memories and stored ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import chain, islice, product
from typing import NamedTuple

import numpy as np

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.core.conflicts import CONFLICT, MODEL, Conflict, as_given, moment_of
from neurogated.core.delta import GraphDelta, PendingTask
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import FACT
from neurogated.core.filters import NO_MEMORIES, Filter
from neurogated.core.judgements import Relation, RelationKind, StatementJudge
from neurogated.core.model import MemoryEdge, MemoryNode
from neurogated.core.ports import GraphStorePort
from neurogated.core.rendering import subject_tag
from neurogated.core.same_as import anyone, others_of
from neurogated.core.scope import Scope, ScopeFilter
from neurogated.knowledge.certainty import ends, tells_of_another_past
from neurogated.knowledge.claims import Claim, claims_in, contradicted, repeats
from neurogated.knowledge.fact_parts import attribute_of, latest_of_each, subject_of
from neurogated.knowledge.origin import are_one_text, is_compared, owner_of, statements_in, voice_of
from neurogated.knowledge.passages import content_of, is_personal, may_be_personal, without_now
from neurogated.knowledge.settlement import Settlement
from neurogated.knowledge.states import begun_in
from neurogated.text.keywords import split_keywords
from neurogated.utils.hash_utils import compute_mdhash_id

__all__ = ["WAITING", "ConflictChecker", "Found"]

# Most words of a sentence that is compared with another.
_WORDS = 30

# Most pairs of sentences of which a new text is compared.
_PAIRS = 4

# Share of the words of the shorter of two sentences that both must have to be compared.
_OVERLAP = 0.5

# A claim finds earlier texts by those of its words that at most this many texts have.
_COMMON = 1000

# Latest earlier texts that each claim is compared with.
_CANDIDATES = 64

# Share of the words of a claim, such as “I have never …”, that an earlier sentence must have.
_SHARE = 0.7

WAITING = "conflict"
"""The kind of pending task of a memory whose conflicts a language model will judge."""

_CERTAIN = 0.85
"""Confidence from which a supersession needs no answer of the user."""


class Found(NamedTuple):
    """A conflict of a new memory with an earlier one."""

    old: MemoryNode
    relation: Relation
    sentences: tuple[int, int] = (0, 0)
    rule: str = "statement"


class ConflictChecker:
    """Adds the conflicts of new memories to the delta that writes them."""

    def __init__(
        self, store: GraphStorePort, judge: StatementJudge, settings: MetabolismSettings, *, queues: bool = False
    ) -> None:
        """Take the parts; `queues` says whether memories with new texts wait for a language model."""
        self._store = store
        self._judge = judge
        self._settings = settings
        self._queues = queues and settings.conflict_uncertain > 0

    def checked(self, delta: GraphDelta, fresh: Sequence[MemoryNode] = ()) -> GraphDelta:
        """Return a delta with the conflicts of the memories `fresh` that it writes, and without those that it ends.

        A conflict ends when one side is deleted or its text changes. Then the other side has the valid time that it
        would have without the conflict. The write lock is held, so the candidates cannot change meanwhile.
        """
        settlement = Settlement(self._store, delta.at, delta.nodes)
        parted = list(settlement.parted_by(frozenset(delta.removed_nodes)))
        settlement.remove(delta.removed_nodes)
        for node in delta.nodes:
            settlement.follow(node)
        if self._settings.check_conflicts:
            gone, before = frozenset(delta.removed_nodes), list[MemoryNode]()
            for old, later in parted:
                for found in self._between(old, later):
                    self._record(settlement, later, found)
            for node in filter(is_compared, fresh):
                # Older memories are in conflict with the latest ones already, so a long dispute grows no faster.
                for found in islice(self._found(delta, node, before, settlement), self._settings.conflict_most):
                    if found.old.id not in gone and not settlement.is_wrong(found.old.id):
                        self._record(settlement, node, found, delta.edges)
                before.append(node)
            delta = self._queued(delta, fresh) if self._queues else delta
        return settlement.added_to(delta)

    def judged(
        self, found: Iterable[tuple[MemoryNode, Found]], settled: Iterable[PendingTask], at: datetime
    ) -> GraphDelta:
        """Return the delta with the conflicts that a language model found, each with its later stored memory."""
        settlement = Settlement(self._store, at)
        for node, one in found:
            if not settlement.is_wrong(one.old.id):
                self._record(settlement, node, one)
        return settlement.added_to(GraphDelta(settled=tuple(settled), reason="judge", at=at))

    def _queued(self, delta: GraphDelta, fresh: Sequence[MemoryNode]) -> GraphDelta:
        """Return a delta that queues the memories with new texts or owners for the language model."""
        known = {
            node.id: (node.content, voice_of(node))
            for node in self._store.get_nodes([one.id for one in fresh], missing_ok=True)
        }
        news = filter(is_compared, (one for one in fresh if known.get(one.id) != (one.content, voice_of(one))))
        tasks = tuple(PendingTask(WAITING, (one.id,)) for one in news if one.found.statement is None)
        settled = tuple(task for task in delta.settled if task not in tasks)
        return replace(delta, queued=(*delta.queued, *tasks), settled=settled) if tasks else delta

    def _found(
        self, delta: GraphDelta, node: MemoryNode, before: Sequence[MemoryNode], settlement: Settlement
    ) -> Iterator[Found]:
        if node.found.statement is not None:
            yield from self._of_fact(node, before, settlement)
        else:
            told = set[str]()
            for found in chain(self._of_claims(node, before), self._of_sentences(delta, node, before)):
                if found.old.id not in told:
                    told.add(found.old.id)
                    yield found

    # Facts

    def _between(self, old: MemoryNode, new: MemoryNode) -> Iterator[Found]:
        relation = self._judge.compare(*(content_of(as_given(one), one.content) for one in (old, new)))
        if relation.is_conflict:
            yield Found(old, relation)

    def _of_fact(self, node: MemoryNode, before: Sequence[MemoryNode], settlement: Settlement) -> Iterator[Found]:
        """Compare a stated fact with the facts about its subject."""
        for old in self._facts_like(node, before, settlement):
            yield from self._between(old, node)

    def _facts_like(
        self, node: MemoryNode, before: Sequence[MemoryNode], settlement: Settlement
    ) -> Iterator[MemoryNode]:
        """Yield the facts about the subject of a fact that stand when it begins, and of each attribute the next one.

        Of several contested values of an attribute, only the latest counts: it has conflicts with the earlier ones. So
        a value costs the same however many values an attribute had.
        """

        def is_alike(other: MemoryNode) -> bool:
            return other.id != node.id and owner_of(other) == owner_of(node) and subject_of(other) == subject_of(node)

        standing, ended = (list(filter(is_alike, one)) for one in self._about_subject(node, before))
        standing = latest_of_each(standing)
        winners = {one.other(old.id) for old in standing for one in settlement.about(old.id) if one.loser == old.id}
        later = [*ended, *filter(is_alike, filter(None, map(settlement.node, winners)))]
        following: dict[str, MemoryNode] = {}
        for other in sorted(later, key=moment_of, reverse=True):
            if moment_of(other) > moment_of(node):
                following[attribute_of(other)] = other
        yield from {one.id: one for one in (*standing, *following.values())}.values()

    def _about_subject(
        self, node: MemoryNode, before: Sequence[MemoryNode]
    ) -> tuple[list[MemoryNode], list[MemoryNode]]:
        """Return stored facts and those of `before` that hold when a fact begins, and some that hold at other times.

        Those that share most words with the attribute come first, and of these the latest.
        """
        scope = ScopeFilter(node.scope.user_id, alone=True)
        view = self._store.view(filters=Filter(kinds=(FACT,), scope=scope))
        facts = view.admitted_nodes()
        facts = facts[~np.isin(facts, view.known_rows(one.id for one in before))]
        rows = facts[self._store.has_tags([subject_tag(subject_of(node))], view, facts)[0]]
        stems = split_keywords(attribute_of(node))
        shared = self._store.has_tags(stems, view, rows).sum(axis=0) if stems and rows.size else np.zeros(rows.size)
        rows = rows[np.lexsort((rows, shared))[::-1]]
        holds = ~np.isin(rows, self._store.view(valid_at=moment_of(as_given(node))).hidden)
        read = [
            self._store.get_nodes([view.ids[row] for row in part[: self._settings.conflict_facts].tolist()])
            for part in (rows[holds], rows[~holds])
        ]
        return [*reversed(before), *read[0]], read[1]

    # Texts

    def _of_claims(self, node: MemoryNode, before: Sequence[MemoryNode]) -> Iterator[Found]:
        """Compare the claims of a text with earlier texts of the same person."""
        share = _SHARE
        for place, sentence in enumerate(statements_in(node)):
            for claim in claims_in(sentence):
                said = [(old, statements_in(old)) for old in self._said_before(claim, node, before)]
                if any(repeats(claim, sentences, share) for _, sentences in said):
                    continue
                places = ((old, contradicted(claim, sentences, share)) for old, sentences in said)
                hits = [(old, at) for old, at in places if at is not None]
                if hits:
                    old, at = max(hits, key=lambda hit: _nearness(claim, *hit))
                    yield Found(old, claim.relation, (at, place), claim.rule)

    def _said_before(self, claim: Claim, node: MemoryNode, before: Sequence[MemoryNode]) -> list[MemoryNode]:
        """Return the latest earlier texts that hold enough words of a claim."""
        scope = ScopeFilter(node.scope.user_id, alone=True)
        view = self._store.view(filters=Filter(scope=scope, except_kinds=NO_MEMORIES))
        stems = sorted(set(split_keywords(claim.words)))
        found = self._store.rare_nodes_with(dict.fromkeys(stems, _COMMON), view)
        rows = np.unique(view.known_rows(set(chain.from_iterable(found.values()))))
        shared = self._store.has_tags(stems, view, rows).sum(axis=0) if rows.size else rows
        # A verb may have another form there, so the index may know one word less of it.
        rows = rows[shared >= claim.least(_SHARE) - 1][-_CANDIDATES:]
        stored = self._store.get_nodes([view.ids[row] for row in rows.tolist()], missing_ok=True)
        return [old for old in (*stored, *before) if _precedes(old, node)]

    def _of_sentences(self, delta: GraphDelta, node: MemoryNode, before: Sequence[MemoryNode]) -> Iterator[Found]:
        """Compare the short sentences of a text with those of the texts to which it has SIM edges.

        Two values of one attribute may have little in common for a vector, such as two cities. So the texts that
        have the words of a sentence are compared too, if it may state an attribute that has one value at a time.
        """
        near = [
            edge.target_id
            for edge in delta.edges
            if edge.source_id == node.id
            and edge.type is EdgeType.SIM
            and edge.weight >= self._settings.conflict_similarity
        ]
        ours = [one for one in self._short(node) if may_be_personal(one[1]) or begun_in(one[1])]
        states = (without_now(state) for _, text, _ in ours for state in begun_in(text) or (text,))
        stated = list(filter(self._judge.has_one_value, states))
        near = list(dict.fromkeys((*near, *self._with_words(stated, node))))
        if not ours:
            return
        earlier = {one.id: one for one in before}
        earlier |= {one.id: one for one in self._store.get_nodes(near, missing_ok=True)}
        pairs = (
            (old, mine, theirs)
            # Those before the latest one that a sentence contradicts have ended already.
            for old in sorted((one for name, one in earlier.items() if name in near), key=moment_of, reverse=True)
            if _is_said_alike(old, node)
            for mine, theirs in product(ours, self._short(old))
            if len(mine[2] & theirs[2]) >= _OVERLAP * min(len(mine[2]), len(theirs[2])) > 0
            # Few sentences share so many words, and to read one takes longer than to count words.
            if _is_compared(mine[1]) and _is_compared(theirs[1])
        )
        told = set[int]()
        for old, (place, text, _), (at, said, _) in islice(pairs, _PAIRS):
            if place in told:
                continue
            pair = content_of(old, said), content_of(node, text)
            # A message may arrive after one that was said later.
            relation = self._judge.compare(*(pair if moment_of(old) <= moment_of(node) else pair[::-1]))
            if relation.is_conflict and not tells_of_another_past(said, text):
                told.add(place)
                yield Found(old, relation, (at, place))

    def _with_words(self, states: Sequence[str], node: MemoryNode) -> Iterator[str]:
        """Yield the ids of the memories of the same user that have words of states, the best first."""
        scope = ScopeFilter(node.scope.user_id, alone=True)
        view = self._store.view(filters=Filter(scope=scope, except_kinds=NO_MEMORIES))
        for state in states:
            rows, _ = self._store.keyword_rows(state, _CANDIDATES, view)
            yield from (view.ids[row] for row in rows.tolist())

    def _short(self, node: MemoryNode) -> list[tuple[int, str, frozenset[str]]]:
        """Return place, text and stems of each short sentence; the stems include those of the states that it begins."""
        most = _WORDS
        return [
            (place, text, frozenset(split_keywords(" ".join(map(without_now, (text, *begun_in(text)))))))
            for place, text in enumerate(statements_in(node))
            if len(text.split()) <= most
        ]

    # Outcomes

    def _record(self, settlement: Settlement, new: MemoryNode, found: Found, edges: Sequence[MemoryEdge] = ()) -> None:
        """Record a conflict. The earlier memory is superseded if it says nothing else and the judge is certain."""
        old, relation = found.old, found.relation
        if _are_apart(as_given(old), as_given(new)):
            return
        name = compute_mdhash_id("\n".join(sorted((old.id, new.id))), prefix=f"{CONFLICT}-")
        known = settlement.conflict(name)
        if known is not None and known.by_user:
            return
        if known is None and self._is_answered(settlement, new.id, old.id, edges):
            return
        conflict = known or Conflict(
            name,
            old.id,
            new.id,
            relation.kind,
            relation.confidence,
            scope=_scope_of(old),
            reason=relation.reason if found.rule == MODEL else "",
            sentences=found.sentences,
            rule=found.rule,
        )
        earlier = old if moment_of(old) < moment_of(new) else new if moment_of(new) < moment_of(old) else None
        if earlier is not None and self._is_certain(earlier, new, found):
            if known is None or known.loser != earlier.id:
                settlement.settle(conflict, "superseded", earlier.id)
        elif known is None:
            settlement.put(conflict)

    def _is_certain(self, earlier: MemoryNode, new: MemoryNode, found: Found) -> bool:
        """Return whether a supersession needs no answer of the user.

        Both memories must have one path, and the earlier text must say nothing else. A state that an event begins is
        an inference, so the user is asked.
        """
        if found.old.scope.path != new.scope.path:
            return False
        if found.relation.kind is not RelationKind.SUPERSESSION or found.relation.confidence < _CERTAIN:
            return False
        if earlier.found.statement is not None:
            return True
        sides = list(zip((found.old, new), found.sentences, strict=True))
        (node, place), (later, at) = sides if earlier is found.old else sides[::-1]
        told = statements_in(node)
        return len(told) == 1 and ends(self._judge, told[place], statements_in(later)[at])

    def _is_answered(self, settlement: Settlement, new: str, old: str, edges: Sequence[MemoryEdge]) -> bool:
        """Return whether a conflict of memories that say the same is resolved, and the new one did not lose."""
        ours, theirs = self._group(new, edges), self._group(old, edges)
        return any(
            one.status == "resolved" and one.loser not in ours and one.other(name) in theirs
            for name in ours
            for one in settlement.about(name)
        )

    def _group(self, name: str, edges: Sequence[MemoryEdge]) -> set[str]:
        """Return a memory and those that say the same, in the graph or by new edges."""
        same = (edge for edge in edges if edge.type is EdgeType.SAME_AS and edge.weight > 0)
        ends = ((edge.source_id, edge.target_id) for edge in same)
        names = {name, *chain.from_iterable(pair for pair in ends if name in pair)}
        view = self._store.view()
        found = others_of(view, view.known_rows(names), anyone)
        return names.union(*found)


def _precedes(old: MemoryNode, new: MemoryNode) -> bool:
    """Return whether the same person said the one before the other."""
    return _is_said_alike(old, new) and moment_of(old) <= moment_of(new)


def _is_said_alike(old: MemoryNode, new: MemoryNode) -> bool:
    """Return whether the same person said both, in two messages or documents."""
    is_said = is_compared(old) and old.found.statement is None and old.id != new.id and not are_one_text(old, new)
    return is_said and voice_of(old) == voice_of(new)


def _nearness(claim: Claim, node: MemoryNode, place: int) -> tuple[float, float]:
    """Return the rank of a sentence: most words of the claim; then the last amount, or the first experience."""
    moment = moment_of(node).timestamp()
    return claim.share_of(statements_in(node)[place]), moment if claim.amounts else -moment


def _is_compared(sentence: str) -> bool:
    """Return whether sentences are compared with this one; claims are compared with whole texts."""
    return any(map(is_personal, (sentence, *begun_in(sentence)))) and not any(claims_in(sentence))


def _are_apart(one: MemoryNode, other: MemoryNode) -> bool:
    """Return whether two memories say when they hold, and hold at different times."""
    return any(
        first.valid_to is not None and second.valid_from is not None and first.valid_to <= second.valid_from
        for first, second in ((one, other), (other, one))
    )


def _scope_of(node: MemoryNode) -> Scope:
    return Scope(*node.scope.owner)

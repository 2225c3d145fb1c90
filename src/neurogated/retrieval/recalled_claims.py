"""What recalled memories say in slots, and the conflicts about it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import NamedTuple

from neurogated.core.claims import Change
from neurogated.core.conflicts import Conflict, disputes_about, given_times, moment_of
from neurogated.core.derivation import claims_of, derived_from, sources_of
from neurogated.core.echoes import echoed_rows
from neurogated.core.facts import Fact, fact_of, is_supported
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM, PROFILE
from neurogated.core.ports import GraphStorePort
from neurogated.core.same_as import anyone, others_of
from neurogated.core.trace import Profile, Recall
from neurogated.core.view import GraphView


class RecalledClaims(NamedTuple):
    """What the memories of a recall say."""

    facts: tuple[Fact, ...] = ()
    """The claims that hold, with the recalled memories as sources; not those that something has ended."""
    former: tuple[Fact, ...] = ()
    """The claims that a conflict has ended, with the recalled memories as sources."""
    profiles: tuple[Profile, ...] = ()
    """Those of the claims."""
    conflicts: tuple[Conflict, ...] = ()
    """Those of the memories, of memories that say the same, and of the claims of either, if they have an effect."""
    nodes: Mapping[str, MemoryNode] = {}
    """The sides of the conflicts by id, and the claims."""
    sources: Mapping[str, Sequence[str]] = {}
    """The memories of claims, by the ids of the claims."""
    states: Mapping[str, Verdict] = {}
    """The states of the recalled memories that are in conflict."""

    def memories_of(self, side: str) -> Sequence[str]:
        """Return the memories that say a side of a conflict: those of a claim, or the memory itself."""
        return self.sources.get(side, (side,))


def recalled_claims(store: GraphStorePort, shown: GraphView, recall: Recall, present: datetime) -> RecalledClaims:
    """Return what the memories of a recall say; `shown` is the view with the memories of all valid times."""
    groups = dict(_groups(shown, recall.ids))
    members = set(groups).union(*groups.values())
    claims = claims_of(shown, members)
    disputes = disputes_about(store, shown, {*members, *claims})
    if not (claims or disputes):
        return RecalledClaims()
    sides = {side for one in disputes for side in one.sides}
    there = store.get_nodes([*sides.union(claims)], missing_ok=True)
    nodes = {node.id: node for node in there if is_supported(node)}
    disputes = [one for one in disputes if nodes.keys() >= set(one.sides)]
    sources = sources_of(shown, [name for name in nodes if nodes[name].kind == CLAIM])
    recalled = RecalledClaims(
        conflicts=tuple(one for one in disputes if _has_effect(one, nodes)), nodes=nodes, sources=sources
    )
    own = [(nodes[name], [one for one in sources[name] if one in groups]) for name in claims if name in sources]
    facts = [
        (node, fact_of(node, node.found.statement, names)) for node, names in own if names and node.found.statement
    ]
    return recalled._replace(
        facts=tuple(fact for node, fact in facts if holds_at(node, present) and not _only_ends(node)),
        former=tuple(fact for node, fact in facts if _is_ended(node)),
        profiles=_profiles(store, shown, claims),
        states=_states(recall, groups, recalled),
    )


def holds_at(node: MemoryNode, moment: datetime) -> bool:
    """Return whether a fact or a claim is true at a time, or later."""
    return node.valid_to is None or (node.valid_to > moment and node.valid_to != node.valid_from)


def _profiles(store: GraphStorePort, view: GraphView, claims: Sequence[str]) -> tuple[Profile, ...]:
    """Return the profiles that have some of the claims."""
    names = derived_from(view, claims)
    nodes = [node for node in store.get_nodes(names, missing_ok=True) if node.kind == PROFILE] if names else []
    facts = sources_of(view, [node.id for node in nodes])
    supported = {one.id for one in store.get_nodes([*set(chain.from_iterable(facts.values()))]) if is_supported(one)}
    return tuple(
        Profile(node, facts.get(node.id, ())) for node in nodes if supported.issuperset(facts.get(node.id, ()))
    )


def _only_ends(node: MemoryNode) -> bool:
    """Return whether a claim only says that another value holds no longer."""
    return node.metadata.get("change") == Change.ENDS.value


def _is_ended(node: MemoryNode) -> bool:
    """Return whether a conflict has ended a memory or a claim."""
    return node.valid_to != given_times(node)[1]


def _groups(view: GraphView, names: Sequence[str]) -> Iterator[tuple[str, set[str]]]:
    """Yield memories with all memories that say the same, and with the memories that they echo."""
    # A compaction may have erased a memory between the search and this view.
    rows = view.known_rows(names)
    for row, others, echoed in zip(rows.tolist(), others_of(view, rows, anyone), echoed_rows(view, rows), strict=True):
        yield view.ids[row], {*others, *(view.ids[other] for other in echoed)}


def _has_effect(conflict: Conflict, nodes: Mapping[str, MemoryNode]) -> bool:
    """Return whether a conflict is open, or has ended a side. It has not if the side that won is wrong itself."""
    if conflict.loser is None:
        return conflict.status == "open"
    return conflict.loser in nodes and _is_ended(nodes[conflict.loser])


def _states(recall: Recall, groups: Mapping[str, Collection[str]], recalled: RecalledClaims) -> dict[str, Verdict]:
    """Return the states of memories by their conflicts, by those of their claims, and by those of what they repeat.

    A memory that repeats a superseded one, but was said after the one that replaced it, says that the old state is
    back. It has no state then.
    """
    states: dict[str, Verdict] = {}
    for conflict in sorted(recalled.conflicts, key=lambda one: one.loser is not None):
        if conflict.loser is None:
            said = dict.fromkeys(chain.from_iterable(map(recalled.memories_of, conflict.sides)))
            states.update((name, conflict.outcome) for name in said if name in groups)
            continue
        lost, winner = set(recalled.memories_of(conflict.loser)), recalled.nodes.get(conflict.other(conflict.loser))
        for memory in recall.memories:
            is_back = winner is not None and moment_of(memory.node) > moment_of(winner)
            repeats = not lost.isdisjoint(groups.get(memory.id, ())) and memory.id not in conflict.sides
            if memory.id in lost or (repeats and not (is_back and conflict.outcome == "superseded")):
                states[memory.id] = conflict.outcome
    return states

"""Memories of a recall that later ones replace: by facts and conflicts, or as a later message about the same.

    a message a points to b if    b was said later by the same speaker,
                                  s + t / 10 ≥ 0.65 for the cosine s of what they say and the weight t of their
                                  TERM edge, and t ≥ 0.55, or t ≥ 0.5 and both name the same

So the texts are similar, and share several rare words, or a name that hardly any other text has. Of several such
messages, the newest counts.

The vector of a message says who speaks, so short messages of one person have high cosines, whatever they say: of the
pairs of a speaker of LoCoMo with cosines from 0.65, 1 in 18 has them without the name. So s leaves out the direction
of `NAME said, ""`; it differs from the cosine of the words alone by 0.06 (root of the mean square).

Nothing is stored: both edges follow from the texts. A link does not say that b changes a, only that b was said later.
So texts show both, with their days. A question is no later message.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import day_in
from neurogated.core.columns import Rows, contained, firsts
from neurogated.core.conflicts import Conflict, disputes_about, given_times
from neurogated.core.derivation import claims_of, derived_from, is_derived, sources_of
from neurogated.core.edge_type import EdgeType
from neurogated.core.facts import Change, Fact, Slot, facts_read
from neurogated.core.judgements import Verdict
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM, DEFAULT_KIND, FACT, PROFILE, SEGMENT
from neurogated.core.ports import GraphStorePort, Snapshot
from neurogated.core.rendering import said_by
from neurogated.core.same_as import anyone, are_echoes, echoed_rows, fronts, has_echoes, has_groups, is_shown, others_of
from neurogated.core.trace import Profile, Recall, RecalledMemory
from neurogated.core.turns import asks, same_speaker
from neurogated.core.view import GraphView
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.sentences import is_question, split_sentences
from neurogated.text.strings import table_of
from neurogated.text.time_spans import Span, span_of
from neurogated.text.times import Zone

_ASKS_PAST = re.compile(table_of(__package__, "words")["asks_past"].replace("\n", ""))
_MAY_ASK_PAST = re.compile(r"\b(?:before|earlier|once|fruher|avant|antes)\b|之前")


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
    coming: tuple[Conflict, ...] = ()
    """Those that end a side later: until then it holds, and not the other."""
    nodes: Mapping[str, MemoryNode] = {}
    """The sides of the conflicts by id."""
    sources: Mapping[str, Sequence[str]] = {}
    """The memories of claims, by the ids of the claims, if there are conflicts."""
    states: Mapping[str, Verdict] = {}
    """The states of the recalled memories that are in conflict."""

    def memories_of(self, side: str) -> Sequence[str]:
        """Return the memories that say a side of a conflict: those of a claim, or the memory itself."""
        return self.sources.get(side, (side,))


def in_present_order(
    store: GraphStorePort,
    searched: GraphView,
    every_time: Snapshot,
    recalls: Sequence[Recall],
    most: int,
    *,
    present: datetime,
    held: datetime | None = None,
) -> list[Recall]:
    """Return recalls with their facts and conflicts, and with what holds before what it replaced.

    If a question asks for the past, as with "before", what a change replaced stands before what holds.

    Args:
        store: the graph.
        searched: a view of it.
        every_time: a snapshot with the memories of all valid times that the filters admit.
        recalls: one for each query.
        most: how many memories each has.
        present: the time, in the zone of the user, to which days such as "yesterday" in a question refer.
        held: the time at which facts hold, if it is not the present.
    """
    at, view = held or present, every_time.view
    if not may_replace(view):
        return list(recalls)
    found = []
    for recall in recalls:
        memories = list(recall.memories)
        claims = _recalled_claims(store, every_time, recall, at)
        if (claims.conflicts or claims.coming) and held is None:
            for sides in _orders(recall.query, claims, present):
                if (place := _place_of(recall.query, sides, memories, claims)) is not None:
                    _put(store, memories, place, _shown(searched, claims.memories_of(sides[1]), memories))
        ordered = tuple(memories[:most])
        if [one.id for one in ordered] != list(recall.ids):
            claims = _recalled_claims(store, every_time, replace(recall, memories=ordered), at)
        there = partial(_admitted, view)
        listed = (one for one in claims.conflicts if all(map(there, map(claims.memories_of, one.sides))))
        read_in = {name: getattr(claims, name) for name in ("states", "facts", "former", "profiles")}
        found.append(replace(recall, memories=ordered, conflicts=tuple(listed), **read_in))
    return found


def may_replace(view: GraphView) -> bool:
    """Return whether a graph has facts or conflicts, so that memories may hold no longer."""
    return EdgeType.CONFLICT in view.edge_types or not {CLAIM, FACT}.isdisjoint(view.kinds)


def _last_question(query: str) -> str:
    """Return the last question of a text: the sentences before it may name other days."""
    return next(filter(is_question, reversed(split_sentences(query))), query)


def _admitted(view: GraphView, names: Sequence[str]) -> list[str]:
    """Return those of some memories that searches may find."""
    rows = view.known_rows(names)
    return view.names(rows[view.admitted(rows) & view.alive.take(rows)])


def _shown(view: GraphView, names: Sequence[str], memories: Sequence[RecalledMemory]) -> list[str]:
    """Return the latest of some memories that is recalled, or else the latest of all, or what stands for it."""
    found, recalled = _admitted(view, names), {one.id for one in memories}
    there = [name for name in found if name in recalled]
    if there or not found:
        return there[-1:]
    (front,) = fronts(view, view.rows(found[-1:])).tolist()
    return _admitted(view, [view.ids[front]]) or found[-1:]


def _is_over(conflict: Conflict, claims: RecalledClaims, span: Span | None, zone: Zone) -> bool:
    """Return whether one side holds no longer, or did not on the days that the question names."""
    loser = claims.nodes.get(conflict.loser or "")
    end = None if loser is None else loser.valid_to
    is_over = span is None or conflict.outcome == "wrong" or end is None or span.last >= end.astimezone(zone).date()
    return loser is not None and is_over


def _orders(query: str, claims: RecalledClaims, present: datetime) -> Iterator[tuple[str, str]]:
    """Yield the sides of conflicts, the one that stands behind and the one that stands first, as a question asks."""
    question = _last_question(query)
    if _ASKS_PAST.search(fold(question)):
        lost = {one.loser for one in claims.conflicts}
        for conflict in claims.conflicts:
            if conflict.loser and conflict.outcome == "superseded" and conflict.other(conflict.loser) not in lost:
                yield conflict.other(conflict.loser), conflict.loser
        return
    if _MAY_ASK_PAST.search(fold(query)):
        return
    span = span_of(question, present, years=True)
    for conflict in claims.conflicts:
        if conflict.loser and _is_over(conflict, claims, span, present.tzinfo):
            yield conflict.loser, conflict.other(conflict.loser)
    for conflict in claims.coming:
        sides = conflict.loser or "", conflict.other(conflict.loser or "")
        yield sides if span is not None and _is_over(conflict, claims, span, present.tzinfo) else sides[::-1]


def _place_of(
    query: str, sides: tuple[str, str], memories: Sequence[RecalledMemory], claims: RecalledClaims
) -> int | None:
    """Return the place of the side that stands behind, if the other one is not above and the question is about both."""
    names = {*chain.from_iterable(map(claims.memories_of, sides))}
    place, best = next(((place, one) for place, one in enumerate(memories) if one.id in names), (0, None))
    if best is None or best.id in claims.memories_of(sides[1]):
        return None
    return place if best.id == sides[0] or _is_about(query, best.content, sides, claims) else None


def _is_about(query: str, text: str, sides: tuple[str, str], claims: RecalledClaims) -> bool:
    """Return whether a question is about a conflict rather than about other things that the text of a side says.

    It is if both sides have the same keyword of it, or if the other words of the text have no more of them.
    """
    words = [claims.nodes[name].content for name in sides]
    asked, texts = {*split_keywords(query)}, (*words, text.replace(words[0], " "))
    own, other, rest = (asked.intersection(split_keywords(one)) for one in texts)
    return not own.isdisjoint(other) or len(own) >= len(rest)


def _put(store: GraphStorePort, memories: list[RecalledMemory], place: int, names: Sequence[str]) -> None:
    """Put memories at a place, in order, with the score of the one that is there."""
    there = {one.id: one for one in memories}
    ahead = memories[place] if memories else None
    for node in store.get_nodes(names, missing_ok=True):
        found = there.get(node.id)
        if found is not None:
            memories.remove(found)
        memories.insert(place, at_score(node, found, ahead))
        place += 1


def _recalled_claims(store: GraphStorePort, snapshot: Snapshot, recall: Recall, present: datetime) -> RecalledClaims:
    """Return what the memories of a recall say, with the facts that hold; the snapshot has all valid times."""
    shown, groups = snapshot.view, _groups(snapshot.view, recall.ids)
    members = {*groups}.union(*groups.values())
    claims = claims_of(shown, members)
    disputes = disputes_about(snapshot, {*members, *claims})
    if not (claims or disputes):
        return RecalledClaims()
    recalled = RecalledClaims(profiles=_profiles(store, shown, claims) if PROFILE in shown.kinds else ())
    if disputes:
        sides = chain.from_iterable([one.sides for one in disputes])
        nodes = {node.id: node for node in snapshot.nodes(shown.known_rows(sides))}
        disputes = [one for one in disputes if nodes.keys() >= set(one.sides)]
        sources = sources_of(shown, [name for name in nodes if nodes[name].kind == CLAIM])
        found = [one for one in disputes if _has_effect(one, nodes)]
        coming = tuple(one for one in found if one.loser and not _is_past(nodes[one.loser], present))
        settled = tuple(one for one in found if one not in coming)
        recalled = recalled._replace(conflicts=settled, coming=coming, nodes=nodes, sources=sources)
        recalled = recalled._replace(states=_states(recall, groups, recalled))
    said = {name: here for name, names in claims.items() if (here := [one for one in names if one in groups])}
    entries = snapshot.entries(said)
    every = list(zip(facts_read(entries, [said[one.id] for one, _ in entries]), entries, strict=True))
    held = [one for one, (read, _) in every if not (_is_past(one, present) or read.claim.change is Change.ENDS)]
    former = [one for one, (read, _) in every if one.valid_to != read.fact.valid_to and _is_past(one, present)]
    return recalled._replace(facts=tuple(held), former=tuple(former))


def _profiles(store: GraphStorePort, view: GraphView, claims: Iterable[str]) -> tuple[Profile, ...]:
    """Return the profiles that have some of the claims."""
    names = derived_from(view, claims)
    nodes = [node for node in store.get_nodes(names, missing_ok=True) if node.kind == PROFILE] if names else []
    facts = sources_of(view, [node.id for node in nodes])
    return tuple(Profile(node, facts.get(node.id, ())) for node in nodes)


def _is_past(one: MemoryNode | Fact, moment: datetime) -> bool:
    """Return whether something holds no longer at a time; something wrong never held."""
    return one.valid_to is not None and (one.valid_to <= moment or one.valid_to == one.valid_from)


def _groups(view: GraphView, names: Sequence[str]) -> dict[str, Collection[str]]:
    """Return for each memory all memories that say the same, and the memories that it echoes."""
    # A compaction may have erased a memory between the search and this view.
    rows = view.known_rows(names)
    there = view.names(rows)
    if not (has_groups(view) or has_echoes(view)):
        return dict.fromkeys(there, ())
    echoed = ([view.ids[other] for other in others] for others in echoed_rows(view, rows))
    return {
        name: {*same, *those} for name, same, those in zip(there, others_of(view, rows, anyone), echoed, strict=True)
    }


def _has_effect(conflict: Conflict, nodes: Mapping[str, MemoryNode]) -> bool:
    """Return whether a conflict is open, or has ended a side. It has not if the side that won is wrong itself."""
    if conflict.loser is None:
        return conflict.status == "open"
    loser = nodes[conflict.loser]
    return loser.valid_to != given_times(loser)[1]


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
            is_back = winner is not None and memory.node.moment > winner.moment
            repeats = not lost.isdisjoint(groups.get(memory.id, ())) and memory.id not in conflict.sides
            if memory.id in lost or (repeats and not (is_back and conflict.outcome == "superseded")):
                states[memory.id] = conflict.outcome
    return states


# On the development half of our everyday changes; see `python -m benchmarks.said changes`. Similarity alone joined
# other things, and so did one rare word without a name: two characters are a word in Chinese.
_LEAST_NEARNESS = 0.65
_RARITY_WEIGHT = 0.1
_LEAST_RARITY = 0.55
_LEAST_RARITY_OF_A_NAME = 0.5
_OTHERS = frozenset({"assistant", "tool", "system"})
"""Roles whose messages repeat and continue each other, so that a later one says little about an earlier one."""
_COMPUTED = frozenset({FACT, PROFILE, SEGMENT})


Embed = Callable[[Sequence[str]], NDArray[np.float32]]
"""Returns (n, dimension) unit vectors of documents."""


def with_later(
    snapshot: Snapshot,
    embed: Embed,
    recalls: Sequence[Recall],
    following: Sequence[Rows],
    most: int,
    *,
    present: datetime,
) -> list[Recall]:
    """Return recalls with their later-links, with the later memory before the earlier one.

    If a question names days, the later memory follows the earlier one, unless it was said on these days. If it asks
    for the past, as with "before", the earlier memory stands before the later one.

    Args:
        snapshot: finds the memories that the recalls may find.
        embed: embeds names of speakers.
        recalls: one for each query.
        following: rows of the memories that each would have next if it were longer.
        most: how many memories each has.
        present: the time, in the zone of the user, to which days such as "yesterday" in a question refer.
    """
    view = snapshot.view
    if not {EdgeType.SIM, EdgeType.TERM} <= set(view.edge_types):
        return [_with_derived(view, recall) for recall in recalls]
    return [
        _with_derived(view, _linked(snapshot, embed, recall, after, most, present=present))
        for recall, after in zip(recalls, following, strict=True)
    ]


def _linked(
    snapshot: Snapshot, embed: Embed, recall: Recall, following: Rows, most: int, *, present: datetime
) -> Recall:
    links = _links(snapshot, embed, [one.node for one in recall])
    if not (links and (links := _unjudged(snapshot, recall, links))):
        return recall
    span = span_of(recall.query, present, years=True)
    is_past = bool(_ASKS_PAST.search(fold(_last_question(recall.query))))
    memories, asked = list(recall.memories), set(split_keywords(recall.query))
    found = {*recall.ids, *snapshot.view.names(following)}
    for one in [memory for memory in recall.memories if memory.node.id in links]:
        later = links[one.id]
        is_asked = span is None or span.first <= day_in(later.said_at, present.tzinfo) <= span.last
        if is_asked := is_asked and not is_past and later.id in found:
            # A name in the question that only the earlier memory has asks for that one.
            names = {word for name in one.node.found.entities for word in split_keywords(name)}
            is_asked = (names & asked).issubset(split_keywords(later.content))
        if is_past and any(other.id == later.id for other in memories):
            _place(memories, one.node, later.id, before=True)
        else:
            _place(memories, later, one.id, before=is_asked)
    names = {one.node.id for one in memories[:most]}
    kept = {name: node for name, node in links.items() if name in names}
    return replace(recall, memories=tuple(memories[:most]), later=kept)


def _unjudged(snapshot: Snapshot, recall: Recall, links: dict[str, MemoryNode]) -> dict[str, MemoryNode]:
    """Return the links without those whose later memory a model has read, except between standing values of a slot."""
    claims = claims_of(snapshot.view, {*links, *(later.id for later in links.values())})
    slots = defaultdict[str, set[Slot]](set)
    for one, _ in snapshot.entries(claims):
        for name in claims[one.id]:
            slots[name].add(one.slot)
    return {
        name: later
        for name, later in links.items()
        if later.id not in slots or (name not in recall.states and name in slots and slots[name] & slots[later.id])
    }


def at_score(node: MemoryNode, found: RecalledMemory | None, beside: RecalledMemory | None) -> RecalledMemory:
    """Return a memory with the score of another one, beside which it stands; `found` is it if a recall found it."""
    score = 1.0 if beside is None else beside.score
    if found is None:
        parts = {"similarity": 0.0} if beside is None else dict.fromkeys(beside.parts, 0.0)
        return RecalledMemory(node, score, parts, contributions={"replaces": score})
    return found if score == found.score else found.moved(score, "replaces")


def _links(snapshot: Snapshot, embed: Embed, nodes: Sequence[MemoryNode]) -> dict[str, MemoryNode]:
    """Return the newest later memory about the same thing, by the ids of those of the nodes that have one."""
    view, said = snapshot.view, {node.id: node for node in nodes if _is_said(node)}
    if not said:
        return {}
    rows = view.known_rows(said)
    arcs = view.links(rows, both_ways=True)
    codes, joined = arcs.code, arcs.origin * view.node_count + arcs.target
    sim = (codes == view.edge_types.index(EdgeType.SIM)) & (arcs.weight >= _LEAST_NEARNESS - _RARITY_WEIGHT)
    term = (codes == view.edge_types.index(EdgeType.TERM)) & (arcs.weight >= _LEAST_RARITY_OF_A_NAME)
    (near,), (rare,) = sim.nonzero(), term.nonzero()
    rare = rare[joined[rare].argsort(kind="stable")]
    near = near[contained(joined[rare], joined[near])]
    if not near.size:
        return {}
    near = near[firsts(joined[near])[0]]
    both = joined[near]
    cosine, rarity = arcs.weight[near], arcs.weight[rare[joined[rare].searchsorted(both)]]
    origins, targets = rows[both // view.node_count], both % view.node_count
    (places,) = ((cosine + _RARITY_WEIGHT * rarity >= _LEAST_NEARNESS) & view.admitted(targets)).nonzero()
    if places.size and (has_groups(view) or has_echoes(view)):
        places = places[_say_more(view, rows, origins[places], targets[places])]
    if not places.size:
        return {}
    unread = view.known_rows(name for name in view.names(targets[places]) if name not in said)
    known = said | {node.id: node for node in snapshot.nodes(unread)}
    speakers = _speaking_in_turn(known.values())
    possible: list[tuple[int, MemoryNode, MemoryNode]] = []
    for place in places.tolist():
        earlier, later = known[view.ids[origins[place]]], known.get(view.ids[targets[place]])
        if later is not None and _may_change(earlier, later, speakers, is_rare=rarity[place] >= _LEAST_RARITY):
            possible.append((place, earlier, later))
    places = np.array([place for place, _, _ in possible], dtype=np.int64)
    names = [later.speaker or later.found.label for _, _, later in possible]
    bare = _without_names(snapshot, embed, names, (origins[places], targets[places]), cosine[places])
    links: dict[str, MemoryNode] = {}
    for (_, earlier, later), is_near in zip(
        possible, bare + _RARITY_WEIGHT * rarity[places] >= _LEAST_NEARNESS, strict=True
    ):
        if is_near and (earlier.id not in links or links[earlier.id].said_at < later.said_at):
            links[earlier.id] = later
    return links


def _may_change(earlier: MemoryNode, later: MemoryNode, speakers: set[str], *, is_rare: bool) -> bool:
    """Return whether a memory that is like another one was said later by the same speaker, and shares words with it."""
    # A question says nothing that could change what was said.
    before, said = earlier.timestamp, later.timestamp
    if before is None or said is None or said <= before or not _is_said(later) or asks(later.content):
        return False
    if not (is_rare or not {*map(fold, earlier.found.entities)}.isdisjoint(map(fold, later.found.entities))):
        return False
    # TERM edges also count the name of the speaker, which says nothing about what was said.
    return same_speaker(earlier, later, speakers) and not set(split_keywords(earlier.content)).isdisjoint(
        split_keywords(later.content)
    )


def _without_names(
    snapshot: Snapshot,
    embed: Embed,
    names: Sequence[str | None],
    pairs: tuple[Rows, Rows],
    cosines: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Return the cosines of pairs of messages without what they owe to the names of their speakers (n,)."""
    found = cosines.copy()
    for name in {*names} - {None}:
        (direction,) = embed([said_by(str(name))])
        at = np.array([one == name for one in names])
        both = np.concatenate([rows[at] for rows in pairs])
        first, second = snapshot.similarities(direction, both).reshape(2, -1)
        rest = np.sqrt((1 - first**2) * (1 - second**2))
        found[at] = (cosines[at] - first * second) / np.maximum(rest, 1e-6)
    return found


def _say_more(view: GraphView, recalled: Rows, origins: Rows, targets: Rows) -> NDArray[np.bool_]:
    """Return whether each target says something else than its origin, and is recalled or would be (n,)."""
    shown = is_shown(view, targets, view.admitted) & ~are_echoes(view, targets, view.admitted)
    others: NDArray[np.bool_] = fronts(view, origins) != fronts(view, targets)
    return others & (shown | np.isin(targets, recalled))


def _is_said(node: MemoryNode) -> bool:
    """Return whether a memory is a dated message of a person, or a dated note of a user."""
    is_message = node.position is not None or node.role is not None or node.speaker is not None
    is_note = node.scope.user_id is not None and node.kind == DEFAULT_KIND and node.title is None
    return (is_message or is_note) and node.timestamp is not None and node.role not in _OTHERS


def _speaking_in_turn(nodes: Iterable[MemoryNode]) -> set[str]:
    """Return the names of persons who speak in one session, as far as the question finds them."""
    said = {(node.scope.session_id, node.speaker) for node in nodes if node.speaker and node.role in {None, "user"}}
    speakers = Counter(session for session, _ in said)
    return {name for session, name in said if speakers[session] > 1}


def _place(memories: list[RecalledMemory], moved: MemoryNode, beside: str, *, before: bool) -> None:
    """Put a memory directly before or behind another one, unless it is above it."""
    places = {one.node.id: place for place, one in enumerate(memories)}
    place, there = places[beside], places.get(moved.id)
    if there is not None and (there < place or not before):
        return
    other = memories[place]
    found = None if there is None else memories.pop(there)
    memories.insert(place if before else place + 1, at_score(moved, found, other))


def _with_derived(view: GraphView, recall: Recall) -> Recall:
    """Return a recall that names those of its memories that were computed from others."""
    names = [one.id for one in recall.memories if one.node.kind in _COMPUTED]
    if not names:
        return recall
    rows = view.known_rows(names)
    return replace(recall, derived=frozenset(view.names(rows[is_derived(view, rows)])))

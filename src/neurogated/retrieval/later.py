"""Later-links: a message points to a newer one of the same speaker about the same thing.

    a message a points to b if    b was said later by the same speaker,
                                  s + t / 10 ≥ 0.65 for the weights s and t of the SIM and TERM edges of the two,
                                  and t ≥ 0.55, or t ≥ 0.5 and both name the same

So the texts are similar, and share several rare words, or a name that hardly any other text has. Of several such
messages, the newest counts.

Nothing is stored: both edges follow from the texts. A link does not say that b changes a, only that b was said later.
So texts show both, with their days, and a recall that finds both has b before a. A question is no later message.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from neurogated.core.clock import day_in
from neurogated.core.columns import Rows, contained, distinct
from neurogated.core.derivation import is_derived
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import DEFAULT_KIND, FACT, PROFILE, SEGMENT
from neurogated.core.ports import GraphReader
from neurogated.core.same_as import are_echoes, fronts, has_echoes, has_groups, is_shown
from neurogated.core.speakers import same_speaker
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.core.turns import asks
from neurogated.core.view import GraphView
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.time_spans import span_of

# On the development half of our everyday changes; see `python -m benchmarks.said changes`. Similarity alone joined
# other things, and so did one rare word without a name: two characters are a word in Chinese.
_LEAST_NEARNESS = 0.65
_RARITY_WEIGHT = 0.1
_LEAST_RARITY = 0.55
_LEAST_RARITY_OF_A_NAME = 0.5
_OTHERS = frozenset({"assistant", "tool", "system"})
"""Roles whose messages repeat and continue each other, so that a later one says little about an earlier one."""
_COMPUTED = frozenset({FACT, PROFILE, SEGMENT})


def with_later(
    reader: GraphReader, recalls: Sequence[Recall], following: Sequence[Rows], most: int, present: datetime
) -> list[Recall]:
    """Return recalls with their later-links, with the later memory before the earlier one.

    If a question names days, the later memory follows the earlier one, unless it was said on these days.

    Args:
        reader: finds the memories that the recalls may find.
        recalls: one for each query.
        following: rows of the memories that each would have next if it were longer.
        most: how many memories each has.
        present: the time, in the zone of the user, to which days such as "yesterday" in a question refer.
    """
    view = reader.view
    if not {EdgeType.SIM, EdgeType.TERM} <= set(view.edge_types):
        return [_with_derived(view, recall) for recall in recalls]
    return [
        _with_derived(view, _linked(reader, recall, after, most, present))
        for recall, after in zip(recalls, following, strict=True)
    ]


def _linked(reader: GraphReader, recall: Recall, following: Rows, most: int, present: datetime) -> Recall:
    links = _links(reader, [one.node for one in recall])
    if not links:
        return recall
    span = span_of(recall.query, present, years=True)
    memories, asked = list(recall.memories), set(split_keywords(recall.query))
    found = {*recall.ids, *(reader.view.ids[row] for row in following.tolist())}
    for one in recall:
        if one.id in links:
            later = links[one.id]
            is_asked = span is None or span.first <= day_in(_day(later), present.tzinfo) <= span.last
            is_asked = is_asked and later.id in found and not _names_earlier(asked, one.node, later)
            _place(memories, later, one.id, before=is_asked)
    names = {one.id for one in memories[:most]}
    kept = {name: node for name, node in links.items() if name in names}
    return replace(recall, memories=tuple(memories[:most]), later=kept)


def at_score(node: MemoryNode, found: RecalledMemory | None, beside: RecalledMemory | None) -> RecalledMemory:
    """Return a memory with the score of another one, beside which it stands; `found` is it if a recall found it."""
    score = 1.0 if beside is None else beside.score
    if found is None:
        parts = {"similarity": 0.0} if beside is None else dict.fromkeys(beside.parts, 0.0)
        return RecalledMemory(node, score, parts, contributions={"replaces": score})
    return found if score == found.score else found.moved(score, "replaces")


def _links(reader: GraphReader, nodes: Sequence[MemoryNode]) -> dict[str, MemoryNode]:
    """Return the newest later memory about the same thing, by the ids of those of the nodes that have one."""
    view, said = reader.view, {node.id: node for node in nodes if _is_said(node)}
    if not said:
        return {}
    rows = view.known_rows(said)
    arcs = view.links(rows, both_ways=True)
    codes, joined = arcs.code, arcs.origin * view.node_count + arcs.target
    sim = (codes == view.edge_types.index(EdgeType.SIM)) & (arcs.weight >= _LEAST_NEARNESS - _RARITY_WEIGHT)
    term = (codes == view.edge_types.index(EdgeType.TERM)) & (arcs.weight >= _LEAST_RARITY_OF_A_NAME)
    pairs, others = joined[sim], distinct(joined[term])
    if not np.count_nonzero(contained(others, pairs)):
        return {}
    both, first_places, second_places = np.intersect1d(pairs, joined[term], return_indices=True)
    rarity = arcs.weight[term][second_places]
    near = arcs.weight[sim][first_places] + _RARITY_WEIGHT * rarity >= _LEAST_NEARNESS
    origins, targets = rows[both // view.node_count], both % view.node_count
    (places,) = (near & view.admitted(targets)).nonzero()
    if places.size and (has_groups(view) or has_echoes(view)):
        places = places[_say_more(view, rows, origins[places], targets[places])]
    if not places.size:
        return {}
    names = [
        (view.ids[origins[at]], view.ids[targets[at]], bool(rarity[at] >= _LEAST_RARITY)) for at in places.tolist()
    ]
    unread = view.known_rows(second for _, second, _ in names if second not in said)
    known = said | {node.id: node for node in reader.nodes(unread)}
    links: dict[str, MemoryNode] = {}
    speakers = _speaking_in_turn(known.values())
    for first, second, is_rare in names:
        earlier, later = known[first], known.get(second)
        # A question says nothing that could change what was said.
        if later is None or not _is_said(later) or not same_speaker(earlier, later, speakers) or asks(later.content):
            continue
        if not _day(earlier) < _day(later) or (first in links and _day(later) <= _day(links[first])):
            continue
        # Both edges also count the name of the speaker, which says nothing about what was said.
        if set(split_keywords(earlier.content)).isdisjoint(split_keywords(later.content)):
            continue
        if is_rare or not {*map(fold, earlier.found.entities)}.isdisjoint(map(fold, later.found.entities)):
            links[first] = later
    return links


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
    sessions = defaultdict[str | None, set[str]](set)
    for node in nodes:
        if node.speaker and (node.role or "user") == "user":
            sessions[node.scope.session_id].add(node.speaker)
    return set().union(*(names for names in sessions.values() if len(names) > 1))


def _day(node: MemoryNode) -> datetime:
    return node.timestamp or node.created_at


def _names_earlier(asked: Collection[str], earlier: MemoryNode, later: MemoryNode) -> bool:
    """Return whether the keywords of a question have a name of the earlier memory that the later one does not have."""
    names = {word for name in earlier.found.entities for word in split_keywords(name)}
    return bool((names & set(asked)).difference(split_keywords(later.content)))


def _place(memories: list[RecalledMemory], later: MemoryNode, earlier: str, *, before: bool) -> None:
    """Put the later memory directly before or behind the earlier one, unless it is before it."""
    places = {one.id: place for place, one in enumerate(memories)}
    place = places[earlier]
    there = places.get(later.id)
    if there is not None and (there < place or not before):
        return
    beside = memories[place]
    found = None if there is None else memories.pop(there)
    memories.insert(place if before else place + 1, at_score(later, found, beside))


def _with_derived(view: GraphView, recall: Recall) -> Recall:
    """Return a recall that names those of its memories that were computed from others."""
    names = [one.id for one in recall if one.node.kind in _COMPUTED]
    rows = view.known_rows(names)
    derived = frozenset(view.ids[row] for row in rows[is_derived(view, rows)].tolist()) if names else frozenset()
    return replace(recall, derived=derived) if derived else recall

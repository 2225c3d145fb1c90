"""Builds the context of a task: quotations with speaker and day, within a budget; and what an event changes."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.context.model import Choice, Context
from neurogated.core.delta import GraphDelta
from neurogated.core.edge_type import EdgeType
from neurogated.core.model import MemoryEdge, MemoryNode, checked_count
from neurogated.core.node_kind import FACT, PROFILE, SEGMENT
from neurogated.core.ports import Embedder
from neurogated.core.quoting import FRAME, cut_memory, framed, quoted_memory, sentences_of
from neurogated.core.tokens import TokenCounter
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.core.view import GraphView
from neurogated.errors import InputError

_Values = NDArray[np.float64]
_Places = NDArray[np.int64]

REPETITION_COST = 0.2
"""Cost of the cosine of a memory with those that are already in the context; more costs evidence."""
_LONG = 96
_LENGTH_COST = 0.3
"""A line of more than so many tokens has its relevance divided by this power of how many times as long it is."""


class Candidates(NamedTuple):
    """Memories in parallel arrays."""

    relevance: _Values
    """(n,) scores divided by the best, 0–1."""
    sizes: _Places
    """(n,) tokens of each line."""
    likeness: _Values
    """(n, n) cosines of the vectors, 0–1."""
    opposed: Mapping[int, Sequence[int]]
    """The memories that contradict a memory, by places."""
    later: Mapping[int, Sequence[int]]
    """The memories that must stand beside a memory, because they were said later about the same, by places."""


class Picked(NamedTuple):
    """A chosen memory, and why it was chosen."""

    place: int
    """From 0."""
    value: float
    repetition: float
    """Cosine with the most similar memory chosen before."""
    repeats: int | None
    """Place of that memory; None for the first."""
    tokens: int


def pack(candidates: Candidates, budget: int, cut: Callable[[int, int], int] = lambda _place, _room: 0) -> list[Picked]:
    """Choose memories greedily by maximal marginal relevance (Carbonell and Goldstein, 1998), in order of choice.

    The relevance falls with the length, as in budgeted coverage (Lin and Bilmes, 2010), and with the cosine with what
    is chosen already. A memory that contradicts a chosen one has at least its value. A memory is chosen with its later
    ones, or not at all. All lines have at most `budget` tokens.

    `cut` shortens the best memory that is left to so many tokens if it does not fit, and returns how many it has then;
    0 if it cannot. Then all memories that do not fit are skipped.
    """
    sizes = candidates.sizes.copy()
    relevance = candidates.relevance * np.maximum(1.0, sizes / _LONG) ** -_LENGTH_COST
    repetition, repeats = np.zeros(sizes.size), np.full(sizes.size, -1)
    free, chosen = np.ones(sizes.size, dtype=np.bool_), set[int]()
    least = np.full(sizes.size, -np.inf)
    picked: list[Picked] = []
    while np.logical_or.reduce(free):
        value = np.where(free, np.maximum(least, relevance - REPETITION_COST * repetition), -np.inf)
        best = int(value.argmax())
        group = standing_beside(best, candidates.later, chosen)
        needed = int(np.add.reduce(sizes[group]))
        if needed > budget:
            # The later ones stay whole.
            room = budget - needed + int(sizes[best])
            size = cut(best, room) if room > 0 else 0
            if not 0 < size <= room:
                free[best] = False
                free &= sizes <= budget
                continue
            sizes[best] = size
        for place in group:
            repeated = int(repeats[place]) if repeats[place] >= 0 else None
            tokens = int(sizes[place])
            picked.append(Picked(place, float(value[best]), float(repetition[place]), repeated, tokens))
            chosen.add(place)
            budget, free[place] = budget - tokens, False
            closer = candidates.likeness[place] > repetition
            repetition[closer], repeats[closer] = candidates.likeness[place][closer], place
            if least[place] == -np.inf:
                opposed = list(candidates.opposed.get(place, ()))
                least[opposed] = np.maximum(least[opposed], value[best])
    return picked


def standing_beside(place: int, later: Mapping[int, Sequence[int]], chosen: Collection[int]) -> list[int]:
    """Return a place and those of the memories that must stand beside it, and beside them, that are not chosen yet."""
    group, following = [place], list(later.get(place, ()))
    while following:
        one = following.pop()
        if one not in group and one not in chosen:
            group.append(one)
            following += later.get(one, ())
    return group


_MOST_CUTS = 2
"""Memories of a context that are cut: each costs the vectors of its sentences."""
_LEAST_CUT = 24
"""Tokens of a line that is cut at least; fewer hardly say anything."""
_SUMMARIES = frozenset({PROFILE, SEGMENT})
"""Kinds of memories that no context quotes."""


class ContextBuilder:
    """Packs the memories of a recall into a text within a budget of tokens."""

    def __init__(self, embedder: Embedder, count_tokens: TokenCounter) -> None:
        """Take the counter of tokens, and the embedder, which finds the best sentences of a long memory."""
        self._embedder = embedder

        def counted(texts: Sequence[str]) -> list[int]:
            found = count_tokens(texts)
            if len(found) != len(texts):
                raise InputError(f"count_tokens returned {len(found)} numbers for {len(texts)} texts")
            if {*map(type, found)} <= {int} and min(found, default=0) >= 0:
                return found
            return [checked_count("a result of count_tokens", number) for number in found]

        self._count = counted

    def build(self, recall: Recall, view: GraphView, budget: int, *, explain: bool = False) -> Context:
        """Return the context; `view` is the present graph, whose order of rows is that in which memories were added.

        The best quotation has the budget first, then the stated facts that match better, then the other quotations, the
        other facts and the summaries.
        """
        every, cuts = _with_lacking(recall), dict[int, str]()
        items = [one for one in every if one.node.kind not in _SUMMARIES]
        marks, zone = recall.remarks, recall.zone
        said = [quoted_memory(one.node, marks.get(one.node.id, ()) if marks else (), zone=zone) for one in items]
        frame = self._tokens([])
        later, picked = _later(recall, items), list[Picked]()
        for turn in _in_turn(recall, items, later):
            there = {one.place for one in picked}.union(turn)
            alone = {place for place, others in later.items() if not there.issuperset(others)}
            places = [place for place in turn if place not in alone]
            left = budget - frame - sum([one.tokens for one in picked])
            picked += self._pack(recall, (items, said, marks), places, left, cuts)
        lines = {one.place: cuts.get(one.place, said[one.place]) for one in picked}
        while lines and self._tokens(list(lines.values())) > budget:
            # A text can have more tokens than its lines together. No memory stays without its later one.
            gone = [lines.popitem()[0]]
            while gone:
                gone = [place for place in lines if not set(gone).isdisjoint(later.get(place, ()))]
                for place in gone:
                    del lines[place]
        chosen = sorted(lines, key=lambda place: _order(items[place].node, view.rows_by_id.get(items[place].id, -1)))
        text = framed([lines[place] for place in chosen])
        memories = tuple(items[place] for place in chosen)
        shown = {one.id for one in memories}
        by_place, notes = {one.place: one for one in picked}, recall.notes
        if said and not chosen:
            notes += (f"no memory fits into {budget} tokens; the best one needs {self._tokens(said[:1])}",)
        return Context(
            recall.query,
            text,
            self._count([text])[0] if text else 0,
            budget,
            memories,
            excerpts=tuple(items[place].id for place in chosen if place in cuts),
            choices={items[place].id: _choice(by_place[place], items, every) for place in chosen} if explain else {},
            left_out=tuple(one.id for one in items if explain and one.id not in shown),
            conflicts=tuple(one for one in recall.conflicts if not shown.isdisjoint(_saying(recall, one.sides))),
            notes=notes,
        )

    def _pack(
        self,
        recall: Recall,
        items: tuple[Sequence[RecalledMemory], Sequence[str], Mapping[str, Sequence[str]]],
        places: Sequence[int],
        budget: int,
        cuts: dict[int, str],
    ) -> list[Picked]:
        """Return the choice among the memories at `places`; note in `cuts` the lines of those that are cut."""
        if not places:
            return []
        some, lines = [items[0][place] for place in places], [items[1][place] for place in places]
        scores = np.array([one.score for one in some])
        found = defaultdict[int, list[int]](list)
        for conflict in recall.conflicts:
            if conflict.outcome == "contested":
                for first, second in product(*(_places(recall, some, side) for side in conflict.sides)):
                    found[first].append(second)
                    found[second].append(first)
        candidates = Candidates(
            np.maximum(0.0, scores / (scores.max(initial=0.0) or 1.0)),
            np.array(self._count([f"{line}\n" for line in lines]), dtype=np.int64),
            _likeness(some),
            found,
            _later(recall, some),
        )

        def cut(place: int, room: int) -> int:
            if (room < _LEAST_CUT and cuts) or len(cuts) >= _MOST_CUTS:
                return 0
            node, may_split = some[place].node, room == budget
            sentences = sentences_of(node.content)
            order: list[int] | None = None
            if len(sentences) > 1:
                vectors = self._embedder.embed_documents(sentences)
                order = np.argsort(-(vectors @ self._embedder.embed_queries([recall.query])[0]), kind="stable").tolist()
            line = cut_memory(
                node, items[2].get(node.id, ()), room, self._count, order, may_split=may_split, zone=recall.zone
            )
            if line is None:
                return 0
            cuts[places[place]] = line
            return self._count([f"{line}\n"])[0]

        return [
            one._replace(place=places[one.place], repeats=None if one.repeats is None else places[one.repeats])
            for one in pack(candidates, budget, cut=cut)
        ]

    def _tokens(self, lines: Sequence[str]) -> int:
        return self._count([framed(lines) or FRAME])[0]


def _with_lacking(recall: Recall) -> list[RecalledMemory]:
    """Return the memories of a recall, best first, and the later ones that a short recall lacks."""
    there, found = {*recall.ids}, dict[str, RecalledMemory]()
    for one in [memory for memory in recall.memories if memory.node.id in recall.later]:
        later = recall.later[one.id]
        if later.id not in there:
            found[later.id] = RecalledMemory(later, one.score, {}, contributions={"replaces": one.score})
    return [*recall.memories, *found.values()]


def _in_turn(recall: Recall, items: Sequence[RecalledMemory], later: Mapping[int, Sequence[int]]) -> list[list[int]]:
    """Return the places of the memories in the order in which they may take a share of the budget; see `build`."""
    scores = [one.score for one in items]
    facts = [place for place, one in enumerate(items) if one.node.kind == FACT]
    derived = [place for place, one in enumerate(items) if one.node.id in recall.derived]
    others = {*facts, *derived}
    said = [place for place in range(len(items)) if place not in others]
    stated = [place for place in facts if place not in derived]
    best = max(said, key=scores.__getitem__, default=0)
    better = [place for place in stated if scores[place] >= scores[best]]
    if not (said and better):
        return [said, stated, derived]
    first = standing_beside(best, later, ())
    rest = [place for place in said if place not in first]
    return [first, better, rest, [place for place in stated if place not in better], derived]


def _order(node: MemoryNode, row: int) -> tuple[object, ...]:
    """Return the place of a memory in a context: by time, then in its session, then as it was added."""
    position = -1 if node.position is None else node.position
    return node.timestamp or node.created_at, node.scope.session_id or "", position, row


def _saying(recall: Recall, sides: Sequence[str]) -> set[str]:
    facts = (*recall.facts, *recall.former)
    return {*sides, *(name for fact in facts if fact.id in sides for name in fact.sources)}


def _later(recall: Recall, items: Sequence[RecalledMemory]) -> Mapping[int, Sequence[int]]:
    """Return the places of the memories that must stand beside one, by its place.

    These are the later memory about the same thing, and the one that won a settled conflict.
    """
    places = {one.node.id: place for place, one in enumerate(items)}
    found = defaultdict[int, list[int]](list)
    for earlier, later in recall.later.items():
        if earlier in places and later.id in places:
            found[places[earlier]].append(places[later.id])
    for conflict in recall.conflicts:
        if conflict.loser is not None and conflict.outcome == "superseded":
            winners = _places(recall, items, conflict.other(conflict.loser))
            for place in _places(recall, items, conflict.loser):
                found[place] += [one for one in winners[:1] if one != place]
    return found


def _places(recall: Recall, items: Sequence[RecalledMemory], side: str) -> list[int]:
    names = _saying(recall, [side])
    return [place for place, one in enumerate(items) if one.node.id in names]


def _likeness(memories: Sequence[RecalledMemory]) -> NDArray[np.float64]:
    """Return (n, n) the cosines of the memories, 0–1; 0 for a memory without a vector."""
    there = [place for place, one in enumerate(memories) if one.node.embedding is not None]
    held = np.array([memories[place].node.embedding for place in there], ndmin=2)
    vectors = np.zeros((len(memories), held.shape[1]))
    if there:
        vectors[there] = held
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.asarray(np.maximum(0.0, vectors @ vectors.T))


def _choice(one: Picked, items: Sequence[RecalledMemory], every: Sequence[RecalledMemory]) -> Choice:
    memory = items[one.place]
    repeats = None if one.repeats is None else items[one.repeats].id
    neighbour = memory.path[-1].source_id if memory.path else None
    return Choice(
        [other.node.id for other in every].index(memory.id) + 1,
        memory.score,
        memory.contributions,
        neighbour,
        one.value,
        one.repetition,
        repeats,
        one.tokens,
    )


USED = "used"
"""The relation of the edges from an event to the memories that it used."""


def links(event: MemoryNode, used: Sequence[MemoryNode], weight: float) -> tuple[MemoryEdge, ...]:
    """Return the edges from an event to the memories of the same user that it used."""
    return tuple(
        MemoryEdge(event.id, one.id, EdgeType.ASSOC, weight, created_at=event.created_at, relation=USED)
        for one in used
        if one.id != event.id and one.scope.user_id == event.scope.user_id
    )


def joined(delta: GraphDelta, learned: GraphDelta, edges: Sequence[MemoryEdge]) -> GraphDelta:
    """Return one delta with a write, with the changes by an outcome, and with further edges.

    Edges and nodes that the write removes or puts stay as the write leaves them; only their energies change.
    """
    gone, removed = set(delta.removed_nodes), set(delta.removed_edges)
    put = {edge.key for edge in delta.edges}
    changes = {change.node: change for change in learned.node_changes if change.node not in gone}
    nodes = tuple(changes.pop(node.id).applied(node) if node.id in changes else node for node in delta.nodes)

    def stays(source: str, target: str) -> bool:
        return gone.isdisjoint((source, target))

    return replace(
        delta,
        nodes=nodes,
        edges=(
            *delta.edges,
            *(one for one in (*learned.edges, *edges) if one.key not in put and stays(one.source_id, one.target_id)),
        ),
        weights=(
            *delta.weights,
            *(one for one in learned.weights if one.edge not in removed | put and stays(*one.edge[:2])),
        ),
        removed_edges=(*delta.removed_edges, *(key for key in learned.removed_edges if key not in removed | put)),
        node_changes=(*delta.node_changes, *changes.values()),
        touch=learned.touch,
    )

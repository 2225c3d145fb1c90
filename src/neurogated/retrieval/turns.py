"""The similarity of a turn that comes from the conversation around it and from its message."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.columns import contained, distinct
from neurogated.core.derivation import are_of, is_derived
from neurogated.core.edge_type import EdgeType
from neurogated.core.filters import NO_MEMORIES
from neurogated.core.ports import Snapshot
from neurogated.core.turns import ASKS_TAG, CALLS, LENGTH_TAGS, PLACE_TAGS, role_tag
from neurogated.core.view import GraphView, Rows
from neurogated.retrieval.formula import FORMULA, Formula
from neurogated.text.keywords import split_keywords, split_words, words_of
from neurogated.text.strings import table_of

ROLES = ("user", "assistant")
"""The roles whose names are learned."""
# A name that occurs in one address only may be the name of another person.
_LEAST_CALLS = 2
# People rarely say their own name. A speaker who says a name more often than this share of the addresses means another
# person.
_OWN_NAME = 0.1


# Mean cosine of the texts of a memory up to which keywords have their weight, and from which they have twice as much.
# For MiniLM it is 0.0 to 0.3 in English and 0.5 to 0.7 in Chinese.
_DISTINCT, _ALIKE = 0.3, 0.5
_SIZE = 32
_SPARE = 8
_FEW_NODES = 1024
"""So many memories are measured at once; of more, only those that searches and activation reach."""


_TABLE = table_of(__package__, "words")
_ANSWER, _OVERVIEW = (re.compile(_TABLE[name].replace("\n", "")) for name in ("answer", "overview"))


# Share of the pairs of near turns with a rare word in common up to which near turns count fully, and from which they
# do not count. It is about 1/8 in conversations, 1/5 in chats with long messages and 3/4 in lists of notes.
_FEW_REPEAT, _MOST_REPEAT = 1 / 8, 3 / 4
# Turns on each side of a turn whose similarity counts for it.
_REACH = 2
# Share of the best of the turns around a turn in their similarity; the rest is their mean.
_BEST_SHARE = 0.6
# Cost of a turn that ends with a question, as a share of `answer_weight`.
_QUESTION_COST = 0.4

Values = NDArray[np.float64]
Measure = Callable[[Rows], Values]

_MARKS = (*LENGTH_TAGS, *PLACE_TAGS, role_tag("user"), ASKS_TAG)
"""The tags of a turn, as the bits of its marks: three of its length, two of its place, its role, whether it asks."""
_LENGTH, _PLACE, _PLACE_AT, _BY_USER, _ASKS = 0b111, 0b11, 3, 1 << 5, 1 << 6
_SHARES = np.exp2(-np.arange(_LENGTH + 1.0))
"""The share that remains after so many doublings of a message's length: half of it each."""
_FIRST_PERSON = words_of(_TABLE["first_person"])
_FIRST_PERSON_CHINESE = re.compile("\u6211(?!\u4eec|\u5011)")


class TurnParts(NamedTuple):
    """Terms that add to the similarity of nodes, (n,) each; 0 for nodes that are no turns."""

    neighbours: Values
    message: Values
    shares: Values
    """The share of its activation that counts for each node: less for long messages, 1 for other nodes."""


def neighbours(view: GraphView, rows: Rows, reach: int) -> tuple[Rows, Rows, NDArray[np.bool_]]:
    """Return the turns up to `reach` steps before and after the nodes at `rows`, by SEQ edges.

    Returns:
        Parallel arrays: positions in `rows`, rows of turns near these, and whether this is the turn directly before.
    """
    owner, frontier, before = np.arange(rows.size), rows, np.empty(0, dtype=np.bool_)
    steps = [(owner[:0], rows[:0], before)]
    for step in range(reach):
        arcs = view.arcs(frontier, EdgeType.SEQ, both_ways=True)
        backwards = view.edge_target[arcs.edge] == frontier[arcs.origin]
        # A walk keeps its first direction.
        onwards = backwards == before[arcs.origin] if step else np.ones(backwards.size, dtype=np.bool_)
        owner, frontier, before = owner[arcs.origin][onwards], arcs.target[onwards], backwards[onwards]
        steps.append((owner, frontier, before & (step == 0)))
    owners, near, directly = zip(*steps, strict=True)
    return np.concatenate(owners), np.concatenate(near), np.concatenate(directly)


class NearbyTurns:
    """The turns among some nodes with those around them: what all questions share."""

    def __init__(self, snapshot: Snapshot, rows: Rows, reach: int) -> None:
        """Read the turns among the nodes at `rows`, ascending, and those up to `reach` steps before and after them."""
        view = snapshot.view
        (self.places,) = (view.position.take(rows) >= 0).nonzero()
        """(t,) positions of the turns in `rows`."""
        if not self.places.size:
            return
        self.rows = here = rows[self.places]
        self.owner, self.near, before = neighbours(view, here, reach)
        self.every = distinct(np.concatenate((self.near, here)))
        """The turns and those around them, ascending."""
        self.near_at = self.every.searchsorted(self.near)
        marks = snapshot.marks(_MARKS, self.every)
        self.marks = marks[self.every.searchsorted(here)]
        self.length = self.marks & _LENGTH
        self.shares = _SHARES[self.length]
        self.around = np.bincount(self.owner, minlength=here.size)
        """(t,) how many turns are around each."""
        asked = before & ((marks & _ASKS) != 0)[self.near_at]
        self.asked = self.owner[asked], self.near_at[asked]
        """Turns that follow a question, and the places of these questions in `every`."""
        self._repeats: NDArray[np.bool_] | None = None
        self._likeness: Values | None = None

    def repeats(self, view: GraphView) -> NDArray[np.bool_]:
        """Return for each pair of a turn and one near it whether a rare word is in both."""
        if self._repeats is None:
            terms, size = view.term_arcs(self.rows), view.node_count
            joined = terms.origin * size + terms.target
            joined.sort()
            self._repeats = contained(joined, self.owner * size + self.near)
        return self._repeats

    def likeness(self, snapshot: Snapshot, mean: NDArray[np.float32]) -> Values:
        """Return the mean cosine (t,) of the turns to those with this mean vector."""
        if self._likeness is None:
            self._likeness = np.sqrt(mean @ mean) * snapshot.similarities(mean, self.rows)
        return self._likeness


class Samples:
    """Means over the samples of a view, which questions share until it changes; each is computed on first use."""

    def __init__(self, snapshot: Snapshot, config: MemoryConfig, formula: Formula = FORMULA) -> None:
        self.snapshot, self.view, self.config, self.formula = snapshot, snapshot.view, config, formula
        self._state = self.view.alive, self.view.weight, self.view.sequence, self.view.among
        self._last: tuple[Rows, NDArray[np.float32]] | None = None
        self._few: NearbyTurns | None = None

    def of(self, snapshot: Snapshot) -> Samples:
        """Return these samples for a snapshot that finds the same memories; those of others are computed anew."""
        found, view, among = Samples(snapshot, self.config, self.formula), snapshot.view, snapshot.view.among
        alive, weight, sequence, before = self._state
        is_same = view.alive is alive and view.weight is weight and view.sequence == sequence
        if is_same and (before is among if before is None or among is None else np.array_equal(before, among)):
            found.__dict__ = {**self.__dict__, "snapshot": snapshot, "view": view}
        return found

    def kept(self) -> Samples:
        """Return these samples without the snapshot and the view, so that no erased word stays in the process."""
        kept = copy(self)
        del kept.snapshot, kept.view
        return kept

    def conversation(self, rows: Rows) -> NearbyTurns:
        """Return the turns among some nodes; those among `few_rows` are read once."""
        reach = _REACH if self.formula.has_turns else 0
        if rows is not self.few_rows:
            return NearbyTurns(self.snapshot, rows, reach)
        if self._few is None:
            self._few = NearbyTurns(self.snapshot, rows, reach)
        return self._few

    @cached_property
    def _said(self) -> Rows | None:
        """The rows that a recall may return, ascending, no claims and conflicts; None for all, also removed ones."""
        view, rows = self.view, self.view.among
        if rows is not None:  # removed rows would move the samples, and with them scores, until a compaction
            rows = rows[view.alive.take(rows).astype(np.bool_)]
        if NO_MEMORIES.isdisjoint(view.kinds):
            return rows
        rows = np.arange(view.node_count) if rows is None else rows
        return rows[~are_of(view, rows, NO_MEMORIES)]

    @cached_property
    def few_rows(self) -> Rows | None:
        """The rows of all memories that the recall may return, ascending, if they are so few that all are measured."""
        view, rows = self.view, self._said
        if (view.node_count if rows is None else rows.size) > _FEW_NODES:
            return None
        return view.live_nodes() if rows is None else rows[view.alive.take(rows).astype(np.bool_)]

    @cached_property
    def has_derived(self) -> bool:
        """Whether some of these memories may be derived from others."""
        if self.few_rows is None:
            return EdgeType.DERIVED_FROM in self.view.edge_types
        return self.view.arcs(self.few_rows, EdgeType.DERIVED_FROM).edge.size > 0

    @cached_property
    def keyword_weight(self) -> float:
        """The weight of keywords: more, the less the embedder tells the texts apart that the recall may find."""
        weight = self.config.retrieval.keyword_weight
        if not (weight and self.formula.keywords_for_like_vectors):
            return weight
        rows = _sampled(self.view, self._said)
        rows = rows[~is_derived(self.view, rows)] if self.has_derived else rows
        mean = self._mean_of(rows)
        # Each vector is like itself, which says nothing about the others.
        likeness = (rows.size * float(mean @ mean) - 1.0) / max(rows.size - 1, 1)
        # Rounded, since the order of the rows changes the last digits of the mean, which would decide ties.
        return round(weight * (1.0 + min(1.0, max(0.0, (likeness - _DISTINCT) / (_ALIKE - _DISTINCT)))), 3)

    @cached_property
    def mean_of_turns(self) -> NDArray[np.float32]:
        """The mean vector (dimension,) of some of the turns that the recall may return; empty without turns."""
        view = self.view
        # Claims, and texts that were made from others, have no position. So they do not move the sample.
        if view.among is None:
            (turns,) = (view.position.all()[: view.node_count] >= 0).nonzero()
        else:
            turns = view.among[view.position.take(view.among) >= 0]
        return self._mean_of(_sampled(view, turns[view.alive.take(turns).astype(np.bool_)]))

    def _mean_of(self, rows: Rows) -> NDArray[np.float32]:
        """Return the mean vector of nodes. In a conversation both samples are the same nodes, which are read once."""
        if self._last is None or self._last[0].size != rows.size or np.logical_or.reduce(self._last[0] != rows):
            self._last = rows, self.snapshot.mean_vector(rows)
        return self._last[1]


def _sampled(view: GraphView, rows: Rows | None) -> Rows:
    """Return up to 32 evenly spaced rows that are not hidden, of `rows` or of all nodes."""
    some = _spread(view.node_count, _SPARE * _SIZE) if rows is None else rows[_spread(rows.size, _SPARE * _SIZE)]
    some = some[view.alive.take(some).astype(np.bool_)]
    return some[_spread(some.size, _SIZE)]


def _spread(size: int, count: int) -> Rows:
    """Return up to `count` evenly spaced numbers below `size`."""
    if size <= count:
        return np.arange(size)
    places = np.arange(count) * ((size - 1) / (count - 1))
    places[-1] = size - 1
    return places.astype(np.int64)


def roles_called(snapshot: Snapshot, calls: Sequence[str]) -> list[str]:
    """Return the roles that a question calls by their names, learned from the conversation.

    A name belongs to the assistant if the user addresses the assistant by it, and the assistant hardly ever says it.
    The names of the user are found in the same way.

    Args:
        snapshot: only turns that its searches find count.
        calls: folded words of the question by which turns address somebody.
    """
    return list(dict.fromkeys(role for word in calls if (role := _called(snapshot, word)) is not None))


def _called(snapshot: Snapshot, word: str) -> str | None:
    """Return the role that has this name, None if it is no name."""
    for caller, other in (ROLES, ROLES[::-1]):
        calls = snapshot.rows_with([CALLS + word, role_tag(caller)]).size
        if calls < _LEAST_CALLS:
            continue
        said = snapshot.rows_with([*split_keywords(word), role_tag(other)]).size
        if said <= _OWN_NAME * calls:
            return other
    return None


class Turns:
    """Measures turns for one question.

    A turn gains by the similarity of the two turns on each side: by their mean, and by the best
    of them. The turn after a question gains by the similarity of that question. A question loses a little, because it
    contains no answer. These terms halve with every doubling of the length, because a long message needs less context.

    Long messages lose, because their words say less each. Later pieces of a message lose, because the first piece
    introduces the others. A turn also loses by its mean cosine to a sample of turns, because a turn that is similar to
    all others is specific to no question.

    The terms of the neighbours and the mean cosine are centred at their mean over the candidates, so that turns as such
    have no advantage over other memories. Both count less if many turns have a rare word in common with the turns
    around: such turns name their subject themselves, as notes do, and need no context.
    """

    def __init__(self, samples: Samples, folded: str) -> None:
        """Take the samples of a recall and the folded question."""
        self._samples, self._snapshot, self._view = samples, samples.snapshot, samples.view
        self._formula = samples.formula
        self._folded = folded
        self._centre: tuple[float, float] | None = None
        self._usual: float | None = None
        self._share = 1.0

    def measure(self, rows: Rows, own: Values, measure: Measure, candidates: Rows | None = None) -> TurnParts | None:
        """Return the terms of nodes; None if none of them is a turn.

        Args:
            rows: the nodes, ascending.
            own: (n,) their weighted sum of cosine and keywords.
            measure: returns this sum for other nodes, whose rows ascend.
            candidates: those of the nodes whose means centre the terms, in the first call; all if omitted.
        """
        turns = self._samples.conversation(rows)
        places = turns.places
        if not places.size:
            return None
        parts = TurnParts(np.zeros(rows.size), np.zeros(rows.size), np.ones(rows.size))
        parts.shares[places] = turns.shares
        if self._formula.has_turns:
            chosen = None if candidates is None else contained(candidates, turns.rows)
            if chosen is None or not np.logical_or.reduce(chosen):
                chosen = np.ones(places.size, dtype=np.bool_)
            around = self._around(turns, own[places], measure(turns.every), chosen)
            cost = _QUESTION_COST * self._formula.answer_weight
            parts.neighbours[places] = (around - cost * ((turns.marks & _ASKS) != 0)) * turns.shares
            parts.message[places] = self._of_message(turns, chosen)
        return parts

    def _around(self, turns: NearbyTurns, own: Values, values: Values, chosen: NDArray[np.bool_]) -> Values:
        """Return the gain (t,) of turns with `own` sums by the sums `values` of all turns; `chosen` centre it."""
        formula, owner, similarity, size = self._formula, turns.owner, values[turns.near_at], own.size
        mean = np.bincount(owner, similarity, size) / np.maximum(turns.around, 1)
        best = np.empty(size)
        best.fill(-np.inf)
        np.maximum.at(best, owner, similarity)
        there = turns.around > 0
        mean += _BEST_SHARE * np.where(there, best - mean, 0.0)
        follows, questions = turns.asked
        answered, answers = np.bincount(follows, values[questions], size), np.zeros(size, dtype=np.bool_)
        answers[follows] = True
        if self._centre is None:
            self._centre = _mean(mean[there & chosen]), _mean(own[chosen])
            here = chosen[owner]
            if np.logical_or.reduce(here) and formula.notes_need_no_context:
                repeats = _mean(turns.repeats(self._view)[here])
                self._share = min(1.0, max(0.0, (_MOST_REPEAT - repeats) / (_MOST_REPEAT - _FEW_REPEAT)))
        gain: Values = formula.neighbour_weight * self._share * np.where(there, mean - self._centre[0], 0.0)
        gain += formula.answer_weight * np.where(answers, answered - self._centre[1], 0.0)
        return gain

    def _of_message(self, turns: NearbyTurns, chosen: NDArray[np.bool_]) -> Values:
        formula, marks = self._formula, turns.marks
        length_cost, own_words = self._weights
        place = (marks >> _PLACE_AT) & _PLACE
        worth: Values = own_words * ((marks & _BY_USER) != 0) - length_cost * turns.length - formula.length_cost * place
        mean, cost = self._samples.mean_of_turns, formula.generic_cost * self._share
        if not (cost and np.logical_or.reduce(mean)):
            return worth
        likeness = turns.likeness(self._snapshot, mean)
        if self._usual is None:
            self._usual = _mean(likeness[chosen])
        return worth - cost * (likeness - self._usual)

    @cached_property
    def _weights(self) -> tuple[float, float]:
        """The cost of a long message and the weight of the user's own words."""
        # Long messages lose nothing if the question asks for a summary or for an answer of the assistant.
        if _OVERVIEW.search(self._folded) is not None or _ANSWER.search(self._folded) is not None:
            return 0.0, 0.0
        return self._formula.length_cost, self._formula.own_words_weight * is_first_person(self._folded)


def _mean(values: NDArray[Any]) -> float:
    """Return the mean of numbers; 0 without any."""
    return float(np.add.reduce(values) / values.size) if values.size else 0.0


def is_first_person(folded: str) -> bool:
    """Return whether a folded text has a pronoun of the first person singular."""
    return not _FIRST_PERSON.isdisjoint(split_words(folded)) or _FIRST_PERSON_CHINESE.search(folded) is not None

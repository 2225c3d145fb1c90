"""The similarity of a turn that comes from the conversation around it and from its message."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.memory_config import MemoryConfig
from neurogated.core.edge_type import EdgeType
from neurogated.core.ports import GraphStorePort
from neurogated.core.turns import ASKS_TAG, LENGTH_TAGS, PLACE_TAGS, role_tag
from neurogated.core.view import GraphView, Rows
from neurogated.retrieval.called_names import SpeakersByName
from neurogated.retrieval.long_answers import asks_for_answer, asks_for_overview
from neurogated.text.keywords import fold
from neurogated.text.words import split_words

# Size of the sample of turns to which a turn is compared to find how generic it is.
_GENERIC_SAMPLE = 32
# Turns from which the comparisons with other turns count fully.
_ENOUGH_TURNS = 128
# Turns on each side of a turn whose similarity counts for it.
_REACH = 2
# Share of the best of the turns around a turn in their similarity; the rest is their mean.
_BEST_SHARE = 0.6
# Cost of a turn that ends with a question, as a share of `retrieval.answer_weight`.
_QUESTION_COST = 0.4

Values = NDArray[np.float64]
Measure = Callable[[Rows], Values]

TURN_WEIGHTS = (
    "neighbour_weight",
    "answer_weight",
    "length_cost",
    "generic_cost",
    "own_words_weight",
)
"""The settings of `config.retrieval` that apply to turns only."""
_MESSAGE_TAGS = (*LENGTH_TAGS, *PLACE_TAGS, role_tag("user"))
_SPARE = 8
# The first person singular in English, German, French, Spanish and Chinese; the pronouns of a language are few.
_FIRST_PERSON = frozenset(
    [
        *("i", "me", "my", "mine", "myself", "ich", "mich", "mir", "mein", "meine", "meinen", "meinem", "meiner"),
        *("je", "j", "moi", "mon", "ma", "mes", "yo", "mi", "mis", "conmigo"),
    ]
)
_FIRST_PERSON_CHINESE = re.compile("\u6211(?!\u4eec|\u5011)")


class Neighbours(NamedTuple):
    """The turns around some turns, in parallel arrays."""

    owner: Rows
    """Position of a turn in the argument."""
    row: Rows
    """A turn near it."""
    before: NDArray[np.bool_]
    """Whether this is the turn directly before it."""


class TurnParts(NamedTuple):
    """Terms that add to the similarity of nodes, (n,) each; 0 for nodes that are no turns."""

    neighbours: Values
    message: Values


def neighbours(view: GraphView, rows: Rows, reach: int) -> Neighbours:
    """Return the turns up to `reach` steps before and after the nodes at `rows`, by SEQ edges."""
    owner, frontier, before = np.arange(rows.size), rows, np.empty(0, dtype=np.bool_)
    steps: list[Neighbours] = []
    for step in range(reach):
        arcs = view.arcs(frontier, EdgeType.SEQ, both_ways=True)
        backwards = view.edge_target[arcs.edge] == frontier[arcs.origin]
        # A walk keeps its first direction.
        onwards = backwards == before[arcs.origin] if step else np.ones(backwards.size, dtype=np.bool_)
        owner, frontier, before = owner[arcs.origin][onwards], arcs.target[onwards], backwards[onwards]
        steps.append(Neighbours(owner, frontier, before & (step == 0)))
    if not steps:
        return Neighbours(owner[:0], frontier[:0], before)
    return Neighbours(*(np.concatenate(column) for column in zip(*steps, strict=True)))


class Turns:
    """Measures turns for one question.

    A turn gains by the similarity of the two turns on each side: by their mean, and by the best
    of them. The turn after a question gains by the similarity of that question. A question loses a little, because it
    contains no answer. These terms halve with every doubling of the length, because a long message needs less context.

    Long messages lose, because their words say less each. Later pieces of a message lose, because the first piece
    introduces the others. A turn also loses by its mean cosine to a sample of turns, because a turn that is similar to
    all others is specific to no question.

    The terms of the neighbours and the mean cosine are centred at their mean over the candidates, so that turns as such
    have no advantage over other memories. Both count in proportion to the number of turns that the recall may find, up
    to 128: of a few turns each is near all others, and a subject that most of them name is not generic.
    """

    def __init__(
        self, store: GraphStorePort, view: GraphView, config: MemoryConfig, *, query: str, vector: NDArray[np.float32]
    ) -> None:
        self._store = store
        self._view = view
        self._config = config
        self._vector = vector
        folded = fold(query)
        words = split_words(folded)
        # Long messages lose nothing if the question asks for a summary or for an answer of the assistant.
        switches = config.retrieval.switches
        brief = not (
            (switches.long_for_overviews and asks_for_overview(folded))
            or (switches.long_for_answers and asks_for_answer(folded))
        )
        self._length_cost = config.retrieval.length_cost * brief
        self._own_words = config.retrieval.own_words_weight * (brief and is_first_person(folded))
        learns = switches.learn_names and config.retrieval.subject_weight
        self._speakers = SpeakersByName(store, view, words) if learns else None
        self._counts = any(getattr(config.retrieval, name) for name in TURN_WEIGHTS)
        self._centre: tuple[float, float] | None = None
        self._mean_vector: NDArray[np.float32] | None = None
        self._usual: float | None = None
        self._always_full = not switches.few_turns_count_less

    def named(self, rows: Rows) -> Values:
        """Return 1 for the turns of speakers whom the question calls by a learned name, else 0 (n,)."""
        return np.zeros(rows.size) if self._speakers is None else self._speakers.of(rows)

    def measure(self, rows: Rows, own: Values, measure: Measure) -> TurnParts:
        """Return the terms of nodes.

        Args:
            rows: the nodes, ascending.
            own: (n,) their weighted sum of cosine and keywords.
            measure: returns this sum for other nodes, whose rows ascend.
        """
        parts = TurnParts(np.zeros(rows.size), np.zeros(rows.size))
        if not self._counts:
            return parts
        (turns,) = (self._view.position.take(rows) >= 0).nonzero()
        if turns.size:
            here = rows[turns]
            tags = self._store.has_tags(_MESSAGE_TAGS, self._view, here)
            levels = _level(tags[: len(LENGTH_TAGS)])
            parts.neighbours[turns] = self._around(here, own[turns], measure) * _decayed(levels)
            parts.message[turns] = self._of_message(here, levels, _level(tags[len(LENGTH_TAGS) : -1]), tags[-1])
        return parts

    def shares(self, rows: Rows) -> Values:
        """Return the share of its activation that counts for each node (n,): less for long messages, 1 for others."""
        return _decayed(_level(self._store.has_tags(LENGTH_TAGS, self._view, rows)))

    def _around(self, rows: Rows, own: Values, measure: Measure) -> Values:
        config, size = self._config, rows.size
        near = neighbours(self._view, rows, _REACH)
        distinct, place = np.unique(near.row, return_inverse=True)
        every = np.union1d(distinct, rows)
        asking: NDArray[np.bool_] = self._store.has_tags([ASKS_TAG], self._view, every)[0]
        similarity, asks = measure(distinct), asking[every.searchsorted(distinct)]
        count = np.bincount(near.owner, minlength=size)
        mean = np.bincount(near.owner, similarity[place], size) / np.maximum(count, 1)
        best = np.full(size, -np.inf)
        np.maximum.at(best, near.owner, similarity[place])
        mean += _BEST_SHARE * np.where(count > 0, best - mean, 0.0)
        asked = near.before & asks[place]
        answered = np.bincount(near.owner[asked], similarity[place[asked]], size)
        answers = np.bincount(near.owner[asked], minlength=size) > 0
        if self._centre is None:
            self._centre = float(mean[count > 0].mean()) if count.any() else 0.0, float(own.mean())
        weight = config.retrieval.neighbour_weight * self._evidence
        around = weight * np.where(count > 0, mean - self._centre[0], 0.0)
        around += config.retrieval.answer_weight * np.where(answers, answered - self._centre[1], 0.0)
        cost = _QUESTION_COST * config.retrieval.answer_weight
        return around - cost * asking[every.searchsorted(rows)].astype(np.float64)

    def _of_message(self, rows: Rows, length: Values, place: Values, by_user: NDArray[np.bool_]) -> Values:
        config = self._config.retrieval
        worth = self._own_words * by_user.astype(np.float64) - self._length_cost * length - config.length_cost * place
        cost = config.generic_cost * self._evidence
        return worth - cost * self._likeness_to_all(rows) if cost else worth

    @cached_property
    def _evidence(self) -> float:
        """How much comparisons with other turns count, 0–1."""
        return 1.0 if self._always_full else min(1.0, self._turns.size / _ENOUGH_TURNS)

    @cached_property
    def _turns(self) -> Rows:
        """The turns that the recall may return, and hidden ones."""
        view = self._view
        among = np.arange(view.node_count) if view.among is None else view.among
        # Claims, and texts that were made from others, have no position. So they do not move the sample.
        turns: Rows = among[view.position.take(among) >= 0]
        return turns

    def _likeness_to_all(self, rows: Rows) -> Values:
        """Return the centred mean cosine of turns to a sample of the turns that the recall may return (n,)."""
        if self._mean_vector is None:
            self._mean_vector = self._store.mean_vector(self._view, self._sample())
        mean = self._mean_vector
        if not mean.any():
            return np.zeros(rows.size)
        likeness = np.linalg.norm(mean) * self._store.similarities(mean, self._view, rows)
        if self._usual is None:
            self._usual = float(likeness.mean())
        centred: Values = likeness - self._usual
        return centred

    def _sample(self) -> Rows:
        """Return evenly spaced turns that the recall may return; the cost does not grow with the graph."""
        wanted = _GENERIC_SAMPLE
        turns = self._turns[_spread(self._turns.size, _SPARE * wanted)]
        turns = turns[~np.isin(turns, self._view.hidden)]
        return turns[_spread(turns.size, wanted)]


def _decayed(levels: Values) -> Values:
    """Return the share that remains after this many doublings of a message's length (n,): half of it each."""
    shares: Values = np.exp2(-levels)
    return shares


def _level(digits: NDArray[np.bool_]) -> Values:
    """Return the number (n,) that the tags of each node spell in binary; the lowest digit is first."""
    levels: Values = np.exp2(np.arange(len(digits))) @ digits
    return levels


def _spread(size: int, count: int) -> Rows:
    """Return up to `count` evenly spaced numbers below `size`."""
    return np.arange(size) if size <= count else np.linspace(0, size - 1, count).astype(np.int64)


def is_first_person(folded: str) -> bool:
    """Return whether a folded text has a pronoun of the first person singular."""
    return not _FIRST_PERSON.isdisjoint(split_words(folded)) or _FIRST_PERSON_CHINESE.search(folded) is not None

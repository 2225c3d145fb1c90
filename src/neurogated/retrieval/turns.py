"""The similarity of a turn that comes from the conversation around it and from its message."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.core.columns import contained, distinct, firsts
from neurogated.core.edge_type import EdgeType
from neurogated.core.turns import ASKS_TAG, LENGTH_TAGS, PLACE_TAGS, role_tag
from neurogated.core.view import GraphView, Rows
from neurogated.retrieval.called_names import SpeakersByName
from neurogated.retrieval.long_answers import asks_for_answer, asks_for_overview
from neurogated.retrieval.sample import Samples
from neurogated.text.keywords import fold
from neurogated.text.words import split_words, without_final_s

# Share of the pairs of near turns with a rare word in common up to which near turns count fully, and from which they
# do not count. It is about 1/8 in conversations, 1/5 in chats with long messages and 3/4 in lists of notes.
_FEW_REPEAT, _MOST_REPEAT = 1 / 8, 3 / 4
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
    have no advantage over other memories. Both count less if many turns have a rare word in common with the turns
    around: such turns name their subject themselves, as notes do, and need no context.
    """

    def __init__(self, samples: Samples, query: str) -> None:
        self._samples = samples
        reader, view, config = samples.reader, samples.view, samples.config
        self._reader = reader
        self._view = view
        self._config = config
        self._folded = fold(query)
        words = [*(plain := split_words(self._folded)), *without_final_s(plain)]
        self._speakers = SpeakersByName(reader, words) if config.retrieval.subject_weight else None
        self._counts = any(getattr(config.retrieval, name) for name in TURN_WEIGHTS)
        self._centre: tuple[float, float] | None = None
        self._usual: float | None = None
        self._share = 1.0

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
            tags = self._reader.has_tags(_MESSAGE_TAGS, here)
            levels = _level(tags[: len(LENGTH_TAGS)])
            parts.neighbours[turns] = self._around(here, own[turns], measure) * _decayed(levels)
            parts.message[turns] = self._of_message(here, levels, _level(tags[len(LENGTH_TAGS) : -1]), tags[-1])
        return parts

    def shares(self, rows: Rows) -> Values:
        """Return the share of its activation that counts for each node (n,): less for long messages, 1 for others."""
        return _decayed(_level(self._reader.has_tags(LENGTH_TAGS, rows)))

    def _around(self, rows: Rows, own: Values, measure: Measure) -> Values:
        config, size = self._config, rows.size
        near = neighbours(self._view, rows, _REACH)
        first, place = firsts(near.row)
        around = near.row[first]
        every = distinct(np.concatenate((around, rows)))
        asking: NDArray[np.bool_] = self._reader.has_tags([ASKS_TAG], every)[0]
        similarity, asks = measure(around), asking[every.searchsorted(around)]
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
            self._share = self._share_of_context(rows, near)
        weight = config.retrieval.neighbour_weight * self._share
        gain: Values = weight * np.where(count > 0, mean - self._centre[0], 0.0)
        gain += config.retrieval.answer_weight * np.where(answers, answered - self._centre[1], 0.0)
        cost = _QUESTION_COST * config.retrieval.answer_weight
        return gain - cost * asking[every.searchsorted(rows)].astype(np.float64)

    def _of_message(self, rows: Rows, length: Values, place: Values, by_user: NDArray[np.bool_]) -> Values:
        config = self._config.retrieval
        length_cost, own_words = self._weights
        worth = own_words * by_user.astype(np.float64) - length_cost * length - config.length_cost * place
        cost = config.generic_cost * self._share
        return worth - cost * self._likeness_to_all(rows) if cost else worth

    @cached_property
    def _weights(self) -> tuple[float, float]:
        """The cost of a long message and the weight of the user's own words."""
        config = self._config.retrieval
        # Long messages lose nothing if the question asks for a summary or for an answer of the assistant.
        if asks_for_overview(self._folded) or asks_for_answer(self._folded):
            return 0.0, 0.0
        return config.length_cost, config.own_words_weight * is_first_person(self._folded)

    def _share_of_context(self, rows: Rows, near: Neighbours) -> float:
        """Return how much the turns around these count, 0–1: less if they repeat the rare words of these."""
        if not (near.row.size and self._config.retrieval.switches.notes_need_no_context):
            return 1.0
        terms, size = self._view.arcs(rows, EdgeType.TERM, both_ways=True), self._view.node_count
        joined = np.sort(terms.origin * size + terms.target)
        repeats = float(contained(joined, near.owner * size + near.row).mean())
        return min(1.0, max(0.0, (_MOST_REPEAT - repeats) / (_MOST_REPEAT - _FEW_REPEAT)))

    def _likeness_to_all(self, rows: Rows) -> Values:
        """Return the centred mean cosine of turns to a sample of the turns that the recall may return (n,)."""
        mean = self._samples.mean_of_turns
        if not mean.any():
            return np.zeros(rows.size)
        likeness = np.linalg.norm(mean) * self._reader.similarities(mean, rows)
        if self._usual is None:
            self._usual = float(likeness.mean())
        centred: Values = likeness - self._usual
        return centred


def _decayed(levels: Values) -> Values:
    """Return the share that remains after this many doublings of a message's length (n,): half of it each."""
    shares: Values = np.exp2(-levels)
    return shares


def _level(digits: NDArray[np.bool_]) -> Values:
    """Return the number (n,) that the tags of each node spell in binary; the lowest digit is first."""
    levels: Values = np.exp2(np.arange(len(digits))) @ digits
    return levels


def is_first_person(folded: str) -> bool:
    """Return whether a folded text has a pronoun of the first person singular."""
    return not _FIRST_PERSON.isdisjoint(split_words(folded)) or _FIRST_PERSON_CHINESE.search(folded) is not None

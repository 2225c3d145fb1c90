"""Builds the context of a task from a recall."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.context.layout import EMPTY, Line, framed, line_of, text_of
from neurogated.context.model import CONTEXT_TOKENS, Choice, Context
from neurogated.context.packing import Candidates, Picked, pack
from neurogated.core.model import checked_count
from neurogated.core.ports import Embedder
from neurogated.core.quoting import TokenCounter, estimated_tokens
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.text.keywords import split_keywords
from neurogated.text.sentences import split_sentences
from neurogated.text.words import count_words

__all__ = ["ContextBuilder", "token_counter"]

_PROBE = ["1,2;3."]
_GAP = " … "


def token_counter(embedder: Embedder) -> TokenCounter:
    """Return the tokenizer of an embedder, or an upper estimate if the embedder only counts words."""
    counts_words = embedder.count_tokens(_PROBE) == count_words(_PROBE)
    return estimated_tokens if counts_words else embedder.count_tokens


def _checked(count_tokens: TokenCounter) -> TokenCounter:
    """Return a tokenizer whose results are refused unless they are one number for each text."""

    def counted(texts: Sequence[str]) -> list[int]:
        found = count_tokens(texts)
        if len(found) != len(texts):
            raise InputError(f"count_tokens returned {len(found)} numbers for {len(texts)} texts")
        return [checked_count("a result of count_tokens", number) for number in found]

    return counted


class ContextBuilder:
    """Packs the memories of a recall into a text within a budget of tokens."""

    def __init__(self, settings: MetabolismSettings, embedder: Embedder, count_tokens: TokenCounter) -> None:
        """Take the models.

        Args:
            settings: those of `metabolism` that begin with `context_`.
            embedder: finds the best sentences of a memory that is longer than the budget.
            count_tokens: counts the tokens of texts.
        """
        self._settings = settings
        self._embedder = embedder
        self._count = _checked(count_tokens)

    def build(self, recall: Recall, view: GraphView, budget: int, *, explain: bool = False) -> Context:
        """Return the context; `view` is the present graph, whose order of rows is that in which memories were added."""
        memories, rows = recall.memories, view.rows_by_id
        places = [rows.get(one.id, view.node_count) for one in memories]
        states = [recall.states.get(one.id) for one in memories]
        lines = [
            line_of(one.node, place, state=state) for one, place, state in zip(memories, places, states, strict=True)
        ]
        picked = self._pack(recall, lines, budget)
        excerpts: list[int] = []
        if not picked and (excerpt := self._excerpt(recall, budget)):
            place, line = excerpt
            lines[place], excerpts = line, [place]
            picked = [Picked(place, 1.0, 0.0, None, self._tokens([line]))]
        chosen = sorted(picked, key=lambda one: lines[one.place].order)
        text = text_of(lines[one.place] for one in picked)
        shown = {memories[one.place].id for one in picked}
        return Context(
            recall.query,
            text,
            self._count([text])[0] if text else 0,
            budget,
            tuple(memories[one.place] for one in chosen),
            excerpts=tuple(memories[place].id for place in excerpts),
            choices={memories[one.place].id: _choice(one, memories) for one in chosen} if explain else {},
            conflicts=tuple(one for one in recall.conflicts if not shown.isdisjoint(one.sides)),
            notes=recall.notes + self._too_little(lines, budget) * (not picked),
        )

    def _too_little(self, lines: Sequence[Line], budget: int) -> tuple[str, ...]:
        """Return why no memory is in the text, if there are memories."""
        if not lines:
            return ()
        return (f"no memory fits into {budget} tokens; the best one needs {self._tokens(lines[:1])}",)

    def _pack(self, recall: Recall, lines: Sequence[Line], budget: int) -> list[Picked]:
        numbers: dict[tuple[str, str], int] = {}
        groups = [numbers.setdefault(line.group, len(numbers)) for line in lines]
        texts = (EMPTY, *(line.text for line in lines), *(framed(heading) for heading, _ in numbers))
        frame, *sizes = self._count([f"{text}\n" for text in texts])
        scores = np.array([memory.score for memory in recall])
        candidates = Candidates(
            np.maximum(0.0, scores / (scores.max(initial=0.0) or 1.0)),
            np.array(sizes[: len(lines)], dtype=np.int64),
            np.array(groups, dtype=np.int64),
            np.array(sizes[len(lines) :], dtype=np.int64),
            _likeness(recall.memories),
            [frozenset(split_keywords(memory.content)) for memory in recall],
            _opposed(recall),
        )
        # A small budget is best spent on many things; in a large one there is room for all of them.
        novelty = self._settings.context_novelty * CONTEXT_TOKENS / max(1, budget)
        best = self._best(lines, budget)
        picked = pack(candidates, budget - frame, self._settings.context_repetition, novelty, best)
        while picked and self._tokens([lines[one.place] for one in picked]) > budget:
            # A text can have more tokens than its lines together.
            picked.pop()
        return picked

    def _best(self, lines: Sequence[Line], budget: int) -> int | None:
        """Return the place of the best memory that fits alone; None if none does."""
        return next((place for place, line in enumerate(lines) if self._tokens([line]) <= budget), None)

    def _excerpt(self, recall: Recall, budget: int) -> tuple[int, Line] | None:
        """Return the place and the best sentences of the best memory of which at least one sentence fits."""
        for place, memory in enumerate(recall.memories):
            sentences = [one.strip() for one in split_sentences(memory.content) if one.strip()]
            if self._tokens([line_of(memory.node, place, "", recall.states.get(memory.id))]) > budget:
                return None
            vectors = self._embedder.embed_documents(sentences)
            closeness = vectors @ self._embedder.embed_queries([recall.query])[0]
            kept: list[int] = []
            found = None
            for one in np.argsort(-closeness, kind="stable").tolist():
                longer = sorted((*kept, one))
                line = line_of(memory.node, place, _joined(sentences, longer), recall.states.get(memory.id))
                if self._tokens([line]) <= budget:
                    kept, found = longer, line
            if found is not None:
                return place, found
        return None

    def _tokens(self, lines: Sequence[Line]) -> int:
        return self._count([text_of(lines)])[0]


def _joined(sentences: Sequence[str], places: Sequence[int]) -> str:
    """Return the sentences at `places`, which ascend, with a mark where sentences are left out."""
    text = _GAP.lstrip() if places[0] else ""
    for before, place in zip((None, *places), places, strict=False):
        if before is not None:
            text += " " if place == before + 1 else _GAP
        text += sentences[place]
    return text if places[-1] == len(sentences) - 1 else text + _GAP.rstrip()


def _opposed(recall: Recall) -> Mapping[int, Sequence[int]]:
    """Return the places of the memories that contest a memory, by its place."""
    places = {one.id: place for place, one in enumerate(recall)}
    found = defaultdict[int, list[int]](list)
    for conflict in recall.conflicts:
        if conflict.outcome == "contested" and places.keys() >= set(conflict.sides):
            first, second = (places[side] for side in conflict.sides)
            found[first].append(second)
            found[second].append(first)
    return found


def _likeness(memories: Sequence[RecalledMemory]) -> NDArray[np.float64]:
    """Return (n, n) the cosines of the memories, 0–1; 0 for a memory without a vector."""
    size = max((len(one.node.embedding) for one in memories if one.node.embedding is not None), default=0)
    vectors = np.zeros((len(memories), size))
    for place, memory in enumerate(memories):
        if memory.node.embedding is not None:
            vectors[place] = memory.node.embedding
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.asarray(np.maximum(0.0, vectors @ vectors.T))


def _choice(one: Picked, memories: Sequence[RecalledMemory]) -> Choice:
    memory = memories[one.place]
    repeats = None if one.repeats is None else memories[one.repeats].id
    neighbour = memory.path[-1].source_id if memory.path else None
    return Choice(
        one.place + 1, memory.score, memory.contributions, neighbour, one.value, one.repetition, repeats, one.tokens
    )

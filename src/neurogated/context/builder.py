"""Builds the context of a task from a recall."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import chain, product
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from neurogated.config.metabolism_settings import MetabolismSettings
from neurogated.context.layout import EMPTY, FACTS, OTHERS, Line, fact_line, line_of, text_of
from neurogated.context.model import Choice, Context
from neurogated.context.packing import NOVELTY_GAIN, REPETITION_COST, Candidates, Picked, pack
from neurogated.core.conflicts import Conflict
from neurogated.core.fact_words import says_more
from neurogated.core.facts import Fact
from neurogated.core.model import checked_count
from neurogated.core.node_kind import PROFILE, SEGMENT
from neurogated.core.ports import Embedder
from neurogated.core.quoting import TokenCounter, estimated_tokens
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.core.view import GraphView
from neurogated.errors import InputError
from neurogated.text.keywords import split_keywords
from neurogated.text.sentences import split_sentences
from neurogated.text.words import count_words

_PROBE = ["1,2;3."]
_GAP = " … "


_MANY_FACTS = 2
"""With so many facts of a profile, a context shows it whole, which takes few more tokens."""


class Item(NamedTuple):
    """A memory that may enter a context, or a fact that was read from it."""

    line: Line
    memory: RecalledMemory
    rank: int
    """The rank of the memory, from 1."""
    fact: Fact | None = None

    @property
    def words(self) -> str:
        """The text whose words count."""
        return self.memory.content if self.fact is None else f"{self.fact.attribute} {self.fact.value}"


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
        items = self._items(recall, view)
        picked = self._pack(recall, items, budget)
        excerpts: list[str] = []
        if not picked and (excerpt := self._excerpt(recall, budget)):
            items, excerpts = [excerpt], [excerpt.memory.id]
            picked = [Picked(0, 1.0, 0.0, None, self._tokens([excerpt.line]))]
        chosen = sorted(picked, key=lambda one: (not items[one.place].line.is_fact, items[one.place].line.order))
        text = text_of(self._with_profiles(recall, [items[one.place] for one in picked], budget))
        memories = tuple({(one := items[each.place].memory).id: one for each in chosen}.values())
        shown = {one.id for one in memories}
        return Context(
            recall.query,
            text,
            self._count([text])[0] if text else 0,
            budget,
            memories,
            excerpts=tuple(excerpts),
            choices={items[one.place].memory.id: _choice(one, items) for one in reversed(chosen)} if explain else {},
            conflicts=tuple(one for one in recall.conflicts if not shown.isdisjoint(_said_by(recall, one))),
            notes=recall.notes + self._too_little([one.line for one in items], budget) * (not picked),
        )

    def _items(self, recall: Recall, view: GraphView) -> list[Item]:
        """Return the memories and facts that may enter a context, best first.

        A memory of which the facts say everything is left out: they are shorter.
        """
        rows, marks = view.rows_by_id, recall.remarks
        least = self._settings.context_floor * max((one.score for one in recall), default=0.0)
        contested = {side for one in recall.conflicts if one.loser is None for side in one.sides}
        changed = {name for fact in recall.former for name in fact.sources}
        said = defaultdict[str, list[Fact]](list)
        for fact in recall.facts:
            for name in fact.sources:
                said[name].append(fact)
        items: dict[str, Item] = {}
        for rank, one in enumerate(recall.memories, start=1):
            if one.score < least or one.node.kind in {PROFILE, SEGMENT}:
                continue
            line = line_of(one.node, rows.get(one.id, view.node_count), marks=marks.get(one.id, ()))
            if not said[one.id] or one.id in changed or says_more(one.content, said[one.id]):
                items[one.id] = Item(line, one, rank)
            for fact in said[one.id]:
                shown = fact_line(fact, line, is_contested=fact.id in contested)
                items.setdefault(fact.id, Item(shown, one, rank, fact))
        return list(items.values())

    def _too_little(self, lines: Sequence[Line], budget: int) -> tuple[str, ...]:
        """Return why no memory is in the text, if there are memories."""
        if not lines:
            return ()
        return (f"no memory fits into {budget} tokens; the best one needs {self._tokens(lines[:1])}",)

    def _pack(self, recall: Recall, items: Sequence[Item], budget: int) -> list[Picked]:
        heads = f"{FACTS}\n{OTHERS}\n" if any(one.line.is_fact for one in items) else ""
        frame, *sizes = self._count([f"{EMPTY}\n{heads}", *(f"{one.line.text}\n" for one in items)])
        scores = np.array([one.memory.score for one in items])
        candidates = Candidates(
            np.maximum(0.0, scores / (scores.max(initial=0.0) or 1.0)),
            np.array(sizes, dtype=np.int64),
            _likeness([one.memory for one in items]),
            [frozenset(split_keywords(one.words)) for one in items],
            _opposed(recall, items),
            _replaced(items),
        )
        best = self._best(items, budget)
        picked = pack(candidates, budget - frame, REPETITION_COST, NOVELTY_GAIN, best)
        while picked and self._tokens([items[one.place].line for one in picked]) > budget:
            # A text can have more tokens than its lines together.
            picked.pop()
        return picked

    def _with_profiles(self, recall: Recall, chosen: Sequence[Item], budget: int) -> list[Line]:
        """Return the lines of chosen items, with a profile in place of its facts if many are there and it fits."""
        lines = {one.line.text: one.line for one in chosen}
        shown = {one.memory.id for one in chosen}
        for profile in recall.profiles:
            facts = [fact for fact in recall.facts if fact.id in profile.facts and not shown.isdisjoint(fact.sources)]
            if len(facts) < _MANY_FACTS:
                continue
            single = {one.line.text for one in chosen if one.fact is not None and one.fact.id in profile.facts}
            line = line_of(profile.node, 0)
            fewer = {text: kept for text, kept in lines.items() if text not in single} | {line.text: line}
            if self._tokens(list(fewer.values())) <= budget:
                lines = fewer
        return list(lines.values())

    def _best(self, items: Sequence[Item], budget: int) -> int | None:
        """Return the place of the best memory or fact that fits alone; None if none does."""
        return next((place for place, one in enumerate(items) if self._tokens([one.line]) <= budget), None)

    def _excerpt(self, recall: Recall, budget: int) -> Item | None:
        """Return the best sentences of the best memory of which at least one sentence fits."""
        marks = recall.remarks
        for place, memory in enumerate(recall.memories):
            said = marks.get(memory.id, ())
            sentences = [one.strip() for one in split_sentences(memory.content) if one.strip()]
            if self._tokens([line_of(memory.node, place, "", said)]) > budget:
                return None
            vectors = self._embedder.embed_documents(sentences)
            closeness = vectors @ self._embedder.embed_queries([recall.query])[0]
            kept: list[int] = []
            found = None
            for one in np.argsort(-closeness, kind="stable").tolist():
                longer = sorted((*kept, one))
                line = line_of(memory.node, place, _joined(sentences, longer), said)
                if self._tokens([line]) <= budget:
                    kept, found = longer, line
            if found is not None:
                return Item(found, memory, place + 1)
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


def _said_by(recall: Recall, conflict: Conflict) -> set[str]:
    """Return the memories of a recall that say a side of a conflict."""
    facts = (*recall.facts, *recall.former)
    return {*conflict.sides, *chain.from_iterable(fact.sources for fact in facts if fact.id in conflict.sides)}


def _opposed(recall: Recall, items: Sequence[Item]) -> Mapping[int, Sequence[int]]:
    """Return the places of the memories and facts that contest one, by its place."""
    sides = defaultdict[str, list[int]](list)
    for place, one in enumerate(items):
        sides[one.memory.id if one.fact is None else one.fact.id].append(place)
    for fact in recall.facts:
        for name in fact.sources:
            sides[fact.id] += [place for place in sides.get(name, ()) if items[place].fact is None]
    found = defaultdict[int, list[int]](list)
    for conflict in recall.conflicts:
        if conflict.outcome == "contested":
            for first, second in product(sides[conflict.first], sides[conflict.second]):
                found[first].append(second)
                found[second].append(first)
    return found


def _replaced(items: Sequence[Item]) -> Mapping[int, Sequence[int]]:
    """Return the places of the facts that were read from a memory, by its place."""
    facts = defaultdict[str, list[int]](list)
    for place, one in enumerate(items):
        for name in one.fact.sources if one.fact else ():
            facts[name].append(place)
    return {place: facts[one.memory.id] for place, one in enumerate(items) if one.fact is None}


def _likeness(memories: Sequence[RecalledMemory]) -> NDArray[np.float64]:
    """Return (n, n) the cosines of the memories, 0–1; 0 for a memory without a vector."""
    size = max((len(one.node.embedding) for one in memories if one.node.embedding is not None), default=0)
    vectors = np.zeros((len(memories), size))
    for place, memory in enumerate(memories):
        if memory.node.embedding is not None:
            vectors[place] = memory.node.embedding
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), np.finfo(np.float64).tiny)
    return np.asarray(np.maximum(0.0, vectors @ vectors.T))


def _choice(one: Picked, items: Sequence[Item]) -> Choice:
    memory = items[one.place].memory
    repeats = None if one.repeats is None else items[one.repeats].memory.id
    neighbour = memory.path[-1].source_id if memory.path else None
    return Choice(
        items[one.place].rank,
        memory.score,
        memory.contributions,
        neighbour,
        one.value,
        one.repetition,
        repeats,
        one.tokens,
    )

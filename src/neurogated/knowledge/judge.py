"""The judge of pairs: compares two statements by rules in order, each with its reason."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from itertools import islice, product
from typing import Any

from neurogated.core.equal_text import equal_key
from neurogated.core.judgements import Relation, RelationKind
from neurogated.core.ports import Embedder
from neurogated.knowledge.alignment import Alignment, align, both_true
from neurogated.knowledge.clauses import language_in
from neurogated.knowledge.exclusive import Exclusiveness
from neurogated.knowledge.facts import compare_slots
from neurogated.knowledge.guards import Guards
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.slots import same_subject, slot_of
from neurogated.knowledge.statement import Statement, in_one_language, read_statement, said_as
from neurogated.knowledge.states import states_in
from neurogated.knowledge.verdicts import INDEPENDENT, conflict, duplicate, independent
from neurogated.text.strings import checked_text

__all__ = ["Content", "PairJudge"]

Content = str | Mapping[str, Any]
"""A text, or a fact with subject, attribute and value."""

_SENTENCE = re.compile(
    r"(?:(?<=[^\W\d_][^\W\d_][.!?])|(?<=\d{3}[.!?])|(?<=[!?]))(?<!\b[DMS][rst]\.)(?<!\bNo\.)(?<!\bMrs\.)(?<!\bProf\.)(?<!\bbzw\.)"
    r"\s+(?=[^\sa-z])|(?<=[。！？])(?=.)"
)
_MOST_SENTENCES = 6
_MOST_CHARACTERS = 4000
_STRENGTH = (
    RelationKind.CONTRADICTION,
    RelationKind.SUPERSESSION,
    RelationKind.DUPLICATE,
    RelationKind.REFINEMENT,
    RelationKind.INDEPENDENT,
)


class PairJudge:
    """Compares two statements without a language model. Several threads may use it."""

    def __init__(
        self, embedder: Embedder | None = None, *, meanings: Meanings | None = None, without: Collection[str] = ()
    ) -> None:
        """Take the embedder of the memory, or meanings to share, and examples of attributes to leave out."""
        self._meanings = Meanings(embedder) if meanings is None else meanings
        self._exclusive = Exclusiveness(self._meanings, without)
        self._guards = Guards(self._meanings, self._exclusive)

    def compare(self, first: Content, second: Content) -> Relation:
        """Return how two texts or facts relate; a text of more than 4,000 characters is independent of all others.

        Raises:
            InputError: a fact lacks a part, or a time cannot be read.
        """
        ours, theirs = (_sentences(content) for content in (first, second))
        if max(sum(len(one.text) for one in part) for part in (ours, theirs)) > _MOST_CHARACTERS:
            return independent(f"A text of more than {_MOST_CHARACTERS} characters is not compared.")
        relation = self._relation(first, second, ours, theirs)
        texts = (equal_key(" ".join(one.text for one in part)) for part in (ours, theirs))
        if relation.kind is RelationKind.DUPLICATE and next(texts) != next(texts):
            return independent("They may say the same, but not in the same words.")
        return relation

    def _relation(self, first: Content, second: Content, ours: list[Statement], theirs: list[Statement]) -> Relation:
        if len(ours) == len(theirs) == 1 or max(len(ours), len(theirs)) > _MOST_SENTENCES:
            return self._judge(read_statement(first), read_statement(second))
        found = [[self._judge(one, other) for other in theirs] for one in ours]
        strongest = min(
            (relation for row in found for relation in row),
            key=lambda relation: (_STRENGTH.index(relation.kind), -relation.confidence),
        )
        if strongest.is_conflict or strongest.kind is RelationKind.INDEPENDENT:
            return strongest
        return _of_whole(found)

    def has_one_value(self, text: str) -> bool:
        """Return whether a sentence may state an attribute that has one value at a time, such as a home."""
        return self._exclusive.names_one(text, language_in(text))

    def _judge(self, one: Statement, other: Statement) -> Relation:
        """Judge two sentences; where they are in no conflict, the simple statements that they make may be."""
        relation = self._judge_whole(one, other)
        if relation.is_conflict or relation.kind is RelationKind.DUPLICATE:
            return relation
        pairs = islice(product(_variants(one), _variants(other)), 1, None)
        found = (self._judge_whole(*pair) for pair in pairs)
        return next((each for each in found if each.is_conflict), relation)

    def _judge_whole(self, one: Statement, other: Statement) -> Relation:
        relation = self._by_rules(one, other)
        if relation.is_conflict and (reason := both_true(one, other, align(one, other, self._meanings))) is not None:
            return independent(reason)
        if relation.kind is RelationKind.DUPLICATE and other.is_past and not (one.is_past or one.mode):
            return conflict(*in_one_language(one, other), "The second is about the past only.")
        return relation

    def _by_rules(self, one: Statement, other: Statement) -> Relation:  # noqa: PLR0911 - rules in order
        if one.plain == other.plain and one.window == other.window and one.mode == other.mode and one.text:
            return duplicate("Both say the same in the same words.", sure=True)
        one, other = in_one_language(one, other)
        if not one.tokens or not other.tokens:
            return INDEPENDENT
        for statement in (one, other):
            if statement.mode:
                return independent(f"One of them is {statement.mode}, not stated.")
        if one.holder != other.holder:
            return independent("They report the opinions of different persons.")
        if (slots := self._slots(one, other)) is not None:
            return slots
        found = align(one, other, self._meanings)
        if found.differs_in_person:
            return independent("They are about different persons.")
        return self._by_words(one, other, found)

    def _slots(self, one: Statement, other: Statement) -> Relation | None:
        ours, theirs = slot_of(one), slot_of(other)
        if ours is None or theirs is None or not same_subject(ours.subject, theirs.subject):
            return None
        return compare_slots(replace(one, slot=ours), replace(other, slot=theirs), self._meanings, self._exclusive)

    def _by_words(self, one: Statement, other: Statement, found: Alignment) -> Relation:
        for guard in self._guards.in_order:
            if (relation := guard(one, other, found)) is not None:
                return relation
        return INDEPENDENT


def _variants(statement: Statement) -> Iterator[Statement]:
    """Yield a statement, and the simple ones that its sentence makes."""
    yield statement
    if statement.slot is None:
        yield from (said_as(statement, text, statement.language) for text in states_in(statement.text))


def _sentences(content: Content) -> list[Statement]:
    text = content if isinstance(content, str) else content.get("content") or content.get("text")
    if not isinstance(text, str):
        return [read_statement(content)]
    checked_text("a text to compare", text)
    parts = [part for part in _SENTENCE.split(" ".join(text.split())) if part.strip()] or [text]
    if isinstance(content, str):
        return [read_statement(part) for part in parts]
    return [read_statement({**content, "content": part}) for part in parts]


def _of_whole(found: list[list[Relation]]) -> Relation:
    """Return the relation of two texts of several sentences from those of their sentences."""
    same = {RelationKind.DUPLICATE}
    rows = [any(relation.kind in same for relation in row) for row in found]
    columns = [any(row[n].kind in same for row in found) for n in range(len(found[0]))]
    if all(rows) and all(columns):
        return duplicate("Both say the same, sentence by sentence.")
    if all(rows) or all(columns):
        return Relation(RelationKind.REFINEMENT, _WHOLE, "One says all that the other says, and more.")
    return independent("They share a sentence, and each says something else besides.")


_WHOLE = 0.7

"""Pronouns for something new that the words before name: "we have a new boss, her name is Ida"."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from neurogated.knowledge.read.clauses import Clause
from neurogated.knowledge.read.wordings import Language
from neurogated.text.normalise import Token

_MOST_NOUN = 2
"""Words of a noun after "new"."""


class Introduction:
    """What a text calls new, and what it says of it next."""

    def __init__(self) -> None:
        self._named: Sequence[tuple[Token, str]] = ()

    def resolved(self, clause: Clause, own: Language) -> Clause:
        """Return a clause about what the clause before calls new with "my new boss" for its pronoun."""
        named, self._named = self._named, _named(clause, own)
        begin = next((n for n, label in enumerate(clause.labels) if not label), None)
        if not named or begin is None or self._named:
            return clause
        word, place = clause.tokens[begin].word, clause.tokens[begin].begin
        is_owner = word in own.words["theirs"] and "'s" in own.words["possessive"]
        is_pronoun = is_owner or word in own.words["third"]
        if not is_pronoun and word not in own.conjugation.third:
            return clause
        rest = [*clause.tokens[begin + is_pronoun :]]
        if rest and rest[0].word == "'s":
            rest[0] = rest[0]._replace(word="is")
        mine, *marks = [min(own.words["mine"]), *["'s"] * is_owner]
        words = [(mine, ""), *((token.word, label) for token, label in named), *((mark, "") for mark in marks)]
        return replace(
            clause,
            tokens=[*clause.tokens[:begin], *(Token(each, each, place, place) for each, _ in words), *rest],
            labels=[*clause.labels[:begin], *(label for _, label in words), *clause.labels[begin + is_pronoun :]],
        )


def _named(clause: Clause, own: Language) -> list[tuple[Token, str]]:
    """Return "new boss", or a noun before its adjective, as in "un coche nuevo"; nothing if the clause has neither."""
    tokens, labels, words = clause.tokens, clause.labels, own.words
    new = next((n for n, token in enumerate(tokens) if token.word in words["new"]), None)
    if new is None:
        return []
    ends = words["prepositions"] | {",", ":", "-"}
    end = new + 1
    while end < len(tokens) and end - new <= _MOST_NOUN and not labels[end] and tokens[end].word not in ends:
        end += 1
    if end > new + 1:
        is_whole = end == len(tokens) or labels[end] or tokens[end].word in ends
        return list(zip(tokens[new:end], labels[new:end], strict=True)) if is_whole else []
    is_noun = new > 0 and tokens[new - 1].word in own.nouns
    return [(tokens[new], labels[new]), (tokens[new - 1], "")] if is_noun else []

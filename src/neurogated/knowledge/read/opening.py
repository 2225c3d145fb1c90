"""Statements of attributes that the table lacks: "Kim is enrolled in Law", "the status of the order is open"."""

from __future__ import annotations

from neurogated.knowledge.read.clauses import Clause
from neurogated.knowledge.read.matching import Match
from neurogated.knowledge.read.wordings import SUBJECT, Element, Language, Wording

_MOST_SUBJECT, _MOST_VERB = 6, 4
_VERB = Wording("open", (Element(SUBJECT),))


def open_match(clause: Clause, own: Language) -> Match | None:
    """Return a name, a verb with its preposition, and the rest; None if the clause is not built so."""
    tokens, labels = clause.tokens, clause.labels
    if own.code != "en":
        return None
    begin = next((n for n, label in enumerate(labels) if not label), len(tokens))
    verb = begin
    while verb < len(tokens) and _is_name(tokens[verb].raw):
        verb += 1
    if verb == begin or tokens[begin].word in own.words["me"] or verb - begin > _MOST_SUBJECT or verb == len(tokens):
        return None
    subject = (begin, verb)
    while verb < len(tokens) and labels[verb] and labels[verb] != "time":
        verb += 1
    end = verb
    while end < len(tokens) and end - verb < _MOST_VERB and _is_predicate(clause, end, verb, own):
        end += 1
        if tokens[end - 1].word in own.words["prepositions"]:
            break
    if end == verb or end == len(tokens):
        return None
    return Match(_VERB, subject, False, (end, len(tokens)), (verb, end), tuple(range(verb, end)))


def _is_name(raw: str) -> bool:
    """Return whether a word is a name or an identifier, such as `order:55`."""
    return raw[:1].isupper() or raw[0].isdecimal() or ":" in raw


def _is_predicate(clause: Clause, n: int, verb: int, own: Language) -> bool:
    word, prepositions = clause.tokens[n].word, own.words["prepositions"]
    if n > verb:
        return word in prepositions
    is_plain = word.isalpha() and clause.tokens[n].raw.islower() and word not in own.words["small"]
    follows = any(token.word in prepositions for token in clause.tokens[n + 1 : n + 2])
    return is_plain and (word.endswith(("s", "ed")) or follows)

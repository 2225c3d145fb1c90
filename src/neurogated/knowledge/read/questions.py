"""Questions in the order of statements, so that the wordings of statements fit them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from neurogated.knowledge.read.clauses import ASKED, Clause
from neurogated.knowledge.read.wordings import Language


def as_statement(clause: Clause, own: Language) -> Clause:
    """Return a question in the order of a statement: "where do I live" as "I do live where"."""
    if not own.has_spaces:
        return clause
    return _with_auxiliary(clause, own) if own.words["inverted"] else _with_any_verb(clause, own)


def _with_auxiliary(clause: Clause, own: Language) -> Clause:
    """Put the subject of "do I live" first."""
    tokens, words = clause.tokens, own.words
    if tokens[0].word not in words["questions"] | words["inverted"] | words["prepositions"]:
        return clause
    verb = next((n for n, token in enumerate(tokens) if token.word in words["inverted"]), len(tokens) - 1)
    rest = range(verb + 1, len(tokens))
    end = next((n for n in rest if n > verb + 1 and tokens[n].word in own.finite - {"'s"}), len(tokens))
    if tokens[verb + 1 : verb + 2] and tokens[verb + 1].word in words["me"] | words["third"]:
        end = verb + 2
    return _ordered(clause, [*range(verb + 1, end), verb, *range(end, len(tokens))], range(verb))


def _with_any_verb(clause: Clause, own: Language) -> Clause:
    """Put the subject of "wohne ich", "vive mi hermana" or "où j'habite" first."""
    tokens, words = clause.tokens, own.words
    start = _start(clause, own)
    if tokens[start].word not in words["questions"] | own.finite | words["prepositions"]:
        return clause
    verb = next((n for n in range(start, len(tokens)) if tokens[n].word in own.finite), len(tokens) - 1)
    leads = words["me"] | words["third"] | words["mine"] | words["theirs"]
    begin = next((n for n in range(start + 1, verb) if tokens[n].word in leads), verb)
    end = verb + 1
    if begin == verb:
        end = _end_of_subject(clause, verb, own)
    asked, rest = range(start, begin), range(end, len(tokens))
    subject = [*range(begin, verb), *range(verb + 1, end), verb]
    if ["{s}", "R", "V"] in own.orders:
        return _ordered(clause, subject, asked, rest)
    return _ordered(clause, [*subject, *rest], asked)


def _start(clause: Clause, own: Language) -> int:
    """Return where a question begins after words such as "do you remember"."""
    words = [token.word for token in clause.tokens]
    asking = (n for n, word in enumerate(words) if word in own.words["questions"])
    begin = next((n for n in asking if not own.finite.isdisjoint(words[n + 1 :])), 0)
    return begin - 1 if begin and words[begin - 1] in own.words["prepositions"] else begin


def _end_of_subject(clause: Clause, verb: int, own: Language) -> int:
    """Return the place after a subject that follows its verb; the place after the verb if none does."""
    tokens, words = clause.tokens, own.words
    if tokens[verb + 1 : verb + 2] and tokens[verb + 1].word in words["me"] | words["third"]:
        return verb + 2
    for n in range(verb + 1, len(tokens)):
        inside = words["inside"] if n > verb + 1 else frozenset()
        if clause.labels[n] or tokens[n].word in own.predicates | words["prepositions"] - inside:
            return n
    return len(tokens)


def _ordered(clause: Clause, first: Iterable[int], asked: range, rest: Iterable[int] = ()) -> Clause:
    """Return a clause with its words in another order, and the words that ask labelled."""
    order = [*first, *asked, *rest]
    labels = [ASKED if n in asked else clause.labels[n] for n in order]
    return replace(clause, tokens=[clause.tokens[n] for n in order], labels=labels)

"""Rules over the aligned words of two statements: negation, opposites, numbers, times, roles, values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import product

from neurogated.core.judgements import Relation
from neurogated.knowledge import cues
from neurogated.knowledge.alignment import Alignment, is_inflected, is_swapped
from neurogated.knowledge.exclusive import Exclusiveness, is_membership
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.specificity import fit_together
from neurogated.knowledge.statement import Statement, differ_in_owner
from neurogated.knowledge.tokens import Token
from neurogated.knowledge.verdicts import conflict, duplicate, independent, refinement
from neurogated.knowledge.word_relations import word_relations

__all__ = ["Guards"]

_MISSING, _MOST_MISSING, _ALIKE = 0.2, 0.5, 0.55
"""Share of the words of a denial that the other statement may lack, and the share for texts of at least this cosine."""
_SAME_WORDS, _SAME_THINGS, _WHOLE = 0.45, 0.65, 0.9
"""Cosine of "there is no …" and of what it excludes: in other words, with other things, where the denial says more."""
_FEW = 3
"""Tokens of a statement in which one common word is enough."""
_CLOSE, _NEAR_THINGS = 0.5, 0.75
_NEAR_WORDS, _NEAR_TEXTS = 0.55, 0.86
_BESIDES = 2.0
"""Words of a statement for each word that its denial shares with it."""
_SOME = re.compile(
    r"\W*(?:an?|some|few|several|two|three|four|five|many|ein|eine|einige|un|una|unos|unas|une|des|一)\b", re.IGNORECASE
)
_NOTHING = re.compile(
    r"\W*(?:(?P<thing>(?:there (?:is|are|was|were) )?(?:no|not an?|not any)\b)|nobody\b|none\b)", re.IGNORECASE
)
_INDEFINITE = re.compile(r"\b(?:an?|some|ein|eine[mnr]?|una?|une)\s+(?:\w+\s+){0,2}$", re.IGNORECASE)
_WORD_AFTER = re.compile(r"\s+(?:and\s+)?(?!(?:in|on|at|and|or|to|from|with|by|the|of|is)\b)\w")
_ACTIVITY = re.compile(r"\b(?!during|according)\w{2,}ing\b", re.IGNORECASE)
_ENDS_WITH_COPULA = re.compile(r"(?:\b(?:is|are|was|were|ist|sind|war|es|son|está|est|sont)|是)\W*$", re.IGNORECASE)

Guard = Callable[[Statement, Statement, Alignment], Relation | None]


class Guards:
    """The guards, in the order in which the judge asks them."""

    def __init__(self, meanings: Meanings, exclusive: Exclusiveness) -> None:
        self._meanings = meanings
        self._exclusive = exclusive
        self.in_order: tuple[Guard, ...] = (
            self.negation,
            self.opposites,
            self.numbers,
            self.times,
            self.roles,
            self.value,
            self.sameness,
        )

    def negation(self, one: Statement, other: Statement, found: Alignment) -> Relation | None:
        """Judge a pair of which one is denied."""
        if one.is_negated == other.is_negated:
            return None
        left, right = found.rest()
        denied, rest = (left, right) if one.is_negated else (right, left)
        opposed = self._opposed(denied, rest, one.language)
        if opposed is not None:
            if not [t for t in denied if t is not opposed[0]] and not [t for t in rest if t is not opposed[1]]:
                return duplicate("One denies the opposite of the other.")
            return independent("One denies the opposite of the other.")
        denial, said = (one, other) if one.is_negated else (other, one)
        missing = [t for t in denied if not any(self._is_form(t, each, one.language) for each in rest)]
        narrower = "broader" if other.is_negated else "narrower"
        missing += [pair.second if other.is_negated else pair.first for pair in found.pairs if pair.how == narrower]
        has_swapped = one.is_passive == other.is_passive and is_swapped(found)
        if (
            has_swapped
            or any(not t.is_plain or t.is_name for t in missing)
            or not self._covers(denial, said, missing, rest)
        ):
            return independent("The denied statement says something else.")
        denies_all = _NOTHING.match(denial.frame) and not missing
        if not denies_all and _size(rest) > _BESIDES * max(1, found.matched) + len(denied):
            return independent("The denied statement is only a small part of the other.")
        return conflict(one, other, "One denies the other.", sure=not missing)

    def opposites(  # noqa: PLR0911 - rules in order
        self, one: Statement, other: Statement, found: Alignment
    ) -> Relation | None:
        """Judge a pair that differs in two opposite words."""
        left, right = found.rest()
        opposed = self._opposed(left, right, one.language)
        if opposed is None:
            return None
        first, second = opposed
        others = [t for t in left if t is not first], [t for t in right if t is not second]
        if (
            min(map(len, others))
            or _size(others[0]) + _size(others[1]) > 1 + found.matched * _MISSING
            or not found.pairs
        ):
            return independent("Opposite words are said of different things.")
        if one.is_negated and other.is_negated:
            return independent("Each denies one of two opposites.")
        if all(_SOME.match(s.frame) for s in (one, other)) and all(_ACTIVITY.fullmatch(t.word) for t in opposed):
            return independent("Two unknown persons or things can do opposite things.")
        if {first.key, second.key} <= cues.CONVERSE and not _are_states(first, second):
            return independent("One action can follow the other.")
        if _is_of_something(one, first) and _is_of_something(other, second):
            return independent("The opposite words describe two things.")
        if self._is_attribute(one, first, found) and self._is_attribute(other, second, found):
            return independent("The opposite words tell two things apart.")
        return conflict(
            one, other, f"“{first.word}” and “{second.word}” exclude each other.", sure=not sum(map(len, others))
        )

    def _opposed(self, left: list[Token], right: list[Token], language: str) -> tuple[Token, Token] | None:
        return next(
            (
                (one, other)
                for one in left
                for other in right
                if one.is_plain and other.is_plain and self._meanings.are_opposite(one, other, language)
            ),
            None,
        )

    @staticmethod
    def _is_attribute(statement: Statement, token: Token, found: Alignment) -> bool:
        """Return whether a word before the verb tells which thing is meant, as in "the left door"."""
        following = [t for t in statement.tokens if t.begin > token.begin]
        return not token.after_verb and not token.is_verb and bool(found.pairs) and any(t.after_verb for t in following)

    def numbers(self, one: Statement, other: Statement, found: Alignment) -> Relation | None:
        """Judge a pair that differs in a number."""
        left, right = found.rest()
        numbers = [t for t in left if t.quantity], [t for t in right if t.quantity]
        if len(numbers[0]) != 1 or len(numbers[1]) != 1:
            return None
        first, second = numbers[0][0], numbers[1][0]
        if first.quantity is None or second.quantity is None:
            return None
        others = [t for t in left if t is not first], [t for t in right if t is not second]
        if min(map(len, others)):
            return independent("They differ in more than a number.")
        if not first.quantity.fits(second.quantity):
            return independent("The numbers measure different things.")
        if not (first.after_verb or second.after_verb) or not found.pairs:
            return independent("The numbers belong to different things.")
        return conflict(
            one, other, f"They say {first.word} and {second.word} of the same.", sure=not sum(map(len, others))
        )

    def times(self, one: Statement, other: Statement, found: Alignment) -> Relation | None:
        """Judge a pair that differs in a time."""
        left, right = found.rest()
        moments = [t for t in left if t.moment], [t for t in right if t.moment]
        if not all(moments):
            return None
        others = [t for t in left if not t.moment], [t for t in right if not t.moment]
        if any(others) or not found.pairs:
            return independent("They speak of different times.")
        first, second = moments[0][0], moments[1][0]
        phrase = one.frame[: first.begin] + f" {first.role}"
        has_person = any(t.is_person_word or t.is_name for t in one.tokens) and not one.is_definite
        if (has_person and not self._exclusive.holds(phrase.strip(), one.language)) or (
            not first.after_verb and has_person
        ):
            return independent("It can have happened at both times.")
        return conflict(one, other, f"They say {first.word} and {second.word} of the same event.", sure=True)

    def roles(self, one: Statement, other: Statement, found: Alignment) -> Relation | None:
        """Judge a pair with the same words in other roles."""
        left, right = found.rest()
        if left or right:
            return None
        for pair in found.pairs:
            if frozenset({pair.first.role, pair.second.role}) in cues.OPPOSED_ROLES:
                return conflict(one, other, f"“{pair.first.role}” and “{pair.second.role}” exclude each other.")
        if not is_swapped(found) or any(cues.RECIPROCAL.search(s.text) or _SOME.match(s.frame) for s in (one, other)):
            return None
        if one.language != "zh" and not all(_is_known(statement) for statement in (one, other)):
            return None
        if one.is_passive != other.is_passive or differ_in_owner(one, other):
            return None
        return conflict(one, other, "They give the same persons or things opposite roles.")

    def value(  # noqa: C901, PLR0911 - rules in order
        self, one: Statement, other: Statement, found: Alignment
    ) -> Relation | None:
        """Judge a pair that differs in one phrase each."""
        left, right = found.rest()
        if not left or not right or not all(t.is_plain for t in (*left, *right)) or not found.pairs:
            return None
        if not (_adjacent(left, one) and _adjacent(right, other)):
            return None
        if one.is_negated and other.is_negated:
            return independent("Each denies something else.")
        if (left[0].is_verb and right[0].is_verb) or all(t.key in cues.LIGHT for t in (*left, *right)):
            return None
        if not all(t[0].after_verb or t[0].role for t in (left, right)):
            return independent("They are about different things.")
        values = [
            statement.frame[t[0].begin : t[-1].begin + len(t[-1].word)]
            for statement, t in ((one, left), (other, right))
        ]
        phrase = one.frame[: left[0].begin].strip()
        is_sibling = len(left) == len(right) == 1 and self._meanings.are_siblings(left[0], right[0], one.language)
        if is_sibling and _ENDS_WITH_COPULA.search(phrase):
            return conflict(one, other, f"“{values[0]}” and “{values[1]}” exclude each other.", sure=True)
        phrases = [phrase, other.frame[: right[0].begin].strip()]
        if any(_SOME.match(s.frame) for s in (one, other)) or any(
            _ACTIVITY.search(text) for text in (*phrases, *values)
        ):
            return None
        heads = _head(left[-1], one), _head(right[-1], other)
        if any(is_membership(each, heads) for each in phrases):
            return independent("One can belong to several groups.")
        if found.matched and all(phrases) and any(self._exclusive.holds(each, one.language) for each in phrases):
            if fit_together(values[0], values[1], self._meanings):
                return refinement(f"“{values[1]}” and “{values[0]}” fit together.")
            return conflict(
                one, other, f"“{phrase}” has one value at a time, and they name {values[0]} and {values[1]}."
            )
        return None

    def sameness(self, one: Statement, other: Statement, found: Alignment) -> Relation | None:  # noqa: PLR0911 - rules in order
        """Judge a pair that says the same, or of which one says more."""
        left, right = found.rest()
        if one.quantifier != other.quantifier:
            return independent("They speak of different numbers of things.")
        hows = {pair.how for pair in found.pairs}
        if not left and not right:
            if hows & {"broader", "narrower"}:
                return refinement("One uses a more exact word.")
            return duplicate("Both say the same.", sure=hows == {"same"})
        if all(t.key in cues.LIGHT for t in (*left, *right)):
            return duplicate("Both say the same.")
        if not left or not right:
            return (
                refinement("One says all that the other says, and more.")
                if found.matched > 1 or len(one.tokens) < _FEW
                else None
            )
        if (
            one.language != "en"
            or any(not t.is_plain or t.is_name for t in (*left, *right))
            or hows - {"same", "synonym"}
        ):
            return None
        near = all(any(self._are_near(t, u, _NEAR_WORDS) for u in right) for t in left)
        if near and self._meanings.cosine(one.text, other.text) >= _NEAR_TEXTS:
            return duplicate("Both say the same in other words.")
        return None

    def _covers(self, denial: Statement, said: Statement, missing: list[Token], rest: list[Token]) -> bool:
        """Return whether a denial excludes a statement that lacks some of its words."""
        if not missing:
            return True
        nothing = _NOTHING.match(denial.frame)
        likeness = self._meanings.cosine(*(" ".join(t.word for t in each.tokens) for each in (denial, said)))
        if nothing is not None and likeness and denial.language == "en":
            return self._excludes_all(denial, said, (missing, rest), likeness, of_thing=bool(nothing["thing"]))
        if _names_another(missing, rest):
            return False
        share = _size(missing) / _size(t for t in denial.tokens if not t.is_person_word)
        if nothing is None and _SOME.match(said.frame):
            return share <= _MISSING and likeness >= _WHOLE
        is_alike = denial.language == "en" and self._meanings.cosine(denial.text, said.text) >= _ALIKE
        return share <= (_MOST_MISSING if is_alike else _MISSING)

    @staticmethod
    def _excludes_all(
        denial: Statement, said: Statement, differ: tuple[list[Token], list[Token]], likeness: float, *, of_thing: bool
    ) -> bool:
        """Return whether "there is no …" or "nobody …" excludes a statement, given the words that differ."""
        missing, rest = differ
        if of_thing and denial.tokens[0] in missing and said.tokens[0] in rest:
            return False
        if not _names_another(missing, rest):
            return likeness >= (_SAME_WORDS if rest else _WHOLE)
        return len(missing) > 1 and likeness >= _SAME_THINGS and not _names_another(missing, rest, of_one_class=True)

    def _is_form(self, one: Token, other: Token, language: str) -> bool:
        """Return whether two words are forms of one or near in meaning, of which a denial may use either."""
        is_word = language == "en" and one.is_plain and other.is_plain and not (one.is_name or other.is_name)
        return is_inflected(one, other, language) or (
            is_word and (self._are_near(one, other, _CLOSE) or self._are_near_things(one, other))
        )

    def _are_near_things(self, one: Token, other: Token) -> bool:
        """Return whether two words name almost the same, as "lawn" and "grass" do, unlike "tea" and "coffee"."""
        is_near = self._meanings.cosine(one.word, other.word) >= _NEAR_THINGS
        return is_near and not word_relations().are_siblings(one.word, other.word)

    def _are_near(self, one: Token, other: Token, least: float) -> bool:
        """Return whether two words can stand for each other; nouns that are no synonyms name different things."""
        relations = word_relations()
        are_nouns = all(relations.is_noun(t.word) or not relations.forms(t.word) for t in (one, other))
        are_verbs = one.is_verb and other.is_verb
        return (are_verbs or not are_nouns) and self._meanings.cosine(one.word, other.word) >= least


def _names_another(missing: Iterable[Token], rest: Iterable[Token], *, of_one_class: bool = False) -> bool:
    """Return whether a denial names a thing where the other statement names another one, or one of its class."""
    relations = word_relations()

    def is_action(token: Token) -> bool:
        is_form = token.word.endswith("ing") or not relations.is_noun(token.word)
        return token.is_verb or (is_form and relations.is_verb(token.word))

    things = [[t for t in tokens if not is_action(t)] for tokens in (missing, rest)]
    pairs = [
        pair for pair in product(*things) if pair[0].role == pair[1].role and pair[0].after_verb == pair[1].after_verb
    ]
    return any(not of_one_class or relations.are_siblings(t.word, u.word) for t, u in pairs)


def _is_known(statement: Statement) -> bool:
    """Return whether a statement is about a known thing, by an article, a pronoun or a name."""
    return statement.is_definite or any(t.is_name or t.is_person_word for t in statement.tokens)


def _is_of_something(statement: Statement, token: Token) -> bool:
    """Return whether a word describes a thing that is not known, as in "a big dog"."""
    before, after = statement.frame[: token.begin], statement.frame[token.begin + len(token.word) :]
    return bool(_INDEFINITE.search(before)) and bool(_WORD_AFTER.match(after))


def _head(token: Token, statement: Statement) -> str:
    """Return the last word of the phrase of a word."""
    following = (t for t in statement.tokens if t.begin == token.begin + len(token.word) + 1 and t.is_plain)
    return token.word if (after := next(following, None)) is None else _head(after, statement)


def _are_states(*words: Token) -> bool:
    """Return whether words describe after an auxiliary verb, as in "is open"; an activity does not."""
    return all(word.after_verb and not word.is_verb and not _ACTIVITY.fullmatch(word.word) for word in words)


def _size(tokens: Iterable[Token]) -> int:
    """Return the number of words, or of characters in a script without spaces."""
    return sum(len(t.word) if t.is_plain and "\u3400" <= t.word[0] <= "\u9fff" else 1 for t in tokens)


def _adjacent(tokens: list[Token], statement: Statement) -> bool:
    """Return whether no other word that carries meaning stands between words."""
    begin, end = tokens[0].begin, tokens[-1].begin
    is_one_part = len({t.after_verb for t in tokens}) == 1
    return is_one_part and sum(begin <= t.begin <= end for t in statement.tokens) == len(tokens)

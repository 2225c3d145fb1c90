"""Which words of two statements say the same, and which remain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from difflib import SequenceMatcher
from itertools import combinations

from neurogated.knowledge import cues
from neurogated.knowledge.clauses import relatives_in
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.statement import Statement, differ_in_day
from neurogated.knowledge.tokens import Token

__all__ = ["Alignment", "Pair", "align", "both_true", "is_inflected", "is_swapped"]

_LEAST_STEM = 5
_LEAST_PREFIX = 3
_INFLECTED = 0.6
_PLURAL = "sn"
_LONGEST = 60
"""Words of a statement that are aligned one by one."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two words that say the same, or of which one says more."""

    first: Token
    second: Token
    how: str = "same"
    """same, synonym, broader (the first is) or narrower."""


@dataclass(slots=True)
class Alignment:
    """The pairs of words of two statements, and the words without a partner."""

    pairs: list[Pair] = field(default_factory=list)
    left: list[Token] = field(default_factory=list)
    right: list[Token] = field(default_factory=list)

    @property
    def matched(self) -> int:
        """Number of pairs that are no pronouns."""
        return sum(not pair.first.is_person_word for pair in self.pairs)

    @property
    def differs_in_person(self) -> bool:
        """Return whether each statement has a pronoun that the other lacks."""
        return any(token.is_person_word for token in self.left) and any(token.is_person_word for token in self.right)

    def rest(self) -> tuple[list[Token], list[Token]]:
        """Return the words without a partner, except pronouns."""
        return [t for t in self.left if not t.is_person_word], [t for t in self.right if not t.is_person_word]


def align(first: Statement, second: Statement, meanings: Meanings) -> Alignment:
    """Pair the words of two statements: equal ones, then synonyms, then a word with a broader one."""
    found = Alignment(left=list(first.tokens[:_LONGEST]), right=list(second.tokens[:_LONGEST]))
    if first.language == second.language == "zh":
        _align_characters(found)
    language = first.language if first.language == second.language else ""
    _pair(found, "same", lambda one, other: one.key == other.key)
    _pair(found, "same", _are_equal)
    _pair(found, "synonym", _are_derived)
    _pair(found, "synonym", lambda one, other: _is_verb_form(one, other, language))
    if language:
        _pair(found, "synonym", lambda one, other: _is_word(one, other) and meanings.are_synonyms(one, other, language))
        _pair(found, "broader", lambda one, other: _says_less(one, other, meanings, language))
        _pair(found, "narrower", lambda one, other: _says_less(other, one, meanings, language))
    return found


def _is_word(one: Token, other: Token) -> bool:
    return one.is_plain and other.is_plain


def _are_equal(one: Token, other: Token) -> bool:
    if one.quantity is not None and other.quantity is not None:
        return one.quantity.equals(other.quantity)
    return one.moment is not None and one.moment == other.moment


def _is_verb_form(one: Token, other: Token, language: str) -> bool:
    return not (one.after_verb or other.after_verb) and is_inflected(one, other, language)


def _are_derived(one: Token, other: Token) -> bool:
    """Return whether one stem is the other with one letter more, as in "allergic" and "allergy"."""
    short, long = sorted((one.key, other.key), key=len)
    return (
        _is_word(one, other) and len(short) >= _LEAST_STEM and long[:-1] == short and not (one.is_name or other.is_name)
    )


def is_inflected(one: Token, other: Token, language: str) -> bool:
    """Return whether two words look like forms of one, in languages without a lexicon."""
    if language in {"", "en", "zh"} or not _is_word(one, other) or one.word[:-1] == other.word[:-1]:
        return False
    is_begun = one.word[:_LEAST_PREFIX] == other.word[:_LEAST_PREFIX]
    return is_begun and SequenceMatcher(None, one.word, other.word).ratio() >= _INFLECTED


def _says_less(one: Token, other: Token, meanings: Meanings, language: str) -> bool:
    if one.quantity is not None and other.quantity is not None:
        return one.quantity.admits(other.quantity)
    if one.moment is not None and other.moment is not None:
        return one.moment.holds(other.moment)
    if not _is_word(one, other) or meanings.are_opposite(one, other, language):
        return False
    return meanings.is_broader(one, other, language)


def _pair(found: Alignment, how: str, fits: Callable[[Token, Token], bool]) -> None:
    """Move the words that fit from the rest to the pairs; of several partners, prefer an equal role, then the order."""
    for one in list(found.left):
        partners = [other for other in found.right if fits(one, other)]
        if partners:
            other = min(partners, key=lambda each: (each.role != one.role, found.right.index(each)))
            found.left.remove(one)
            found.right.remove(other)
            found.pairs.append(Pair(one, other, how))


def _align_characters(found: Alignment) -> None:
    """Pair equal runs of characters, and join the characters between them to words."""
    matcher = SequenceMatcher(None, [t.key for t in found.left], [t.key for t in found.right], autojunk=False)
    left, right, pairs = found.left, found.right, []
    used_left, used_right = set[int](), set[int]()
    for a, b, size in matcher.get_matching_blocks():
        for n in range(size):
            pairs.append(Pair(left[a + n], right[b + n]))
            used_left.add(a + n)
            used_right.add(b + n)
    found.pairs = pairs
    found.left = _joined([None if n in used_left else token for n, token in enumerate(left)])
    found.right = _joined([None if n in used_right else token for n, token in enumerate(right)])


def _joined(tokens: Sequence[Token | None]) -> list[Token]:
    words: list[Token] = []
    was_open = False
    for token in tokens:
        if token is None or not token.is_plain:
            was_open = False
            if token is not None:
                words.append(token)
        elif was_open:
            last = words[-1]
            words[-1] = replace(last, word=last.word + token.word, key=last.key + token.key)
        else:
            words.append(token)
            was_open = True
    return words


def is_swapped(found: Alignment) -> bool:
    """Return whether two words changed places around a third, or exchanged their prepositions."""
    pairs = [pair for pair in found.pairs if not _is_subject(pair)]
    pairs.sort(key=lambda pair: pair.first.begin)
    for one, other in combinations(pairs, 2):
        if one.first.role and other.first.role and _exchanged(one, other):
            return True
    for n, one in enumerate(pairs):
        for m in range(n + 2, len(pairs)):
            other = pairs[m]
            low, high = other.second.begin, one.second.begin
            if low < high and any(low < middle.second.begin < high for middle in pairs[n + 1 : m]):
                return True
    return False


def _is_subject(pair: Pair) -> bool:
    """Return whether a pronoun is the subject of both statements, wherever it stands."""
    return pair.first.word == pair.second.word and pair.first.word in cues.SUBJECTS


def _exchanged(one: Pair, other: Pair) -> bool:
    return (
        one.first.role == other.second.role
        and one.second.role == other.first.role
        and one.first.role != other.first.role
    )


def both_true(one: Statement, other: Statement, found: Alignment) -> str | None:
    """Return why two statements that seem to contradict each other can both be true; None if they cannot."""
    if any(cues.ADDED.search(each.text) for each in (one, other)):
        return "One of them tells of a further thing."
    if differ_in_day(one, other):
        return "They name days by their distance, and were said on different days."
    words = [(pair.first.word, pair.second.word) for pair in found.pairs if pair.how == "same"]
    if any(relatives_in(first) and first.rstrip(_PLURAL) != second.rstrip(_PLURAL) for first, second in words):
        return "They are about different persons." if one.language != "en" else None
    return None

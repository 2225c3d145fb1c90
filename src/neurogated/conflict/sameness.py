"""Small words and forms that keep two statements apart which otherwise have the same words."""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping

from neurogated.conflict import cues
from neurogated.conflict.alignment import Alignment, Pair, is_swapped
from neurogated.conflict.forms import FORMS
from neurogated.conflict.statement import Statement, differ_in_day, differ_in_owner
from neurogated.conflict.tokens import WORD, Token
from neurogated.conflict.word_relations import word_relations
from neurogated.core.packaged import packaged_json
from neurogated.core.words import words_of

__all__ = ["difference"]

_PAST = {
    "en": words_of("was were did had wasn't weren't didn't hadn't"),
    "de": words_of("war waren hatte hatten"),
    "es": words_of("era eran estaba estaban fue fueron había tenía"),
    "fr": words_of("était étaient avait avaient"),
}
_PRESENT = {
    "en": words_of("is are am 'm 're does do isn't aren't don't doesn't"),
    "de": words_of("ist sind bin habe hat haben"),
    "es": words_of("es son está están soy estoy hay tiene tengo"),
    "fr": words_of("est sont suis a ont ai"),
}
_PERFECT = {
    "en": words_of("been being got has have 've"),
    "de": words_of("worden gewesen gehabt"),
    "es": words_of("ha han he sido estado"),
    "fr": words_of("été eu"),
}
"""Helping verbs of tenses that are near the past and the present."""
_PASSIVE = words_of("is are am")
_OWNED = re.compile(
    r"\b(?:have|has)(?= (?:an?|the|no|my|your|his|her|our|their|some|one|two|three|\d+)\b)", re.IGNORECASE
)
_PARTICIPLE = re.compile(r"\bge\w+(?:t|en)\b")
_JOINED = re.compile(r"\b(?:and|or|und|oder|y|o|et|ou)\b|[和与]", re.IGNORECASE)
_PRETERITE = "te"
_ACTIONS = {
    "have": "have",
    "get": "have",
    "own": "have",
    "posse": "have",
    "make": "make",
    "do": "make",
    "take": "take",
    **dict.fromkeys(("live", "resid", "dwell", "wohn", "leb", "viv", "habit"), "live"),
    **dict.fromkeys(("work", "arbeit", "trabaj", "travaill"), "work"),
}
"""The action that a light verb means, by its stem."""
_APART = frozenset({"to", "from", "by", "before", "after", "without", "against", "above", "below", "until", "since"})
_DEGREES = ("er", "est")
_NOUN_ENDINGS = ("ing", "ee", "ity")
_FUTURE = frozenset({"will", "'ll", "shall"})


def difference(one: Statement, other: Statement, found: Alignment) -> str | None:
    """Return why two statements with the same words do not say the same; None if they do."""
    rules = (_days, _numbers, _small_words, _words_in_pairs, _actions, _tenses, _roles, *FORMS)
    return next(filter(None, (rule(one, other, found) for rule in rules)), None)


def _days(one: Statement, other: Statement, _: Alignment) -> str | None:
    if one.is_past != other.is_past:
        return "Only one of them is about the past."
    if one.window != other.window:
        return "They hold at different times."
    if differ_in_day(one, other):
        return "They name a day by its distance, and were said on different days."
    return None


def _numbers(one: Statement, other: Statement, found: Alignment) -> str | None:
    if all(_numbered(one, found, beside) != _numbered(other, found, beside) for beside in (-1, 1)):
        return "They say their numbers of different things."
    return None


def _small_words(one: Statement, other: Statement, _: Alignment) -> str | None:
    return "They differ in a small word." if _told(one) != _told(other) else None


def _words_in_pairs(one: Statement, other: Statement, found: Alignment) -> str | None:
    return next(filter(None, (_in_pair(pair, one, other) for pair in found.pairs)), None)


def _actions(_: Statement, __: Statement, found: Alignment) -> str | None:
    actions = [{_ACTIONS[token.key] for token in tokens if token.key in _ACTIONS} for tokens in found.rest()]
    return "They differ in a verb." if actions[0] - {"have"} != actions[1] - {"have"} else None


def _tenses(one: Statement, other: Statement, _: Alignment) -> str | None:
    tenses = {_tense(one), _tense(other)}
    return "They speak of different times." if len(tenses) > 1 and None not in tenses else None


def _roles(one: Statement, other: Statement, found: Alignment) -> str | None:
    """Return a reason if words or names have another order. Names in a list may have any order."""
    if (
        one.is_passive != other.is_passive
        or differ_in_owner(one, other)
        or any(pattern.search(each.text) for each in (one, other) for pattern in (_JOINED, cues.RECIPROCAL))
    ):
        return None
    pairs = [pair for pair in found.pairs if not pair.first.moment]
    names = [pair for pair in pairs if _is_name(pair.first, one) and _is_name(pair.second, other)]
    in_order = [sorted(names, key=lambda pair: pair.first.begin), sorted(names, key=lambda pair: pair.second.begin)]
    if in_order[0] != in_order[1] or is_swapped(Alignment(pairs)):
        return "They give the same persons or things other roles."
    return None


def _is_name(token: Token, statement: Statement) -> bool:
    is_noun = statement.language == "de" and statement.frame[token.begin : token.begin + 1].isupper()
    return not token.role and (token.is_name or (is_noun and token.is_plain))


def _numbered(statement: Statement, found: Alignment, beside: int) -> list[tuple[str, str]]:
    """Return pairs of a number and its neighbour: the word before it (-1) or after it (1). One number gives none."""
    keys = {}
    for pair in found.pairs:
        keys[pair.first.begin, pair.first.word] = keys[pair.second.begin, pair.second.word] = pair.first.key
    words = ["", *(keys.get((token.begin, token.word), token.key) for token in statement.tokens), ""]
    numbers = [n for n, token in enumerate(statement.tokens, 1) if token.quantity is not None]
    return sorted((words[n], words[n + beside]) for n in numbers) if len(numbers) > 1 else []


@functools.cache
def _telling() -> tuple[tuple[str, ...], Mapping[str, int]]:
    """Return the small words that change a statement: Chinese ones, and others by number. Synonyms share one."""
    data = packaged_json(__package__, "small_words.json")
    return tuple(data["telling_han"]), {word: n for n, words in enumerate(data["telling"]) for word in words}


def _told(statement: Statement) -> frozenset[object]:
    telling = _telling()
    if statement.language == "zh":
        return frozenset(word for word in telling[0] if word in statement.frame)
    words = _words(statement)
    if any(
        token.moment is not None or (token.quantity is not None and token.role == "in") for token in statement.tokens
    ):
        # "It expires tomorrow" says that it will.
        words -= _FUTURE
    return frozenset(telling[1][word] for word in words if word in telling[1])


def _in_pair(pair: Pair, one: Statement, other: Statement) -> str | None:
    first, second = pair.first, pair.second
    reason = None
    if first.role and second.role and first.role != second.role and {first.role, second.role} & _APART:
        reason = f"“{first.role}” and “{second.role}” differ."
    elif first.word == second.word or not (first.is_plain and second.is_plain):
        reason = None
    elif first.is_name and second.is_name:
        reason = f"“{first.word}” and “{second.word}” are two names."
    elif one.language == "de" and not _same_ending(first.word, second.word):
        reason = "They speak of different times."
    elif one.language == "en" and pair.how == "same":
        is_subject = first.begin == next((t.begin for t in one.tokens if not t.is_person_word), None)
        if _is_plural(first, second, is_subject=is_subject) or _is_plural(second, first, is_subject=is_subject):
            reason = f"“{first.word}” and “{second.word}” differ in number."
        elif _are_two_nouns(first, second):
            reason = f"“{first.word}” and “{second.word}” are two things."
        elif _degree(first) != _degree(second):
            reason = f"“{first.word}” and “{second.word}” differ in degree."
        elif _is_past(first, one) != _is_past(second, other) and word_relations().is_verb(first.word):
            reason = "They speak of different times."
    return reason


def _tense(statement: Statement) -> str | None:
    """Return past or present by the helping verbs of a statement; None if they do not tell."""
    language, words = statement.language, _words(statement)
    if language not in _PAST or (language == "de" and _PARTICIPLE.search(statement.frame)):
        return None
    past, present, perfect = (words & group[language] for group in (_PAST, _PRESENT, _PERFECT))
    if language == "en" and _OWNED.search(statement.frame):
        present, perfect = present | perfect, frozenset()
    if past and not present:
        return "past"
    return "present" if present and not (past or perfect) else None


def _words(statement: Statement) -> frozenset[str]:
    words = {match[0].lower().replace("’", "'").strip(".:'") for match in WORD.finditer(statement.frame)}
    return frozenset(part for word in words for part in (word, *(f"'{end}" for end in word.split("'")[1:])))


def _same_ending(first: str, second: str) -> bool:
    """Return whether neither or both of two German forms of a verb have the ending of the past."""
    differing = (n for n, (one, other) in enumerate(zip(first, second, strict=False)) if one != other)
    begin = next(differing, min(len(first), len(second)))
    return first.startswith(_PRETERITE, begin) == second.startswith(_PRETERITE, begin)


def _is_plural(token: Token, other: Token, *, is_subject: bool) -> bool:
    """Return whether a word is the plural of another one, and no form of a verb."""
    relations = word_relations()
    if not relations.is_noun(other.word):
        return False
    if token.word in {f"{other.word}s", f"{other.word}es", f"{other.word.removesuffix('y')}ies"}:
        return is_subject or not (token.is_verb and other.is_verb)
    is_irregular = relations.base(token.word) == other.word != token.word
    return is_irregular and not relations.is_verb(token.word)


def _are_two_nouns(first: Token, second: Token) -> bool:
    """Return whether two words with one stem are different nouns, such as "market" and "marketing"."""
    relations = word_relations()
    if not (relations.is_noun(first.word) and relations.is_noun(second.word)):
        return False
    return first.word.endswith(_NOUN_ENDINGS) != second.word.endswith(_NOUN_ENDINGS)


def _degree(token: Token) -> str:
    base = word_relations().base(token.word)
    return next((end for end in _DEGREES if token.word.endswith(end) and not base.endswith(end)), "")


def _is_past(token: Token, statement: Statement) -> bool:
    """Return whether a verb has its past form, or a helper of it."""
    words = _words(statement)
    if words & (_PAST["en"] | _PERFECT["en"]):
        return True
    # "is rated" is the passive voice of the present.
    return word_relations().is_past(token.word) and not words & _PASSIVE

"""Small words and forms that keep two statements apart which otherwise have the same words."""

from __future__ import annotations

from neurogated.conflict.alignment import Alignment, Pair
from neurogated.conflict.statement import Statement
from neurogated.conflict.tokens import WORD, Token
from neurogated.conflict.word_relations import word_relations

__all__ = ["difference"]

_TELLING = """
    can can't cannot could couldn't able unable kann kannst können konnte konnten puede pueden puedo podemos peut peuvent peux
    may might möglicherweise vielleicht quizá quizás
    should shouldn't ought sollte sollten soll debería deberían devrait
    must mustn't need needs muss müssen musste debe deben doit doivent
    only solely nur bloß solo sólo solamente únicamente seulement
    almost nearly beinahe casi presque
    hardly barely kaum apenas
    more mehr más plus
    most meisten
    few fewer less weniger menos moins
    other another else andere anderen anderer anderes otro otra otros otras autre autres
    again once wieder
    same gleichen selben
    up
    down
    off
    out
    over
    under
    if wenn falls ob si
    who wer quién qui
    what qué quoi
    why warum wieso weshalb porque pourquoi
    where wo dónde où
    when wann cuándo quand
    how wie cómo comment
    without ohne sin sans
    kommt
    geht
    macht
    gibt
    viel muy très sehr
"""
_NAME_OF = {word: n for n, line in enumerate(_TELLING.strip().splitlines()) for word in line.split()}
_HAN_TELLING = (
    "能",
    "会",
    "可以",
    "应该",
    "必须",
    "可能",
    "只",
    "几乎",
    "更",
    "最",
    "又",
    "再",
    "前",
    "后",
    "上",
    "下",
    "来",
    "去",
    "里",
    "外",
)
_PAST_HELPERS = frozenset({"was", "were", "did", "had", "have", "has", "been", "being", "'ve", "got", "didn't"})
_ACTIONS = {"have": "have", "get": "have", "own": "have", "posse": "have", "make": "make", "do": "make", "take": "take"}
"""The action that a light verb means, by its stem."""
_APART = frozenset({"to", "from", "by", "before", "after", "without", "against", "above", "below", "until", "since"})
_DEGREES = ("er", "est")


def difference(one: Statement, other: Statement, found: Alignment) -> str | None:
    """Return why two statements with the same words do not say the same; None if they do."""
    if one.is_past != other.is_past:
        return "Only one of them is about the past."
    if one.asserted and other.asserted and one.asserted != other.asserted and _is_relative(one):
        return "They name a day by its distance, and were said on different days."
    if all(_numbered(one, found, beside) != _numbered(other, found, beside) for beside in (-1, 1)):
        return "They say their numbers of different things."
    if _small_words(one) != _small_words(other):
        return "They differ in a small word."
    for pair in found.pairs:
        if (reason := _in_pair(pair, one, other)) is not None:
            return reason
    actions = [{_ACTIONS[token.key] for token in tokens if token.key in _ACTIONS} for tokens in found.rest()]
    return "They differ in a verb." if all(actions) and actions[0] != actions[1] else None


def _numbered(statement: Statement, found: Alignment, beside: int) -> list[tuple[str, str]]:
    """Return each number with the word before it (-1) or after it (1), if the statement has several."""
    keys = {}
    for pair in found.pairs:
        keys[pair.first.begin, pair.first.word] = keys[pair.second.begin, pair.second.word] = pair.first.key
    words = ["", *(keys.get((token.begin, token.word), token.key) for token in statement.tokens), ""]
    numbers = [n for n, token in enumerate(statement.tokens, 1) if token.quantity is not None]
    return sorted((words[n], words[n + beside]) for n in numbers) if len(numbers) > 1 else []


def _is_relative(statement: Statement) -> bool:
    return any(token.moment is not None and token.moment.relative for token in statement.tokens)


def _small_words(statement: Statement) -> frozenset[object]:
    if statement.language == "zh":
        return frozenset(word for word in _HAN_TELLING if word in statement.frame)
    words = (match[0].lower().replace("’", "'").strip(".:'") for match in WORD.finditer(statement.frame))
    return frozenset(_NAME_OF[word] for word in words if word in _NAME_OF)


def _in_pair(pair: Pair, one: Statement, other: Statement) -> str | None:
    first, second = pair.first, pair.second
    if first.role and second.role and first.role != second.role and {first.role, second.role} & _APART:
        return f"“{first.role}” and “{second.role}” differ."
    if first.word == second.word or not (first.is_plain and second.is_plain):
        return None
    if first.is_name and second.is_name:
        return f"“{first.word}” and “{second.word}” are two names."
    if one.language != "en" or pair.how != "same":
        return None
    if _degree(first) != _degree(second):
        return f"“{first.word}” and “{second.word}” differ in degree."
    if _is_past(first, one) != _is_past(second, other) and word_relations().is_verb(first.word):
        return "They speak of different times."
    return None


def _degree(token: Token) -> str:
    base = word_relations().base(token.word)
    return next((end for end in _DEGREES if token.word.endswith(end) and not base.endswith(end)), "")


def _is_past(token: Token, statement: Statement) -> bool:
    """Return whether a verb has its past form, or a helper of it."""
    base = word_relations().base(token.word)
    is_past = token.word != base and not token.word.endswith(("ing", "s"))
    return is_past or bool(_helpers(statement))


def _helpers(statement: Statement) -> set[str]:
    words = {match[0].lower().replace("’", "'").strip(".:'") for match in WORD.finditer(statement.frame)}
    return {word for word in words if word in _PAST_HELPERS or word.endswith("'ve")}

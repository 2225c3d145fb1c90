"""Whether one value of an attribute says the same as another in more detail: "a bank", "Goldman Sachs"."""

from __future__ import annotations

import functools
import math
import re

import numpy as np
from numpy.typing import NDArray

from neurogated.core.packaged import packaged_json
from neurogated.knowledge import cues
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.statement import Statement, read_statement
from neurogated.knowledge.tokens import Token
from neurogated.knowledge.word_relations import word_relations
from neurogated.text.keywords import fold

__all__ = [
    "FEATURES",
    "are_apart",
    "certain",
    "coefficients",
    "detail",
    "features",
    "fit_together",
    "same_value",
    "value_kind",
]

_MOST_WORDS = 3
_DETAILED = 0.4
_INDEFINITE = re.compile(r"(?:a|an|some|ein|eine|einen|einer|un|una|une)\s", re.IGNORECASE)
_ADDED = re.compile(r"(?<=\w) (?:in|at|under|for|by|as of|of|with|on|bei|von|für|mit|de|por|para|con|chez|pour)(?= )|,")
_SPECIFIC = re.compile(r"(?<![a-z])\d|@|\b[A-ZÄÖÜ]{2,}\b|(?<!^)\b[A-ZÄÖÜ]\w|^[A-ZÄÖÜ]\w")
_DATE = re.compile(r"\d{4}(?:-\d\d){1,2}|(?:1[5-9]|20)\d\d")
_CODE = re.compile(r"[^A-Z]*\d\S*|\S+@\S+")
_AND = re.compile(r",? and |, ")
_WILD = re.compile(r"(?<=\d)\.[x*]\b", re.IGNORECASE)
FEATURES = ("words", "indefinite", "specific", "shared", "contained", "broader", "cosine", "added", "alike", "named")


def value_kind(value: str) -> str:
    """Return the kind of a value: date, number, address, code or words."""
    if _DATE.fullmatch(value.strip()):
        return "date"
    tokens = read_statement(value).tokens
    if any(token.moment is not None for token in tokens) and all(token.moment is not None for token in tokens):
        return "date"
    if tokens and tokens[0].quantity is not None and sum(token.quantity is None for token in tokens) <= 1:
        return "number"
    return "address" if "@" in value else "words"


def same_value(first: str, second: str) -> bool:
    """Return whether two values are equal except for case, spaces, and the way that numbers and dates are written."""
    one, other = (" ".join(fold(value).split()).strip(" .") for value in (first, second))
    if one == other:
        return True
    parts = [_AND.split(value) for value in (one, other)]
    if len(parts[0]) > 1 and sorted(parts[0]) == sorted(parts[1]):
        return True
    ours, theirs = read_statement(first), read_statement(second)
    if len(ours.tokens) != len(theirs.tokens) or not ours.tokens or ours.is_negated != theirs.is_negated:
        return False
    return all(_same_token(*pair) for pair in zip(ours.tokens, theirs.tokens, strict=True))


def _same_token(one: Token, other: Token) -> bool:
    if one.quantity is not None and other.quantity is not None:
        return one.quantity.equals(other.quantity)
    return one.key == other.key and frozenset({one.role, other.role}) not in cues.OPPOSED_ROLES


@functools.cache
def coefficients() -> tuple[NDArray[np.float64], float]:
    """Return the fitted weights of the features, and the bias."""
    data = packaged_json(__package__, "specificity.json")
    return np.array([data["weights"][name] for name in FEATURES]), float(data["bias"])


def detail(first: str, second: str, meanings: Meanings) -> float:
    """Return the probability that the second value says the same as the first in more detail."""
    if certain(first, second):
        return 1.0
    if are_apart(first, second, meanings):
        return 0.0
    if value_kind(first) == value_kind(second) != "words":
        moments = [[t.moment for t in read_statement(value).tokens if t.moment] for value in (first, second)]
        return float(any(one.holds(other) for one in moments[0] for other in moments[1]))
    weights, bias = coefficients()
    return 1.0 / (1.0 + math.exp(-(float(features(first, second, meanings) @ weights) + bias)))


def fit_together(first: str, second: str, meanings: Meanings) -> bool:
    """Return whether one of two values says the same as the other in more detail."""
    return max(detail(first, second, meanings), detail(second, first, meanings)) > _DETAILED


def certain(first: str, second: str) -> bool:
    """Return whether the second value lies within a bound, a version, a class or a place that the first names."""
    ours, theirs = read_statement(first), read_statement(second)
    is_inside = _is_broader(ours, theirs) > _is_broader(theirs, ours)
    words, parts = ({part for t in each.tokens for part in re.split("[-_/]", t.word)} for each in (ours, theirs))
    is_inside = is_inside or (bool(words) and words < parts and any("-" in token.word for token in theirs.tokens))
    return is_inside or _is_bound(ours, theirs) or _is_wild(first, second)


def are_apart(first: str, second: str, meanings: Meanings) -> bool:
    """Return whether two values are opposites, or two kinds of one thing, as "English law" and "French law" are."""
    ours, theirs = (read_statement(value).tokens for value in (first, second))
    if len(ours) == len(theirs) == 1 and meanings.are_opposite(ours[0], theirs[0], "en"):
        return True
    one, other = ([token.key for token in tokens] for tokens in (ours, theirs))
    if not one or len(one) != len(other) or one[-1] != other[-1]:
        return False
    return bool(set(one) - set(other)) and bool(set(other) - set(one))


def _is_bound(ours: Statement, theirs: Statement) -> bool:
    return any(
        one.quantity is not None and other.quantity is not None and one.quantity.admits(other.quantity)
        for one in ours.tokens
        for other in theirs.tokens
    )


def _is_wild(first: str, second: str) -> bool:
    return bool(_WILD.search(first)) and fold(second).startswith(fold(_WILD.sub(".", first)))


def features(first: str, second: str, meanings: Meanings) -> NDArray[np.float64]:
    """Return the features by which the second value says more than the first; see `FEATURES`."""
    ours, theirs = read_statement(first), read_statement(second)
    one, other = ({token.key for token in each.tokens} for each in (ours, theirs))
    words = [len(_words(value)) for value in (first, second)]
    specific = [bool(_SPECIFIC.search(value)) for value in (first, second)]
    added = [len(_ADDED.findall(value)) for value in (first, second)]
    return np.array(
        [
            max(-_MOST_WORDS, min(_MOST_WORDS, words[1] - words[0])),
            bool(_INDEFINITE.match(first)) - bool(_INDEFINITE.match(second)),
            specific[1] - specific[0],
            len(one & other) / max(1, len(one)),
            bool(one) and one < other,
            _is_broader(ours, theirs) - _is_broader(theirs, ours),
            meanings.cosine(first, second),
            added[1] - added[0],
            words[0] == words[1] and _shape(first) == _shape(second),
            specific[0],
        ],
        dtype=np.float64,
    )


def _words(value: str) -> list[str]:
    light = cues.PREPOSITIONS["en"]
    return [word for word in re.findall(r"[\w@.+-]+", _INDEFINITE.sub("", value)) if word not in light]


def _is_broader(ours: Statement, theirs: Statement) -> int:
    relations = word_relations()
    shared = {token.key for token in ours.tokens} & {token.key for token in theirs.tokens}
    pairs = ((one, other) for one in _names(ours, shared) for other in _names(theirs, shared))
    return int(any(relations.is_broader(one, other) for one, other in pairs))


def _names(statement: Statement, shared: set[str]) -> list[str]:
    """Return the words of a value, or the whole value if the lexicon lists it: "North America"."""
    whole = "_".join(token.word for token in statement.tokens)
    if word_relations().senses(whole):
        return [whole]
    return [token.word for token in statement.tokens if token.is_plain and token.key not in shared]


def _shape(value: str) -> tuple[str, ...]:
    """Return for each word whether it is a code, a name or a plain word."""
    return tuple("code" if _CODE.fullmatch(w) else "name" if w[:1].isupper() else "word" for w in _words(value))

"""Whether an attribute has one value at a time, as "lives in" has, or several, as "speaks" has."""

from __future__ import annotations

import functools
import re
from collections.abc import Collection, Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurogated.core.packaged import packaged_json
from neurogated.core.text_caches import remembered
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.tokens import key_of
from neurogated.knowledge.word_relations import word_relations
from neurogated.text.words import words_of

__all__ = ["Exclusiveness", "examples", "is_membership"]

_NEAREST = 3
_MOST_WORDS = 4
_COPULA = re.compile(r"(?:is|was|are|were|ist|war|sind|es|era|son|est|était|是|为)$")
_DETERMINERS = words_of("""
        the a an my our his her their your its der die das den dem ein eine einen el la los las un una le les
        l une not mr mrs ms dr herr frau señor señora doctor doctora monsieur madame
    """)
"""Words before a value that belong to no attribute."""
_WORD = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")
_HAN = re.compile("[\u3400-\u9fff]")
_LIGHT_KEYS = {
    key_of(word, "en")
    for word in words_of("""
        is are was has have had in on at to of for by with from as it
    """)
}
_MEMBERSHIP = re.compile(
    r"\b(?:is|are|was|were|am|be|belongs?|belonged) (?:in|on|at|to|part of)(?: an?| the)?$", re.IGNORECASE
)
_AUXILIARIES = frozenset({"be", "have"})
_OWN = words_of("has have had holds owns includes covers contains offers hat haben hatte tiene tienen a ont")
_MARGIN = 0.05
"""Cosine by which an attribute must be nearer to those with one value; a false alarm costs more than a miss."""
_REMEMBERED = 20_000


@functools.cache
def _data() -> dict[str, Any]:
    return packaged_json(__package__, "attributes.json")


def examples() -> dict[str, tuple[str, ...]]:
    """Return attributes that have one value at a time, and attributes that have many."""
    return {name: tuple(_data()[name]) for name in ("one", "many")}


class Exclusiveness:
    """Decides by wording: by equal wording of labelled examples, by a copula after a noun, by the nearest examples."""

    def __init__(self, meanings: Meanings, without: Collection[str] = ()) -> None:
        """Take the meanings of phrases; the examples of `without` are left out, to measure on attributes not seen."""
        self._meanings = meanings
        self._phrases = {n: [p for p in phrases if p not in without] for n, phrases in examples().items()}
        self.holds = remembered(_REMEMBERED)(self._holds)

    @functools.cached_property
    def _keys(self) -> dict[tuple[str, ...], bool]:
        return {
            _keys(phrase, language): name == "one"
            for language in ("en", "de", "es", "fr")
            for name in ("many", "one")
            for phrase in self._phrases[name]
        }

    @functools.cached_property
    def _han(self) -> list[tuple[str, bool]]:
        found = [(p, name == "one") for name, phrases in self._phrases.items() for p in phrases if _HAN.search(p)]
        return sorted(found, key=lambda each: -len(each[0]))

    def names_one(self, text: str, language: str) -> bool:
        """Return whether a text has the words of an example with one value at a time."""
        if language == "zh":
            return any(one and all(part in text for part in example.split("…")) for example, one in self._han)
        keys = tuple(key for word in _WORD.findall(text.lower().replace("’", "'")) for key in _keys(word, language))
        spans = ((n, n + size) for size in range(1, _MOST_WORDS + 1) for n in range(len(keys) - size + 1))
        return any(self._keys.get(keys[begin:end]) for begin, end in spans)

    @functools.cached_property
    def _vectors(self) -> dict[str, NDArray[np.float32]]:
        return {name: np.array(self._meanings.vectors(phrases)) for name, phrases in self._phrases.items()}

    def _holds(self, phrase: str, language: str, *, is_attribute: bool = False) -> bool:  # noqa: C901, PLR0911, PLR0912 - rules in order
        """Return whether the words before a value name an attribute that has one value at a time.

        `is_attribute` says that they hold no subject.
        """
        if is_attribute and phrase.strip().lower() in _data()["properties"]:
            return True
        if language == "zh":
            # The characters before a difference may belong to it, as in 小红 and 小芳.
            for tail in (phrase, phrase[:-1]):
                for example, one in self._han:
                    if _fits(example, tail):
                        return one
            return phrase.rstrip("是为").endswith(tuple(_data()["nouns"]["zh"])) and phrase.endswith(("是", "为"))
        words = phrase.lower().replace("’", "'").split()
        while words and words[-1] in _DETERMINERS:
            words.pop()
        if not words:
            return False
        keys = _keys(" ".join(words[-_MOST_WORDS:]), language)
        for n in range(len(keys)):
            if (found := self._keys.get(keys[n:])) is not None and (len(keys[n:]) > 1 or n == len(keys) - 1):
                return found
        # "Son" is a verb in Spanish, and a relative in English.
        if _COPULA.fullmatch(words[-1]) and (words[-1] != "son" or language == "es"):
            return is_attribute or any(word.endswith(tuple(_data()["nouns"][language])) for word in words[:-1])
        if words[0] in _OWN or (len(words) > 2 and words[-2] in _OWN):  # noqa: PLR2004 - subject, verb and noun
            return words[-1] in _data()["nouns"].get(language, ())
        votes = [
            one
            for known, one in self._keys.items()
            if set(known) - _LIGHT_KEYS
            and set(known) - _AUXILIARIES <= set(keys)
            and _is_passive(known) == _is_passive(keys)
        ]
        if votes and (all(votes) or not any(votes)):
            return votes[0]
        if not (vectors := self._meanings.vectors([" ".join(words[-2:])])):
            return False
        near = {name: np.sort(table @ vectors[0])[-_NEAREST:].mean() for name, table in self._vectors.items()}
        return bool(near["one"] > near["many"] + _MARGIN)


def _keys(phrase: str, language: str) -> tuple[str, ...]:
    return tuple(key_of(word, language) for word in phrase.lower().split() if word not in _DETERMINERS)


def is_membership(phrase: str, heads: Iterable[str]) -> bool:
    """Return whether the words before values say that somebody belongs to groups; the values have these last words."""
    return bool(_MEMBERSHIP.search(phrase)) and all(map(word_relations().is_group, heads))


def _is_passive(keys: tuple[str, ...]) -> bool:
    """Return whether an attribute names who does something; the active form of its verb says the inverse."""
    return keys[-1:] == ("by",)


def _fits(example: str, phrase: str) -> bool:
    first, _, last = example.partition("…")
    return phrase.endswith(example) or (bool(last) and first in phrase and phrase.endswith(last))

"""Relations between English words, from WordNet: synonyms, broader words, opposites, and the places within places."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from neurogated.core.packaged import packaged_json
from neurogated.core.text_caches import remembered

__all__ = ["WordRelations", "word_relations"]

_DEPTH = 4
"""Steps to a broader word; farther ones are too general to mean the same."""
_PERSON_DEPTH = 9
_REMEMBERED = 50_000
_PARTS = "nvar"
_ENDINGS = (
    ("men", "man"),
    ("ies", "y"), ("sses", "ss"), ("ches", "ch"), ("shes", "sh"), ("xes", "x"), ("oes", "o"), ("ves", "f"), ("es", "e"),
    ("s", ""), ("ied", "y"), ("ed", "e"), ("ed", ""), ("ing", "e"), ("ing", ""),
)  # fmt: skip
_SHORTEST = 2


@functools.cache
def word_relations() -> WordRelations:
    """Return the relations that come with the package."""
    return WordRelations(packaged_json(__package__, "word_relations.json.gz"))


class WordRelations:
    """Answers how two English words relate. Words that it does not hold relate to none."""

    def __init__(self, data: dict[str, Any]) -> None:
        self._words: dict[str, list[int]] = data["words"]
        self._above: list[list[int]] = data["above"]
        self._wholes = {int(sense): wholes for sense, wholes in data["wholes"].items()}
        self._similar = {int(sense): heads for sense, heads in data["similar"].items()}
        self._opposites = {int(sense): set(others) for sense, others in data["opposites"].items()}
        self._antonyms = {word: set(others) for word, others in data["antonyms"].items()}
        self._irregular: dict[str, str] = data["irregular"]
        self._person = self._words["person n"][0]
        self._group = self._words["organization n"][0]
        self.base = remembered(_REMEMBERED)(self._base)
        self.forms = remembered(_REMEMBERED)(self._all_forms)
        self.senses = remembered(_REMEMBERED)(self._senses)
        self.opposite = remembered(_REMEMBERED)(self._opposite)
        self._all_above = remembered(_REMEMBERED)(self._find_above)

    def _base(self, word: str) -> str:
        """Return the form of a word that a dictionary lists: "run" for "running"."""
        forms = [form for form in (self._irregular.get(word), word, self._regular(word)) if form]
        return max(forms, key=self._count, default=word)

    def _all_forms(self, word: str) -> frozenset[str]:
        """Return a word and all its possible base forms: "left" and "leave"."""
        found = {word, self._irregular.get(word, word)}
        for ending, other in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST - len(other):
                stem = word[: len(word) - len(ending)] + other
                found |= {stem, stem[:-1]} if stem[-2:-1] == stem[-1:] else {stem}
        return frozenset(form for form in found if self._is_listed(form))

    def _regular(self, word: str) -> str:
        if self._is_listed(word):
            return word
        for ending, other in _ENDINGS:
            if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST - len(other):
                stem = word[: len(word) - len(ending)] + other
                if self._is_listed(stem):
                    return stem
                if len(stem) > _SHORTEST and stem[-1] == stem[-2] and self._is_listed(stem[:-1]):
                    return stem[:-1]
        return word

    def _is_listed(self, word: str) -> bool:
        return any(f"{word} {part}" in self._words for part in _PARTS)

    def _count(self, word: str) -> int:
        return sum(len(self._words.get(f"{word} {part}", ())) for part in _PARTS)

    def is_verb(self, word: str) -> bool:
        """Return whether a word can be a verb."""
        return any(f"{form} v" in self._words for form in self.forms(word))

    def is_noun(self, word: str) -> bool:
        """Return whether a word can be a noun."""
        return f"{self.base(word)} n" in self._words

    def is_adverb(self, word: str) -> bool:
        """Return whether a word can only be an adverb, as "already" can."""
        return f"{word} r" in self._words and not any(f"{word} {part}" in self._words for part in "nva")

    def is_past(self, word: str) -> bool:
        """Return whether a word has the past form of a verb."""
        return not word.endswith(("ing", "s")) and any(map(self.is_verb, self.forms(word) - {word}))

    def _senses(self, word: str) -> frozenset[int]:
        forms = {word, self.base(word)}
        return frozenset(sense for form in forms for part in _PARTS for sense in self._words.get(f"{form} {part}", ()))

    def are_synonyms(self, first: str, second: str) -> bool:
        """Return whether two words share a sense."""
        return bool(self.senses(first) & self.senses(second))

    def is_broader(self, first: str, second: str) -> bool:
        """Return whether the first word names a class of the second, or a place around it."""
        targets = self.senses(first)
        return bool(targets) and any(targets & self._all_above(sense) for sense in self.senses(second))

    def are_siblings(self, first: str, second: str) -> bool:
        """Return whether two words name different things of one narrow class, as "red" and "blue" do."""
        ours, theirs = self.senses(first), self.senses(second)
        if ours & theirs:
            return False
        parents = {parent for sense in ours for parent in self._above[sense]}
        return any(parents.intersection(self._above[sense]) for sense in theirs)

    def _opposite(self, first: str, second: str) -> bool:
        """Return whether two words are antonyms; man and woman are two persons and no antonyms."""
        if any(self._antonyms.get(one, _NO_WORDS) & self.forms(second) for one in self.forms(first)):
            return True
        theirs = {near for sense in self.senses(second) for near in self._near(sense)}
        return any(
            self._opposites.get(near, _NONE) & theirs and not self._is_person(near)
            for sense in self.senses(first)
            for near in self._near(sense)
        )

    def _near(self, sense: int) -> Iterator[int]:
        yield sense
        yield from self._similar.get(sense, ())

    def _find_above(self, sense: int) -> frozenset[int]:
        found, layer = set[int](), {sense}
        for _ in range(_DEPTH):
            layer = {
                other
                for each in layer
                for other in (*self._above[each], *self._wholes.get(each, ()), *self._similar.get(each, ()))
            } - found
            found |= layer
        return frozenset(found)

    def is_group(self, word: str) -> bool:
        """Return whether a noun names a group of persons first of all, as "team" does."""
        senses = self._words.get(f"{self.base(word)} n")
        return senses is not None and self._group in (senses[0], *self._all_above(senses[0]))

    def _is_person(self, sense: int) -> bool:
        layer = {sense}
        for _ in range(_PERSON_DEPTH):
            if self._person in layer:
                return True
            layer = {parent for each in layer for parent in self._above[each]}
        return False


_NONE: set[int] = set()
_NO_WORDS: set[str] = set()

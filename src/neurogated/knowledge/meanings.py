"""How words relate in meaning: by a lexicon, by lists of opposites, and by the memory's embedder."""

from __future__ import annotations

import functools
from collections import OrderedDict
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from neurogated.core.forking import ForkSafeLock
from neurogated.core.packaged import packaged_json
from neurogated.core.ports import Embedder
from neurogated.core.text_caches import forgets
from neurogated.knowledge.tokens import Token, key_of
from neurogated.knowledge.word_relations import word_relations

__all__ = ["Meanings"]

_REMEMBERED = 20_000
_SHORTEST = 4
_Groups = dict[str, list[frozenset[str]]]
_PREFIXES = {
    "en": ("un", "in", "im", "ir", "dis", "non-", "non"),
    "de": ("un", "in", "nicht-"),
    "es": ("in", "im", "des", "ir", "no-"),
    "fr": ("in", "im", "ir", "dé", "dés", "non-"),
}


@functools.cache
def _listed() -> tuple[dict[str, dict[str, frozenset[str]]], _Groups, _Groups]:
    """Return opposites by language and stem, and by language families of exclusive words and groups of synonyms."""
    data = packaged_json(__package__, "opposites.json")
    opposites: dict[str, dict[str, frozenset[str]]] = {}
    for language, pairs in data["opposites"].items():
        found = opposites.setdefault(language, {})
        for pair in pairs:
            keys = [key_of(word, language) for word in pair]
            for one, other in (keys, keys[::-1]):
                found[one] = found.get(one, frozenset()) | {other}
    return opposites, _groups(data["families"]), _groups(data["synonyms"])


def _groups(data: dict[str, list[list[str]]]) -> _Groups:
    return {lang: [frozenset(key_of(word, lang) for word in words) for words in found] for lang, found in data.items()}


class Meanings:
    """Relations of words and phrases; it remembers the vectors of the latest ones. Several threads may use it."""

    def __init__(self, embedder: Embedder | None = None) -> None:
        self._embedder = embedder
        self._vectors: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._lock = ForkSafeLock()
        forgets(self)

    def cache_clear(self) -> None:
        """Forget the vectors."""
        with self._lock:
            self._vectors.clear()

    def cosine(self, first: str, second: str) -> float:
        """Return the cosine of two words or phrases; 0 without an embedder."""
        if self._embedder is None or not first or not second:
            return 0.0
        one, other = self.vectors([first, second])
        return float(one @ other)

    def vectors(self, texts: Iterable[str]) -> list[NDArray[np.float32]]:
        """Return the vectors of words or phrases, from memory where it has them; empty without an embedder."""
        wanted = list(texts)
        if self._embedder is None:
            return []
        with self._lock:
            known = {text: self._vectors[text] for text in wanted if text in self._vectors}
        missing = [text for text in dict.fromkeys(wanted) if text not in known]
        if missing:
            known.update(zip(missing, self._embedder.embed_documents(missing), strict=True))
            with self._lock:
                self._vectors.update((text, known[text]) for text in missing)
                while len(self._vectors) > _REMEMBERED:
                    self._vectors.popitem(last=False)
        return [known[text] for text in wanted]

    def are_synonyms(self, first: Token, second: Token, language: str) -> bool:
        """Return whether a lexicon gives two words one meaning."""
        if any({first.key, second.key} <= group for group in _listed()[2].get(language, [])):
            return True
        return language == "en" and word_relations().are_synonyms(first.word, second.word)

    def are_listed_together(self, first: str, second: str, language: str) -> bool:
        """Return whether the lists of the package give two words one meaning."""
        keys = {key_of(first, language), key_of(second, language)}
        return any(keys <= group for group in _listed()[2].get(language, []))

    def is_broader(self, first: Token, second: Token, language: str) -> bool:
        """Return whether the first word names a class or a place that holds the second."""
        return language == "en" and word_relations().is_broader(first.word, second.word)

    def are_siblings(self, first: Token, second: Token, language: str) -> bool:
        """Return whether two words name different things of one narrow class."""
        families = _listed()[1].get(language, [])
        return any({first.key, second.key} <= family for family in families if first.key != second.key)

    def are_opposite(self, first: Token, second: Token, language: str) -> bool:
        """Return whether two words exclude each other, as "open" and "closed" do."""
        if second.key in _listed()[0].get(language, {}).get(first.key, ()) and first.key != second.key:
            return True
        if any(_negates(*pair, language) for pair in ((first.word, second.word), (second.word, first.word))):
            return True
        return language == "en" and word_relations().opposite(first.word, second.word)


def _negates(longer: str, shorter: str, language: str) -> bool:
    return len(shorter) >= _SHORTEST and any(longer == prefix + shorter for prefix in _PREFIXES.get(language, ()))

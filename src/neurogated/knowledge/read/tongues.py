"""Which language a sentence is in, by the words that each language's file knows."""

from __future__ import annotations

import functools
import re

from neurogated.knowledge.read.wordings import Language, language, languages

_HAN = re.compile("[\u3400-\u9fff]")
_HIRAGANA = re.compile("[\u3041-\u309f]")
_QUOTED = re.compile('《[^》]*》|「[^」]*」|『[^』]*』|“[^”]*”|"[^"]*"')
_WORD = re.compile(r"[^\W\d_]+")


def spoken(sentence: str) -> Language:
    """Return the language that knows most words of a sentence; English in a tie, and for a language without a file."""
    if _HAN.search(sentence):
        # Every Japanese sentence has particles in Hiragana. The Chinese wordings would read its Han characters wrongly.
        return language("en" if _HIRAGANA.search(_QUOTED.sub("", sentence)) else "zh")
    counts = dict.fromkeys(_spaced(), 0)
    for word in _WORD.findall(sentence.lower()):
        for code in _owners().get(word, ()):
            counts[code] += 1
    return language(max(counts, key=counts.__getitem__))


@functools.cache
def _owners() -> dict[str, tuple[str, ...]]:
    """Return the languages that know each word."""
    owners: dict[str, tuple[str, ...]] = {}
    for code in _spaced():
        for word in language(code).known:
            owners[word] = (*owners.get(word, ()), code)
    return owners


@functools.cache
def _spaced() -> list[str]:
    """Return the languages whose words have spaces between them, English first."""
    return sorted(languages() - {"zh"}, key=lambda code: (code != "en", code))

"""Leaves the request around a question out: "If you don't mind, could you tell me, where does Ana live?".

A request speaks to somebody, has no name and no number, and is about something else than the question: no memory has a
rare word of it beside a rare word of the question. A mark parts it from the question. People who type without marks
write "hey can you look something up for me where does Ana live". There the word that asks parts the two.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from math import inf

from neurogated.core.ports import GraphReader
from neurogated.core.rendering import names_in
from neurogated.retrieval.question_cues import interrogatives_of
from neurogated.retrieval.turns import is_first_person
from neurogated.retrieval.typing_errors import Existing
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.sentences import split_sentences
from neurogated.text.words import split_words, words_of

Rare = Callable[[Collection[str]], Mapping[str, Collection[int]]]
"""Returns the memories that have each of some keywords, without the keywords that many memories have."""
_ADDRESS = frozenset(
    [
        *("you", "your", "u", "du", "dir", "dich", "ihnen", "tu", "te", "toi", "t", "vous", "votre"),
        *("tú", "usted", "ustedes", "ti", "vosotros", "os"),
    ]
)
_PREPOSITIONS = words_of(
    """in on at by for from to with of about after before since until during under over an auf bei von zu mit aus nach
    de dans en par pour sur avec chez a por con sobre desde"""
)
"""Before a word that asks they begin no clause: "born in which city"."""
_CHINESE_ADDRESS = re.compile("[你您](?!们)")
_BREAK = re.compile(r"[,，:：;；—–]\s*")
_NAME_OR_NUMBER = re.compile(r"(?<=[^\W\d_][\s,;:])(?!I\b)[A-ZÀ-Þ]|\d")
_FEWEST_KEYWORDS = 2
_RARE_SHARE, _RARE = 100, 8
"""A rare word is in up to a hundredth of the memories, or in eight."""


def rare_words(reader: GraphReader, words: Collection[str]) -> dict[str, list[int]]:
    """Return the memories that have each of `words`, without the words that many memories have."""
    view = reader.view
    size = view.node_count if view.among is None else view.among.size
    rare = reader.rare_rows_with(dict.fromkeys(words, max(_RARE, size // _RARE_SHARE)))
    return {word: rows.tolist() for word, rows in rare.items()}


def without_request(text: str, rare: Rare, existing: Existing) -> str:
    """Return a text whose sentences have lost the requests before their questions."""
    return "".join(_without_unmarked(_reduced(sentence, rare), rare, existing) for sentence in split_sentences(text))


def _reduced(sentence: str, rare: Rare) -> str:
    if not _BREAK.search(sentence):
        return sentence
    begin = 0
    for found in _BREAK.finditer(sentence, 0, max(interrogatives_of(sentence), default=0)):
        request, question = sentence[begin : found.end()], sentence[found.end() :]
        if not _is_request(request) or _belong_together(request, question, rare):
            break
        begin = found.end()
    return sentence[begin:]


def _without_unmarked(sentence: str, rare: Rare, existing: Existing) -> str:
    """Return a sentence without a request that only a word that asks parts from the question.

    These words may also begin the question, as in "I met the singer of which band". So a request
    speaks of who asks or is asked and names nothing: no subject, and no two rare words of one memory.
    """
    place = next((place for place in interrogatives_of(sentence) if sentence[:place].strip()), 0)
    request, question = sentence[:place], sentence[place:]
    words = split_words(fold(request))
    # In Chinese no white space stands before a word that asks, which need not begin the question.
    if not words or not request[-1].isspace() or _BREAK.search(request) or words[-1] in _PREPOSITIONS:
        return sentence
    # "Can you list the order in which I mentioned them" is one question.
    speaks, goes_on = map(_speaks, (words, split_words(fold(question))[1:2]))
    if not speaks or goes_on or not _is_open(request, words) or names_in([words], existing)[0]:
        return sentence
    return sentence if _belong_together(request, question, rare, most=1) else question


def _speaks(words: Sequence[str]) -> bool:
    return not _ADDRESS.isdisjoint(words) or is_first_person(" ".join(words))


def _is_request(text: str) -> bool:
    words = split_words(fold(text))
    addresses = not _ADDRESS.isdisjoint(words) or _CHINESE_ADDRESS.search(text) is not None
    return addresses and _is_open(text, words)


def _is_open(text: str, words: Sequence[str]) -> bool:
    """Return whether a text with these words has no name, no number and no question of its own."""
    # "Could you" asks, but not for what the question asks.
    is_open = not interrogatives_of(text) or not _ADDRESS.isdisjoint(words[1:2])
    return is_open and not _NAME_OR_NUMBER.search(text)


def _belong_together(request: str, question: str, rare: Rare, most: float = inf) -> bool:
    """Return whether request and question belong together.

    So they do if a memory has a rare word of both, or more than `most` rare words of the request, or if the question
    has too few keywords to tell.
    """
    first, second = set(split_keywords(request)), set(split_keywords(question))
    if len(second) < _FEWEST_KEYWORDS:
        return True
    memories = rare(first | second)
    held, asked = (Counter(name for word in words for name in memories.get(word, ())) for words in (first, second))
    return not held.keys().isdisjoint(asked) or max(held.values(), default=0) > most

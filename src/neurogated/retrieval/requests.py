"""Leaves the request around a question out: "If you don't mind, could you tell me, where does Ana live?".

A request speaks to somebody, has no name and no number, and is about something else than the question: no memory has a
rare word of it beside a rare word of the question.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping

from neurogated.core.ports import GraphStorePort
from neurogated.core.view import GraphView
from neurogated.retrieval.question_cues import interrogatives_of
from neurogated.text.keywords import fold, split_keywords
from neurogated.text.sentences import split_sentences
from neurogated.text.words import split_words

Rare = Callable[[Collection[str]], Mapping[str, Collection[str]]]
"""Returns the memories that have each of some keywords, without the keywords that many memories have."""
_ADDRESS = frozenset(
    [
        *("you", "your", "u", "du", "dir", "dich", "ihnen", "tu", "te", "toi", "t", "vous", "votre"),
        *("tú", "usted", "ustedes", "ti", "vosotros", "os"),
    ]
)
_CHINESE_ADDRESS = re.compile("[你您](?!们)")
_BREAK = re.compile(r"[,，:：;；—–]\s*")
_NAME_OR_NUMBER = re.compile(r"(?<=[^\W\d_][\s,;:])(?!I\b)[A-ZÀ-Þ]|\d")
_FEWEST_KEYWORDS = 2
_RARE_SHARE, _RARE = 100, 8
"""A rare word is in up to a hundredth of the memories, or in eight."""


def rare_words(store: GraphStorePort, view: GraphView, words: Collection[str]) -> dict[str, list[str]]:
    """Return the memories that have each of `words`, without the words that many memories have."""
    size = view.node_count if view.among is None else view.among.size
    return store.rare_nodes_with(dict.fromkeys(words, max(_RARE, size // _RARE_SHARE)), view)


def without_request(text: str, rare: Rare) -> str:
    """Return a text whose sentences have lost the requests before their questions."""
    if not _BREAK.search(text):
        return text
    return "".join(_reduced(sentence, rare) for sentence in split_sentences(text))


def _reduced(sentence: str, rare: Rare) -> str:
    begin = 0
    for found in _BREAK.finditer(sentence, 0, max(interrogatives_of(sentence), default=0)):
        request, question = sentence[begin : found.end()], sentence[found.end() :]
        if not _is_request(request) or _belong_together(request, question, rare):
            break
        begin = found.end()
    return sentence[begin:]


def _is_request(text: str) -> bool:
    words = split_words(fold(text))
    addresses = not _ADDRESS.isdisjoint(words) or _CHINESE_ADDRESS.search(text) is not None
    # "Could you" asks, but not for what the question asks.
    is_open = not interrogatives_of(text) or not _ADDRESS.isdisjoint(words[1:2])
    return addresses and is_open and not _NAME_OR_NUMBER.search(text)


def _belong_together(request: str, question: str, rare: Rare) -> bool:
    """Return whether a memory has a rare word of both, or the question says too little to tell."""
    first, second = set(split_keywords(request)), set(split_keywords(question))
    if len(second) < _FEWEST_KEYWORDS:
        return True
    memories = rare(first | second)
    held, asked = ({name for word in words for name in memories.get(word, ())} for words in (first, second))
    return not held.isdisjoint(asked)

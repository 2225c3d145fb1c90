"""Texts that ask several questions, or say more than their question: each question finds memories of its own.

"Who owns the red car? And when is the party?" has one vector and one list of keywords, and the memories that answer one
half take the places of those that answer the other. So a recall searches for the whole text and for each of its
questions, and takes from each in turn. In "The coffee is gone. Who owns the red car?" the words around the question
would hide its answer in the same way.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, islice, pairwise, zip_longest

from neurogated.core.read_only import Deferred
from neurogated.core.trace import Recall, RecalledMemory
from neurogated.retrieval.question_cues import has_interrogative, interrogatives_of
from neurogated.text.keywords import split_keywords
from neurogated.text.sentences import is_question, split_sentences

_MARKS = ("?", "？")
_MOST = 4
"""Questions of a text that are searched for, the first ones."""
_FEWEST_KEYWORDS, _FEWEST_WORDS = 2, 4
"""A question with fewer of both, such as "Is that right?", asks nothing of its own."""
_QUOTED = re.compile('"[^"]*"|“[^“”]*”|„[^„“]*“|«[^«»]*»|「[^「」]*」')
_ADDED = re.compile(
    r"(?=[aeuy另还還此以])(?=(?<!\w)(?:and|also|und|außerdem|et|aussi|y|también)(?!\w)|另外|还有|還有|此外|以及)",
    re.IGNORECASE,
)
"""The place before words that add something. Their first letters come first, since most places have none of them."""
_ALONE = 2
"""Recalls of a text with a single question: its own and that of the question."""
_LONGEST = 10_000
"""Characters; a longer text is searched for as a whole only."""


def each_question(texts: Sequence[str]) -> tuple[list[str], list[int]]:
    """Return all texts, each followed by its questions, and how many strings each text has become."""
    groups = [with_questions(text) for text in texts]
    return list(chain.from_iterable(groups)), [len(group) for group in groups]


def merged(recalls: Iterable[Recall], sizes: Sequence[int], most: int) -> list[Recall]:
    """Return one recall for each text, with at most `most` memories; see `each_question` and `alternated`."""
    left = iter(recalls)
    return [alternated(list(islice(left, size)), most) for size in sizes]


def with_questions(text: str) -> list[str]:
    """Return a text and its questions; the text alone if all of it is about its only question, or if it is long.

    In a text without a question mark, the words that ask tell its questions apart.
    """
    if len(text) > _LONGEST:
        return [text]
    if not any(mark in text for mark in _MARKS):
        parts = [part for part in dict.fromkeys(_unmarked(text)) if _asks(part) and has_interrogative(part)]
        return [text, *parts[:_MOST]] if len(parts) > 1 else [text]
    sentences = list(dict.fromkeys(_unbroken(text)))
    if len(sentences) == 1:
        return [text]
    questions = [one for one in sentences if is_question(one) and _asks(one)]
    return [text, *(_without_others(questions[0], sentences) if len(questions) == 1 else questions[:_MOST])]


def _without_others(question: str, sentences: Sequence[str]) -> list[str]:
    """Return the only question of a text with the sentences that share a keyword with it, if others say something."""
    keywords = set(split_keywords(question))
    others = [one for one in sentences if one != question and _asks(one) and keywords.isdisjoint(split_keywords(one))]
    return ["".join(one for one in sentences if one not in others)] if others else []


def _unmarked(text: str) -> Iterator[str]:
    """Yield the parts of a text without question marks: its sentences, divided where another question is added."""
    for sentence in _unbroken(text):
        begin, asking = 0, interrogatives_of(sentence)
        places = [*(found.start() for found in _ADDED.finditer(sentence)), len(sentence)]
        for place, end in pairwise(places):
            if _any_between(asking, begin, place) and _any_between(asking, place, end):
                yield sentence[begin:place]
                begin = place
        yield sentence[begin:]


def _any_between(places: Sequence[int], begin: int, end: int) -> bool:
    """Return whether one of some places, which ascend, is in a part of a text."""
    return bisect_left(places, begin) < bisect_left(places, end)


def _asks(question: str) -> bool:
    return len(split_keywords(question)) >= _FEWEST_KEYWORDS or len(question.split()) >= _FEWEST_WORDS


def _unbroken(text: str) -> Iterator[str]:
    """Yield the sentences of a text; a quotation ends none."""
    begin = 0
    for sentence in split_sentences(_QUOTED.sub(lambda quoted: "q" * len(quoted[0]), text)):
        yield text[begin : begin + len(sentence)]
        begin += len(sentence)


def alternated(recalls: Sequence[Recall], most: int) -> Recall:
    """Return the recall of a text with memories of each of its questions.

    Args:
        recalls: that of the whole text, then those of its questions.
        most: maximum number of memories.

    Returns:
        The recall of the whole text if there are no others. Else the best memory of each recall, then the second of
        each, and so on; each memory once, with the score and the flows from where it came first. The recall with the
        best match goes first. A single question has two turns of three.
    """
    whole, *others = recalls
    if not others:
        return whole
    memories = tuple(islice(_in_turn(recalls), most))
    shown = {memory.id for memory in memories}
    anchors = dict[str, float]()
    for name, value in chain.from_iterable(recall.anchors for recall in recalls):
        anchors[name] = max(value, anchors.get(name, value))
    seconds = sum((Counter(recall.seconds) for recall in recalls), Counter[str]())
    return replace(
        whole,
        memories=memories,
        confidence=max(recall.confidence for recall in recalls),
        anchors=tuple(sorted(anchors.items(), key=lambda each: (-each[1], each[0]))),
        seconds={stage: float(seconds[stage]) for stage in whole.seconds},
        notes=(*whole.notes, f"questions of the text that were searched for, too: {len(others)}"),
        relays=Deferred(
            lambda: {
                name: steps
                for recall in reversed(recalls)
                for name, steps in recall.relays.items()
                if name not in shown and name not in anchors
            }
        ),
        activated={name: value for name, value in whole.activated.items() if name not in shown},
    )


def _in_turn(recalls: Sequence[Recall]) -> Iterator[RecalledMemory]:
    """Yield the first memories of all, then the second of all, each memory once."""
    yielded = set[str]()
    if len(recalls) > _ALONE:
        turns = list(map(iter, sorted(recalls, key=_best_score, reverse=True)))
    else:
        # The words around a single question say less than the question, so it has two of three places.
        whole, question = map(iter, recalls)
        turns = [question, question, whole]
    for memory in chain.from_iterable(zip_longest(*turns)):
        if memory is not None and memory.id not in yielded:
            yielded.add(memory.id)
            yield memory


def _best_score(recall: Recall) -> float:
    return max((memory.score for memory in recall), default=0.0)

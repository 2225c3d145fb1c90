"""Causal links between two texts, found by explicit connectives.

There are three kinds of evidence, and the strongest one decides:

* the second text begins with a cue that refers to the first ("As a result", "The reason was", "因此");
* the first text ends with a cue that announces the second;
* a sentence of one text names a cause or an effect ("owing to the rain", "停电导致") in words of the other text.

The cues of a text are parsed once and then compared with any number of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import chain
from typing import NamedTuple

from neurogated.core.contexts import remembered
from neurogated.core.judgements import CausalJudgement
from neurogated.ingestion.causal_cues import (
    AHEAD,
    ANSWERS,
    ASKS_WHY,
    DENIED,
    HYPOTHETICAL,
    LEADS,
    LINKS,
    NEGATED,
    OPENERS,
    Link,
)
from neurogated.text.keywords import split_keywords
from neurogated.text.sentences import split_sentences

# Maximum length of a clause beside a cue, in characters. It bounds the work on texts without punctuation.
_REACH = 240
# The opening is one of this many first sentences, since the first may be only an interjection.
_OPENING = 2
# Weight of a named cause, and of a named effect, an answer to a why-question or a claim in the earlier text.
_DIRECT, _INDIRECT = 0.7, 0.55
# Gain of a cue's weight at full overlap.
_OVERLAP_GAIN = 0.2
# Least share of the words of a named cause that the other text has: of a phrase, and of a clause.
_PHRASE_SHARE, _CLAUSE_SHARE = 0.5, 0.6
# This many common words are evidence already at this share.
_MANY, _MANY_SHARE = 3, 0.4
# A reason quotes this many characters of a clause.
_QUOTED = 60

# Texts that stay parsed, since the next turns of a session are compared with them, too.
_TURNS = 8

_WORD = re.compile(r"\w")
_CLAUSE_END = re.compile(
    r"[,;:()—。，；：、！？!?\uff08\uff09]|\s[-–]\s|\b(?:but|and (?=(?:he|she|it|they|we|i|the|was|had)\b))"
)
_SUBJECT_START = re.compile(
    r"[,;:()—。，；：、！？!?\uff08\uff09]|\s[-–]\s|\b(?:that|which|who|when|and|but)\b", re.IGNORECASE
)
_QUESTION = re.compile(r"""[?？]["'”’」』)\s]*\Z|(?:吗|呢)[。"”’」』\s]*\Z""")
_WAYS = re.compile(r"\b(?:road|path|lane|street|door|gate|track|trail|stair|corridor|tunnel|bridge)", re.IGNORECASE)
_GOES = re.compile(r"\b(?:led|leads?) (?:to|into)\Z", re.IGNORECASE)
_NAME = re.compile(r"\b[A-Z]\w+")


class OfflineCausalJudge:
    """Finds causal links by English and Chinese connectives and by common words, without a model.

    It does not know the distance of two texts. A cue that points back refers to the directly preceding text, so this
    evidence is valid between neighbours only. The judge does not find links without a cue.
    """

    def judge(self, first: str, second: str) -> CausalJudgement:
        """Return whether two texts say that one causes the other.

        Args:
            first: the earlier text of a document.
            second: the later text.
        """
        return _judged(_Passage(first), _Passage(second))

    def judge_batch(self, pairs: Sequence[tuple[str, str]]) -> list[CausalJudgement]:
        """Return the judgement of each pair; a text in several pairs is parsed once."""
        passages = {text: _parsed(text) for text in set(chain.from_iterable(pairs))}
        return [_judged(passages[first], passages[second]) for first, second in pairs]


class _Sign(NamedTuple):
    weight: float
    reason: str


class _Claim(NamedTuple):
    """A cause and an effect that a sentence names, with their words."""

    link: Link
    name: str
    cause: str
    cause_words: frozenset[str]
    effect: str
    effect_words: frozenset[str]


class _Passage:
    """A text as sentences with single spaces, and its cues of causes and effects."""

    def __init__(self, text: str) -> None:
        plain = (" ".join(sentence.split()).replace("’", "'") for sentence in split_sentences(text))
        self.sentences = [sentence for sentence in plain if _WORD.search(sentence)]

    @cached_property
    def words(self) -> frozenset[str]:
        """The words of all sentences."""
        return frozenset(split_keywords(" ".join(self.sentences)))

    @cached_property
    def opening(self) -> tuple[str, int]:
        """The first sentence with significant words, and the position of the first of them."""
        starts = [(sentence, _start(sentence)) for sentence in self.sentences[:_OPENING]]
        return next((pair for pair in starts if pair[1] < len(pair[0])), starts[0])

    @cached_property
    def claims(self) -> Sequence[_Claim]:
        """The causes and effects in its sentences."""
        return [claim for sentence in self.sentences for claim in _claims(sentence)]


@remembered(_TURNS)
def _parsed(text: str) -> _Passage:
    return _Passage(text)


def _judged(before: _Passage, after: _Passage) -> CausalJudgement:
    if not before.sentences or not after.sentences:
        return CausalJudgement(is_causal=False, weight=0.0, reason="one of the texts is empty")
    signs = chain(
        _back(before, after),
        _ahead(before.sentences[-1]),
        chain.from_iterable(_shared(claim, before.words, is_later=True) for claim in after.claims),
        chain.from_iterable(_shared(claim, after.words, is_later=False) for claim in before.claims),
    )
    found = max(signs, key=lambda sign: sign.weight, default=None)
    if found is None:
        return CausalJudgement(is_causal=False, weight=0.0, reason="no causal cue links the two texts")
    return CausalJudgement(is_causal=True, weight=min(1.0, found.weight), reason=found.reason)


def _start(sentence: str) -> int:
    """Return the position of the first significant word of a sentence."""
    lead = LEADS.match(sentence)
    return lead.end() if lead else 0


def _is_doubtful(sentence: str) -> bool:
    """Return whether a sentence asks, or denies a connection."""
    return bool(_QUESTION.search(sentence) or DENIED.search(sentence))


def _back(before: _Passage, after: _Passage) -> Iterator[_Sign]:
    """Yield the evidence in the opening of the later text."""
    (sentence, start), last = after.opening, before.sentences[-1]
    if _is_doubtful(sentence):
        return
    for opener in OPENERS:
        cue = opener.pattern.match(sentence, start)
        if cue and not NEGATED.search(sentence[start : cue.start("cue")]) and not _is_way(cue["cue"], last):
            gain = _OVERLAP_GAIN * _share(frozenset(split_keywords(sentence)), before.words)
            yield _Sign(opener.strength + gain, f'the later text refers back with "{cue["cue"].strip()}"')
    answer = ANSWERS.match(sentence, start)
    if answer and ASKS_WHY.search(last):
        yield _Sign(_INDIRECT, f'the later text answers a why with "{answer["cue"]}"')


def _ahead(last: str) -> Iterator[_Sign]:
    """Yield the evidence in the last sentence of the earlier text."""
    cue = AHEAD.pattern.search(last)
    if cue and not _is_doubtful(last) and not NEGATED.search(last[: cue.start()][-_REACH:]):
        yield _Sign(AHEAD.strength, f'the earlier text points ahead with "{cue["cue"]}"')


def _claims(sentence: str) -> Iterator[_Claim]:
    """Yield the claims of a sentence, each with a cause and an effect."""
    cues = [(link, cue) for link in LINKS for cue in link.pattern.finditer(sentence)]
    if not cues or _is_doubtful(sentence) or HYPOTHETICAL.match(sentence, _start(sentence)):
        return
    for link, cue in cues:
        if not NEGATED.search(sentence[max(0, cue.start() - _REACH) : cue.start()]):
            cause, effect = _parts(sentence, cue, link)
            if not _is_way(cue["cue"], cause):
                yield _Claim(link, cue["cue"].strip(" ,;—"), cause, _words(cause), effect, _words(effect))


def _words(clause: str) -> frozenset[str]:
    """Return the words of a clause but names: a common name means the same person, not the same event."""
    return frozenset(split_keywords(_NAME.sub(" ", clause)))


def _shared(claim: _Claim, other: frozenset[str], *, is_later: bool) -> Iterator[_Sign]:
    """Yield evidence if the other text tells the cause or the effect of a claim."""
    share = _CLAUSE_SHARE if claim.link.is_clause or not is_later else _PHRASE_SHARE
    least = 1 if is_later else 2
    if _tells(claim.cause_words, other, least, share):
        weight = (_DIRECT if is_later else _INDIRECT) + _OVERLAP_GAIN * _share(claim.cause_words, other)
        yield _Sign(weight, f'"{claim.name}" names a cause that the other text tells: {claim.cause[:_QUOTED]}')
    # "The fire was caused by …" after a text about the fire takes up its only word.
    least, share = (
        (1, 1.0) if is_later and not claim.link.is_clause and claim.link.cause_follows else (2, _CLAUSE_SHARE)
    )
    if _tells(claim.effect_words, other, least, share):
        weight = _INDIRECT + _OVERLAP_GAIN * _share(claim.effect_words, other)
        yield _Sign(weight, f'"{claim.name}" names an effect that the other text tells: {claim.effect[:_QUOTED]}')


def _share(words: frozenset[str], other: frozenset[str]) -> float:
    return len(words & other) / len(words) if words else 0.0


def _tells(words: frozenset[str], other: frozenset[str], least: int, share: float) -> bool:
    """Return whether enough of some words are in the other text."""
    count, found = len(words & other), _share(words, other)
    return (count >= least and found >= share) or (count >= _MANY and found >= _MANY_SHARE)


def _is_way(cue: str, cause: str) -> bool:
    """Return whether "led to" is about a place, as of a road or a door."""
    return bool(_GOES.search(cue) and _WAYS.search(cause))


def _parts(sentence: str, cue: re.Match[str], link: Link) -> tuple[str, str]:
    """Return the cause and the effect of a cue."""
    left = sentence[max(0, cue.start() - _REACH) : cue.start()]
    right = sentence[cue.end() : cue.end() + _REACH]
    if not link.cause_follows:
        return _last_clause(left, whole=link.is_clause), _next_clauses(right)[0]
    cause, rest = _next_clauses(right)
    if named := cue.groupdict().get("cause"):
        cause, rest = named, right
    return cause, _last_clause(left, whole=True) if _WORD.search(left) else _next_clauses(rest)[0]


def _next_clauses(text: str) -> tuple[str, str]:
    """Return the first clause with words, and the text after it."""
    begin = 0
    for end in _CLAUSE_END.finditer(text):
        if split_keywords(text[begin : end.start()]):
            return text[begin : end.start()].strip(), text[end.end() :]
        begin = end.end()
    return text[begin:].strip(), ""


def _last_clause(text: str, *, whole: bool) -> str:
    pieces = (_CLAUSE_END if whole else _SUBJECT_START).split(text)
    return next((piece.strip() for piece in reversed(pieces) if split_keywords(piece)), "")

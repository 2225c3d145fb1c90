"""Causal links between two texts, found by their words alone.

There are four kinds of evidence, and the strongest one decides:

* the second text begins with a cue that points back ("As a result", "因此");
* the second text begins with the reason for the first;
* the first text ends with a cue that points ahead;
* a sentence of one text names a cause or an effect ("owing to the rain", "停电导致") in words of the other text.

The cues of a text are parsed once and then compared with any number of texts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain

from neurogated.core.judgements import CausalJudgement
from neurogated.core.sentences import split_sentences
from neurogated.ingestion.causal_cues import (
    AHEAD,
    DENIED,
    EXPLAINED,
    HYPOTHETICAL,
    LEADS,
    LINKS,
    NEGATED_CAUSE,
    NEGATED_EFFECT,
    OPENERS,
    WAYS,
)
from neurogated.ingestion.causal_patterns import Link, heads
from neurogated.ingestion.causal_words import Overlap, Part, Vocabulary, has_han, has_latin, has_words

__all__ = ["OfflineCausalJudge"]

# Maximum length of a clause beside a cue, in characters. It bounds the work on texts without punctuation.
_REACH = 240
# Minimum share of the words of a named cause in the other text: for a phrase, for a clause, and for many common words.
_PHRASE_SHARE = 0.5
_CLAUSE_SHARE = 0.6
_LONG_SHARE = 0.4
_LONG = 3
_SEVERAL = 2
# Deduction for an answer to a why-question, for a named effect, and for a claim in the earlier text.
_INDIRECT = 0.15
# Gain of a cue's weight at full overlap.
_OVERLAP_GAIN = 0.2
# The opening is one of this many first sentences, since the first may be only an interjection.
_OPENING = 2
# A reason quotes this many characters of a clause.
_QUOTED = 60

_CLAUSE_END = re.compile(
    r"[,;:()—。，；：、！？!?\uff08\uff09]|\s[-–]\s|\b(?:but|and (?=(?:he|she|it|they|we|i|the|was|had)\b))"
)
_SUBJECT_START = re.compile(
    r"[,;:()—。，；：！？!?\uff08\uff09]|\s[-–]\s|\b(?:that|which|who|when|and|but)\b", re.IGNORECASE
)
_QUESTION = re.compile(r"""[?？]["'”’」』)\s]*\Z|(?:吗|呢)[。"”’」』\s]*\Z""")
_ASKS_WHY = re.compile(r"\b(?:why|how\s+come|what\s+(?:caused|made|happened))\b|为什么|为何|为啥|怎么", re.IGNORECASE)
_ANSWERS = re.compile(r"(?P<cue>because|owing to|due to|on account of|thanks to|since|因为|由于|都怪)", re.IGNORECASE)
_UNDONE = re.compile(
    r"\b(?:not(?! (?:only|just|merely|simply|least))|never|hardly|scarcely|could|might|may|would have)\b|n't\b"
    r"|不(?!得不|得已|仅|只|但)|没有|并未|未能",
    re.IGNORECASE,
)
_INNER_CAUSE = re.compile(
    r"\b(?:because|after|when|since|if|which|owing|due|and (?:was|is|were|had|he|she|it|they))\b", re.IGNORECASE
)
_GOES = re.compile(r"\b(?:led|leads?) (?:to|into)\Z", re.IGNORECASE)
_PRONOUN = re.compile(r"\W*(?:he|she|they|it|we|i|this|that)\b", re.IGNORECASE)


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
        passages = {text: _Passage(text) for text in set(chain.from_iterable(pairs))}
        return [_judged(passages[first], passages[second]) for first, second in pairs]


@dataclass(frozen=True, slots=True)
class _Sign:
    weight: float
    reason: str


@dataclass(frozen=True, slots=True)
class _Opening:
    """The cues at the beginning of a text that refer to the previous text."""

    pointers: Sequence[tuple[float, str, str]]
    """Weight without overlap, meaning, and the cue."""
    answer: str | None
    """The cue that answers a why-question."""
    words: Part


@dataclass(frozen=True, slots=True)
class _Claim:
    """A cause and an effect that a sentence names."""

    link: Link
    name: str
    cause: str
    effect: str
    cause_words: Part
    effect_words: Part


class _Passage:
    """A text as sentences with single spaces, and its cues of causes and effects."""

    def __init__(self, text: str) -> None:
        plain = (" ".join(sentence.split()).replace("’", "'") for sentence in split_sentences(text))
        self.sentences = [sentence for sentence in plain if has_latin(sentence) or has_han(sentence)]

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words of all sentences."""
        return Vocabulary(" ".join(self.sentences))

    @cached_property
    def opening(self) -> _Opening | None:
        """The cues that refer to the previous text, None if there are none."""
        starts = [(sentence, _start(sentence)) for sentence in self.sentences[:_OPENING]]
        sentence, start = next((pair for pair in starts if pair[1] < len(pair[0])), starts[0])
        pointers = list(_pointers(sentence, start))
        answer = _ANSWERS.match(sentence, start)
        if not (pointers or answer) or _QUESTION.search(sentence) or DENIED.search(sentence):
            return None
        return _Opening(pointers, answer["cue"] if answer else None, Part(sentence))

    @cached_property
    def promises(self) -> Sequence[_Sign]:
        """The cues of the last sentence that point ahead."""
        return list(_promises(self.sentences[-1]))

    @cached_property
    def claims(self) -> Sequence[_Claim]:
        """The causes and effects in its sentences."""
        return [claim for sentence in self.sentences for claim in _claims(sentence)]


def _judged(before: _Passage, after: _Passage) -> CausalJudgement:
    if not before.sentences or not after.sentences:
        return CausalJudgement(is_causal=False, weight=0.0, reason="one of the texts is empty")
    found = max(_evidence(before, after), key=lambda sign: sign.weight, default=None)
    if found is None:
        return CausalJudgement(is_causal=False, weight=0.0, reason="no causal cue links the two texts")
    return CausalJudgement(is_causal=True, weight=min(1.0, found.weight), reason=found.reason)


def _evidence(before: _Passage, after: _Passage) -> Iterator[_Sign]:
    if after.opening:
        yield from _back(before, after.opening)
    yield from before.promises
    for claim in after.claims:
        yield from _shared(claim, before.vocabulary, is_later=True)
    for claim in before.claims:
        yield from _shared(claim, after.vocabulary, is_later=False)


def _start(sentence: str) -> int:
    """Return the position of the first significant word of a sentence."""
    lead = LEADS.match(sentence)
    return lead.end() if lead else 0


def _pointers(sentence: str, start: int) -> Iterator[tuple[float, str, str]]:
    """Yield weight, meaning and words of the cues in an opening that point back."""
    for openers, says in ((OPENERS, "points back with"), (EXPLAINED, "gives the reason with")):
        for opener in openers:
            cue = opener.pattern.match(sentence, start)
            if cue and not _UNDONE.search(cue[0]) and not _INNER_CAUSE.search(sentence, start, cue.start("cue")):
                yield opener.strength, says, cue["cue"]


def _back(before: _Passage, opening: _Opening) -> Iterator[_Sign]:
    """Yield the evidence in the opening of the later text."""
    last = before.sentences[-1]
    gain = _OVERLAP_GAIN * before.vocabulary.overlap(opening.words).share
    for strength, says, cue in opening.pointers:
        if not _is_way(cue, last):
            yield _Sign(strength + gain, f'the later text {says} "{cue.strip()}"')
    if opening.answer and _ASKS_WHY.search(last) and ("?" in last or "？" in last):
        yield _Sign(1.0 - _INDIRECT, f'the later text answers a why with "{opening.answer}"')


def _promises(last: str) -> Iterator[_Sign]:
    """Yield the evidence in the last sentence of the earlier text."""
    for opener in AHEAD:
        cue = opener.pattern.search(last)
        if not cue or _QUESTION.search(last) or DENIED.search(last):
            continue
        if not NEGATED_EFFECT.search(last[max(0, cue.start() - _REACH) : cue.start()]):
            yield _Sign(opener.strength, f'the earlier text points ahead with "{cue["cue"]}"')


def _claims(sentence: str) -> Iterator[_Claim]:
    """Yield the claims of a sentence, each with a cause and an effect."""
    small = sentence.lower()
    cues = [(link, cue) for link in _possible(small) for cue in link.matches(sentence, small)]
    if not cues or _QUESTION.search(sentence) or DENIED.search(sentence):
        return
    if HYPOTHETICAL.match(sentence, _start(sentence)):
        return
    for link, cue in cues:
        left = sentence[max(0, cue.start() - _REACH) : cue.start()]
        if (NEGATED_CAUSE if link.cause_follows else NEGATED_EFFECT).search(left) or _UNDONE.search(cue[0]):
            continue
        cause, effect = _parts(sentence, cue, link)
        if not _is_way(cue[0], cause):
            name = (cue["cue"] or cue[0]).strip(" ,;")
            yield _Claim(link, name, cause, effect, Part(cause), Part(effect))


def _possible(sentence: str) -> Sequence[Link]:
    """Return the links whose hints are in a sentence. No other link can match it."""
    found, chinese = heads(sentence), has_han(sentence)
    return [link for link in LINKS if (not link.hints.isdisjoint(found) if link.hints else chinese)]


def _shared(claim: _Claim, other: Vocabulary, *, is_later: bool) -> Iterator[_Sign]:
    """Yield evidence if the other text tells the cause or the effect of a claim."""
    link, name = claim.link, claim.name
    strength = link.strength - (0.0 if is_later else _INDIRECT)
    told = other.overlap(claim.cause_words)
    if _suffices(told, is_clause=link.is_clause) if is_later else _says_the_same(told):
        weight = strength + _OVERLAP_GAIN * told.share
        yield _Sign(weight, f'"{name}" names a cause that the other text tells: {claim.cause[:_QUOTED]}')
    told = other.overlap(claim.effect_words)
    if _says_the_same(told) or (is_later and _is_taken_up(claim.effect, told, link)):
        weight = strength - _INDIRECT + _OVERLAP_GAIN * told.share
        yield _Sign(weight, f'"{name}" names an effect that the other text tells: {claim.effect[:_QUOTED]}')


def _is_way(cue: str, cause: str) -> bool:
    """Return whether "led to" is about a place, as of a road or a door."""
    return bool(_GOES.search(cue) and WAYS.search(cause))


def _suffices(told: Overlap, *, is_clause: bool) -> bool:
    needed = _CLAUSE_SHARE if is_clause else _PHRASE_SHARE
    return (told.words >= 1 and told.share >= needed) or _is_long(told)


def _says_the_same(told: Overlap) -> bool:
    return (told.words >= _SEVERAL and told.share >= _CLAUSE_SHARE) or _is_long(told)


def _is_long(told: Overlap) -> bool:
    return told.words >= _LONG and told.share >= _LONG_SHARE


def _is_taken_up(effect: str, told: Overlap, link: Link) -> bool:
    """Return whether the other text has the whole effect: "the fire was caused by", "he resigned because"."""
    return link.cause_follows and told.share >= 1 and (not link.is_clause or bool(_PRONOUN.match(effect)))


def _parts(sentence: str, cue: re.Match[str], link: Link) -> tuple[str, str]:
    """Return the cause and the effect of a cue."""
    left = sentence[max(0, cue.start() - _REACH) : cue.start()]
    right = sentence[cue.end() : cue.end() + _REACH]
    named = next((text for name, text in cue.groupdict().items() if name in {"cause", "by"} and text), None)
    if not link.cause_follows:
        return named or _last_clause(left, whole=link.is_clause), _next_clauses(right)[0]
    cause, rest = _next_clauses(right)
    if named:
        return named, rest if not has_words(left) else _last_clause(left, whole=True)
    return cause, _last_clause(left, whole=True) if has_words(left) else _next_clauses(rest)[0]


def _next_clauses(text: str) -> tuple[str, str]:
    """Return the first clause that is not only stop words, and the text after it."""
    begin = 0
    for end in _CLAUSE_END.finditer(text):
        if has_words(text[begin : end.start()]):
            return text[begin : end.start()].strip(), text[end.end() :]
        begin = end.end()
    return text[begin:].strip(), ""


def _last_clause(text: str, *, whole: bool) -> str:
    pieces = (_CLAUSE_END if whole else _SUBJECT_START).split(text)
    return next((piece.strip() for piece in reversed(pieces) if has_words(piece)), "")

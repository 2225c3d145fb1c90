"""Sentences → clauses, whose words have labels: the cues that change a claim, and times."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from neurogated.knowledge.read.wordings import Language
from neurogated.text.language import FUNCTION_WORDS
from neurogated.text.language import Language as LatinLanguage
from neurogated.text.normalise import Sentence, Token, tokens_of
from neurogated.text.times import locate_times

TIME = "time"
"""The label of the words of a time, with its preposition."""
JOIN = "join"
"""The label of the words that join clauses."""
ASKED = "asked"
"""The label of the words that stand for the value in a question."""
_STRONG = frozenset({"now", "past", "begins", "future"})
"""Labels of cues that are times, too."""
_HARD, _SOFT = frozenset(";:—–()|"), frozenset(",，、-")
_QUOTED = re.compile('["“„«「『][^"“”„«»「」『』]*["”“»」』]')
_MOST_OPENING = 6
"""Words of a clause among which a verb of saying stands."""
_DAY_DIGITS = 2
_LOOKED_AT = 4
"""Words after a joint among which a verb shows that a clause begins."""


@dataclass(frozen=True, slots=True)
class Clause:
    """A part of a sentence with one verb."""

    number: int
    """The place of its sentence in the text."""
    text: str
    """The sentence."""
    tokens: Sequence[Token]
    labels: Sequence[str]
    is_claimed: bool
    """Whether the speaker says so herself: it is not asked, supposed or said by others."""
    has_case: bool = True
    """Whether the sentence has capitals and small letters, so that a capital shows a name."""
    is_joined: bool = False
    """Whether a word such as "and" joins it to the clause before."""
    is_joke: bool = False
    """Whether it says that the text is a joke."""

    @property
    def quote(self) -> str:
        """The clause as it is written."""
        return self.text[self.tokens[0].begin : self.tokens[-1].end]


def clauses_of(sentence: Sentence, language: Language) -> Iterator[Clause]:
    """Yield the clauses of a sentence."""
    text = _QUOTED.sub(lambda found: " " * len(found[0]) if len(found[0].split()) > 2 else found[0], sentence.text)  # noqa: PLR2004
    tokens = tokens_of(text, language.code)
    labels = _labels(text, tokens, language)
    begin, is_supposed, words = 0, False, language.words
    for end, following in [*_joints(tokens, labels, language), (len(tokens), len(tokens))]:
        part, marks = tokens[begin:end], labels[begin:end]
        is_joined = begin > 0 and labels[begin - 1] == JOIN
        begin = following
        if not part:
            continue
        part, marks, is_reported = _own_words(part, marks, language)
        is_supposed |= is_reported or "unreal" in marks[:2]
        asks = sentence.is_question and (_asks(part, language) or end == len(tokens))
        is_joke = " ".join(token.word for token in part) in words["joking"]
        yield Clause(
            sentence.number, text, part, marks, not (is_supposed or asks), sentence.has_case, is_joined, is_joke
        )
        is_supposed &= words["contrast"].isdisjoint(token.word for token in tokens[end:following])


def _asks(tokens: Sequence[Token], language: Language) -> bool:
    return any(token.word in language.any_of("questions", "inverted") for token in tokens[:1])


def _own_words(tokens: list[Token], labels: list[str], language: Language) -> tuple[list[Token], list[str], bool]:
    """Return the words after "I said that", and whether somebody else says them."""
    words = language.words
    said = next((n for n, token in enumerate(tokens[:_MOST_OPENING]) if n and token.word in words["speech"]), 0)
    if not said:
        return tokens, labels, False
    before = [token.word for token, label in zip(tokens[:said], labels[:said], strict=True) if not label]
    if "past_aux" in labels[:said] or (before and not (len(before) == 1 and before[0] in words["me"])):
        return tokens, labels, True
    begin = said + 1
    while begin < len(tokens) - 1 and tokens[begin].word in words["that"]:
        begin += 1
    subjects = language.any_of("me", "mine", "third", "theirs")
    is_report = begin > said + 1 or (tokens[begin : begin + 1] and tokens[begin].word in subjects)
    return (tokens[begin:], labels[begin:], False) if is_report else (tokens, labels, False)


def _labels(text: str, tokens: Sequence[Token], language: Language) -> list[str]:
    words, labels = language.words, ["mark" if token.raw in _SOFT else "" for token in tokens]
    i = 0
    while i < len(tokens):
        size, label = 1, ""
        for cue, name in language.cues.get(tokens[i].word, ()):
            if all(i + n < len(tokens) and tokens[i + n].word == word for n, word in enumerate(cue)):
                size, label = len(cue), name
                break
        labels[i : i + size] = [label or labels[i]] * size
        i += size
    code: LatinLanguage = next((each for each in FUNCTION_WORDS if each == language.code), "en")
    for begin, end in locate_times(text, code):
        covered = [n for n, token in enumerate(tokens) if begin <= token.begin < end and labels[n] not in _STRONG]
        if covered:
            first, last = covered[0], covered[-1]
            while first and tokens[first - 1].word in words["time_words"]:
                first -= 1
            while last + 1 < len(tokens) and tokens[last + 1].word in words["time_after"]:
                last += 1
            last = _date_end(tokens, last)
            labels[first : last + 1] = [TIME] * (last + 1 - first)
    return labels


def _date_end(tokens: Sequence[Token], last: int) -> int:
    """Return the last word of a date: the day and the year after a month belong to it."""
    following = [token.word for token in tokens[last + 1 : last + 4]]
    if tokens[last].word.isalpha() and following and following[0].isdecimal() and len(following[0]) <= _DAY_DIGITS:
        last, following = last + 1, following[1:]
    is_year = (
        following[:1] == [","] and len(following) > 1 and following[1].isdecimal() and len(following[1]) > _DAY_DIGITS
    )
    return last + 2 * is_year


def _joints(tokens: Sequence[Token], labels: Sequence[str], language: Language) -> Iterator[tuple[int, int]]:
    """Yield the end of each clause but the last, and the begin of the next one."""
    relatives = language.words["relatives"]
    begin = 0
    for i, token in enumerate(tokens):
        if i < begin:
            continue
        is_mark, is_join = token.raw in _HARD | _SOFT and labels[i] != TIME, labels[i] == JOIN
        if not (is_mark or is_join):
            continue
        after = i + 1
        while after < len(tokens) and (labels[after] == JOIN or tokens[after].raw in _HARD | _SOFT):
            after += 1
        start = after
        while start < len(tokens) and labels[start] and tokens[start].word not in language.finite:
            start += 1
        is_pair = is_join and tokens[after : after + 1] and tokens[after].word in language.words["me"]
        if is_pair and not any(each.word in language.finite for each in tokens[begin:i]):
            continue
        is_relative = token.raw == "," and after < len(tokens) and tokens[after].word in relatives
        is_only_time = token.raw in _SOFT and all(labels[begin:i])
        if token.raw in _HARD or (
            not is_relative and not is_only_time and _starts(tokens[start : start + _LOOKED_AT], language)
        ):
            yield i, after
            begin = after


def _starts(tokens: Sequence[Token], language: Language) -> bool:
    if not tokens:
        return False
    if tokens[0].word in language.any_of("me", "mine", "third", "theirs", "questions"):
        return True
    return any(token.word in language.finite for token in tokens)

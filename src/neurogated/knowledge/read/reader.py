"""Reads claims from texts, and slots from questions, with the table of attributes and without a model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time

from neurogated.core.claims import USER, AskedSlots, Change, Claim, Slot
from neurogated.core.text_caches import remembered
from neurogated.knowledge.read.clauses import TIME, Clause, clauses_of
from neurogated.knowledge.read.table import Attribute, attributes
from neurogated.knowledge.read.values import date_of
from neurogated.knowledge.read.wordings import Language, Match, language
from neurogated.text.language import language_of
from neurogated.text.normalise import Token, plain_sentences

__all__ = ["OfflineClaimReader"]

_REMEMBERED = 4_096
_LONGEST = 20_000
"""Characters of a text that are read."""
_MOST_SUBJECT = 6
_MOST_BARE = 2
"""Words of a subject, and of one without article and capitals."""
_UNSURE = 0.6
_HAN = re.compile("[\u3400-\u9fff]")
_KEPT_TIMES = frozenset({"date", "number", "time"})
"""Types of value to which times at the end belong."""


class OfflineClaimReader:
    """Reads texts by the wordings of the table; it knows English and Chinese."""

    def read(self, text: str, said: datetime | None = None, speaker: str | None = None) -> Sequence[Claim]:
        """Return the claims of a text; see `core.claims.ClaimReader`."""
        return _read(text, said, speaker)

    def asked(self, question: str, speaker: str | None = None) -> AskedSlots | None:
        """Return the slots that a question asks for; see `core.claims.QuestionReader`."""
        return _asked(question, speaker)


def _language_of(text: str) -> Language:
    return language("zh" if _HAN.search(text) else language_of(text))


@remembered(_REMEMBERED)
def _read(text: str, said: datetime | None, speaker: str | None) -> tuple[Claim, ...]:
    text = text[:_LONGEST]
    reading = _Reading(_language_of(text), said, speaker or USER)
    return tuple(reading.claims(text))


@remembered(_REMEMBERED)
def _asked(question: str, speaker: str | None) -> AskedSlots | None:
    own = _language_of(question)
    reading = _Reading(own, None, speaker or USER)
    slots: dict[Slot, None] = {}
    is_past = False
    for sentence in plain_sentences(question):
        for clause in clauses_of(sentence, own):
            stated = _as_statement(clause, own)
            for match in reading.best(stated, asks=True):
                if subject := reading.subject(stated, match):
                    slots[Slot(subject, match.wording.attribute)] = None
                    is_past |= not {"past", "past_aux"}.isdisjoint(clause.labels)
    return AskedSlots(tuple(slots), is_past) if slots else None


def _as_statement(clause: Clause, own: Language) -> Clause:
    """Return a question in the order of a statement: "where do I live" as "I live where"."""
    tokens, labels, words = list(clause.tokens), list(clause.labels), own.words
    if not own.has_spaces:
        return clause
    start = next((n for n, token in enumerate(tokens) if token.word in words["questions"]), None)
    verb = next((n for n, token in enumerate(tokens) if token.word in words["inverted"] | {"'s"}), None)
    if verb is None:
        return clause
    asked = tokens[start:verb] if start is not None and start < verb else []
    rest = tokens[verb + 1 :]
    end = _subject_end(rest, own)
    order = [*rest[:end], tokens[verb], *rest[end:], *asked]
    places = {id(token): label for token, label in zip(tokens, labels, strict=True)}
    return Clause(clause.text, order, [places[id(token)] for token in order], clause.is_claimed)


def _subject_end(tokens: Sequence[Token], own: Language) -> int:
    if tokens and tokens[0].word in own.words["me"] | own.words["third"]:
        return 1
    for n, token in enumerate(tokens):
        if token.word in own.verbs and n:
            return n
    return len(tokens)


class _Reading:
    """One text and what was read of it so far."""

    def __init__(self, own: Language, said: datetime | None, speaker: str) -> None:
        self._language, self._said, self._speaker = own, said, speaker
        self._last: str | None = None
        """The last subject besides the speaker, which "he", "she" or "it" means."""
        self._current: str | None = None
        """The subject of the clause before, which a clause without one shares."""

    def claims(self, text: str) -> Iterator[Claim]:
        for sentence in plain_sentences(text):
            self._current = self._speaker
            for clause in clauses_of(sentence, self._language):
                if clause.is_claimed:
                    for match in self.best(clause):
                        yield from self._claims(clause, match, sentence.number)

    def best(self, clause: Clause, *, asks: bool = False) -> list[Match]:
        """Return the most specific match of each attribute's wordings that has a subject."""
        matches = sorted(
            self._language.matches(clause.tokens, clause.labels, asks=asks), key=lambda each: -each.wording.words
        )
        return matches[:1]

    def subject(self, clause: Clause, match: Match) -> str | None:
        begin, end = match.subject
        tokens = list(clause.tokens[begin:end])
        labels = list(clause.labels[begin:end])
        while tokens and labels[0]:
            del tokens[0], labels[0]
        while tokens and labels[-1] and tokens[-1].word != "'s":
            del tokens[-1], labels[-1]
        found = self._named(tokens, is_owner=match.is_owner)
        self._current = found or self._current
        if found and found != self._speaker:
            self._last = found
        return found

    def _named(self, tokens: list[Token], *, is_owner: bool) -> str | None:
        words = self._language.words
        if is_owner and tokens and tokens[-1].word == "'s":
            tokens = tokens[:-1]
        if not tokens:
            return None if is_owner else self._current
        first = tokens[0].word
        if len(tokens) == 1 and (first in words["me"] or (is_owner and first in words["mine"])):
            return self._speaker
        if len(tokens) == 1 and first in words["third"] | (words["theirs"] if is_owner else frozenset()):
            return self._last
        return self._noun(tokens) if len(tokens) <= _MOST_SUBJECT else None

    def _noun(self, tokens: Sequence[Token]) -> str | None:
        """Return the name or noun of a subject: "Anna" for "my sister Anna"; None if it is neither."""
        words, joint = self._language.words, " " if self._language.has_spaces else ""
        is_noun = tokens[0].word in words["mine"] | words["theirs"] | words["articles"]
        rest = tokens[1:] if is_noun else tokens
        if not rest or any(token.word in words["small"] - {"of", "'s", "the"} for token in rest):
            return None
        names = [token.raw for token in rest if token.raw[:1].isupper()]
        if is_noun and names and len(names) < len(rest):
            return joint.join(names)
        if is_noun or not joint or len(names) == len(rest) or len(rest) <= _MOST_BARE:
            return joint.join(token.raw for token in rest)
        return None

    def _claims(self, clause: Clause, match: Match, number: int) -> Iterator[Claim]:
        attribute = attributes()[match.wording.attribute]
        value = self._value(clause, match, attribute)
        subject = self.subject(clause, match)
        if subject is None or not value:
            return
        begin, end = value
        others = [n for n in range(len(clause.tokens)) if not begin <= n < end and n not in match.used]
        flags = {clause.labels[n] for n in others}
        if flags & {"unreal", "future"}:
            return
        valid_from, valid_to = self._times(clause, others)
        ends = "ends" in flags or {"not", "more"} <= flags
        change = match.wording.change
        if change and "not" in flags:
            return
        denied = ends or change is Change.ENDS or "not" in flags
        is_past = not match.wording.is_timeless and not denied and self._is_past(clause, match, flags)
        if ends:
            change = Change.ENDS
        elif change is None and not denied and not is_past and (flags & {"now", "begins"} or valid_from):
            change = Change.BEGINS
        text = clause.text[clause.tokens[begin].begin : clause.tokens[end - 1].end]
        yield Claim(
            Slot(subject, attribute.key),
            text,
            is_denied=denied,
            change=change,
            is_past=is_past,
            valid_from=valid_from,
            valid_to=valid_to,
            said=self._said,
            confidence=_UNSURE if "hedge" in flags else 1.0,
            sentence=number,
            quote=clause.text[clause.tokens[0].begin : clause.tokens[-1].end],
        )

    def _is_past(self, clause: Clause, match: Match, flags: set[str]) -> bool:
        if flags & {"past", "past_aux"}:
            return True
        has_perfect = any(token.word in ("have", "has") for token in clause.tokens[: match.used[0]])
        return not has_perfect and any(clause.tokens[n].word in self._language.past for n in match.used)

    def _value(self, clause: Clause, match: Match, attribute: Attribute) -> tuple[int, int] | None:
        begin, end = match.value
        tokens, labels, words = clause.tokens, clause.labels, self._language.words
        keeps_times = attribute.type in _KEPT_TIMES
        while begin < end and (tokens[begin].word in words["articles"] | words["mine"] or labels[begin]):
            if labels[begin] == TIME and keeps_times:
                break
            begin += 1
        for n in range(begin + 1, end):
            if tokens[n].word in words["stops"] and not (keeps_times and labels[n] == TIME):
                end = n
                break
        while begin < end and labels[end - 1] and not (labels[end - 1] == TIME and keeps_times):
            end -= 1
        while begin < end and not tokens[end - 1].word[-1].isalnum() and tokens[end - 1].word not in "%€$£+#":
            end -= 1
        return (begin, end) if begin < end else None

    def _times(self, clause: Clause, others: Sequence[int]) -> tuple[datetime | None, datetime | None]:
        """Return when a claim begins and ceases to hold, as the clause says."""
        found: dict[str, datetime] = {}
        words = self._language.words
        for n in others:
            word = clause.tokens[n].word
            if clause.labels[n] == TIME and word in words["since"] | words["until"]:
                rest = [m for m in others if m > n]
                until = next(
                    (m for m in rest if clause.labels[m] != TIME or clause.tokens[m].word in words["until"]), None
                )
                last = until - 1 if until is not None else rest[-1] if rest else n
                text = clause.text[clause.tokens[n].end : clause.tokens[last].end]
                if span := date_of(text, self._said):
                    found["since" if word in words["since"] else "until"] = datetime.combine(span.first, time(), UTC)
        return found.get("since"), found.get("until")

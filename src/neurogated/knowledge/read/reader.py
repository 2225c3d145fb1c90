"""Reads claims from texts, and slots from questions, with the table of attributes and without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta
from math import inf

from neurogated.core.claims import USER, AskedSlots, Change, Claim, Slot
from neurogated.core.text_caches import remembered
from neurogated.knowledge.read.clauses import ASKED, JOIN, TIME, Clause, clauses_of
from neurogated.knowledge.read.introduced import Introduction
from neurogated.knowledge.read.matching import Match, matches
from neurogated.knowledge.read.phrases import fits, is_description, parts_of, text_of, trimmed
from neurogated.knowledge.read.questions import as_statement
from neurogated.knowledge.read.subjects import Subjects, owned
from neurogated.knowledge.read.table import Attribute, attribute_of, attributes, with_subjects
from neurogated.knowledge.read.tongues import spoken
from neurogated.knowledge.read.values import date_of
from neurogated.knowledge.read.wordings import Language, language
from neurogated.text.normalise import plain_sentences
from neurogated.text.time_spans import Span

_REMEMBERED = 4_096
_LONGEST = 20_000
"""Characters of a text that are read."""
_UNSURE = 0.6
_SKIPPED = 1.5
"""How much a word of a wording that a question leaves out makes it fit less."""


class OfflineClaimReader:
    """Reads texts by the wordings of the table; each sentence has a language of its own."""

    def read(self, text: str, said: datetime | None = None, speaker: str | None = None) -> Sequence[Claim]:
        """Return the claims of a text; see `core.claims.ClaimReader`."""
        return _read(text, said, speaker)

    def asked(self, question: str, speaker: str | None = None) -> AskedSlots | None:
        """Return the slots that a question asks for; see `core.claims.QuestionReader`."""
        return _asked_slots(question, speaker)


@remembered(_REMEMBERED)
def _read(text: str, said: datetime | None, speaker: str | None) -> tuple[Claim, ...]:
    return tuple(_Reading(said, speaker or USER).claims(text[:_LONGEST]))


class _Reading:
    """One text that is read."""

    def __init__(self, said: datetime | None, speaker: str) -> None:
        self._own, self._said = language("en"), said
        self._subjects, self._new = Subjects(speaker), Introduction()
        # The values of the present clause, by their place and how their attribute cuts them.
        self._cut: dict[tuple[tuple[int, int], str, bool], list[tuple[int, int]]] = {}

    def claims(self, text: str) -> list[Claim]:
        """Return the claims of the text, each once; none if it says that it is a joke."""
        found: dict[tuple[Slot, str, bool], Claim] = {}
        for sentence in plain_sentences(text):
            self._own = spoken(sentence.text)
            self._subjects.begin_sentence(self._own)
            for said in clauses_of(sentence, self._own):
                clause = self._new.resolved(said, self._own)
                if clause.is_joke:
                    return []
                self._subjects.begin_clause(clause)
                for claim in self._clause(clause) if clause.is_claimed else ():
                    found.setdefault((claim.slot, claim.value, claim.is_denied), claim)
        return list(found.values())

    def _clause(self, clause: Clause) -> Iterator[Claim]:
        """Yield the claims of a clause: the most specific wordings whose values are apart."""
        taken: set[int] = set()
        done: set[str] = set()
        self._cut.clear()
        found = matches(clause, self._own)
        for is_vague, match in sorted(((self._is_vague(each), each) for each in found), key=lambda each: each[0]):
            words = self._own.joint.join(token.word for token in clause.tokens[slice(*match.key)])
            attribute = attribute_of(match.wording.attribute, words)
            if (done and is_vague) or attribute.key in done:
                continue
            parts = self._parts(clause, match, attribute)
            places = {n for part in parts for n in range(*part)}
            if not parts or not taken.isdisjoint(places):
                continue
            slot = self._slot(clause, match, attribute)
            claims = [self._claim(clause, match, slot, part) for part in parts if slot]
            if claims and all(claims):
                taken |= places | set(match.used)
                done.add(attribute.key)
                yield from filter(None, claims)
        for key, noun in owned(clause, self._own):
            if key in done:
                continue
            slot = Slot(self._subjects.speaker, key)
            yield Claim(slot, noun, said=self._said, is_implied=True, sentence=clause.number, quote=clause.quote)
        for slot, name in self._subjects.introduced():
            yield Claim(slot, name, said=self._said, sentence=clause.number, quote=clause.quote)

    @staticmethod
    def _is_vague(match: Match) -> bool:
        """Return whether a wording fits so much that it counts only where no other fits."""
        attribute = attributes().get(match.wording.attribute)
        return match.wording.attribute == "open" or (attribute is not None and attribute.type == "text")

    def _slot(self, clause: Clause, match: Match, attribute: Attribute) -> Slot | None:
        """Return the slot of a match; None if its subject is unclear or does not go with the wording."""
        if attribute.type == "clause" and not self._subjects.is_fresh:
            return None
        subject, speaker = self._subjects.named(clause, match), self._subjects.speaker
        is_own = {"person": True, "spot": False, "date": False}.get(match.wording.value_kind, subject == speaker)
        if subject is None or (attribute.key in with_subjects("worded") and is_own != (subject == speaker)):
            return None
        if subject == speaker and attribute.key in with_subjects("others"):
            return None
        named = attributes().get(self._own.nouns.get(subject.lower(), ""))
        if named and (named == attribute or (attribute.key == "date" and named.type in ("date", "time"))):
            return Slot(speaker, named.key)
        return Slot(subject, attribute.key)

    def _parts(self, clause: Clause, match: Match, attribute: Attribute) -> list[tuple[int, int]]:
        """Return where the values of a match stand that are of its kind."""
        if match.wording.attribute == "open" and is_description(clause, match, self._own):
            return []
        value = (0, len(clause.tokens)) if attribute.type == "clause" else match.value
        key = value, attribute.type, attribute.is_single
        if (parts := self._cut.get(key)) is None:
            span = trimmed(clause, value, attribute, self._own)
            parts = self._cut[key] = list(parts_of(clause, span, attribute, self._own)) if span else []
        return [part for part in parts if fits(clause, part, match.wording.value_kind, attribute, self._own)]

    def _claim(self, clause: Clause, match: Match, slot: Slot, span: tuple[int, int]) -> Claim | None:
        """Return what a match claims; None if it is supposed, in the future, or denies a change."""
        wording = match.wording
        end = max(span[1], match.used[-1] + 1)
        inside = {*match.used, *range(*span)}
        outside = [n for n in range(self._end(clause, end)) if n not in inside]
        flags = {clause.labels[n] for n in outside if n < end or "mark" not in clause.labels[end:n]}
        if self._is_open(clause, match, flags):
            return None
        is_over = "ends" in flags or {"not", "more"} <= flags
        change = Change.ENDS if is_over else wording.change
        is_denied = change is Change.ENDS or (("not" in flags) != wording.is_denied)
        is_past = not (wording.is_timeless or is_denied) and self._is_past(clause, match, flags)
        since, until, on = self._times(clause, outside)
        if is_denied and since:
            change, since, until = Change.ENDS, None, since
        if change is None and not is_denied and not is_past and (flags & {"now", "begins"} or since):
            change = Change.BEGINS
        if wording.change is None and "adds" in flags and not is_denied:
            change = Change.ADDS
        if on and (is_past or change):
            since = on if change is not Change.ENDS else None
            until = on if change is Change.ENDS else Span(on.last + timedelta(1), on.last) if is_past else None
        return Claim(
            slot,
            text_of(clause, span),
            is_denied=is_denied,
            change=change,
            is_past=is_past,
            valid_from=_moment(since.first if since else None),
            valid_to=_moment(until.first if until else None),
            said=self._said,
            confidence=_UNSURE if "hedge" in flags else 1.0,
            sentence=clause.number,
            quote=clause.quote,
        )

    def _is_open(self, clause: Clause, match: Match, flags: set[str]) -> bool:
        """Return whether something is supposed or planned, or whether a change is denied."""
        wording = match.wording
        is_verb = any(each.is_verb for each in wording.elements[:2])
        is_planned = wording.change and is_verb and clause.tokens[match.used[0]].word in self._own.progressive
        is_unsure = "hedge" in flags and wording.attribute == "plan"
        return (
            bool(is_planned)
            or is_unsure
            or bool(flags & {"unreal", "future"})
            or bool(wording.change and "not" in flags)
        )

    def _end(self, clause: Clause, begin: int) -> int:
        """Return where the words end that belong to a value which ends at `begin`."""
        stops, most = self._own.words["stops"], len(clause.tokens)
        words = zip(range(most), clause.tokens, clause.labels, strict=True)
        ends = (n for n, token, label in words if label == JOIN or (token.word in stops and not label))
        return next((n for n in ends if n >= begin), most)

    def _is_past(self, clause: Clause, match: Match, flags: set[str]) -> bool:
        if match.wording.is_past or flags & {"past", "past_aux"}:
            return True
        before = clause.tokens[: match.used[0]]
        is_perfect = any(token.word in self._own.words["perfect"] for token in before)
        words = [clause.tokens[n].word for n in match.used]
        return not is_perfect and (self._own.is_past(words[0]) or not self._own.words["past"].isdisjoint(words))

    def _times(self, clause: Clause, outside: Sequence[int]) -> tuple[Span | None, Span | None, Span | None]:
        """Return the days since when, until when, and on which something holds, as the words outside its value say."""
        sides = [self._own.words["since"], self._own.words["until"]]
        times = [n for n in outside if clause.labels[n] == TIME]
        marks = {n: side for n in times for side in (0, 1) if clause.tokens[n].word in sides[side]}
        found: dict[int, Span] = {}
        for n, side in marks.items():
            following = [m for m in times if m > n or not self._own.has_spaces]
            until = next((m for m in following if m in marks and m != n), len(clause.tokens))
            if span := date_of(text_of(clause, (n + 1, min(until, max(following, default=n) + 1))), self._said):
                found[side] = span
        on = date_of(text_of(clause, (times[0], times[-1] + 1)), self._said) if times and not marks else None
        return found.get(0), found.get(1), on


def _moment(day: date | None) -> datetime | None:
    return datetime.combine(day, time(), UTC) if day else None


@remembered(_REMEMBERED)
def _asked_slots(question: str, speaker: str | None) -> AskedSlots | None:
    subjects = Subjects(speaker or USER)
    slots: dict[Slot, None] = {}
    is_past = False
    for sentence in plain_sentences(question):
        own = spoken(sentence.text)
        subjects.begin_sentence(own)
        for clause in clauses_of(sentence, own):
            stated = as_statement(clause, own)
            best = -inf
            for match in sorted(matches(stated, own, asks=True), key=_fit, reverse=True):
                attribute = attribute_of(match.wording.attribute, text_of(stated, match.key).lower())
                if _fit(match) < best or not _is_asked(stated, match, attribute, own):
                    continue
                if subject := subjects.named(stated, match):
                    best = _fit(match)
                    slots[Slot(subject, attribute.key)] = None
                    is_past |= bool({"past", "past_aux"} & set(stated.labels))
    return AskedSlots(tuple(slots), is_past) if slots else None


def _fit(match: Match) -> float:
    """Return how well a wording fits a question, which may leave words out."""
    return match.wording.words - _SKIPPED * (match.wording.words - len(match.used))


def _is_asked(clause: Clause, match: Match, attribute: Attribute, own: Language) -> bool:
    """Return whether the words of a question for the value may ask for one of the attribute."""
    begin, end = match.value
    kind = match.wording.value_kind
    has_subject = match.subject[0] <= match.used[0] or not all(clause.labels[slice(*match.subject)])
    if not has_subject or (ASKED in clause.labels and not all(clause.labels[begin:end])):
        return False
    if begin < end and (kind in own.kinds or "|" in kind):
        return fits(clause, match.value, kind, attribute, own)
    asked = {token.word for token, label in zip(clause.tokens, clause.labels, strict=True) if label == ASKED}
    types = [own.asks[word] for word in asked & own.asks.keys()]
    return all(attribute.type in each for each in types)

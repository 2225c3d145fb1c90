"""Reads claims from texts, and slots from questions, with the table of attributes and without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, time

from neurogated.core.claims import USER, AskedSlots, Change, Claim, Slot
from neurogated.core.text_caches import remembered
from neurogated.knowledge.read.clauses import ASKED, TIME, Clause, clauses_of
from neurogated.knowledge.read.matching import Match, matches
from neurogated.knowledge.read.opening import open_match
from neurogated.knowledge.read.phrases import fits, parts_of, text_of, trimmed
from neurogated.knowledge.read.subjects import Subjects
from neurogated.knowledge.read.table import Attribute, attribute_of
from neurogated.knowledge.read.tongues import spoken
from neurogated.knowledge.read.values import date_of
from neurogated.knowledge.read.wordings import Language, language
from neurogated.text.normalise import plain_sentences

__all__ = ["OfflineClaimReader"]

_REMEMBERED = 4_096
_LONGEST = 20_000
"""Characters of a text that are read."""
_UNSURE = 0.6


class OfflineClaimReader:
    """Reads texts by the wordings of the table; each sentence has a language of its own."""

    def read(self, text: str, said: datetime | None = None, speaker: str | None = None) -> Sequence[Claim]:
        """Return the claims of a text; see `core.claims.ClaimReader`."""
        return _read(text, said, speaker)

    def asked(self, question: str, speaker: str | None = None) -> AskedSlots | None:
        """Return the slots that a question asks for; see `core.claims.QuestionReader`."""
        return _asked(question, speaker)


@remembered(_REMEMBERED)
def _read(text: str, said: datetime | None, speaker: str | None) -> tuple[Claim, ...]:
    return tuple(_Reading(said, speaker or USER).claims(text[:_LONGEST]))


class _Reading:
    """One text that is read."""

    def __init__(self, said: datetime | None, speaker: str) -> None:
        self._own, self._said = language("en"), said
        self._subjects = Subjects(speaker)

    def claims(self, text: str) -> list[Claim]:
        """Return the claims of the text, each once; none if it says that it is a joke."""
        found: dict[tuple[Slot, str, bool], Claim] = {}
        for sentence in plain_sentences(text):
            self._own = spoken(sentence.text)
            self._subjects.begin_sentence(self._own)
            for clause in clauses_of(sentence, self._own):
                if clause.is_joke:
                    return []
                self._subjects.begin_clause(clause)
                for claim in self._clause(clause) if clause.is_claimed else ():
                    found.setdefault((claim.slot, claim.value, claim.is_denied), claim)
        return list(found.values())

    def _clause(self, clause: Clause) -> Iterator[Claim]:
        """Yield the claims of a clause: the most specific wordings whose values are apart."""
        taken: set[int] = set()
        attributes: set[str] = set()
        for match in [*matches(clause, self._own), *filter(None, [open_match(clause, self._own)])]:
            attribute = attribute_of(match.wording.attribute, text_of(clause, match.key).lower())
            is_vague = attribute.type == "text" or match.wording.attribute == "open"
            parts = self._parts(clause, match, attribute) if not (attributes and is_vague) else []
            places = {n for part in parts for n in range(*part)}
            if not parts or attribute.key in attributes or not taken.isdisjoint(places):
                continue
            if attribute.type == "clause" and not self._subjects.is_fresh:
                continue
            subject = self._subjects.named(clause, match)
            if match.wording.value_kind == "person" and not self._subjects.is_speaker(subject):
                continue
            claims = [self._claim(clause, match, Slot(subject, attribute.key), part) for part in parts if subject]
            if claims and all(claims):
                taken |= places
                attributes.add(attribute.key)
                yield from filter(None, claims)
        for slot, name in self._subjects.introduced():
            yield Claim(slot, name, said=self._said, sentence=clause.number, quote=clause.quote)

    def _parts(self, clause: Clause, match: Match, attribute: Attribute) -> list[tuple[int, int]]:
        """Return where the values of a match stand that are of its kind."""
        value = (0, len(clause.tokens)) if attribute.type == "clause" else match.value
        span = trimmed(clause, value, attribute, self._own)
        parts = parts_of(clause, span, attribute, self._own) if span else iter(())
        return [part for part in parts if fits(clause, part, match.wording.value_kind, attribute, self._own)]

    def _claim(self, clause: Clause, match: Match, slot: Slot, span: tuple[int, int]) -> Claim | None:
        """Return what a match claims; None if it is supposed, in the future, or denies a change."""
        wording = match.wording
        outside = [n for n in range(len(clause.tokens)) if n not in match.used and not (span[0] <= n < span[1])]
        flags = {clause.labels[n] for n in outside}
        if (
            flags & {"unreal", "future"}
            or ("hedge" in flags and wording.attribute == "plan")
            or (wording.change and "not" in flags)
        ):
            return None
        is_over = "ends" in flags or {"not", "more"} <= flags
        change = Change.ENDS if is_over else wording.change
        is_denied = change is Change.ENDS or (("not" in flags) != wording.is_denied)
        is_past = not (wording.is_timeless or is_denied) and self._is_past(clause, match, flags)
        valid_from, valid_to = self._times(clause, outside)
        if change is None and not is_denied and not is_past and (flags & {"now", "begins"} or valid_from):
            change = Change.BEGINS
        return Claim(
            slot,
            text_of(clause, span),
            is_denied=is_denied,
            change=change,
            is_past=is_past,
            valid_from=valid_from,
            valid_to=valid_to,
            said=self._said,
            confidence=_UNSURE if "hedge" in flags else 1.0,
            sentence=clause.number,
            quote=clause.quote,
        )

    def _is_past(self, clause: Clause, match: Match, flags: set[str]) -> bool:
        if match.wording.is_past or flags & {"past", "past_aux"}:
            return True
        before = clause.tokens[: match.used[0]]
        is_perfect = any(token.word in self._own.words["perfect"] for token in before)
        words = [clause.tokens[n].word for n in match.used]
        return not is_perfect and (self._own.is_past(words[0]) or not self._own.words["past"].isdisjoint(words))

    def _times(self, clause: Clause, outside: Sequence[int]) -> tuple[datetime | None, datetime | None]:
        """Return when a claim begins and ceases to hold, as the words outside its value say."""
        sides = [self._own.words["since"], self._own.words["until"]]
        times = [n for n in outside if clause.labels[n] == TIME]
        marks = {n: side for n in times for side in (0, 1) if clause.tokens[n].word in sides[side]}
        found: dict[int, datetime] = {}
        for n, side in marks.items():
            following = [m for m in times if m > n or not self._own.has_spaces]
            until = next((m for m in following if m in marks and m != n), len(clause.tokens))
            text = text_of(clause, (n + 1, min(until, max(following, default=n) + 1)))
            if span := date_of(text, self._said):
                found[side] = datetime.combine(span.first, time(), UTC)
        return found.get(0), found.get(1)


@remembered(_REMEMBERED)
def _asked(question: str, speaker: str | None) -> AskedSlots | None:
    subjects = Subjects(speaker or USER)
    slots: dict[Slot, None] = {}
    is_past = False
    for sentence in plain_sentences(question):
        own = spoken(sentence.text)
        subjects.begin_sentence(own)
        for clause in clauses_of(sentence, own):
            stated = clause.as_statement(own)
            best = 0.0
            for match in matches(stated, own, asks=True):
                attribute = attribute_of(match.wording.attribute, text_of(stated, match.key).lower())
                if match.wording.words < best or not _is_asked(stated, match, attribute, own):
                    continue
                if subject := subjects.named(stated, match):
                    best = match.wording.words
                    slots[Slot(subject, attribute.key)] = None
                    is_past |= bool({"past", "past_aux"} & set(stated.labels))
    return AskedSlots(tuple(slots), is_past) if slots else None


def _is_asked(clause: Clause, match: Match, attribute: Attribute, own: Language) -> bool:
    """Return whether the words of a question for the value may ask for one of the attribute."""
    begin, end = match.value
    kind = match.wording.value_kind
    if begin < end and (kind in own.kinds or "|" in kind):
        return fits(clause, match.value, kind, attribute, own)
    asked = {token.word for token, label in zip(clause.tokens, clause.labels, strict=True) if label == ASKED}
    types = [own.asks[word] for word in asked & own.asks.keys()]
    return all(attribute.type in each for each in types)

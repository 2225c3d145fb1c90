"""Claims in messages that can contradict earlier ones of the same person: denied experiences, and changed amounts.

A message of a conversation is a run of clauses, few of which state anything. The judge of pairs needs two statements
about one thing in similar words. These claims announce themselves: "I have never …" denies that something happened, and
"… increased to 50" or "now … 50" gives an amount that replaces another one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from neurogated.core.judgements import Relation, RelationKind
from neurogated.knowledge.clauses import (
    clauses_in,
    has_happened,
    is_own,
    keys_in,
    language_in,
    ordered_keys,
    relatives_in,
)
from neurogated.knowledge.cues import MODES, NOW
from neurogated.knowledge.statement import read_text
from neurogated.knowledge.tokens import Token
from neurogated.knowledge.word_relations import word_relations
from neurogated.text.keywords import split_keywords

__all__ = ["REASONS", "Claim", "claims_in", "contradicted", "nearest_clause", "repeats"]

_CASE = re.IGNORECASE
_DENIED = (
    re.compile(
        r"(?<!\w)(?:i|we)(?P<perfect>['’](?:ve|d)| have| had)? never (?P<what>.+)"
        r"|(?<!\w)(?:i|we) (?:haven['’]t|have not|hadn['’]t|had not) (?P<yet>.+) yet(?!\w)",
        _CASE,
    ),
    re.compile(
        r"(?P<perfect>(?<!\w)(?:habe|haben|bin|sind|hatten?|war(?:en)?)(?!\w))"
        r"(?P<what>.*(?<!\w)(?:nie|niemals|noch nicht)(?!\w).*)",
        _CASE,
    ),
    re.compile(
        r"(?<!\w)(?:nunca|jamás|(?:todavía|aún) no) "
        r"(?P<what>(?P<perfect>he|hemos|había|habíamos|fui|estuve|tuve|hice|\w+[éí]) .+)",
        _CASE,
    ),
    re.compile(
        r"(?<!\w)(?P<perfect>je|nous) n['’e] ?(?:ai|avons|suis|sommes|avais|étais)(?: encore)? (?:jamais|pas encore) "
        r"(?P<what>.+)",
        _CASE,
    ),
    re.compile(
        r"(?P<perfect>从来|從來|从|從|还|還)?(?:没有|沒有|没|沒|未)(?P<what>.+[过過].*)|(?:还|還)(?:没有?|沒有?)(?P<yet>.+)"
    ),
)
"""Denials that something ever happened, or has happened yet."""
_REPLACING = {
    language: re.compile(rf"(?<!\w)(?:{words})[\s(~$€£]*$", _CASE)
    for language, words in {
        "en": r"(?:to|to the)|(?:the|my|our|his|her|their|an?) (?:new|\w+ed) (?:[\w-]+ ){1,3}(?:of|is)",
        "de": r"auf(?: den)?|neue\w* (?:[\w-]+ ){1,3}(?:von|ist|beträgt)",
        "es": r"al?(?: l[ao]s?)?|nuev[oa]s? (?:[\w-]+ ){1,3}(?:de|es)",
        "fr": r"à(?: la)?|aux?|nouve(?:au|lle) (?:[\w-]+ ){1,3}(?:de|est)",
        "zh": r".*(?:[到至成为]|新的?[^，。]{1,8}[是为]).{0,2}",
    }.items()
}
"""The words before an amount that replaces another one."""
_CHANGE = {
    "de": re.compile(r"\b[^\W\d_]+(?:t|en)\W*$", _CASE),
    "es": re.compile(r"\b[^\W\d_]+(?:ó|[ai]d[oa]s?)(?=\s+al?(?: l[ao]s?)?\s*$)", _CASE),
    "fr": re.compile(r"\b[^\W\d_]+[éiu]e?s?(?=\s+(?:à(?: la)?|aux?)\s*$)", _CASE),
    "zh": re.compile(r".[到至成为].{0,2}$"),
}
"""The verb that says that an amount changed, before it; in German after it. English verbs are known by their forms."""
_ROLES = frozenset({"to", "auf", "a", "à", "到"})
_SPAN = re.compile(r"(?<!\w)(?:from|between|von|zwischen|vom|de|desde|entre|du|depuis)(?!\w)[^,]*\d|从.*\d", _CASE)
"""The beginning of a span of amounts, as in "from 9 to 5"."""
REASONS = {
    "denied": "The later one denies that this ever happened.",
    "changed": "The later one says that an amount or a time changed.",
}
"""By the rule of a claim."""
_BEFORE = 7
"""Words before the announcement that belong to a claim."""
_LEAST = 2
"""Words that a claim and an earlier sentence must share, if the claim has so many."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A clause that contradicts earlier sentences about the same thing."""

    words: str
    """The words to search for."""
    keys: frozenset[str]
    """Their stems."""
    language: str
    amounts: tuple[Token, ...] = ()
    """The new amount or time; empty for a denied experience."""
    relatives: frozenset[str] = frozenset()
    """The relatives and friends of whom it speaks."""
    action: tuple[str, ...] = ()
    """The denied verb and its object, if the order of words tells them."""

    @property
    def rule(self) -> str:
        """The rule by which it contradicts."""
        return "changed" if self.amounts else "denied"

    @property
    def relation(self) -> Relation:
        """The relation of an earlier sentence to the claim."""
        if self.amounts:
            return Relation(RelationKind.SUPERSESSION, _CONFIDENCE, REASONS[self.rule])
        return Relation(RelationKind.CONTRADICTION, _CONFIDENCE, REASONS[self.rule], "contested")

    def share_of(self, text: str) -> float:
        """Return the share of the claim's words that a text has, 0–1."""
        return len(self.keys & keys_in(text, self.language)) / len(self.keys)

    def covers(self, keys: frozenset[str], least: float) -> bool:
        """Return whether a sentence with these stems holds enough of the claim, and the same object of its verb."""
        if self.action and self.action[0] in keys and self.action[-1] not in keys:
            return False
        return len(self.keys & keys) >= self.least(least)

    def least(self, share: float) -> int:
        """Return the number of words of the claim that a sentence must have."""
        return max(min(_LEAST, len(self.keys)), math.ceil(share * len(self.keys)))


_CONFIDENCE = 0.7


def claims_in(sentence: str) -> Iterator[Claim]:
    """Yield the claims of a sentence."""
    for clause in clauses_in(sentence):
        if any(MODES[mode].search(clause) for mode in ("supposed", "wished")):
            continue
        if (denied := _denied(clause, sentence)) is not None:
            yield from _claim(denied, clause)
        elif any(map(str.isdigit, clause)) and (token := _new_amount(clause)) is not None:
            yield from _claim(_words_about(token, clause), clause, token)


def _denied(clause: str, sentence: str) -> str | None:
    """Return the words of an experience of the speaker that a clause denies; None if it denies none."""
    match = next(filter(None, (pattern.search(clause) for pattern in _DENIED)), None)
    if match is None or not is_own(clause, sentence):
        return None
    groups = match.groupdict()
    what = groups.get("what") or groups.get("yet") or ""
    is_told = groups.get("perfect") or groups.get("yet") or language_in(what) == "zh"
    return what if is_told or word_relations().is_past(what.split()[0].lower()) else None


def _new_amount(clause: str) -> Token | None:
    """Return the amount of a clause that replaces another one."""
    is_now, replacing = NOW.search(clause) is not None, _REPLACING[language_in(clause)]
    for token in _amounts(clause):
        before = clause[: token.begin]
        if is_now or ((token.role in _ROLES or replacing.search(before)) and not _SPAN.search(before)):
            return token
    return None


def _words_about(amount: Token, clause: str) -> str:
    """Return the words of a clause that tell what an amount measures, without the verb that says that it changed."""
    before, after = clause[: amount.begin], clause[amount.begin + len(amount.word) :]
    language = language_in(clause)
    if language == "de" and _REPLACING["de"].search(before):
        after = _CHANGE["de"].sub(" ", after)
    elif language in {"es", "fr", "zh"}:
        before = _CHANGE[language].sub(" ", before)
    return f"{' '.join(before.split()[-_BEFORE:])} {after}"


def _claim(words: str, clause: str, *amounts: Token) -> Iterator[Claim]:
    language = language_in(clause)
    keys = ordered_keys(NOW.sub(" ", words), language, without_past=bool(amounts))
    is_named = any(word[:1].isupper() or word[:1] >= "\u3400" for word in words.split())
    if len(set(keys)) >= _LEAST or (keys and is_named):
        # In German the verb comes last, and Chinese keys are pairs of characters.
        action = tuple(keys[:2]) if not amounts and language in {"en", "es", "fr"} else ()
        yield Claim(words, frozenset(keys), language, amounts, relatives_in(clause), action)


def repeats(claim: Claim, sentences: Sequence[str], least: float) -> bool:
    """Return whether one of the sentences makes a claim already, so that a conflict with it is known."""
    for sentence in sentences:
        if not claim.amounts:
            if any(not other.amounts and claim.covers(other.keys, least) for other in claims_in(sentence)):
                return True
        elif (
            claim.covers(keys_in(sentence, claim.language), least)
            and _differs(claim.amounts[0], _amounts(sentence)) is False
        ):
            return True
    return False


def contradicted(claim: Claim, sentences: Sequence[str], least: float) -> int | None:
    """Return the place of the last sentence that a claim contradicts; None if there is none."""
    found = None
    for place, sentence in enumerate(sentences):
        if not claim.covers(keys_in(sentence, claim.language), least):
            continue
        nearest = nearest_clause(sentence, claim.words)
        if claim.amounts:
            is_other = relatives_in(nearest) != claim.relatives or not _differs(claim.amounts[0], _amounts(sentence))
            found = found if is_other else place
        elif has_happened(nearest) and is_own(nearest, sentence):
            found = place
    return found


def nearest_clause(sentence: str, other: str) -> str:
    """Return the clause of a sentence that shares most words with another text, the first of several."""
    keys = frozenset(split_keywords(other))
    return max(
        clauses_in(sentence), key=lambda clause: len(keys.intersection(split_keywords(clause))), default=sentence
    )


def _amounts(text: str) -> list[Token]:
    return [token for token in read_text(text).tokens if token.quantity is not None or token.moment is not None]


def _differs(new: Token, amounts: Sequence[Token]) -> bool | None:
    """Return whether amounts of the same kind differ from a new one; None if there is none of its kind."""
    if new.moment is not None:
        moments = [one.moment for one in amounts if one.moment is not None]
        if new.moment in moments:
            return False
        return True if any(new.moment.differs(one) for one in moments) else None
    if new.quantity is None:
        return None
    alike = [
        one.quantity for one in amounts if one.quantity is not None and one.quantity.dimension == new.quantity.dimension
    ]
    return not any(new.quantity.equals(one) or one.admits(new.quantity) for one in alike) if alike else None

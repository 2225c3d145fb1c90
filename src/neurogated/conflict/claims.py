"""Claims in messages that can contradict earlier ones of the same person: denied experiences, and changed amounts.

A message of a conversation is a run of clauses, few of which state anything. The judge of pairs needs two statements
about one thing in similar words. These claims announce themselves: "I have never …" denies that something happened, and
"… increased to 50" gives an amount that replaces another one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

from neurogated.conflict.statement import read_text
from neurogated.conflict.tokens import Token
from neurogated.core.judgements import Relation, RelationKind
from neurogated.core.keywords import split_keywords
from neurogated.core.language import FUNCTION_WORDS

__all__ = ["REASONS", "Claim", "claims_in", "clauses_in", "contradicted", "nearest_clause", "repeats"]

_CASE = re.IGNORECASE
_CLAUSE = re.compile(
    r"[;:!?。！？；，]\s*|\s[-–—]+\s"
    r"|,\s+(?=(?:and|but|so|or|because|since|which|who|when|while|especially|although|though|can|could|should|would|do|how|what"
    r"|i|i['’]\w+|we|he|she|they|it|und|aber|denn|weil|ich|wir|kannst|y|pero|porque|puedes|et|mais|car|je|nous|peux)\b)",
    _CASE,
)
_NEVER = (
    re.compile(
        r"\b(?:i|we)(?:['’](?:ve|d)| have| had) never(?: (?:yet|actually|really|ever))? (?P<what>[^,;:.!?]+)", _CASE
    ),
    re.compile(
        r"\b(?:ich|wir) (?:habe|bin|war|haben|sind|waren) (?:noch )?(?:nie|niemals) (?P<what>[^,;:.!?]+)", _CASE
    ),
    re.compile(r"\b(?:nunca|jamás) (?:he|hemos|había) (?P<what>[^,;:.!?]+)", _CASE),
    re.compile(
        r"\b(?:je|nous) n['’e ]\s?(?:ai|avons|suis|sommes|étais) (?:encore )?jamais (?P<what>[^,;:.!?]+)", _CASE
    ),
    re.compile(r"我们?(?:从来|從來|从|從)?(?:没有|沒有|没|沒|未)(?P<what>[^，。；！？]*[过過][^，。；！？]*)"),
)
_ENOUGH = re.compile(
    r"\b(?:so|but|because|since|which|considering|by|due to|after|as|that|when|while|thanks|using|before)\b", _CASE
)
_GREW = (
    r"(?:increased|raised|extended|shortened|reduced|lowered|cut|changed|updated|rescheduled|moved|postponed|delayed|pushed|grown"
    r"|grew|dropped|improved|risen|rose|upgraded|expanded|boosted|adjusted|revised|bumped|switched)"
)
_NUMBER = r"(?P<value>[$€£]?\w*\d[^;]*)"
_MONTH = r"(?P<value>(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\w* \d[^;]*)"
_CHANGED = (
    re.compile(rf"\b{_GREW}\b(?! (?:in|on|with|by|at|for)\b)[^,;.]{{0,60}}?\bto {_NUMBER}", _CASE),
    re.compile(rf"\b{_GREW}\b(?! (?:in|on|with|by|at|for)\b)[^,;.]{{0,60}}?\bto {_MONTH}", _CASE),
    re.compile(
        r"\b(?:new|updated|revised|increased|reduced|raised|lowered|extended|expanded) [^,;.]{0,40}?\b(?:of|to|is) "
        r"(?P<value>[^,;]*\d[^;]*)",
        _CASE,
    ),
    re.compile(
        rf"\b(?:now|recently|final \w+) (?:\w+ )?(?:reached|reaches|has|have|at|is|are|totals?|contains?|includes?) "
        rf"(?:a total of )?{_NUMBER}",
        _CASE,
    ),
    re.compile(
        rf"\b(?:auf|jetzt|inzwischen|nun) {_NUMBER}.*\b(?:erhöht|verlängert|verkürzt|gesenkt|verschoben|geändert)\b",
        _CASE,
    ),
    re.compile(
        rf"\b(?:aument|ampli|redu[cj]|baj|sub|cambi|pospu|aplaz|extend)\w* [^,;.]{{0,60}}?\ba (?:las? |el )?{_NUMBER}",
        _CASE,
    ),
    re.compile(
        rf"\b(?:augment|prolong|rédui|baiss|chang|report|repouss|pass)\w* [^,;.]{{0,60}}?\bà (?:la |le )?{_NUMBER}",
        _CASE,
    ),
    re.compile(r"(?:增加|减少|延长|缩短|提高|降低|改|推迟|提前|涨|降)(?:到|至|成|为)(?P<value>[^，。；]*)"),
)
_UNREAL = re.compile(
    r"\b(?:want(?:ed)? to|plan(?:ning|s)? (?:to|on)|hop(?:e|ing) to|would|might|if|thinking (?:of|about)"
    r"|consider(?:ing)?|wish|going to|gonna|(?:will|should|could|may|can) (?:i|we|you)"
    r"|how (?:do|can|to))\b"
    r"|\b(?:möchte|will ich|würde|wenn|überlege|plane)\b"
    r"|\b(?:quiero|quisiera|si|planeo)\b|\b(?:je veux|je voudrais|si)\b"
    r"|想要?|打算|如果|计划",
    _CASE,
)
_LIGHT = frozenset(
    split_keywords(
        """before any ever anything anyone else have been be do go went get got like other online really use used make
        made take took try tried new recently now already total reached worried kinda trying way best adjust help
        understand especially since given increased raised extended shortened reduced lowered changed updated
        rescheduled moved postponed delayed je jemals schon alguna vez jamais encore antes"""
    )
) | frozenset(split_keywords(" ".join(chain.from_iterable(FUNCTION_WORDS.values()))))
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
    amounts: tuple[Token, ...] = ()
    """The new amount or time; empty for a denied experience."""

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
        return len(self.keys.intersection(split_keywords(text))) / len(self.keys)

    def covers(self, keys: frozenset[str], least: float) -> bool:
        """Return whether a sentence with these stems holds enough of the claim."""
        shared = len(self.keys & keys)
        return shared >= min(_LEAST, len(self.keys)) and shared >= least * len(self.keys)


_CONFIDENCE = 0.7


def clauses_in(sentence: str) -> list[str]:
    """Return the clauses of a sentence."""
    return [clause for clause in _CLAUSE.split(sentence) if clause]


def claims_in(sentence: str) -> Iterator[Claim]:
    """Yield the claims of a sentence."""
    for pattern in _NEVER:
        for match in pattern.finditer(sentence):
            yield from _claim(_ENOUGH.split(match["what"], maxsplit=1)[0])
    for clause in _CLAUSE.split(sentence):
        for match in islice(chain.from_iterable(pattern.finditer(clause) for pattern in _CHANGED), 1):
            amounts = _amounts(_ENOUGH.split(match["value"], maxsplit=1)[0])[:1]
            before = " ".join(clause[: match.start()].split()[-_BEFORE:])
            said = f"{before} {_ENOUGH.split(clause[match.start() :], maxsplit=1)[0]}"
            yield from _claim(said, amounts) if amounts else ()


def _claim(words: str, amounts: Sequence[Token] = ()) -> Iterator[Claim]:
    keys = frozenset(key for key in split_keywords(words) if key not in _LIGHT and not any(map(str.isdigit, key)))
    is_named = any(word[:1].isupper() or word[:1] >= "\u3400" for word in words.split())
    if len(keys) >= _LEAST or (keys and is_named):
        yield Claim(words, keys, tuple(amounts))


def repeats(claim: Claim, sentences: Sequence[str], least: float) -> bool:
    """Return whether one of the sentences makes a claim already, so that a conflict with it is known."""
    for sentence in sentences:
        if not claim.amounts:
            if any(not other.amounts and claim.covers(other.keys, least) for other in claims_in(sentence)):
                return True
        elif claim.covers(_keys(sentence), least) and _differs(claim.amounts[0], _amounts(sentence)) is False:
            return True
    return False


def contradicted(claim: Claim, sentences: Sequence[str], least: float) -> int | None:
    """Return the place of the last sentence that a claim contradicts; None if there is none."""
    found = None
    for place, sentence in enumerate(sentences):
        if not claim.covers(_keys(sentence), least):
            continue
        if claim.amounts:
            found = place if _differs(claim.amounts[0], _amounts(sentence)) else found
        elif not _is_unreal(claim, sentence):
            found = place
    return found


def _is_unreal(claim: Claim, sentence: str) -> bool:
    """Return whether the clause that shares most with a claim is planned, supposed, wished or denied."""
    nearest = nearest_clause(sentence, claim.words)
    return _UNREAL.search(nearest) is not None or any(pattern.search(nearest) for pattern in _NEVER)


def nearest_clause(sentence: str, other: str) -> str:
    """Return the clause of a sentence that shares most words with another text, the first of several."""
    keys = _keys(other)
    return max(
        clauses_in(sentence), key=lambda clause: len(keys.intersection(split_keywords(clause))), default=sentence
    )


def _keys(text: str) -> frozenset[str]:
    return frozenset(split_keywords(text))


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
    return not any(new.quantity.equals(one) for one in alike) if alike else None

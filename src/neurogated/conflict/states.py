"""The simple statements that a sentence makes: its main clauses, and the states that the events it tells begin or end.

"I moved to York last week, and I like it." says "I live in York now." The table `state_changes.json` has the events.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence

from neurogated.conflict.clauses import clauses_in, language_in
from neurogated.conflict.slots import slot_of
from neurogated.conflict.statement import read_text
from neurogated.core.packaged import packaged_json

__all__ = ["begun_in", "states_in"]

_REMEMBERED = 4_096
_LONGEST = 400
_PARTS = {
    "WHO": (
        r"(?P<who>\b(?:i|we|he|she|they|(?:my|our|his|her) \w+|(?-i:[A-Z])\w+))"
        r"(?:['’](?:ve|s)| have| has)?(?: (?:just|recently|finally|now|already))?"
    ),
    "NAME": r"(?P<what>(?-i:[A-ZÀ-Ý])[\w'’-]*(?:[ -](?:(?:de|la|of|am|upon) )?(?-i:[A-ZÀ-Ý])[\w'’-]*){0,3})",
    "THING": r"(?P<what>[\w-]+(?: [\w-]+)?)(?=$|[,.;]| (?:and|because|last|on|to|for|in|this|yesterday|today)\b)",
    "HAN": r"(?P<what>[\u4e00-\u9fffA-Za-z]{2,8}?)(?=了|工作|$|[，。！；,])",
}
_TOLD = re.compile(
    r"\b(?:when|ago|before|then|later|once|als|vor|damals|danach|cuando|hace|luego|entonces|quand|lorsque|y a|puis)\b"
    r"|时候|以前|后来|当时|之前|\b(?:1[0-9]|20)\d\d\b|\d年",
    re.IGNORECASE,
)
"""A story of the past: an event in it may not have begun the present state."""
_PLURAL = frozenset({"i", "we", "they"})
_MAIN = re.compile(r"(?:(?:and|but|so|or|und|aber|y|pero|et|mais)\s+)?(?P<said>.+)", re.IGNORECASE | re.DOTALL)

_REST = re.compile(r",\s(?=[a-zß-ÿ])")
"""Words that tell more of the same follow, as in "Leeds, near the station"; in "Leeds, England" a name follows."""


@functools.cache
def _changes(language: str) -> list[tuple[re.Pattern[str], str]]:
    parts = re.compile("|".join(_PARTS))
    rows = packaged_json(__package__, "state_changes.json").get(language, ())
    return [
        (re.compile(parts.sub(lambda part: _PARTS[part[0]], pattern), re.IGNORECASE), state) for pattern, state in rows
    ]


@functools.lru_cache(_REMEMBERED)
def states_in(sentence: str) -> tuple[str, ...]:
    """Return the simple statements that a sentence makes, without the sentence itself."""
    main = (_REST.split(found["said"], 1)[0] for clause in _clauses(sentence) if (found := _MAIN.fullmatch(clause)))
    told = (said for said in main if said != sentence and slot_of(read_text(said)) is not None)
    return tuple(dict.fromkeys((*begun_in(sentence), *told)))


@functools.lru_cache(_REMEMBERED)
def begun_in(sentence: str) -> tuple[str, ...]:
    """Return the states that the events of a sentence begin or end, each as a sentence."""
    changes = _changes(language_in(sentence))
    # Most sentences tell no event, and to read one takes longer than to search it.
    if _TOLD.search(sentence) or not any(pattern.search(sentence) for pattern, _ in changes):
        return ()
    return tuple(filter(None, (_begun(clause, changes) for clause in _clauses(sentence))))


def _clauses(sentence: str) -> list[str]:
    """Return the clauses of a sentence that says what is true; none of others."""
    if len(sentence) > _LONGEST:
        return []
    whole = read_text(sentence)
    return [] if whole.mode or whole.holder else clauses_in(sentence)


def _begun(clause: str, changes: Sequence[tuple[re.Pattern[str], str]]) -> str | None:
    """Return the state that an event begins or ends."""
    for pattern, state in changes:
        if found := pattern.search(clause):
            groups = {"who": "", **found.groupdict()}
            who = groups["who"]
            is_plural = who.lower() in _PLURAL
            forms = {"s": "" if is_plural else "s", "have": "have" if is_plural else "has"}
            return state.format(**groups, **forms, am="am" if who == "I" else "are" if is_plural else "is")
    return None

"""Finds subject, attribute and value in a simple English statement, and decides whether two attributes are one."""

from __future__ import annotations

import re
from collections.abc import Collection

from neurogated.core.text_caches import remembered
from neurogated.knowledge import cues
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.statement import Slot, Statement
from neurogated.knowledge.tokens import key_of
from neurogated.knowledge.word_relations import word_relations
from neurogated.text.words import words_of

__all__ = ["is_narrower", "same_attribute", "same_subject", "slot_of"]

_BE = r"(?:is|was|are|were|has been|=|:)"
_SUBJECT = r"(?P<subject>[^,]+?)"
_ATTRIBUTE = r"(?P<attribute>[\w-]+(?: [\w-]+){0,3}?)"
_PATTERNS = (
    re.compile(rf"^(?:the )?(?!an? ){_ATTRIBUTE} (?:of|for) {_SUBJECT} {_BE} (?P<value>.+)$", re.IGNORECASE),
    re.compile(rf"^{_SUBJECT}(?:['’]s|(?<=s)['’]) {_ATTRIBUTE} {_BE} (?P<value>.+)$", re.IGNORECASE),
    re.compile(rf"^(?P<subject>my|our|your|his|her|their) {_ATTRIBUTE} {_BE} (?P<value>.+)$", re.IGNORECASE),
    re.compile(
        rf"^{_SUBJECT} (?:has|had) (?:a|an|the|as its|as his|as her) {_ATTRIBUTE} (?:of )(?P<value>.+)$", re.IGNORECASE
    ),
)
_PARTICIPLE = re.compile(r"(?:ed|en|n|d|t|ing)$")
_LIGHT = words_of("""
        is are was were be been has have had a an the of in on at to for by with as its
    """)
_VAGUE = words_of("""
        current currently present new own main primary listed full official
    """)
_AUXILIARIES = words_of("""
        is are was were has have had does do did can will be been being not am 's also still currently
    """)
_JOINED = 0.37
"""Mean cosine, of two attributes and of two facts, from which the attributes count as one."""
_EQUAL_VALUES = 0.3
"""The same for equal values."""
_MOST_SUBJECT = 5
_REMEMBERED = 4_096


@remembered(_REMEMBERED)
def slot_of(statement: Statement) -> Slot | None:
    """Return subject, attribute and value; None for a text that has none of the simple patterns."""
    if statement.slot is not None or statement.language != "en":
        return statement.slot
    body = statement.body
    for pattern in _PATTERNS:
        if match := pattern.match(body):
            subject, attribute = match["subject"], match["attribute"]
            if len(subject.split()) <= _MOST_SUBJECT and not _ends_with_verb(attribute):
                return Slot(subject, f"{attribute} is", match["value"])
    return _verbal(body)


def _ends_with_verb(words: str) -> bool:
    relations = word_relations()
    last = words.lower().split()[-1]
    return relations.is_verb(last) and not relations.is_noun(last)


def _verbal(body: str) -> Slot | None:
    """Return subject, verb with its preposition, and the rest."""
    words = body.split()
    relations = word_relations()
    start = next((n for n, word in enumerate(words[1:], 1) if _starts_predicate(word, words[n - 1], n)), None)
    if start is None or start > _MOST_SUBJECT:
        return None
    end = start
    while end < len(words) - 1 and words[end].lower() in _AUXILIARIES:
        end += 1
    is_verb = (
        end < len(words) - 1
        and (relations.is_verb(words[end].lower()) or words[end + 1].lower() in cues.PREPOSITIONS["en"])
        and (end == start or bool(_PARTICIPLE.search(words[end].lower())))
    )
    if is_verb or end == start:
        end += 1
    while end < len(words) - 1 and words[end].lower() in cues.PREPOSITIONS["en"]:
        end += 1
    if end >= len(words):
        return None
    return Slot(" ".join(words[:start]), " ".join(words[start:end]), " ".join(words[end:]))


def _starts_predicate(word: str, before: str, place: int) -> bool:
    lower = word.lower()
    if lower in _AUXILIARIES:
        return True
    if word[:1].isupper() or before.lower() in {"the", "a", "an", "my", "our", "his", "her", "their", "of"}:
        return False
    relations = word_relations()
    return relations.is_verb(lower) and (not relations.is_noun(lower) or lower.endswith(("s", "ed")) or place > 1)


def _keys(phrase: str, without: Collection[str] = _LIGHT) -> frozenset[str]:
    """Return the stems of a phrase."""
    words = re.findall(r"[\w@:+.-]+", phrase.lower())
    return frozenset(key_of(word, "en") for word in words if word not in without)


def same_subject(first: str, second: str) -> bool:
    """Return whether two subjects name the same: equal words, apart from articles."""
    ours, theirs = (
        frozenset(cues.PRONOUNS.get(word, word) for word in _keys(s, frozenset({"the", "a", "an"})))
        for s in (first, second)
    )
    return ours == theirs


def is_narrower(first: Slot, second: Slot) -> bool:
    """Return whether one attribute has all words of the other, and more: "email" and "work email"."""
    ours, theirs = (_keys(slot.attribute.lower(), _LIGHT | _VAGUE) for slot in (first, second))
    return bool(ours and theirs) and (ours < theirs or theirs < ours)


def same_attribute(  # noqa: PLR0911 - rules in order
    first: Slot, second: Slot, meanings: Meanings, *, equal_values: bool
) -> bool:
    """Return whether two attributes of one subject are one, in the same or in other words."""
    one, other = (re.sub(r"\b(?:not|no)\b ?", "", slot.attribute.lower()).strip() for slot in (first, second))
    if frozenset({_role(one), _role(other)}) in cues.OPPOSED_ROLES:
        return False
    ours, theirs = (_keys(attribute, _LIGHT | _VAGUE) for attribute in (one, other))
    if one == other or (ours == theirs and ours):
        return _role(one) == _role(other) or not (_role(one) and _role(other))
    if ours and theirs and (ours <= theirs or theirs <= ours):
        return True
    if _initials(one) in theirs or _initials(other) in ours:
        return True
    relations = word_relations()
    if _is_verb_phrase(one) and _is_verb_phrase(other):
        pairs = [(a, b) for a in one.split() for b in other.split() if not {a, b} & _LIGHT]
        if any(relations.are_synonyms(*pair) or meanings.are_listed_together(*pair, "en") for pair in pairs):
            return True
        if _role(one) == _role(other) or not equal_values:
            return False
    near = meanings.cosine(one, other), meanings.cosine(f"x {one} {first.value}", f"x {other} {second.value}")
    return sum(near) / len(near) >= (_EQUAL_VALUES if equal_values else _JOINED)


def _role(attribute: str) -> str:
    last = attribute.rsplit(maxsplit=1)[-1] if attribute else ""
    return last if last in cues.PREPOSITIONS["en"] else ""


def _is_verb_phrase(attribute: str) -> bool:
    words = [word for word in attribute.split() if word not in _LIGHT]
    return len(words) == 1 and attribute.rsplit(maxsplit=1)[-1] != "is" and word_relations().is_verb(words[0])


def _initials(attribute: str) -> str:
    return "".join(word[0] for word in attribute.split() if word not in _LIGHT)

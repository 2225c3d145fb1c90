"""Compares two facts of one subject: by attribute, value and time."""

from __future__ import annotations

import re
from itertools import product

from neurogated.core.judgements import Relation
from neurogated.knowledge.exclusive import Exclusiveness, is_membership
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.slots import is_narrower, same_attribute
from neurogated.knowledge.specificity import fit_together, same_value, value_kind
from neurogated.knowledge.statement import Slot, Statement, read_statement
from neurogated.knowledge.verdicts import conflict, duplicate, independent, refinement
from neurogated.knowledge.word_relations import word_relations

__all__ = ["compare_slots"]

_SHORT = 4
"""Words of a value that a denied value is compared with."""
_NOT = re.compile(r"\b(?:not|no|never)\b\s*", re.IGNORECASE)
_ACTIVITY = re.compile(r"\b(?:is|are|was|were|be|been|am)\b.*\b\w{2,}ing\b", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_PLACED = re.compile(r"(?:in|on|at|under|near|behind|with|from)\s", re.IGNORECASE)
_BARE = re.compile(r"(?:is|are|was|were|has|have|had|does|do|did|can|will|\s)*", re.IGNORECASE)
_INDEFINITE = re.compile(r"(?:a|an|some|two|three|several|many|there|it|this|that)\b", re.IGNORECASE)


def compare_slots(  # noqa: C901, PLR0911 - rules in order
    one: Statement, other: Statement, meanings: Meanings, exclusive: Exclusiveness
) -> Relation | None:
    """Return how two facts of one subject relate; None where their words must decide."""
    ours, theirs = one.slot, other.slot
    if ours is None or theirs is None or _INDEFINITE.match(ours.subject):
        return None
    if not one.is_fact and any(_is_activity(slot) for slot in (ours, theirs)):
        return None
    if one.is_fact and _numbers_apart(ours.attribute, theirs.attribute):
        return independent(f"“{ours.attribute}” and “{theirs.attribute}” are different attributes.")
    is_plain = _BARE.fullmatch(_NOT.sub("", ours.attribute)) or _BARE.fullmatch(_NOT.sub("", theirs.attribute))
    if ours.attribute != theirs.attribute and not one.is_fact and _need_words(ours, theirs):
        return None
    values = [_NOT.sub("", slot.value) for slot in (ours, theirs)]
    is_equal = same_value(*values)
    if not same_attribute(ours, theirs, meanings, equal_values=is_equal):
        return None if is_plain else _unrelated(ours, theirs)
    if is_equal:
        if one.is_negated != other.is_negated:
            return conflict(one, other, f"One denies that {_said(ours)}.", sure=True)
        if one.window.is_before(other.window) or other.window.is_before(one.window):
            return independent("The same value held at two times.")
        return duplicate(f"Both say that {_said(theirs)}.", sure=True)
    if is_plain:
        return None
    relation = _different(one, other, (values[0], values[1]), meanings, exclusive)
    if relation is not None and relation.is_conflict and not one.is_fact and is_narrower(ours, theirs):
        return independent(f"“{ours.attribute}” and “{theirs.attribute}” may be of different things.")
    return relation


def _different(  # noqa: C901, PLR0911 - rules in order
    one: Statement, other: Statement, values: tuple[str, str], meanings: Meanings, exclusive: Exclusiveness
) -> Relation | None:
    ours, theirs = one.slot, other.slot
    if ours is None or theirs is None:
        return None
    if one.is_negated and other.is_negated:
        return independent("Each denies another value.")
    if one.is_negated != other.is_negated:
        tokens = [read_statement(value).tokens for value in values]
        if (
            any(
                meanings.are_opposite(a, b, "en") and not meanings.are_siblings(a, b, "en")
                for a in tokens[0]
                for b in tokens[1]
            )
            and len(tokens[0]) == len(tokens[1]) == 1
        ):
            return duplicate(f"{ours.value} and {theirs.value} say the same.")
        if max(len(value.split()) for value in values) <= _SHORT and exclusive.holds(
            _NOT.sub("", ours.attribute), one.language, is_attribute=True
        ):
            return refinement(f"One names the value of “{ours.attribute}”, the other only a value that it is not.")
        return None
    kinds = {value_kind(value) for value in values}
    if len(kinds) > 1 and "date" in kinds:
        return independent("Their values are of different kinds.")
    if kinds == {"date"} and not one.is_fact:
        return None
    heads = [value.split()[-1].lower() for value in values]
    if any(is_membership(slot.attribute, heads) for slot in (ours, theirs)):
        return independent("One can belong to several groups.")
    is_exclusive = any(
        exclusive.holds(_NOT.sub("", slot.attribute), one.language, is_attribute=True) for slot in (ours, theirs)
    )
    are_apart = one.window.is_before(other.window) or other.window.is_before(one.window)
    if not (is_exclusive and are_apart) and fit_together(*values, meanings):
        return refinement(f"“{theirs.value}” and “{ours.value}” fit together, and one says more.")
    if is_exclusive:
        reason = (
            f"“{ours.subject} {ours.attribute}” has one value at a time, and they name {ours.value} and {theirs.value}."
        )
        return conflict(one, other, reason, sure=True)
    if not one.is_fact and all(any(t.quantity for t in read_statement(value).tokens) for value in values):
        return None
    return independent(f"“{ours.attribute}” can have several values.")


def _is_activity(slot: Slot) -> bool:
    """Return whether a slot was read from a verb in its progressive form: "is sitting", and not "status is pending"."""
    has_noun = " " in slot.attribute and slot.attribute.endswith(" is")
    return not has_noun and bool(_ACTIVITY.search(f"{slot.attribute} {slot.value}"))


def _need_words(one: Slot, other: Slot) -> bool:
    """Return whether two slots name places, or attributes that exclude each other, which the words tell apart."""
    words = (slot.attribute.lower().split() for slot in (one, other))
    relations = word_relations()
    are_opposite = any(relations.opposite(*pair) for pair in product(*words))
    return are_opposite or all(_PLACED.match(slot.value) for slot in (one, other))


def _numbers_apart(ours: str, theirs: str) -> bool:
    """Return whether two attributes have different numbers, such as "phone 1" and "phone 2"."""
    numbers = [_NUMBER.findall(attribute) for attribute in (ours, theirs)]
    return all(numbers) and numbers[0] != numbers[1]


def _unrelated(ours: Slot, theirs: Slot) -> Relation | None:
    if set(ours.value.lower().split()) & set(theirs.value.lower().split()):
        return None
    return independent(f"“{ours.attribute}” and “{theirs.attribute}” are different attributes.")


def _said(slot: Slot) -> str:
    return f"{slot.subject} {slot.attribute} {slot.value}"

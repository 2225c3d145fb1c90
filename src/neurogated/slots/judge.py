"""The judge of two claims: by slot, value, denial, change and time."""

from __future__ import annotations

from neurogated.core.claims import Change, Claim, Slot
from neurogated.core.contexts import remembered
from neurogated.core.judgements import Relation, RelationKind
from neurogated.slots.values import Attribute, ValueRelation, attribute_named, compare_values, is_every, is_place
from neurogated.text.keywords import fold, split_words

_SURE, _LIKELY = 0.95, 0.85
_FREE, _MOST_WORDS = frozenset({"noun", "text"}), 4
"""Types of values in words, and the most words of one that excludes others: longer ones are phrases."""
_GUESS = 0.7
"""Confidence below which a claim contradicts nothing."""
INDEPENDENT = Relation(RelationKind.INDEPENDENT, _LIKELY, "They are about different things.")


@remembered(4_096)
def slot_key(slot: Slot) -> Slot:
    """Return a slot in a form that is equal for all its names."""
    return Slot(" ".join(split_words(fold(slot.subject))), attribute_named(slot.attribute).key)


def meets(one: Claim, other: Claim) -> bool:
    """Return whether two claims of a slot are compared: two present values of an attribute with one value at a time.

    A denial and a value of the past meet only the values that they name.
    """
    attribute, is_plain = _attribute(one, other), not any(each.is_denied or each.is_past for each in (one, other))
    if is_plain:
        return attribute.is_single
    return _is_every(attribute, one, other) or compare_values(attribute, one.value, other.value) != "different"


def is_same(one: Claim, other: Claim) -> bool:
    """Return whether two claims of one slot say the same."""
    if (one.is_denied, one.is_past) != (other.is_denied, other.is_past):
        return False
    return compare_values(attribute_named(one.slot.attribute), one.value, other.value) == "same"


def compare(earlier: Claim, later: Claim) -> Relation:
    """Return the relation of two claims, in the order in which they were said, however they were worded.

    A change that the later claim tells, or that the times of both tell, has the outcome `superseded`. Otherwise two
    values that exclude each other are contested: a supersession if they were said at different times.
    """
    if slot_key(earlier.slot) != slot_key(later.slot):
        return INDEPENDENT
    if min(earlier.confidence, later.confidence) < _GUESS:
        return _independent("One of them is a guess.")
    attribute = _attribute(earlier, later)
    fit = compare_values(attribute, earlier.value, later.value)
    if earlier.is_denied != later.is_denied:
        return _denied(attribute, earlier, later, fit)
    if fit == "same":
        return _same(earlier, later)
    is_of_the_past = (earlier.is_past or later.is_past) and not _are_apart(earlier, later)
    if earlier.is_denied or is_of_the_past:
        return _independent("Each says something about another value or time.")
    return _different(attribute, earlier, later, fit)


def _different(attribute: Attribute, earlier: Claim, later: Claim, fit: ValueRelation) -> Relation:
    """Compare two present values."""
    if attribute.is_single and _are_apart(earlier, later):
        reason = f"{_said(earlier)} held before {later.value}."
        return Relation(RelationKind.SUPERSESSION, _SURE, reason, "superseded")
    if fit != "different":
        return Relation(RelationKind.REFINEMENT, _LIKELY, "Both values fit together, and one says more.")
    # A value that was stated is meant as it stands.
    words = [len(one.value.split()) for one in (earlier, later) if one.quote]
    if attribute.type in _FREE and max(words, default=0) > _MOST_WORDS:
        return _independent("A phrase describes something, and excludes no other.")
    is_unclear = attribute.type == "place" and is_place(earlier.value) != is_place(later.value)
    if is_unclear and later.change is None and earlier.quote and later.quote:
        return _independent("One place is not known, and may lie in the other.")
    if not attribute.is_single:
        return _independent(f"“{attribute.key}” can have several values.")
    return _conflict(earlier, later, f"“{attribute.key}” has one value at a time.")


def _denied(attribute: Attribute, earlier: Claim, later: Claim, fit: ValueRelation) -> Relation:
    """Compare a denial with a value. To deny a value denies the narrower ones too, and not the wider ones."""
    excludes = fit in {"same", "wider" if earlier.is_denied else "narrower"} or _is_every(attribute, earlier, later)
    if not excludes or earlier.is_past or (later.is_past and later.change is None):
        reason = "The one value does not exclude that the other is denied."
        says_more = attribute.is_single and fit == "different" and earlier.is_denied and not later.is_past
        return Relation(RelationKind.REFINEMENT, _LIKELY, reason) if says_more else _independent(reason)
    return _conflict(earlier, later, f"One denies that {_said(earlier)}.")


def _same(earlier: Claim, later: Claim) -> Relation:
    if later.is_past and not earlier.is_past and not earlier.is_denied:
        return Relation(RelationKind.SUPERSESSION, _SURE, f"{_said(earlier)} is true no longer.", "superseded")
    if earlier.is_past != later.is_past or _are_apart(earlier, later):
        return _independent("The same value held at two times.")
    return Relation(RelationKind.DUPLICATE, _SURE, f"Both say that {_said(later)}.")


def _attribute(one: Claim, other: Claim) -> Attribute:
    """Return the attribute of two claims of one slot. One wording may tell that it has one value at a time, or more."""
    first, second = (attribute_named(claim.slot.attribute) for claim in (one, other))
    attribute = second if second.is_single else first
    return attribute._replace(is_single=attribute.is_single and Change.ADDS not in (one.change, other.change))


def _is_every(attribute: Attribute, one: Claim, other: Claim) -> bool:
    """Return whether one of two claims speaks of every value, and denies what the other says."""
    return one.is_denied != other.is_denied and any(is_every(attribute, each.value) for each in (one, other))


def _conflict(earlier: Claim, later: Claim, reason: str) -> Relation:
    """Return that two claims exclude each other; the words of the later one, or the times, tell whether it changed."""
    times = [one.said if one.quote else one.valid_from or one.said for one in (earlier, later)]
    is_later = None not in times and times[0] != times[1]
    is_stated = not (earlier.quote or later.quote)
    begins = (earlier.valid_from, later.valid_from)
    is_dated = None not in begins and begins[0] < begins[1]  # type: ignore[operator]
    if later.change is not None or is_dated or (is_stated and is_later):
        kind = Change.ENDS if later.is_denied else Change.BEGINS
        return Relation(RelationKind.SUPERSESSION, _SURE, f"{reason} The later one {kind.value}.", "superseded")
    kinds = RelationKind.SUPERSESSION if is_later else RelationKind.CONTRADICTION
    return Relation(kinds, _LIKELY, reason, "contested")


def _are_apart(one: Claim, other: Claim) -> bool:
    """Return whether the earlier of two claims ended before the other began, as both say."""
    return one.valid_to is not None and other.valid_from is not None and one.valid_to <= other.valid_from


def _independent(reason: str) -> Relation:
    return Relation(RelationKind.INDEPENDENT, _LIKELY, reason)


def _said(claim: Claim) -> str:
    return f"{claim.slot.subject} {claim.slot.attribute} {claim.value}"

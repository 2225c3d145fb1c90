"""Finds the slot of a claim that names only a value, such as "I quit the flute"."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from neurogated.core.claims import Change, Claim, Slot
from neurogated.knowledge.judge.claim_nodes import Mate
from neurogated.knowledge.judge.slots import meets, slot_key
from neurogated.knowledge.read.table import ENDED, attribute_named, ended_by, ending, open_attribute
from neurogated.knowledge.read.values import compare_values


def placed(claim: Claim, among: Callable[[Sequence[Slot]], Iterable[Mate]]) -> Claim | None:
    """Return a claim in its slot; None if it says nothing by itself.

    A value that ends is in the slot where it stands, its own before others. What a text takes for granted counts only
    where it was denied.

    Args:
        claim: what a text says.
        among: returns the claims that were made in some slots.
    """
    if claim.is_implied:
        denials = (one.claim for one in among([claim.slot]) if one.claim.is_denied and one.claim.change is None)
        return claim if any(meets(one, claim) for one in denials) else None
    key = attribute_named(claim.slot.attribute).key
    if claim.change is not Change.ENDS or key not in (ENDED, *ending()):
        return claim
    own, slots = slot_key(claim.slot), [Slot(claim.slot.subject, each) for each in ending()]
    found = [one for one in among(slots) if _stands(one.claim, claim)]
    if found:
        known = max(found, key=lambda one: (slot_key(one.claim.slot) == own, one.at)).claim
        return replace(claim, slot=known.slot, value=known.value if _is_kind(known, claim) else claim.value)
    return None if key == ENDED else claim


def _stands(claim: Claim, ended: Claim) -> bool:
    """Return whether a claim has a value with all words of one that ends, or of the kind that it names."""
    is_open = not (claim.is_denied or claim.is_past or claim.valid_to)
    is_named = compare_values(open_attribute(""), claim.value, ended.value) in {"same", "narrower"}
    return is_open and (is_named or _is_kind(claim, ended))


def _is_kind(claim: Claim, ended: Claim) -> bool:
    """Return whether what ends is called by its attribute, such as "my job" and "the car"."""
    return attribute_named(claim.slot.attribute).key in ended_by(ended.value)

"""The claims that a claim meets: which slot it is in, which others say the same, and which it contradicts."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from neurogated.core.claims import Change, Claim, ClaimJudge, Slot
from neurogated.core.conflicts import as_given
from neurogated.core.judgements import Relation
from neurogated.knowledge.judge.claim_nodes import Mate
from neurogated.knowledge.judge.slots import meets, slot_key
from neurogated.knowledge.read.naming import attribute_named, ended_by
from neurogated.knowledge.read.table import ENDED, ending, open_attribute
from neurogated.knowledge.read.values import compare_values

Rival = tuple[Mate, Mate, Relation]
"""The earlier and the later claim of a conflict."""


def is_same(one: Claim, other: Claim) -> bool:
    """Return whether two claims of one slot say the same."""
    if (one.is_denied, one.is_past) != (other.is_denied, other.is_past):
        return False
    return compare_values(attribute_named(one.slot.attribute), one.value, other.value) == "same"


def rivals_of(judge: ClaimJudge, mate: Mate, mates: Sequence[Mate], is_wrong: Callable[[str], bool]) -> Iterator[Rival]:
    """Yield the conflicts of a claim with those of its slot.

    On either side in time, the next one counts, and those behind it that agree with it: the others are in conflict
    with it already. So a value costs the same however many values an attribute had.

    Args:
        judge: compares two claims.
        mate: the claim.
        mates: the claims of its slot, in order of time.
        is_wrong: whether a claim was never true.
    """
    fitting = [one for one in mates if meets(one.claim, mate.claim)]
    before = [one for one in reversed(fitting) if one.at <= mate.at and not _is_over(one, mate)]
    for others in (before, [one for one in fitting if one.at > mate.at]):
        nearest: Mate | None = None
        for other in others:
            if is_wrong(other.node.id):
                continue
            if nearest is not None and _compared(judge, nearest, other, others is before)[2].is_conflict:
                break
            rival = _compared(judge, mate, other, others is before)
            if rival[2].is_conflict:
                nearest = other
                yield rival


def _compared(judge: ClaimJudge, near: Mate, far: Mate, is_before: bool) -> Rival:  # noqa: FBT001 - the side of `far`
    earlier, later = (far, near) if is_before else (near, far)
    return earlier, later, judge.compare(earlier.claim, later.claim)


def _is_over(one: Mate, mate: Mate) -> bool:
    """Return whether a conflict ended a claim before another one."""
    end = one.node.valid_to
    return end is not None and end <= mate.at and as_given(one.node) is not one.node


def placed(claim: Claim, among: Callable[[Sequence[Slot]], Iterable[Mate]]) -> Claim | None:
    """Return a claim in its slot; None if it says nothing by itself.

    A value that ends, as in "I quit the flute", is in the slot where it stands, its own before others. What a text
    takes for granted counts only where it was denied.

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

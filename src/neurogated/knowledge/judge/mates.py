"""The claims that a claim meets: which others say the same, and which it contradicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from neurogated.core.claims import Claim, ClaimJudge
from neurogated.core.conflicts import as_given
from neurogated.core.judgements import Relation
from neurogated.knowledge.judge.claim_nodes import Mate
from neurogated.knowledge.judge.slots import meets
from neurogated.knowledge.read.table import attribute_named
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

"""The claims of a slot that a new claim contradicts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime

from neurogated.core.claims import ClaimJudge
from neurogated.core.conflicts import as_given
from neurogated.core.judgements import Relation
from neurogated.core.model import MemoryNode
from neurogated.knowledge.judge.claim_nodes import Mate
from neurogated.knowledge.judge.slots import meets

Rival = tuple[Mate, Mate, Relation]
"""The earlier and the later claim of a conflict."""


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
    before = [one for one in reversed(fitting) if one.at <= mate.at and not _is_over(one.node, mate.at)]
    yield from _along(judge, mate, before, is_wrong, is_before=True)
    yield from _along(judge, mate, [one for one in fitting if one.at > mate.at], is_wrong, is_before=False)


def _along(
    judge: ClaimJudge,
    mate: Mate,
    others: Sequence[Mate],
    is_wrong: Callable[[str], bool],
    *,
    is_before: bool,
) -> Iterator[Rival]:
    """Yield the conflicts of a claim with those on one side of it, the next one first."""

    def relation(near: Mate, far: Mate) -> Rival:
        earlier, later = (far, near) if is_before else (near, far)
        return earlier, later, judge.compare(earlier.claim, later.claim)

    nearest: Mate | None = None
    for other in others:
        if is_wrong(other.node.id):
            continue
        if nearest is not None and relation(nearest, other)[2].is_conflict:
            return
        rival = relation(mate, other)
        if rival[2].is_conflict:
            nearest = other
            yield rival


def _is_over(node: MemoryNode, at: datetime) -> bool:
    """Return whether a conflict ended a claim before a time."""
    return as_given(node) is not node and node.valid_to is not None and node.valid_to <= at

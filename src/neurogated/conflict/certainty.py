"""Whether a later text ends an earlier one so clearly that the user need not be asked."""

from __future__ import annotations

from neurogated.conflict.alignment import align
from neurogated.conflict.clauses import is_simple
from neurogated.conflict.cues import ENDED, PAST, TODAY
from neurogated.conflict.meanings import Meanings
from neurogated.conflict.statement import in_one_language, read_text
from neurogated.core.judgements import RelationKind, StatementJudge

__all__ = ["ends", "tells_of_another_past"]


def ends(judge: StatementJudge, earlier: str, later: str) -> bool:
    """Return whether a sentence ends an earlier one.

    Either it denies the earlier one in the same words: "I no longer work at Google". Or it names another name for an
    attribute with one value at a time, and says "now": "I live in York now".
    """
    first, second = in_one_language(read_text(earlier), read_text(later))
    if first.is_past or first.is_new or not is_simple(earlier):
        return False
    if second.is_past:
        return _say_the_same(judge, earlier, later)
    if second.is_negated or not TODAY.search(later) or not judge.has_one_value(later):
        return False
    ours, theirs = align(first, second, Meanings()).rest()
    return all(each and all(token.is_name for token in each) for each in (ours, theirs))


def tells_of_another_past(judge: StatementJudge, one: str, other: str) -> bool:
    """Return whether one of two sentences tells of another state before: "I used to live in Rome"."""
    if read_text(one).is_former == read_text(other).is_former:
        return False
    return not _say_the_same(judge, one, other)


def _say_the_same(judge: StatementJudge, one: str, other: str) -> bool:
    """Return whether two sentences say the same if one leaves out that it is so no longer."""
    bare = [" ".join(PAST.sub(" ", ENDED.sub(" ", each)).split()) for each in (one, other)]
    return judge.compare(bare[0], bare[1]).kind is RelationKind.DUPLICATE

"""Whether a later text ends an earlier one so clearly that the user need not be asked."""

from __future__ import annotations

from itertools import zip_longest

from neurogated.core.judgements import StatementJudge
from neurogated.knowledge.alignment import align
from neurogated.knowledge.clauses import is_simple
from neurogated.knowledge.cues import ENDED, PAST, TODAY
from neurogated.knowledge.meanings import Meanings
from neurogated.knowledge.statement import in_one_language, read_text
from neurogated.knowledge.word_relations import word_relations
from neurogated.text.keywords import fold
from neurogated.text.words import split_words

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
        return _say_the_same(earlier, later)
    if second.is_negated or not TODAY.search(later) or not judge.has_one_value(later):
        return False
    ours, theirs = align(first, second, Meanings()).rest()
    return all(each and all(token.is_name for token in each) for each in (ours, theirs))


def tells_of_another_past(one: str, other: str) -> bool:
    """Return whether one of two sentences tells of another state before: "I used to live in Rome"."""
    if read_text(one).is_former == read_text(other).is_former:
        return False
    return not _say_the_same(one, other)


def _say_the_same(one: str, other: str) -> bool:
    """Return whether two sentences say the same if one leaves out that it is so no longer."""
    bare = [split_words(fold(PAST.sub(" ", ENDED.sub(" ", each)))) for each in (one, other)]
    differing = [pair for pair in zip_longest(*bare, fillvalue="") if pair[0] != pair[1]]
    base = word_relations().base
    # Only the verb may have another form.
    return len(differing) <= 1 and all(base(first) == base(second) for first, second in differing)

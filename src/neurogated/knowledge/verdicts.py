"""Makes relations, given the times at which two statements hold."""

from __future__ import annotations

from neurogated.core.judgements import Relation, RelationKind
from neurogated.knowledge import cues
from neurogated.knowledge.statement import Statement

__all__ = ["INDEPENDENT", "conflict", "duplicate", "independent", "refinement"]

_SURE, _LIKELY, _LOW = 0.95, 0.85, 0.7


def duplicate(reason: str, *, sure: bool = False) -> Relation:
    """Return that both say the same."""
    return Relation(RelationKind.DUPLICATE, _SURE if sure else _LIKELY, reason)


def refinement(reason: str) -> Relation:
    """Return that one says the same in more detail."""
    return Relation(RelationKind.REFINEMENT, _LIKELY, reason)


def independent(reason: str) -> Relation:
    """Return that both can be true."""
    return Relation(RelationKind.INDEPENDENT, _LIKELY, reason)


INDEPENDENT = Relation(RelationKind.INDEPENDENT, _LOW, "Too little of them is about the same.")


def conflict(one: Statement, other: Statement, reason: str, *, sure: bool = False) -> Relation:
    """Return a supersession if the statements hold at different times, else a contradiction with its outcome."""
    confidence = _LIKELY if sure else _LOW
    is_lasting = bool(cues.LASTING.search(one.text) or cues.LASTING.search(other.text))
    if one.window.is_before(other.window) or other.window.is_before(one.window):
        return Relation(RelationKind.SUPERSESSION, _SURE, f"{reason} They hold at different times.")
    is_told = one.is_past != other.is_past or one.is_new != other.is_new
    is_later = one.asserted is not None and other.asserted is not None and one.asserted != other.asserted
    if other.is_correction or (is_lasting and is_later):
        return Relation(RelationKind.CONTRADICTION, confidence, reason, "wrong")
    if is_told and not is_lasting:
        return Relation(RelationKind.SUPERSESSION, _LIKELY, f"{reason} One of them says that this changed.")
    if is_later and not is_lasting:
        return Relation(RelationKind.SUPERSESSION, confidence, f"{reason} One of them was said on a later day.")
    return Relation(RelationKind.CONTRADICTION, confidence, reason, "contested")

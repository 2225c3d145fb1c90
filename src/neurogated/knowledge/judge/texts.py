"""Compares two texts or facts as the write path does: as if they were said one after the other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from neurogated.core.claims import ClaimJudge, ClaimReader, Slot
from neurogated.core.clock import checked_moment
from neurogated.core.equal_text import equal_key
from neurogated.core.found import Found, Statement
from neurogated.core.judgements import Relation, RelationKind
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import DEFAULT_KIND, FACT
from neurogated.errors import InputError
from neurogated.knowledge.judge.claim_nodes import Mate, claim_node, claims_in
from neurogated.knowledge.judge.mates import placed, rivals_of
from neurogated.knowledge.judge.slots import INDEPENDENT, slot_key
from neurogated.text.strings import checked_text

Content = str | Mapping[str, Any]
"""A text, or a mapping with `content` and times, or a fact with subject, attribute and value."""

_PARTS, _TIMES = ("subject", "attribute", "value"), ("valid_from", "valid_to", "timestamp")
_OTHER_NAMES = {"attribute": "predicate", "value": "object", "timestamp": "asserted_at"}
"""Other names of the parts and times of a fact."""
_SAME = Relation(RelationKind.DUPLICATE, 1.0, "Both are the same text.")
_AGREE = frozenset({RelationKind.DUPLICATE, RelationKind.REFINEMENT})


def compare_contents(
    reader: ClaimReader, judge: ClaimJudge, first: Content, second: Content, now: datetime
) -> Relation:
    """Return how two texts or facts relate, of which the second is said after the first where no times tell.

    Args:
        reader: reads the texts.
        judge: compares their claims.
        first: a text or a fact.
        second: another.
        now: the time to which words such as “yesterday” refer in a text without a time.

    Raises:
        InputError: a fact lacks a part, or a time cannot be read.
    """
    one, other = _node("first", first, now), _node("second", second, now + timedelta(microseconds=1))
    ours = _claims(reader, one, ())
    theirs = _claims(reader, other, ours)
    met = [(mate, sorted(_of_slot(ours, mate.claim.slot), key=lambda each: each.at)) for mate in theirs]
    for mate, mates in met:
        for _, _, relation in rivals_of(judge, mate, mates, lambda _: False):
            return relation
    if equal_key(one.content) == equal_key(other.content) and {one.kind, other.kind} == {DEFAULT_KIND}:
        return _SAME
    found = [judge.compare(earlier.claim, mate.claim) for mate, mates in met for earlier in mates]
    kinds = [each.kind for each in found if each.kind in _AGREE]
    if not kinds or len(kinds) < max(len(ours), len(theirs)):
        return found[0] if len(found) == 1 else INDEPENDENT
    kind = RelationKind.REFINEMENT if RelationKind.REFINEMENT in kinds else RelationKind.DUPLICATE
    return next(each for each in found if each.kind is kind)


def _of_slot(mates: Sequence[Mate], *slots: Slot) -> list[Mate]:
    keys = set(map(slot_key, slots))
    return [one for one in mates if slot_key(one.claim.slot) in keys]


def _claims(reader: ClaimReader, node: MemoryNode, known: Sequence[Mate]) -> list[Mate]:
    """Return the claims of a text or fact, said after those that are known."""
    if node.found.statement is not None:
        return [Mate.of(node)]
    claims = (placed(claim, lambda slots: _of_slot(known, *slots)) for claim in claims_in(reader, node))
    return [Mate.of(claim_node(claim, node)) for claim in claims if claim is not None]


def _node(name: str, content: Content, at: datetime) -> MemoryNode:
    """Return a memory with a text or fact."""
    given = {"content": content} if isinstance(content, str) else content
    if not isinstance(given, Mapping):
        raise InputError(f"the {name} statement is {given!r}, but must be a text or a mapping")
    named = {field: given.get(other) for field, other in _OTHER_NAMES.items()}
    values = named | {field: value for field, value in given.items() if value is not None}
    begin, end, said = (checked_moment(field, values.get(field)) for field in _TIMES)
    statement, text = None, values.get("content")
    if text is None:
        parts = [values.get(field) for field in _PARTS]
        if None in parts:
            missing = _PARTS[parts.index(None)]
            raise InputError(f"the fact {dict(given)!r} has no {missing}; give a text, or subject, attribute and value")
        subject, attribute, value = map(str, parts)
        statement = Statement(subject, attribute, value)
    return MemoryNode(
        name,
        statement.text if statement is not None else checked_text("a text to compare", str(text)),
        kind=DEFAULT_KIND if statement is None else FACT,
        created_at=at,
        valid_from=begin,
        valid_to=end,
        timestamp=said,
        found=Found(statement=statement),
    )

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
from neurogated.knowledge.judge.placing import placed
from neurogated.knowledge.judge.rivals import rivals_of
from neurogated.knowledge.judge.slots import INDEPENDENT, slot_key
from neurogated.text.strings import checked_text

Content = str | Mapping[str, Any]
"""A text, or a mapping with `content` and times, or a fact with subject, attribute and value."""

_PARTS = (("subject",), ("attribute", "predicate"), ("value", "object"))
_TIMES = (("valid_from",), ("valid_to",), ("timestamp", "asserted_at"))
"""The names of the parts and times of a fact."""
_SAME = Relation(RelationKind.DUPLICATE, 1.0, "Both are the same text.")


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
    for mate in theirs:
        mates = sorted((each for each in ours if _slot(each) == _slot(mate)), key=lambda each: each.at)
        for _, _, relation in rivals_of(judge, mate, mates, lambda _: False):
            return relation
    if equal_key(one.content) == equal_key(other.content) and {one.kind, other.kind} == {DEFAULT_KIND}:
        return _SAME
    pairs = ((each, mate) for mate in theirs for each in ours if _slot(each) == _slot(mate))
    found = [judge.compare(earlier.claim, later.claim) for earlier, later in pairs]
    agreeing = [each for each in found if each.kind in {RelationKind.DUPLICATE, RelationKind.REFINEMENT}]
    if len(agreeing) < max(len(ours), len(theirs)) or not agreeing:
        return found[0] if len(found) == 1 else INDEPENDENT
    return next((each for each in agreeing if each.kind is RelationKind.REFINEMENT), agreeing[0])


def _slot(mate: Mate) -> object:
    return slot_key(mate.claim.slot)


def _claims(reader: ClaimReader, node: MemoryNode, known: Sequence[Mate]) -> list[Mate]:
    """Return the claims of a text or fact, said after those that are known."""
    if node.found.statement is not None:
        return [Mate.of(node)]

    def among(slots: Sequence[Slot]) -> list[Mate]:
        keys = set(map(slot_key, slots))
        return [one for one in known if _slot(one) in keys]

    claims = filter(None, (placed(claim, among) for claim in claims_in(reader, node)))
    return [Mate.of(claim_node(claim, node)) for claim in claims]


def _node(name: str, content: Content, at: datetime) -> MemoryNode:
    """Return a memory with a text or fact."""
    values = {"content": content} if isinstance(content, str) else content
    begin, end, said = (checked_moment(names[0], _first(values, names)) for names in _TIMES)
    statement, text = None, values.get("content")
    if text is None:
        parts = [_first(values, names) for names in _PARTS]
        if None in parts:
            missing = _PARTS[parts.index(None)][0]
            raise InputError(
                f"the fact {dict(values)!r} has no {missing}; give a text, or subject, attribute and value"
            )
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


def _first(values: Mapping[str, Any], names: Sequence[str]) -> Any:  # noqa: ANN401 - a value of the caller
    """Return the value that a caller gives under one of several names; None if there is none."""
    return next((values[name] for name in names if values.get(name) is not None), None)

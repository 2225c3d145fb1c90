"""Claims as nodes: a node of kind `claim` for what a memory says, and the claim of a node."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from neurogated.core.claims import Change, Claim, Entry, Slot, times_of
from neurogated.core.conflicts import as_given, given_times, moment_of
from neurogated.core.facts import FACTS, fact_of
from neurogated.core.found import Found, Statement
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM
from neurogated.core.scope import Scope
from neurogated.slots.judge import slot_key
from neurogated.slots.values import attribute_named
from neurogated.text.keywords import fold
from neurogated.text.language import NEGATIONS
from neurogated.utils.hash_utils import compute_mdhash_id

_DENYING = frozenset().union(*NEGATIONS.values())


def entry_of(node: MemoryNode, row: int = 0) -> Entry | None:
    """Return a stated fact or a claim as an entry of its slot; None for other nodes."""
    if node.kind not in FACTS or node.found.statement is None:
        return None
    claim, is_claim, given = claim_of(node), node.kind == CLAIM, as_given(node)
    at = said_at(node) if is_claim else moment_of(given)
    speaker = node.metadata.get("speaker") if is_claim else None
    return Entry(
        at,
        row,
        node.id,
        node.scope.owner,
        speaker,
        claim,
        fact_of(given, node.found.statement),
        times_of(given),
        node.created_at,
        is_claim,
        slot_key(claim.slot),
        not (claim.is_denied or claim.is_past),
        attribute_named(claim.slot.attribute).is_single,
    )


def claims_in(node: MemoryNode, read: Sequence[Claim]) -> list[Claim]:
    """Return the claims that a model read in a memory, with their own valid times, else with that of the memory."""
    (begin, end), said, found = given_times(node), said_at(node), list[Claim]()
    for one in read:
        if one.value.strip() and one.slot.subject.strip():
            # Of a value that ends, it is the denial from then on.
            ends = one.change is Change.ENDS
            since, until = (one.valid_to, None) if ends and one.valid_to else (one.valid_from, one.valid_to)
            is_denied, since, until = one.is_denied or ends, since or begin, until or end
            found.append(replace(one, said=said, is_denied=is_denied, valid_from=since, valid_to=until))
    return found


def claim_node(claim: Claim, source: MemoryNode) -> MemoryNode:
    """Return the node of a claim of a memory. It has no vector and no words; its times are those of its memory."""
    subject, attribute = slot_key(claim.slot)
    scope = Scope(*source.scope.owner, path=source.scope.path)
    parts = [*scope.owner, *scope.path, source.id, subject, attribute, claim.value, claim.is_denied, claim.is_past]
    return MemoryNode(
        compute_mdhash_id(json.dumps(parts, ensure_ascii=False), prefix=f"{CLAIM}-"),
        claim.quote or claim.value,
        metadata={
            "change": claim.change and claim.change.value,
            "is_past": claim.is_past,
            "sentence": claim.sentence,
            "speaker": other_speaker(claim.slot.subject, source),
        },
        kind=CLAIM,
        scope=scope,
        created_at=source.created_at,
        last_accessed=source.created_at,
        timestamp=source.timestamp,
        valid_from=claim.valid_from,
        valid_to=claim.valid_to or (said_at(source) if claim.is_past else None),
        expires_at=source.expires_at,
        found=Found(
            statement=Statement(
                claim.slot.subject, attribute, claim.value, claim.confidence, is_denied=claim.is_denied, is_read=True
            )
        ),
    )


def claim_of(node: MemoryNode) -> Claim:
    """Return the claim of a node of kind `claim`, or of a stated fact, with the times that it has without conflicts."""
    parts, given = node.found.statement, as_given(node)
    if parts is None:
        raise ValueError(f"node {node.id!r} is neither a claim nor a fact with known parts")
    values = node.metadata if parts.is_read else {}
    change, (attribute, value, is_denied) = values.get("change"), _affirmed(parts)
    return Claim(
        Slot(parts.subject, attribute),
        value,
        is_denied=is_denied,
        change=Change(change) if change else None,
        is_past=bool(values.get("is_past")),
        valid_from=given.valid_from,
        valid_to=given.valid_to,
        said=given.timestamp,
        confidence=parts.confidence,
        sentence=int(values.get("sentence", 0)),
        quote=node.content if parts.is_read else "",
    )


def _affirmed(parts: Statement) -> tuple[str, str, bool]:
    """Return attribute and value of a fact without a word that denies, as in "is not" or "not single", and whether."""
    kept = [word for word in parts.attribute.split() if word.casefold() not in _DENYING]
    first, _, rest = parts.value.partition(" ")
    is_value = first.casefold() in _DENYING and bool(rest)
    if parts.is_read or not (is_value or 0 < len(kept) < len(parts.attribute.split())):
        return parts.attribute, parts.value, parts.is_denied
    return " ".join(kept) or parts.attribute, rest if is_value else parts.value, not parts.is_denied


def said_at(node: MemoryNode) -> datetime:
    """Return when a memory was said, or else stored."""
    return node.timestamp or node.created_at


def other_speaker(subject: str, source: MemoryNode) -> str | None:
    """Return who says something about another person; None for the user, and for a person about herself."""
    return None if source.speaker is None or fold(subject) == fold(source.speaker) else source.speaker

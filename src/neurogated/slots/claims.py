"""Claims: how two relate by slot, value, denial, change and time; and the node of kind `claim` of a memory."""

import json
from collections.abc import Sequence
from dataclasses import replace

from neurogated.core.conflicts import as_given, given_times
from neurogated.core.contexts import remembered
from neurogated.core.facts import FACTS, Change, Claim, Entry, Slot, fact_of, times_of
from neurogated.core.found import Found, Statement
from neurogated.core.judgements import Relation, RelationKind
from neurogated.core.model import MemoryNode
from neurogated.core.node_kind import CLAIM
from neurogated.core.scope import Scope
from neurogated.slots.values import Attribute, ValueRelation, attribute_named, compare_values, is_every, is_place
from neurogated.text.keywords import NEGATIONS, fold, split_words
from neurogated.utils.hash_utils import compute_mdhash_id

_SURE, _LIKELY = 0.95, 0.85
_FREE, _MOST_WORDS = frozenset({"noun", "text"}), 4
"""Types of values in words, and the most words of one that excludes others: longer ones are phrases."""
_GUESS = 0.7
"""Confidence below which a claim contradicts nothing."""
INDEPENDENT = Relation(RelationKind.INDEPENDENT, _LIKELY, "They are about different things.")


@remembered(4_096)
def slot_key(slot: Slot) -> Slot:
    """Return a slot in a form that is equal for all its names."""
    return Slot(" ".join(split_words(fold(slot.subject))), attribute_named(slot.attribute).key)


def meets(one: Claim, other: Claim) -> bool:
    """Return whether two claims are compared: values of a single-valued attribute, or a denial and what it names."""
    attribute, is_plain = _attribute(one, other), not any(each.is_denied or each.is_past for each in (one, other))
    if is_plain:
        return attribute.is_single
    return _is_every(attribute, one, other) or compare_values(attribute, one.value, other.value) != "different"


def is_same(one: Claim, other: Claim) -> bool:
    """Return whether two claims of one slot say the same."""
    if (one.is_denied, one.is_past) != (other.is_denied, other.is_past):
        return False
    return compare_values(attribute_named(one.slot.attribute), one.value, other.value) == "same"


def compare(earlier: Claim, later: Claim) -> Relation:
    """Return the relation of two claims, in the order in which they were said, however they were worded.

    A change that the later claim tells, or that the times of both tell, has the outcome `superseded`. Otherwise two
    values that exclude each other are contested: a supersession if they were said at different times.
    """
    if slot_key(earlier.slot) != slot_key(later.slot):
        return INDEPENDENT
    if min(earlier.confidence, later.confidence) < _GUESS:
        return _independent("One of them is a guess.")
    attribute = _attribute(earlier, later)
    fit = compare_values(attribute, earlier.value, later.value)
    if earlier.is_denied != later.is_denied:
        return _denied(attribute, earlier, later, fit)
    if fit == "same":
        return _same(earlier, later)
    is_of_the_past = (earlier.is_past or later.is_past) and not _are_apart(earlier, later)
    if earlier.is_denied or is_of_the_past:
        return _independent("Each says something about another value or time.")
    return _different(attribute, earlier, later, fit)


def _different(attribute: Attribute, earlier: Claim, later: Claim, fit: ValueRelation) -> Relation:
    if attribute.is_single and _are_apart(earlier, later):
        reason = f"{_said(earlier)} held before {later.value}."
        return Relation(RelationKind.SUPERSESSION, _SURE, reason, "superseded")
    if fit != "different":
        return Relation(RelationKind.REFINEMENT, _LIKELY, "Both values fit together, and one says more.")
    # A value that was stated is meant as it stands.
    words = [len(one.value.split()) for one in (earlier, later) if one.quote]
    if attribute.type in _FREE and max(words, default=0) > _MOST_WORDS:
        return _independent("A phrase describes something, and excludes no other.")
    is_unclear = attribute.type == "place" and is_place(earlier.value) != is_place(later.value)
    if is_unclear and later.change is None and earlier.quote and later.quote:
        return _independent("One place is not known, and may lie in the other.")
    if not attribute.is_single:
        return _independent(f"“{attribute.key}” can have several values.")
    return _conflict(earlier, later, f"“{attribute.key}” has one value at a time.")


def _denied(attribute: Attribute, earlier: Claim, later: Claim, fit: ValueRelation) -> Relation:
    """Compare a denial with a value. To deny a value denies the narrower ones too, and not the wider ones."""
    excludes = fit in {"same", "wider" if earlier.is_denied else "narrower"} or _is_every(attribute, earlier, later)
    if not excludes or earlier.is_past or (later.is_past and later.change is None):
        reason = "The one value does not exclude that the other is denied."
        says_more = attribute.is_single and fit == "different" and earlier.is_denied and not later.is_past
        return Relation(RelationKind.REFINEMENT, _LIKELY, reason) if says_more else _independent(reason)
    return _conflict(earlier, later, f"One denies that {_said(earlier)}.")


def _same(earlier: Claim, later: Claim) -> Relation:
    if later.is_past and not earlier.is_past and not earlier.is_denied:
        return Relation(RelationKind.SUPERSESSION, _SURE, f"{_said(earlier)} is true no longer.", "superseded")
    if earlier.is_past != later.is_past or _are_apart(earlier, later):
        return _independent("The same value held at two times.")
    return Relation(RelationKind.DUPLICATE, _SURE, f"Both say that {_said(later)}.")


def _attribute(one: Claim, other: Claim) -> Attribute:
    """Return the attribute of two claims of one slot. One wording may tell that it has one value at a time, or more."""
    first, second = (attribute_named(claim.slot.attribute) for claim in (one, other))
    attribute = second if second.is_single else first
    return attribute._replace(is_single=attribute.is_single and Change.ADDS not in (one.change, other.change))


def _is_every(attribute: Attribute, one: Claim, other: Claim) -> bool:
    return one.is_denied != other.is_denied and any(is_every(attribute, each.value) for each in (one, other))


def _conflict(earlier: Claim, later: Claim, reason: str) -> Relation:
    """Return that two claims exclude each other; the words of the later one, or the times, tell whether it changed."""
    times = [one.said if one.quote else one.valid_from or one.said for one in (earlier, later)]
    is_later = None not in times and times[0] != times[1]
    is_stated = not (earlier.quote or later.quote)
    begins = (earlier.valid_from, later.valid_from)
    is_dated = None not in begins and begins[0] < begins[1]  # type: ignore[operator]
    if later.change is not None or is_dated or (is_stated and is_later):
        kind = Change.ENDS if later.is_denied else Change.BEGINS
        return Relation(RelationKind.SUPERSESSION, _SURE, f"{reason} The later one {kind.value}.", "superseded")
    kinds = RelationKind.SUPERSESSION if is_later else RelationKind.CONTRADICTION
    return Relation(kinds, _LIKELY, reason, "contested")


def _are_apart(one: Claim, other: Claim) -> bool:
    """Return whether the earlier of two claims ended before the other began, as both say."""
    return one.valid_to is not None and other.valid_from is not None and one.valid_to <= other.valid_from


def _independent(reason: str) -> Relation:
    return Relation(RelationKind.INDEPENDENT, _LIKELY, reason)


def _said(claim: Claim) -> str:
    return f"{claim.slot.subject} {claim.slot.attribute} {claim.value}"


_DENYING = frozenset().union(*NEGATIONS.values())


def entry_of(node: MemoryNode, row: int = 0) -> Entry | None:
    """Return a stated fact or a claim as an entry of its slot; None for other nodes."""
    if node.kind not in FACTS or node.found.statement is None:
        return None
    claim, is_claim, given = claim_of(node), node.kind == CLAIM, as_given(node)
    at = node.said_at if is_claim else given.moment
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
    (begin, end), said, found = given_times(node), node.said_at, list[Claim]()
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
        valid_to=claim.valid_to or (source.said_at if claim.is_past else None),
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


def other_speaker(subject: str, source: MemoryNode) -> str | None:
    """Return who says something about another person; None for the user, and for a person about herself."""
    return None if source.speaker is None or fold(subject) == fold(source.speaker) else source.speaker

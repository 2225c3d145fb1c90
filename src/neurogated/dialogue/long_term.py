"""Long-term memory: what users and assistants know, in slots, and the profile of a user in named dimensions."""

import difflib
import functools
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from typing import NamedTuple

from neurogated.core.facts import Change, Claim, Slot
from neurogated.core.judgements import RelationKind
from neurogated.dialogue.model import BY_USER, KNOWLEDGE, PAGE, SEGMENT, VISITS, Record, pages_of
from neurogated.errors import InputError
from neurogated.slots.claims import compare
from neurogated.text.strings import table_of
from neurogated.utils.hash_utils import compute_mdhash_id

_EVIDENCE = 8
"""Most pages that an entry names as its evidence."""
_VALUES = 3
"""Most values of an interest."""


class ProfileDimension(NamedTuple):
    """One dimension of a profile."""

    name: str
    group: str
    """`person`, `alignment` or `interests`."""
    description: str
    sensitive: str
    """`health`, `faith`, `politics` or `personality`, of which a profile has nothing unless asked for; else empty."""


@functools.cache
def dimensions() -> dict[str, ProfileDimension]:
    """Return the 90 dimensions by name."""
    found = {}
    for group, entries in table_of(__package__, "dimensions").items():
        for name, entry in entries.items():
            description, sensitive = (part.strip() for part in entry.split("|"))
            found[name] = ProfileDimension(name, group, description, sensitive)
    return found


def asked_dimensions(topics: Collection[str]) -> dict[str, ProfileDimension]:
    """Return the dimensions of a profile that may have these sensitive topics.

    Raises:
        InputError: no dimension has such a topic.
    """
    known = {one.sensitive for one in dimensions().values()} - {""}
    if unknown := set(topics) - known:
        raise InputError(f"no sensitive topic {', '.join(map(repr, unknown))}; known are {', '.join(sorted(known))}")
    return {name: one for name, one in dimensions().items() if one.sensitive in {"", *topics}}


class ProfileLearned(NamedTuple):
    """A claim and the page that makes it."""

    claim: Claim
    page: str


class Trait(NamedTuple):
    """What a page says about one dimension of its user."""

    dimension: str
    value: str
    confidence: float
    """0–1."""
    page: str
    said: datetime

    @property
    def key(self) -> str:
        """The same for the same trait of the same page."""
        return compute_mdhash_id(f"{self.dimension}\0{self.value}\0{self.page}", "trait-")

    def record(self) -> Record:
        """Return what is stored of it."""
        return {**self._asdict(), "said": self.said.isoformat()}


def lessons_of(
    known: Mapping[str, Record], learned: Iterable[ProfileLearned]
) -> tuple[dict[str, Record], dict[str, set[str]]]:
    """Return the records of one kind of knowledge that change by what was learned.

    The second value has by page the pages whose entries it repeats.

    A claim that says the same adds its page to the evidence. One that ends an earlier claim writes when that one ended.
    Learning the same again changes nothing.
    """
    changed: dict[str, Record] = {}
    repeated = defaultdict[str, set[str]](set)
    by_slot: defaultdict[Slot, dict[str, Record]] = defaultdict(dict)
    for key, record in known.items():
        by_slot[_folded(Slot(*record["claim"]["slot"]))][key] = record
    for claim, page in learned:
        standing = by_slot[_folded(claim.slot)]
        key = compute_mdhash_id("\0".join((*claim.slot, claim.value, str(claim.is_denied), page)), "fact-")
        if key in standing:
            continue
        relations = {
            other: compare(_claim(record), claim).kind
            for other, record in standing.items()
            if record.get("until") is None
        }
        same = next((other for other, kind in relations.items() if kind is RelationKind.DUPLICATE), None)
        if same is not None:
            first, *others = standing[same]["evidence"]
            repeated[page].add(first)
            if page not in {first, *others}:
                evidence = [first, *[*others, page][1 - _EVIDENCE :]]
                standing[same] = changed[same] = {**standing[same], "evidence": evidence}
            continue
        for other, kind in relations.items():
            if kind is RelationKind.SUPERSESSION and standing[other]["said"] <= _iso(claim.said):
                standing[other] = changed[other] = {**standing[other], "until": _iso(claim.said), "ended_by": key}
        name = f"{claim.slot.subject} {claim.slot.attribute}"
        stored = {
            **asdict(claim),
            "slot": list(claim.slot),
            "change": claim.change and claim.change.value,
            **{part: _iso(getattr(claim, part)) for part in ("valid_from", "valid_to", "said")},
        }
        standing[key] = changed[key] = {
            "text": claim.quote or f"{name}: {claim.value}",
            "fact": f"{name}: {'not ' if claim.is_denied else ''}{claim.value}",
            "confidence": claim.confidence,
            "evidence": [page],
            "said": _iso(claim.said),
            "claim": stored,
        }
    return changed, repeated


def standing_knowledge(known: Mapping[str, Record], capacity: int) -> list[Record]:
    """Return the entries that hold, the latest first, at most `capacity`."""
    held = [record for record in known.values() if record.get("until") is None]
    return sorted(held, key=lambda one: one["said"], reverse=True)[:capacity]


def profile_of(traits: Mapping[str, Record], allowed: Mapping[str, ProfileDimension]) -> dict[str, Record]:
    """Return the value, the confidence and the evidence of each dimension that is known.

    What the user set stands. Otherwise the surest trait counts, of equally sure ones the latest; an interest has up to
    three values. What was said before the user erased a dimension does not count.
    """
    by_name: defaultdict[str, list[Record]] = defaultdict(list)
    for record in traits.values():
        if record["dimension"] in allowed:
            by_name[record["dimension"]].append(record)
    found = {}
    for name, records in by_name.items():
        own = next((one for one in records if one["page"] == BY_USER), None)
        if own is not None and own["value"]:
            found[name] = {"value": own["value"], "confidence": 1.0, "evidence": [BY_USER]}
            continue
        after = "" if own is None else own["said"]
        rest = sorted(
            (one for one in records if one is not own and one["said"] > after),
            key=lambda one: (one["confidence"], one["said"]),
            reverse=True,
        )
        values = list(dict.fromkeys(one["value"] for one in rest))
        chosen = values[: _VALUES if allowed[name].group == "interests" else 1]
        if chosen:
            pages = [next(one["page"] for one in rest if one["value"] == value) for value in chosen]
            pages += [one["page"] for one in rest if one["value"] in chosen]
            best = {"confidence": rest[0]["confidence"], "evidence": list(dict.fromkeys(pages))[:_EVIDENCE]}
            found[name] = {"value": "; ".join(chosen), **best}
    return found


def own_trait(dimension: str, value: str, now: datetime, allowed: Mapping[str, ProfileDimension]) -> tuple[str, Record]:
    """Return the key and the record of a dimension that the user sets, or erases by an empty value.

    Raises:
        InputError: there is no such dimension, or it is not `allowed` to have a value.
    """
    if dimension not in dimensions():
        near = difflib.get_close_matches(dimension, dimensions(), n=3, cutoff=0.0)
        raise InputError(f"no dimension {dimension!r}; the nearest are {', '.join(near)}")
    if value and dimension not in allowed:
        topic = dimensions()[dimension].sensitive
        raise InputError(
            f"{dimension!r} is a matter of {topic}, which profiles leave out; allow it by sensitive=[{topic!r}]"
        )
    return f"{BY_USER}-{dimension}", Trait(dimension, value, 1.0, BY_USER, now).record()


def leftovers(known: Mapping[str, dict[str, Record]], pages: Collection[str]) -> dict[tuple[str, str], Record | None]:
    """Return the changes of a user's records that make up for pages that are gone.

    Records that repeat their words are deleted. Entries of knowledge lose them as evidence, and hold if one of them
    ended them. Segments and visits of segments without pages are deleted.

    Args:
        known: the records by kind and key; they change, too.
        pages: the keys of the pages that exist.
    """
    changes: dict[tuple[str, str], Record | None] = {
        (kind, key): None
        for kind, records in known.items()
        for key, record in records.items()
        if not set(pages_of(kind, key, record)).issubset(pages)
    }
    segments = {one["segment"] for key, one in known[PAGE].items() if (PAGE, key) not in changes}
    changes |= {(SEGMENT, key): None for key in known[SEGMENT].keys() - segments}
    changes |= {(VISITS, key): None for key, one in known[VISITS].items() if one["segment"] not in segments}
    for kind, key in changes:
        del known[kind][key]
    for kind in KNOWLEDGE:
        entries = known[kind]
        for key, record in entries.items():
            now = {**record, "evidence": [page for page in record["evidence"] if page in pages]}
            if record.get("ended_by", key) not in entries:
                del now["until"], now["ended_by"]
            if now != record:
                changes[kind, key] = entries[key] = now
    return changes


def _claim(record: Record) -> Claim:
    stored = record["claim"]
    said = ((part, stored[part]) for part in ("valid_from", "valid_to", "said"))
    times = {part: datetime.fromisoformat(moment) if moment else None for part, moment in said}
    change = stored["change"] and Change(stored["change"])
    return Claim(**{**stored, "slot": Slot(*stored["slot"]), "change": change, **times})


def _folded(slot: Slot) -> Slot:
    return Slot(slot.subject.casefold(), slot.attribute.casefold())


def _iso(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""
